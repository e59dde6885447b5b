"""A conversation in parts that fit a model: numbered lines under neutral names, cut between turns where possible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingest.analysis.conversation import Conversation, Side
from ingest.analysis.findings import Sides
from ingest.analysis.safe_texts import SafeTexts
from rag.language_model import estimate_tokens
from rag.prompt_data import as_data

_NAMES: dict[str, dict[Side, str]] = {
    "ru": {"employee": "Сотрудник", "client": "Клиент", "unknown": "Голос"},
    "en": {"employee": "Employee", "client": "Client", "unknown": "Voice"},
}
_CHARS_A_TOKEN = 2  # what a piece of a huge turn is cut by at first; figures take a token each
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Part:
    """Lines `number. name: text`, safe to be quoted as data."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Names:
    """What the model calls the voices: never by labels or names that somebody chose."""

    by_label: Mapping[str, str]
    unlabelled: str

    def of(self, label: str | None) -> str:
        return self.by_label.get(label or "", self.unlabelled)

    def label(self, name: str) -> str | None:
        wanted = " ".join(name.split()).casefold()
        return next((label for label, given in self.by_label.items() if given.casefold() == wanted), None)


def name_voices(conversation: Conversation, sides: Sides) -> Names:
    """`Employee 1`, `Client 1`, `Voice 1` ..., in the conversation's language."""
    words = _NAMES[conversation.language]
    counts: dict[Side, int] = {}
    given: dict[str, str] = {}
    for label in conversation.labels:
        side = sides.of.get(label, "unknown")
        counts[side] = counts.get(side, 0) + 1
        given[label] = f"{words[side]} {counts[side]}"
    return Names(given, words["unknown"])


def cut(safe: SafeTexts, names: Names, max_tokens: int) -> Iterator[Part]:
    """The parts, one at a time, each of at most about `max_tokens`. No text, no part; what is not taken is not read."""
    lines: list[str] = []
    tokens = 0
    for line in _lines(safe, names, max_tokens):
        size = estimate_tokens(line) + 1
        if lines and tokens + size > max_tokens:
            yield Part("\n".join(lines), tokens)
            lines, tokens = [], 0
        lines.append(line)
        tokens += size
    if lines:
        yield Part("\n".join(lines), tokens)


def _lines(safe: SafeTexts, names: Names, max_tokens: int) -> Iterator[str]:
    room = max(max_tokens - 16, 16)
    for turn, text in zip(safe.conversation.turns, safe, strict=True):
        for piece in _pieces(_SPACES.sub(" ", as_data(text)).strip(), room):
            yield f"{turn.idx}. {names.of(turn.label)}: {piece}"


def _pieces(text: str, max_tokens: int) -> Iterator[str]:
    """`text`, or its pieces that fit, cut at a space where there is one near."""
    start = 0
    while start < len(text):
        end = min(start + max_tokens * _CHARS_A_TOKEN, len(text))
        while end - start > 1 and estimate_tokens(text[start:end]) > max_tokens:
            end = start + (end - start) * 2 // 3
        if end < len(text) and (space := text.rfind(" ", start + (end - start) // 2, end)) > 0:
            end = space
        yield text[start:end].strip()
        start = end
