"""Promises of single turns, each with its deadline: of its clause, its sentence, or what was said just beside it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ingest.analysis.conversation import Conversation, Turn
from ingest.analysis.findings import Quote
from ingest.analysis.rules import commitments_english, commitments_russian
from ingest.analysis.rules.commitments_anchors import Hint, find_hint, is_counted_from, is_day, on_the_day
from ingest.analysis.rules.commitments_clauses import Clause, Found, Rules, split
from ingest.analysis.rules.deadlines import Deadline, choose, find_deadlines
from ingest.analysis.rules.deadlines_tokens import bag, lower

_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_SUBORDINATE = bag(
    "что чтобы как когда где кто почему сколько который которую которое какой какая какое какие so that once when as "
    "which until whether what why how who"
)
# Ordered or booked for a day, which is not the day by when it is done.
_BOOKING = bag("заказать забронировать записать назначить запланировать book schedule order reserve arrange pencil")
_FOR_A_DAY = re.compile(r"(?:на|for) (?!.{0,30}(?:недел|днях|week))", re.IGNORECASE)
_ONCE = re.compile(
    r"\b(?:как только|как (?:[а-яё]{2,14}(?:[еию]т|ут|ят|[еи]м|[уюёе]))(?=\W)|once|as soon as|when)\b", re.IGNORECASE
)
_CORRECTS = bag("тогда значит лучше давайте хорошо окей ок then okay ok alright so right instead")
_SMALL = bag("ну да угу it is the it's at about say yeah yes we i в к на около и")
_MOVES = bag("contact come be быть")
_FULL_STOPS = frozenset(".!?…")
_LONGEST_QUOTE = 30  # words
_LONGEST_ANSWER = 14
_LONGEST_FRAGMENT = 7  # words of a sentence that says only when
_LONGEST_AFTER = 80  # characters
_LONGEST_CORRECTION = 9
_FARTHEST_AGREED = 10  # turns back
_LONGEST_LINE = 300  # characters of a turn that a recogniser may have broken
_MOST_JOINED = 8  # turns
_SOON_MIN = 4
_CACHED = 16


@dataclass(frozen=True, slots=True)
class Block:
    """Turns of one voice that the recogniser took apart, as one text. `starts` are where each begins in it."""

    label: str | None
    text: str
    turns: tuple[Turn, ...]
    starts: tuple[int, ...]

    def quote(self, start: int, end: int) -> Quote:
        """The part of it in the turn that has most of it: a quote is of one turn."""
        shares = []
        for turn, begins in zip(self.turns, self.starts, strict=True):
            first, last = max(start, begins), min(end, begins + len(turn.text))
            shares.append((last - first, turn.text[first - begins : last - begins] if last > first else "", turn))
        _, text, turn = max(shares, key=lambda share: share[0])
        return Quote(text.strip(), turn.idx, turn.label)


@dataclass(frozen=True, slots=True)
class Promise:
    """Said in `block` from `start` to `end`."""

    block: Block
    found: Found
    start: int
    end: int
    deadline: Deadline | None


def blocks(conversation: Conversation) -> list[Block]:
    """In chats and mails every message is one: only a recogniser takes sentences apart."""
    runs: list[list[Turn]] = []
    spoken = conversation.kind not in ("chat", "email")
    for turn in conversation.turns:
        if spoken and runs and _goes_on(runs[-1], turn):
            runs[-1].append(turn)
        else:
            runs.append([turn])
    found = []
    for run in runs:
        starts = [0]
        for turn in run[:-1]:
            starts.append(starts[-1] + len(turn.text) + 1)
        found.append(Block(run[0].label, " ".join(turn.text for turn in run), tuple(run), tuple(starts)))
    return found


def _goes_on(run: list[Turn], turn: Turn) -> bool:
    last = run[-1]
    if last.label is None or turn.label != last.label:
        return False
    return len(run) < _MOST_JOINED and len(last.text) < _LONGEST_LINE and last.text.rstrip()[-1:] not in _FULL_STOPS


class Reader:
    """Reads block by block."""

    def __init__(self, conversation: Conversation, internal: bool) -> None:
        self.conversation = conversation
        self.blocks = blocks(conversation)
        self.internal = internal
        self._deadlines: dict[int, list[Deadline]] = {}

    def deadlines(self, at: int) -> list[Deadline]:
        """Those of a block, by where they begin."""
        if at not in self._deadlines:
            if len(self._deadlines) > _CACHED:
                self._deadlines.clear()
            block = self.blocks[at]
            said_at = _said_at(self.conversation, block.turns[0])
            self._deadlines[at] = find_deadlines(block.text, said_at, self.conversation.zone, _language(block.text))
        return self._deadlines[at]

    def read(self, at: int) -> Iterator[Promise]:
        """The promises of a block in order; "проверю ... и перезвоню" is one."""
        reading = _Reading(self.blocks[at].text, self.internal)
        if reading.promising:
            reading.know(self.deadlines(at))
        pending: Promise | None = None
        used = -1
        for number in reading.promising:
            promise = self._promise(at, reading, number, used, pending)
            if promise is None:
                continue
            used = promise.end
            before = reading.clauses[number - 1].end if number else -1
            if pending is not None and before <= pending.end and _joins(pending, promise):
                pending = _joined(pending, promise)
                continue
            if pending is not None:
                yield pending
            pending = promise
        if pending is not None:
            yield self._corrected(at, pending) if reading.ends_with(pending.end) else pending

    def _promise(self, at: int, reading: _Reading, number: int, used: int, last: Promise | None) -> Promise | None:
        clause, found = reading.clauses[number], reading.hits[number]
        assert found is not None
        start, end = reading.extent(number, used)
        text = self.blocks[at].text
        hint = find_hint(text, start, end, found.verbs)
        deadline = choose(_meant(reading.holding(clause.start, clause.end), found, hint, text))
        if found.strength in ("firm", "dated"):
            if deadline is None or deadline.minutes is None:
                wide = _meant(reading.holding(start, end), found, hint, text)
                deadline = choose([deadline, *(one for one in wide if one.only_clock)] if deadline else wide)
            if deadline is None and hint is not None:
                agreed = self._agreed(at, reading, hint)
                deadline = on_the_day(agreed, hint) if agreed else None
            elif deadline is None and found.arrives and last is not None and last.found.arrives:
                deadline = last.deadline
            elif deadline is None and not _ONCE.search(text, reading.since(number), end):
                deadline = reading.beside(number) or self._around(at, reading, number)
            if deadline is not None and found.habit and deadline.only_clock:
                return None
        if found.strength == "limit" and not (deadline and deadline.by):
            return None
        counted = deadline is None and found.strength == "dated" and is_counted_from(text, start, end)
        if (
            found.strength != "firm"
            and not counted
            and (deadline is None or (_at_once(deadline) and not found.arrives))
        ):
            return None
        if deadline is not None and start <= deadline.start < end and reading.names(deadline):
            end = max(end, deadline.end)
        return Promise(self.blocks[at], found, start, end, deadline)

    def _agreed(self, at: int, reading: _Reading, hint: Hint) -> Deadline | None:
        """The day that was spoken of last before."""
        past = bisect_left(reading.starts, hint.start)
        said = [one for one in reading.deadlines[max(0, past - 20) : past] if is_day(one)]
        if said:
            return said[-1]
        for other in range(at - 1, max(-1, at - 1 - _FARTHEST_AGREED), -1):
            said = [one for one in self.deadlines(other)[-20:] if is_day(one)]
            if said:
                return said[-1]
        return None

    def _corrected(self, at: int, promise: Promise) -> Promise:
        """With the time that was settled just after: "в пятницу наберу" "утром лучше" "тогда в десять"."""
        label, deadline = promise.block.label, promise.deadline
        if deadline is None or label is None or not _MOVES.intersection(promise.found.verbs):
            return promise
        for other in range(at + 2, min(at + 4, len(self.blocks))):
            block = self.blocks[other]
            words = lower(block.text[:_LONGEST_LINE]).replace(",", " ").split()
            if block.label != label or len(words) > _LONGEST_CORRECTION or block.text.rstrip().endswith("?"):
                continue
            settled = choose(self.deadlines(other))
            if settled is not None and self._only_corrects(other):
                if settled.only_clock:
                    settled = replace(settled, iso=deadline.iso[:10] + settled.iso[10:])
                return replace(promise, deadline=settled)
        return promise

    def _only_corrects(self, at: int) -> bool:
        """Whether nothing is said but a time, and a word that settles it."""
        rest = lower(self.blocks[at].text)
        for deadline in reversed(self.deadlines(at)):
            rest = rest[: deadline.start] + " " + rest[deadline.end :]
        words = {word.strip(".,!—-") for word in rest.split()} - {""}
        return bool(words & _CORRECTS) and words <= _CORRECTS | _SMALL

    def _around(self, at: int, reading: _Reading, number: int) -> Deadline | None:
        """A deadline that was said in a turn beside this one."""
        if reading.clauses[number].sentence == reading.clauses[-1].sentence:
            deadline = self._following(at)
            if deadline is not None:
                return deadline
        return self._preceding(at, reading, number)

    def _following(self, at: int) -> Deadline | None:
        """What the same voice goes on with, perhaps after an "aha" of the other."""
        label = self.blocks[at].label
        for other in range(at + 1, min(at + 3, len(self.blocks))):
            words = self.blocks[other].text[:_LONGEST_LINE].split()
            if self.blocks[other].label == label and label is not None:
                found = self.deadlines(other)
                begins = bool(found) and found[0].start <= 12 and len(words) <= _LONGEST_FRAGMENT
                begins = begins and not _Reading(self.blocks[other].text, self.internal).promising
                return found[0] if begins else None
            if len(words) > 3:
                return None
        return None

    def _preceding(self, at: int, reading: _Reading, number: int) -> Deadline | None:
        """What was asked or agreed just before: "К пятнице сделаешь?" "Сделаю."; for arrivals a little earlier too."""
        found = reading.hits[number]
        assert found is not None
        words = sum(len(clause.tokens) for clause in reading.clauses[: min(number, _LONGEST_ANSWER) + 1])
        for other in range(at - 1, max(-1, at - (6 if found.arrives else 2)), -1):
            block = self.blocks[other]
            same = block.label == self.blocks[at].label
            beginning = same and len(block.text[:_LONGEST_LINE].split()) <= _LONGEST_FRAGMENT
            text = block.text.rstrip()
            asked = not same and text[-1:] == "?" and words <= _LONGEST_ANSWER
            if found.arrives or beginning or asked:
                question = max(text.rfind(mark, 0, len(text) - 1) for mark in ".!?") if asked else -1
                deadlines = self.deadlines(other)
                deadline = choose([one for one in deadlines[-20:] if found.arrives or one.start > question])
                if deadline is not None:
                    return deadline
        return None


class _Reading:
    """The clauses of a text, what each promises, and where sentences and deadlines are."""

    def __init__(self, text: str, internal: bool) -> None:
        self.rules: Rules = commitments_russian if _language(text) == "ru" else commitments_english
        self.clauses = split(text, self.rules)
        self.deadlines: list[Deadline] = []
        self.starts: list[int] = []
        self.hits: list[Found | None] = []
        self.sentences: dict[int, int] = {}  # the first clause of each
        for number, clause in enumerate(self.clauses):
            first = self.sentences.setdefault(clause.sentence, number)
            self.hits.append(self.rules.find(clause, tuple(self.clauses[max(first, number - 3) : number]), internal))
        for number, clause in enumerate(self.clauses[1:]):
            hit = self.hits[number]
            if hit is None or clause.sentence != self.clauses[number].sentence:
                continue
            if self.rules.is_offer(clause) or (hit.strength != "firm" and self.rules.disclaims(clause.words)):
                self.hits[number] = None
        self.promising = [number for number, found in enumerate(self.hits) if found is not None]

    def know(self, deadlines: list[Deadline]) -> None:
        """Takes the text's deadlines, which nobody needs where nothing is promised."""
        self.deadlines = deadlines
        self.starts = [one.start for one in deadlines]

    def holding(self, start: int, end: int) -> list[Deadline]:
        """The deadlines that begin between."""
        return self.deadlines[bisect_left(self.starts, start) : bisect_left(self.starts, end)]

    def names(self, deadline: Deadline) -> bool:
        """Whether it is said in this text, not in another."""
        return deadline in self.holding(deadline.start, deadline.start + 1)

    def ends_with(self, end: int) -> bool:
        """Whether little is said after."""
        return self.clauses[-1].end - end < _LONGEST_AFTER

    def since(self, number: int) -> int:
        """Where its sentence begins, or the third clause before it."""
        first = max(self.sentences[self.clauses[number].sentence], number - 3)
        return self.clauses[first].start

    def extent(self, number: int, used: int) -> tuple[int, int]:
        """The clause and those beside it in its sentence that only say when, or what about."""
        clauses, first, last = self.clauses, number, number
        sentence = clauses[number].sentence
        words = len(clauses[number].tokens)
        while first and clauses[first - 1].sentence == sentence and clauses[first - 1].start > used:
            other = clauses[first - 1]
            if self.hits[first - 1] or not self._says_when(other) or words > _LONGEST_QUOTE:
                break
            first -= 1
            words += len(other.tokens)
        while last + 1 < len(clauses) and clauses[last + 1].sentence == sentence and self.hits[last + 1] is None:
            other = clauses[last + 1]
            words += len(other.tokens)
            if words > _LONGEST_QUOTE or not (other.words[0] in _SUBORDINATE or self._says_when(other)):
                break
            last += 1
        return clauses[first].start, clauses[last].end

    def _says_when(self, clause: Clause) -> bool:
        return len(clause.tokens) <= _LONGEST_FRAGMENT + 1 and self.rules.is_fragment(clause) and self._within(clause)

    def _within(self, clause: Clause) -> bool:
        """Whether a deadline begins in it or goes on in it: "во вторник, четырнадцатого, в шесть"."""
        if self.holding(clause.start, clause.end):
            return True
        at = bisect_left(self.starts, clause.start)
        return at > 0 and self.deadlines[at - 1].end > clause.start

    def beside(self, number: int) -> Deadline | None:
        """A deadline in a sentence of its own beside the promise: "Завтра до обеда. Перезвоню."."""
        found, sentence = self.hits[number], self.clauses[number].sentence
        assert found is not None
        for other in (sentence - 1, sentence + 1):
            first = self.sentences.get(other)
            if first is None:
                continue
            past = self.sentences.get(other + 1, len(self.clauses))
            if past - first > _LONGEST_FRAGMENT or any(self.hits[first:past]):
                continue
            clauses = self.clauses[first:past]
            short = sum(len(one.tokens) for one in clauses) <= _LONGEST_FRAGMENT
            fragment = short and all(self.rules.is_fragment(one) for one in clauses)
            if fragment or (found.arrives and other < sentence):
                deadline = choose(self.holding(clauses[0].start, clauses[-1].end))
                if deadline is not None:
                    return deadline
        return None


