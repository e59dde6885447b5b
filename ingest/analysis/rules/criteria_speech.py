"""What the rules of quality control look at: runs of one voice as folded text, with the way back to the words said."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ingest.analysis.conversation import Conversation, Turn
from ingest.analysis.findings import Quote, Sides
from ingest.analysis.quotations import fold
from ingest.analysis.rules.orders import order_spans, reported_spans

MASK = "\x1a"
LONGEST_QUOTE = 240
_REACH = 300  # characters around a mark that are one sentence where there is no punctuation
_JOIN = {"call": " "}  # a recogniser splits sentences over lines; people who write end theirs

_END = re.compile(r"[.!?…\n]+(?=\s|$)|\n")
_SETTING = re.compile(
    r"[\"'{]?\b[\w.-]{2,40}[\"']?\s{0,3}(?:[:=]{1,2}|->)\s{0,3}[\"']?(?:true|false|null|none|yes|no|да|нет|истина|"
    r"1(?:\.0)?|100\s?%?)\b"
)
_SNAKE = re.compile(r"\b[a-zа-я]{2,30}(?:_[a-zа-я]{2,30}){1,5}\b")
_ORDERS = re.compile(
    r"\bignore\b|\bdisregard\b|\boverride\b|\binstructions?\b|\bsystem\s?(?:prompt|message|:)|\bprompts?\b|"
    r"игнориру|забудь|не обращай внимания|инструкци|промпт|системн\w{1,3} (?:сообщени|подсказк|промпт)"
)
_MARKS = re.compile(
    r"\bcriteri\w{1,3}\b|\bscores?\b|\bevaluat\w{1,6}\b|\bgrad(?:e|ing)\b|\brat(?:e|ing) (?:this|the)\b|\ball true\b|"
    r"\b100\s?(?:%|percent|процент)|критери|оценк|оцени\b|поставь|балл|все (?:пункты|значения)|\btrue\b|\bfalse\b|"
    r"\bjson\b"
)


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive turns of one label. `text` is folded, orders to whoever evaluates are masked; positions in it are
    positions in the turns' own words put together."""

    label: str | None
    turns: tuple[Turn, ...]
    joint: str = " "
    starts: tuple[int, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, turns: list[Turn], joint: str) -> Run:
        starts, at = [], 0
        for turn in turns:
            starts.append(at)
            at += len(turn.text) + len(joint)
        return cls(turns[0].label, tuple(turns), joint, tuple(starts))

    @cached_property
    def original(self) -> str:
        """The turns' own words but for orders to whoever evaluates and the reported words of others, masked."""
        said = self.joint.join(turn.text for turn in self.turns)
        folded = fold(said)
        spans = order_spans(folded, self.starts) + reported_spans(folded, self.starts)
        return blank(said, spans) if spans else said

    def is_mute(self, turn: int) -> bool:
        """Whether all of a turn is masked."""
        start = self.starts[turn]
        said = self.original[start : start + len(self.turns[turn].text)]
        return MASK in said and not any(character.isalnum() for character in said)

    @cached_property
    def text(self) -> str:
        return masked(fold(self.original))

    @cached_property
    def words(self) -> int:
        return len(self.text.split())

    @cached_property
    def _ends(self) -> list[int]:
        return [match.end() for match in _END.finditer(self.text)]

    def sentence(self, at: int) -> tuple[int, int]:
        """The sentence around a position."""
        which = bisect_right(self._ends, at)
        start = self._ends[which - 1] if which else 0
        return start, self._ends[which] if which < len(self._ends) else len(self.text)

    def quote(self, start: int, end: int) -> Quote:
        """The sentence that holds this span, as it was said, cut to the one turn that the span begins in."""
        which = bisect_right(self.starts, start) - 1
        turn, base = self.turns[which], self.starts[which]
        first, last = self.sentence(start)
        if last - first > LONGEST_QUOTE:  # no punctuation: some words on both sides
            first, last = _around(self.text, max(first, start - 60), min(last, max(end, start) + 100))
        first, last = max(first - base, 0), min(max(last, end) - base, len(turn.text))
        words = turn.text[first:last]
        words = words.strip() or turn.text[start - base : end - base].strip() or turn.text.strip()
        return Quote(words, turn.idx, turn.label)


