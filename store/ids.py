"""Identifiers: UUID version 7 (RFC 9562), so that rows made together lie together in an index."""

from __future__ import annotations

import os
import time
import uuid


def new_id() -> str:
    """A new UUIDv7 in its usual form of 36 characters: 48 bits of milliseconds, then 74 random bits."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def parse_id(text: str) -> str | None:
    """The canonical form of a UUID in any case, or None where `text` is none."""
    try:
        parsed = uuid.UUID(text)
    except ValueError:
        return None
    return str(parsed) if str(parsed) == text.lower() else None


def as_id(text: str) -> str:
    """`parse_id`, for pydantic models. Raises ValueError."""
    found = parse_id(text)
    if found is None:
        raise ValueError("is not a UUID")
    return found