def _meant(deadlines: list[Deadline], found: Found, hint: Hint | None, text: str) -> list[Deadline]:
    """Without a notice that is given ("позвонит за полчаса"), days that are booked and what only hints at a day."""
    if hint is not None:
        deadlines = [one for one in deadlines if one.end <= hint.start or one.start >= hint.end]
    if "contact" in found.verbs:
        deadlines = [one for one in deadlines if not one.text.lower().startswith("за ")]
    if found.strength == "firm" and _BOOKING.intersection(found.verbs):
        deadlines = [
            one
            for one in deadlines
            if not _FOR_A_DAY.match(one.text) and not _FOR_A_DAY.match(text[max(0, one.start - 4) : one.end])
        ]
    return deadlines


def _joins(last: Promise, promise: Promise) -> bool:
    if promise.found.joins == "so":
        return last.deadline is None or promise.deadline is None or last.deadline == promise.deadline
    if promise.found.joins == "list":
        return last.deadline is None and promise.deadline is not None
    if promise.found.joins == "then":
        own = promise.deadline
        return last.deadline is not None and own in (None, last.deadline)
    return bool(promise.found.joins) and not (last.deadline and promise.deadline and last.deadline != promise.deadline)


def _joined(first: Promise, second: Promise) -> Promise:
    verbs, topics = first.found.verbs | second.found.verbs, first.found.topics | second.found.topics
    found = replace(first.found, verbs=verbs, topics=topics)
    return replace(first, found=found, end=second.end, deadline=second.deadline or first.deadline)


def _at_once(deadline: Deadline) -> bool:
    return deadline.minutes is not None and deadline.minutes <= _SOON_MIN


def _said_at(conversation: Conversation, turn: Turn) -> datetime:
    if turn.at is not None:
        return turn.at
    return conversation.occured_at + timedelta(milliseconds=turn.start_ms or 0)


def _language(text: str) -> str:
    sample = text[:2000]
    return "ru" if len(_CYRILLIC.findall(sample)) >= len(_LATIN.findall(sample)) else "en"
