"""A communication as plain text and as subtitles, with headings in a language of choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from api.export_words import HEADINGS, Language, clock, quoted, shown_number, when

_LONGEST_SUBTITLE_MS = 8_000
"""Of an utterance whose end nobody knows."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """`start_ms` is from the recording's start, `at` absolute, in the account's time zone."""

    who: str
    text: str
    start_ms: int | None = None
    end_ms: int | None = None
    at: datetime | None = None
    files: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fact:
    """`labels` name what it is a fact of; there may be none."""

    content: str
    labels: Sequence[str]

    def __str__(self) -> str:
        first, *others = self.labels or [""]
        names = ", ".join([first, *map(str.lower, others)])
        return f"{names}: {self.content}" if names else self.content


@dataclass(frozen=True, slots=True)
class Verdict:
    """On one criterion; `value` is None where it could not be decided."""

    name: str
    value: bool | float | None
    quote: str


@dataclass(frozen=True, slots=True)
class Quality:
    """By which scenario it was judged. `verdicts` begin with what was not met; `not_applicable` are names."""

    scenario: str
    score_pct: float | None
    verdicts: Sequence[Verdict]
    not_applicable: Sequence[str]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export shows. `subject` is a mail's, `people` are names with roles, `commitments` texts with deadlines;
    moments are in the account's time zone."""

    language: Language
    kind: str
    channel_type: str
    direction: str | None
    at: datetime
    duration_ms: int | None
    subject: str | None
    record_id: str | None
    category: str | None
    people: Sequence[tuple[str, str]]
    summary: str | None
    report: str | None
    facts: Sequence[Fact]
    commitments: Sequence[tuple[str, date | None]]
    quality: Quality | None
    turns: Sequence[Utterance]

    @property
    def words(self) -> dict[str, str]:
        return HEADINGS[self.language]


def moment_of(turn: Utterance, language: Language) -> str:
    """Where in the recording, or when."""
    if turn.start_ms is not None:
        return clock(turn.start_ms)
    return when(turn.at, language) if turn.at else ""


def title(exported: Exported) -> str:
    said = exported.words
    parts = [said[exported.kind]]
    if exported.direction and exported.kind == "call":
        parts.append(said[exported.direction])
    parts.append(when(exported.at, exported.language))
    if exported.duration_ms:
        parts.append(clock(exported.duration_ms))
    return ", ".join(parts)


def facts_about(exported: Exported) -> list[tuple[str, str]]:
    """What stands under the title: a name and what it is."""
    said = exported.words
    shown = []
    if exported.subject:
        shown.append((said["subject"], exported.subject))
    if exported.record_id:
        shown.append((said["record"], exported.record_id))
    if exported.category:
        shown.append((said["category"], exported.category))
    if exported.people:
        people = (f"{name} ({said[role]})" if said.get(role) else name for name, role in exported.people)
        shown.append((said["people"], ", ".join(people)))
    if exported.quality and exported.quality.score_pct is not None:
        shown.append((said["score"], f"{exported.quality.score_pct:.0f} %"))
    return shown


def sections(exported: Exported) -> list[tuple[str, list[str]]]:
    """What analysis found: a heading and its paragraphs."""
    said = exported.words
    found: list[tuple[str, list[str]]] = []
    if exported.summary:
        found.append((said["summary"], exported.summary.splitlines()))
    if exported.report:
        found.append((said["report"], exported.report.splitlines()))
    if exported.commitments:
        lines = [
            f"• {text.rstrip('.')} ({said['by']} {when(due, exported.language)})" if due else f"• {text}"
            for text, due in exported.commitments
        ]
        found.append((said["commitments"], lines))
    if exported.facts:
        found.append((said["facts"], [f"• {fact}" for fact in exported.facts]))
    if exported.quality:
        found.append((said["score"], _checklist(exported.quality, exported.language)))
    return found


def _checklist(quality: Quality, language: Language) -> list[str]:
    said = HEADINGS[language]
    results = {True: said["met"], False: said["missed"], None: said["undecided"]}
    lines = [quality.scenario]
    for verdict in quality.verdicts:
        value = verdict.value
        result = results[value] if value is None or isinstance(value, bool) else shown_number(value, language)
        lines.append(f"• {verdict.name}: {result}" + (f" — {quoted(verdict.quote, language)}" if verdict.quote else ""))
    if quality.not_applicable:
        lines.append(f"{said['not_applicable']}: {', '.join(quality.not_applicable)}")
    return lines


def as_txt(exported: Exported) -> str:
    lines = [title(exported), *(f"{name}: {value}" for name, value in facts_about(exported))]
    for heading, paragraphs in sections(exported):
        lines += ["", heading.upper(), *paragraphs]
    lines += ["", exported.words["text"].upper()]
    for turn in exported.turns:
        moment = moment_of(turn, exported.language)
        head = " ".join(part for part in (f"[{moment}]" if moment else "", turn.who) if part)
        said = " ".join([turn.text, *(f"[{name}]" for name in turn.files)]).strip()
        lines.append(f"{head}: {said}" if head else said)
    return "\n".join(lines) + "\n"


def as_srt(exported: Exported) -> str:
    """SubRip: numbered subtitles of what has a time, one after another. A blank line ends one, so texts have none."""
    timed = [turn for turn in exported.turns if turn.start_ms is not None and turn.text.strip()]
    blocks = []
    for number, turn in enumerate(timed, 1):
        start = turn.start_ms or 0
        end = turn.end_ms if turn.end_ms is not None and turn.end_ms > start else None
        if end is None:
            following = timed[number].start_ms if number < len(timed) else None
            end = min(following or start + _LONGEST_SUBTITLE_MS, start + _LONGEST_SUBTITLE_MS)
            end = max(end, start + 1)
        said = " ".join(turn.text.split())
        who = " ".join(turn.who.split())
        blocks.append(f"{number}\n{_srt_time(start)} --> {_srt_time(end)}\n{who + ': ' if who else ''}{said}\n")
    return "\n".join(blocks)


def _srt_time(ms: int) -> str:
    seconds, rest = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d},{rest:03d}"
