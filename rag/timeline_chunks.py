"""Cuts conversations into windows of consecutive lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag.sentences import sentence_ends

TIMELINE_CHARACTERS = 700
TIMELINE_MAX_CHARACTERS = 1000
TIMELINE_OVERLAP_CHARACTERS = 250


@dataclass(frozen=True, slots=True)
class Line:
    """An utterance or message, by the one whom `label` names; times from the start of the conversation."""

    label: str
    text: str
    start_ms: int | None
    end_ms: int | None


@dataclass(frozen=True, slots=True)
class TimelineChunk:
    """Consecutive lines `first_idx` to `last_idx`, both included, as "NAME: words"; times are those of whole lines."""

    index: int
    text: str
    start_ms: int | None
    end_ms: int | None
    first_idx: int
    last_idx: int


class _Utterance(NamedTuple):
    """A line as it stands in a chunk, or a part of a line that is too long for one."""

    text: str
    idx: int
    asks: bool


def chunk_timeline(lines: Sequence[Line]) -> list[TimelineChunk]:
    """Cuts a conversation into windows of consecutive lines, about 700 and at most 1,000 characters long.

    A window begins with the last line of the one before it, unless that line is long; a question that would end a
    window goes with its answer. A line too long for a window is cut at its sentences. Lines without words are skipped.
    """
    utterances = [part for idx, line in enumerate(lines) for part in _utterances(line, idx)]
    chunks: list[TimelineChunk] = []
    first = 0  # the window's first utterance; those before `fresh` were in the window before it
    fresh = 0
    while fresh < len(utterances):
        last = fresh
        length = sum(len(each.text) + 1 for each in utterances[first : fresh + 1])
        while last + 1 < len(utterances):
            added = len(utterances[last + 1].text) + 1
            limit = TIMELINE_MAX_CHARACTERS if utterances[last].asks else TIMELINE_CHARACTERS
            if length + added > limit:
                break
            length += added
            last += 1
        if utterances[last].asks and last > fresh and last + 1 < len(utterances):
            last -= 1
        window = utterances[first : last + 1]
        spoken = lines[window[0].idx : window[-1].idx + 1]
        chunks.append(
            TimelineChunk(
                index=len(chunks),
                text="\n".join(each.text for each in window),
                start_ms=min((line.start_ms for line in spoken if line.start_ms is not None), default=None),
                end_ms=max((line.end_ms for line in spoken if line.end_ms is not None), default=None),
                first_idx=window[0].idx,
                last_idx=window[-1].idx,
            )
        )
        fresh = last + 1
        first = last if _can_repeat(utterances, last) else fresh
    return chunks


def _can_repeat(utterances: Sequence[_Utterance], last: int) -> bool:
    if last + 1 >= len(utterances):
        return False
    held = len(utterances[last].text)
    return held <= TIMELINE_OVERLAP_CHARACTERS and held + 1 + len(utterances[last + 1].text) <= TIMELINE_MAX_CHARACTERS


def _utterances(line: Line, idx: int) -> list[_Utterance]:
    text = " ".join(line.text.split())
    label = " ".join(line.label.split())[:100]
    prefix = f"{label}: " if label else ""
    if len(prefix) + len(text) <= TIMELINE_CHARACTERS:
        return [_Utterance(prefix + text, idx, text.endswith("?"))] if text else []
    parts: list[_Utterance] = []
    start = 0
    ends = [*sentence_ends(text), len(text)]
    room = TIMELINE_CHARACTERS - len(prefix)
    while start < len(text):
        end = start + room
        if end >= len(text):
            end = len(text)
        elif (at := bisect_right(ends, end)) and ends[at - 1] > start:
            end = ends[at - 1]
        elif (space := text.rfind(" ", start, end)) > start:
            end = space
        part = text[start:end].strip()
        parts.append(_Utterance(prefix + part, idx, part.endswith("?")))
        start = end + (text[end : end + 1] == " ")
    return parts
