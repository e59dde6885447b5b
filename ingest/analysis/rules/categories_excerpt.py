"""What of a conversation is read to tell what it is about: its pieces, about a sentence each, bounded in number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.analysis.conversation import Conversation, Side
from ingest.analysis.findings import Quote, Sides
from ingest.analysis.hostile import is_instruction
from ingest.analysis.rules.categories_cues import compile_phrase, plain

MAX_PIECES = 600
_MAX_TURN_CHARS = 20_000
_MAX_PIECE_WORDS = 32
_SPLIT = re.compile(r"(?<=[.!?…])[\"»”')]{0,3}\s+|[\n⏎]+")
_SPACED_WORD = re.compile(r"\S+")
_SUBJECT_IDX = -1

# Words that tell an engine, not the other side, what to do. They are no evidence of what a conversation is about.
_ORDERS = (
    ("ru", "игнорир _ инструкц|указан|правил|предыдущ|все"),
    ("ru", "забудь|забудьте _ инструкц|указан|правил"),
    (
        "ru",
        "категори* _ жалоб|продаж|поддержк|оплат|внутренн|продлен|complaint|sales|support|billing|supply|internal",
    ),
    ("ru", "системн* промпт|сообщени|инструкц|подсказк"),
    ("ru", "постав* _ балл|оценк|сто процентов|100"),
    ("ru", "отнес|отнести|классифиц|пометь|отметь|считай _ жалоб|продаж|категори|поддержк|разговор"),
    ("ru", "языков* модел|нейросет|для ии|промпт"),
    ("en", "ignore|disregard|forget|override _ instructions|instruction|rules|prompt|above|previous"),
    ("en", "system prompt|message|instruction|override"),
    ("en", "category is|must|should|equals|to|complaint|sales|support|billing|supply|internal|renewal|no_contact"),
    ("en", "classify|categorize|categorise|label|mark|tag _ as"),
    ("en", "language model|ai model|assistant must|assistant should|as an ai"),
    ("en", "score|rate|give|set _ 100|hundred percent|full marks|percent"),
)
_ORDER_PATTERNS = tuple(compile_phrase(phrase, language) for language, phrase in _ORDERS)


def is_order(words: str) -> bool:
    """Whether words that `plain` made speak to whoever analyses the text."""
    return any(pattern.search(words) for pattern in _ORDER_PATTERNS)


@dataclass(frozen=True, slots=True)
class Piece:
    """About a sentence. `text` is verbatim, `words` is what cues are looked for in; `said` counts the words that the
    same voice said before. `idx` is -1 for a mail's subject, which is nobody's."""

    idx: int
    label: str | None
    side: Side
    text: str
    words: str
    said: int

    def quote(self) -> Quote | None:
        return Quote(self.text, self.idx, self.label) if self.idx != _SUBJECT_IDX else None


def sentences(text: str) -> Iterator[str]:
    """Verbatim sentences, and runs of 32 words of what has no punctuation."""
    start = 0
    ends = [(found.start(), found.end()) for found in _SPLIT.finditer(text)]
    for end, following in [*ends, (len(text), len(text))]:
        sentence = text[start:end].strip()
        start = following
        if len(sentence) <= _MAX_PIECE_WORDS:
            if sentence:
                yield sentence
            continue
        words = list(_SPACED_WORD.finditer(sentence))
        for at in range(0, len(words), _MAX_PIECE_WORDS):
            run = words[at : at + _MAX_PIECE_WORDS]
            yield sentence[run[0].start() : run[-1].end()]


def side_of(conversation: Conversation, sides: Sides, label: str | None) -> Side:
    """By what is said, else by the person who is bound to the label."""
    if label is not None and label in sides.of:
        return sides.of[label]
    person = conversation.person_of(label)
    return person.side if person else "unknown"


def read(conversation: Conversation, sides: Sides) -> list[Piece]:
    """At most `MAX_PIECES`: of a long conversation the beginning, the end, and the longer pieces between, evenly."""
    pieces: list[Piece] = []
    said: dict[str | None, int] = {}
    known = {label: side_of(conversation, sides, label) for label in (*conversation.labels, None)}

    def add(idx: int, label: str | None, side: Side, text: str) -> None:
        for sentence in sentences(text[:_MAX_TURN_CHARS]):
            words = plain(sentence)
            if words.isspace():
                continue
            pieces.append(Piece(idx, label, side, sentence, words, said.get(label, 0) if idx != _SUBJECT_IDX else 0))
            if idx != _SUBJECT_IDX:
                said[label] = said.get(label, 0) + words.count(" ") - 1

    if conversation.subject.strip():
        add(_SUBJECT_IDX, None, "unknown", conversation.subject[:500])
    for turn in conversation.turns:
        add(turn.idx, turn.label, known.get(turn.label, "unknown"), turn.text)
    return [piece for piece in _bounded(pieces) if not (is_order(piece.words) or is_instruction(piece.text))]


def _bounded(pieces: list[Piece]) -> list[Piece]:
    if len(pieces) <= MAX_PIECES:
        return pieces
    first, last = pieces[: MAX_PIECES // 3], pieces[-MAX_PIECES // 3 :]
    between = pieces[MAX_PIECES // 3 : -MAX_PIECES // 3]
    room = MAX_PIECES - len(first) - len(last)
    step = -(-len(between) // room)
    # Of each run the longest: "yes" and "right" tell nothing.
    runs = (between[at : at + step] for at in range(0, len(between), step))
    return [*first, *(max(run, key=lambda piece: len(piece.words)) for run in runs), *last]
