"""Text of others inside a prompt: between `<<<` and `>>>`, which no such text can contain, and no longer than fits."""

from __future__ import annotations

import re

from rag.language_model import estimate_tokens

_MARKERS = re.compile(r"<{3,}|>{3,}")
_TEMPLATE_TOKEN = re.compile(r"<\|")
# What shows text in another order than it has, or hides it.
UNSEEN = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xE0000, 0xE0080))
_WITHOUT_UNSEEN = dict.fromkeys(UNSEEN)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def as_data(text: str) -> str:
    """`text` without what could end its block or speak as the chat template, and without control characters."""
    text = without_unseen(text)  # first: a marker may stand around them
    text = _MARKERS.sub(lambda match: "‹" * len(match[0]) if match[0][0] == "<" else "›" * len(match[0]), text)
    return without_controls(_TEMPLATE_TOKEN.sub("‹|", text))


def without_unseen(text: str) -> str:
    """`text` without characters that nobody sees, in which orders can hide."""
    return text.translate(_WITHOUT_UNSEEN)


def without_controls(text: str) -> str:
    """`text` with spaces for control characters and lone surrogates, which no database and no encoder takes."""
    return _CONTROL.sub(" ", text)


def cut_to_tokens(text: str, max_tokens: int) -> str:
    """`text`, or as much of its beginning as fits, with an ellipsis."""
    low, high = 0, min(len(text), max_tokens * 6)  # hardly a text has more characters to an estimated token
    if high == len(text) and estimate_tokens(text) <= max_tokens:
        return text
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) < max_tokens else (low, middle - 1)
    return text[:low].rstrip() + "…"
