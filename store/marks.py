"""Marks of promises that were kept, and how the next analysis of the same conversation knows such a promise again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.signals import value_key


@dataclass(frozen=True, slots=True)
class Mark:
    """Of one promise: its words, its quotation in `meta`, when it was marked as kept and by whom."""

    content: str
    meta: Mapping[str, Any] | None
    done_at: datetime
    done_by: str | None


def take_mark(left: list[Mark], content: str, meta: Mapping[str, Any] | None) -> Mark | None:
    """The mark of the same promise, taken out of `left`: of the same words, else found in the same words of the
    conversation. None where it had none."""
    for key, wanted in ((_words, value_key(content)), (_quoted, _key_of_quote(meta))):
        found = next((mark for mark in left if wanted is not None and key(mark) == wanted), None)
        if found is not None:
            left.remove(found)
            return found
    return None


def _words(mark: Mark) -> int:
    return value_key(mark.content)


def _quoted(mark: Mark) -> int | None:
    return _key_of_quote(mark.meta)


def _key_of_quote(meta: Mapping[str, Any] | None) -> int | None:
    quote = (meta or {}).get("quote")
    return value_key(quote) if isinstance(quote, str) and quote else None
