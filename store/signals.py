"""What is counted of a summary's items beside their text: signals that a company should notice, days of promises."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

# Subtypes of `criteria` items. Their order is stored, as bits of communication_figures.signals: add at the end alone.
SIGNALS = (
    "objection",
    "competitors",
    "churn_risk",
    "disputes",
    "urgency",
    "severity",
    "escalation",
    "requested_resolution",
    "constraints",
    "contact_outcome",
)
_WORDS = re.compile(r"\w+")


def value_key(content: str) -> int:
    """What two contents are the same by: their words, whatever case, punctuation, spaces and «ё». 64 bits, signed."""
    text = unicodedata.normalize("NFKC", content).casefold().replace("ё", "е")
    words = " ".join(_WORDS.findall(text)) or text.strip()
    return int.from_bytes(hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def value_keys(said: Iterable[tuple[str | None, str]]) -> Iterator[int | None]:
    """Of each (subtype, content) of one communication; None for what is no signal, or says again what one before it
    said."""
    seen: set[tuple[str, int]] = set()
    for subtype, content in said:
        key = value_key(content) if subtype in SIGNALS else None
        if subtype is None or key is None or (subtype, key) in seen:
            yield None
        else:
            seen.add((subtype, key))
            yield key


def due_day(meta: Mapping[str, Any] | None) -> date | None:
    """The day that a promise's deadline names; None without one."""
    deadline = meta.get("deadline") if isinstance(meta, Mapping) else None
    try:
        return date.fromisoformat(deadline[:10]) if isinstance(deadline, str) else None
    except ValueError:
        return None
