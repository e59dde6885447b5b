"""Clauses of a turn, and the promises that the rules of a language find in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from ingest.analysis.rules.deadlines_tokens import CARDINALS, ORDINALS, SYMBOLS, bag, lower

_TOKEN = re.compile(r"\d+(?:[.:,/]\d+){0,2}|[ap]\.m\b\.?|[^\W\d_]+(?:['-][^\W\d_]+){0,2}|\n|[^\w\s]")
_ENDS = frozenset(".!?…\n")
_BREAKS = frozenset(",;:()—–")
_TAGS = bag("хорошо ладно договорились ок окей okay ok alright right да good идет годится")
_OR = bag("или либо or ли whether разве неужели")
_ASKS_WHOLLY = _OR | bag(
    "как когда где куда сколько почему зачем кто что какой какая какие правильно верно скажите подскажите а can could "
    "would should shall will do does is are am what when where why who how which did have has"
)
LONGEST_CLAUSE = 40
Strength = Literal["firm", "dated", "own", "limit", "none"]


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """Words between commas, conjunctions that open a new subject, and ends of sentences. `asks` where the sentence is a
    question; `sentence` is its number in the turn."""

    tokens: tuple[Token, ...]
    sentence: int
    asks: bool

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens)

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


@dataclass(frozen=True, slots=True)
class Found:
    """What a clause promises: firm, dated (only where a deadline is said), own (only where the clause itself says it),
    limit (only where it says until when). `verbs` and `topics` tell promises apart; `arrives`
    where somebody comes, at a time that was agreed before; `company` where it is said for the company; `joins` how it
    goes on with the clause before: "and" the same person does, "list" where only the
    last of them has a deadline, "so" comes of it, or "then" is a step of the same; `habit` where it may
    be what is done every day ("отгружаю в шесть"), unless a day is said."""

    strength: Strength
    verbs: frozenset[str]
    topics: frozenset[str] = frozenset()
    arrives: bool = False
    company: bool = False
    joins: Literal["", "and", "list", "so", "then"] = ""
    habit: bool = False


class Rules(Protocol):
    """What differs by language: which conjunctions before which words open a clause, where a clause ends in speech that
    was written down without commas, and what a clause promises."""

    OPENERS: Collection[str]
    SUBJECTS: Collection[str]

    def breaks(self, current: Sequence[Token], token: Token) -> bool: ...

    def is_fragment(self, clause: Clause) -> bool: ...

    def is_offer(self, clause: Clause) -> bool: ...

    def disclaims(self, words: tuple[str, ...]) -> bool: ...

    def find(self, clause: Clause, before: tuple[Clause, ...], internal: bool) -> Found | None: ...


def split(text: str, rules: Rules) -> list[Clause]:
    """The clauses in order; quoted lines of a mail are left out."""
    clauses: list[Clause] = []
    for number, sentence in enumerate(_sentences(text)):
        words = [token for token in sentence if token.text not in _ENDS]
        asks = sentence[-1].text == "?" or any(token.text == "?" for token in sentence[-2:])
        if asks and words and words[-1].text in _TAGS and len(words) > 3:
            asks = False  # "завтра перезвоню, хорошо?"
        current: list[Token] = []
        first = len(clauses)

        def close(current: list[Token], number: int = number, asks: bool = asks) -> None:
            if current:
                clauses.append(Clause(tuple(current), number, asks))

        for at, token in enumerate(words):
            following = words[at + 1].text if at + 1 < len(words) else ""
            if token.text in _BREAKS or (token.text == "-" and current and token.start > words[at - 1].end):
                close(current)
                current = []
            elif (
                (token.text in rules.OPENERS and following in rules.SUBJECTS)
                or len(current) >= LONGEST_CLAUSE
                or (current and rules.breaks(current, token))
            ):
                close(current)
                current = [token]
            else:
                current.append(token)
        close(current)
        if asks and len(clauses) > first + 1 and not _ASKS_WHOLLY.intersection((words[0].text, *_texts(words) & _OR)):
            # "Счёт занесу сегодня, подпишешь?"
            clauses[first:-1] = [replace(clause, asks=False) for clause in clauses[first:-1]]
    return clauses


def _texts(tokens: Sequence[Token]) -> set[str]:
    return {token.text for token in tokens}


def _sentences(text: str) -> list[list[Token]]:
    sentences: list[list[Token]] = [[]]
    quoted, line_start = False, True
    for found in _TOKEN.finditer(lower(text)):
        token = Token(found.group(), found.start(), found.end())
        if line_start and token.text == ">":
            quoted = True
        line_start = token.text == "\n"
        if line_start:
            quoted = False
        if quoted:
            continue
        if sentences[-1] or token.text not in _ENDS:
            sentences[-1].append(token)
        if token.text in _ENDS and sentences[-1]:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def topics(words: Collection[str]) -> frozenset[str]:
    """What a promise is about, by the beginnings of its words, so that cases and plurals do not matter."""
    return frozenset(
        word[:5]
        for word in words
        if len(word) > 2 and word not in SYMBOLS and word not in CARDINALS and word not in ORDINALS and word.isalpha()
    )


def strongest(strengths: Collection[Strength]) -> Strength:
    return next(one for one in ("firm", "dated", "own", "limit", "none") if one in strengths)