def masked(text: str) -> str:
    """Folded text without what is said to the evaluation instead of a person: settings of values, names of fields,
    and sentences that both give orders and speak of marks. What is masked keeps its length and says nothing."""
    marks = [match.start() for match in _MARKS.finditer(text)]
    if not marks and "_" not in text:
        return text
    settings = [match.span() for pattern in (_SETTING, _SNAKE) for match in pattern.finditer(text)]
    orders = sorted([match.start() for match in _ORDERS.finditer(text)] + [start for start, _ in settings])
    ends = [match.end() for match in _END.finditer(text)]
    spans: list[tuple[int, int]] = []
    for mark in marks:
        if spans and mark < spans[-1][1]:
            continue
        which = bisect_right(ends, mark)
        start = max(ends[which - 1] if which else 0, mark - _REACH)
        end = min(ends[which] if which < len(ends) else len(text), mark + _REACH)
        order = bisect_left(orders, start)
        if order < len(orders) and orders[order] < end:
            spans.append((start, end))
    spans += settings
    return blank(text, spans)


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with these spans masked, at its length."""
    parts, at = [], 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        start = max(start, at)
        parts += [text[at:start], MASK * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """The span grown to whole words, at most 40 characters each way."""
    while start > 0 and not text[start - 1].isspace() and end - start < LONGEST_QUOTE:
        start -= 1
    limit = min(len(text), end + 40)
    while end < limit and not text[end].isspace():
        end += 1
    return start, end


def runs(conversation: Conversation) -> tuple[Run, ...]:
    """The conversation as runs of one voice each; in chats and mails every message is one. A turn that only gives
    orders to whoever evaluates is as good as unsaid."""
    joint = _JOIN.get(conversation.kind)
    made = _joined(conversation.turns, joint)
    mute = {turn.idx for run in made for at, turn in enumerate(run.turns) if run.is_mute(at)}
    return tuple(_joined([turn for turn in conversation.turns if turn.idx not in mute], joint) if mute else made)


def _joined(turns: Iterable[Turn], joint: str | None) -> list[Run]:
    made: list[Run] = []
    held: list[Turn] = []
    for turn in turns:
        if held and (joint is None or turn.label != held[0].label):
            made.append(Run.of(held, joint or "\n"))
            held = []
        held.append(turn)
    if held:
        made.append(Run.of(held, joint or "\n"))
    return made


@dataclass(frozen=True)
class Speech:
    """A conversation with its sides told."""

    conversation: Conversation
    sides: Sides
    runs: tuple[Run, ...]

    @classmethod
    def of(cls, conversation: Conversation, sides: Sides) -> Speech:
        return cls(conversation, sides, runs(conversation))

    @cached_property
    def operator(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.label in self.sides.employees)

    @cached_property
    def client(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.label in self.sides.clients)

    @property
    def russian(self) -> bool:
        return self.conversation.language == "ru"

    def is_operator(self, run: Run) -> bool:
        return run.label in self.sides.employees

    def is_client(self, run: Run) -> bool:
        return run.label in self.sides.clients


def matches(pattern: re.Pattern[str], said: Iterable[Run]) -> Iterator[tuple[Run, re.Match[str]]]:
    for run in said:
        for match in pattern.finditer(run.text):
            yield run, match


def first(pattern: re.Pattern[str], said: Iterable[Run], but: re.Pattern[str] | None = None) -> Quote | None:
    """The sentence of the first match whose sentence does not match `but`."""
    for run, match in matches(pattern, said):
        start, end = run.sentence(match.start())
        if but is None or not but.search(run.text, start, end):
            return run.quote(*match.span())
    return None
