"""Quotations: the turn's own words behind a text that claims to quote them, and the proof that they are there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Quote

LONGEST = 4000
"""More characters are no quotation; whoever claims so is not searched for."""
_FEWEST_WORDS = 2
_FEWEST_CHARACTERS = 6

_ALIKE = str.maketrans(
    {"ё": "е"}
    | dict.fromkeys("«»„“”‟″❝❞", '"')
    | dict.fromkeys("‘’‚‛′ʼ`´", "'")
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\u00a0\u202f\u2007\u2009\ufeff", " ")
)
_BOUNDARY = re.compile(r"[\W_]")


def fold(text: str) -> str:
    """Lower case, with ё, quotes, dashes and hard spaces made alike. As long as `text`, so positions are its own."""
    low = text.lower()
    if len(low) != len(text):  # İ and its like grow
        low = "".join(character.lower() if len(character.lower()) == 1 else character for character in text)
    return low.translate(_ALIKE)


@dataclass(frozen=True, slots=True)
class Folded:
    """A turn's folded text as it is, and with single spaces."""

    said: str
    plain: str


def fold_spaces(text: str) -> Folded:
    said = fold(text)
    plain = " ".join(said.split())
    return Folded(said, said if plain == said else plain)


def find(
    conversation: Conversation,
    text: str,
    labels: Collection[str] | None = None,
    folded: Callable[[int, str], Folded] = lambda _, text: fold_spaces(text),
) -> Quote | None:
    """The original words of the first turn (of these labels, if given) that says `text`, but for case, ё, kinds of
    quotes and dashes, whitespace, and punctuation at the ends. None where nobody does, or `text` is too little to
    prove anything: under 2 words and under 6 characters. Who looks for many gives `folded`, which remembers
    `fold_spaces` of a turn by its `idx`."""
    if len(text) > LONGEST:
        return None
    wanted = _trimmed(" ".join(fold(text).split()))
    if len(wanted.split()) < _FEWEST_WORDS and len(wanted) < _FEWEST_CHARACTERS:
        return None
    for turn in conversation.turns:
        if labels is not None and turn.label not in labels:
            continue
        turned = folded(turn.idx, turn.text)
        at = _whole(turned.plain, wanted)
        if at is not None:
            start, end = _original(turned.said, turned.plain, at, at + len(wanted))
            return Quote(turn.text[start:end], turn.idx, turn.label)
    return None


def is_verbatim(conversation: Conversation, quote: Quote) -> bool:
    """Whether the turn `idx` of that label holds these words, character by character."""
    return bool(quote.text.strip()) and any(
        turn.idx == quote.idx and turn.label == quote.label and quote.text in turn.text for turn in conversation.turns
    )


def _trimmed(text: str) -> str:
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]


def _whole(plain: str, wanted: str) -> int | None:
    """Where `wanted` stands as whole words."""
    at = plain.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (at and plain[at - 1].isalnum()) and not (end < len(plain) and plain[end].isalnum()):
            return at
        boundary = _BOUNDARY.search(plain, at + 1)  # the next place where a word may begin: keeps "aaaa..." linear
        at = plain.find(wanted, boundary.end()) if boundary else -1
    return None


def _original(said: str, plain: str, start: int, end: int) -> tuple[int, int]:
    """A span of the text with single spaces as one of the text as it was; both begin and end on a word's character."""
    if said is plain:
        return start, end
    first = start - plain.count(" ", 0, start)
    last = end - 1 - plain.count(" ", 0, end - 1)
    return _place(said, first), _place(said, last) + 1


def _place(said: str, number: int) -> int:
    """Where the character of this number stands, white space not counted."""
    start, end = 0, len(said)
    while end - start > 1:
        middle = (start + end) // 2
        inside = len("".join(said[start:middle].split()))
        if number < inside:
            end = middle
        else:
            number -= inside
            start = middle
    return start
