"""Cuts documents and conversations into the passages that are embedded, indexed and quoted.

A document's full text is its sections, each at its `start`, with line breaks between them (`join_sections`). A chunk is
a stretch of it: `full_text[chunk.start:chunk.end] == chunk.text`, always. A section's text begins with its own heading,
so that a question which is a heading stays with its answer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag.sentences import sentence_ends

MAX_CHARACTERS = 900
IDEAL_CHARACTERS = 750
# A shorter chunk says too little by itself: it is joined with its neighbour where they belong together.
SHORT_CHARACTERS = 300
OVERLAP_CHARACTERS = 150
SECTION_BREAK = "\n\n"

_Borders = tuple[list[int], ...]

TIMELINE_CHARACTERS = 700
TIMELINE_MAX_CHARACTERS = 1000
TIMELINE_OVERLAP_CHARACTERS = 250


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one heading (its own is the last of `title_path`) or on one page."""

    text: str
    title_path: tuple[str, ...]
    page: int | None
    start: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, with the headings that all of it is under and the page it begins on."""

    index: int
    text: str
    title_path: tuple[str, ...]
    page: int | None
    start: int
    end: int


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


def join_sections(sections: Sequence[Section]) -> str:
    """The full text that the sections' offsets refer to. Raises ValueError where they overlap."""
    parts: list[str] = []
    length = 0
    for section in sections:
        if section.start < length:
            raise ValueError(f"a section starts at {section.start}, before the one above it ends at {length}")
        parts.append("\n" * (section.start - length))
        parts.append(section.text)
        length = section.start + len(section.text)
    return "".join(parts)


def chunk_sections(sections: Sequence[Section]) -> list[Chunk]:
    """Cuts a document into chunks of at most 900 characters, at the highest border there is: section, paragraph, line,
    sentence, word.

    Only parts of one section overlap, by at most 150 characters of whole sentences or lines. Short neighbours under the
    same heading are joined. Every character that is not white space is in a chunk.
    """
    text = join_sections(sections)
    chunks: list[Chunk] = []
    for group in _join_short(sections):
        first, last = group[0], group[-1]
        path = _common_path(group)
        for start, end in _cut(text, first.start, last.start + len(last.text)):
            chunks.append(Chunk(len(chunks), text[start:end], path, first.page, start, end))
    return chunks


def _join_short(sections: Sequence[Section]) -> list[list[Section]]:
    """Groups sections to be one chunk each; a section over the bound stays alone and is cut later."""
    groups: list[list[Section]] = []
    for section in sections:
        if not section.text.strip():
            continue
        if groups and _span(groups[-1]) < SHORT_CHARACTERS and _may_join(groups[-1], [section]):
            groups[-1].append(section)
        else:
            groups.append([section])
    # A short one that found nobody behind it joins those before it.
    for at in range(len(groups) - 1, 0, -1):
        if _span(groups[at]) < SHORT_CHARACTERS // 2 and _may_join(groups[at - 1], groups[at]):
            groups[at - 1] += groups.pop(at)
    return groups


def _span(group: Sequence[Section]) -> int:
    return group[-1].start + len(group[-1].text) - group[0].start


def _may_join(before: Sequence[Section], after: Sequence[Section]) -> bool:
    """A chunk names one page, so what it cites must stand there."""
    fits = after[-1].start + len(after[-1].text) - before[0].start <= MAX_CHARACTERS
    return fits and before[0].page == after[-1].page and _belong_together(before[0], after[0])


def _belong_together(first: Section, second: Section) -> bool:
    """Siblings, or a section and one below it; sections without any heading always do."""
    shorter, longer = sorted((first.title_path, second.title_path), key=len)
    if len(shorter) == len(longer):
        return shorter[:-1] == longer[:-1]
    return shorter == longer[: len(shorter)]


def _common_path(sections: Sequence[Section]) -> tuple[str, ...]:
    path = sections[0].title_path
    for section in sections[1:]:
        same = 0
        for ours, theirs in zip(path, section.title_path, strict=False):
            if ours != theirs:
                break
            same += 1
        path = path[:same]
    return path


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Stretches of text[start:end] without outer white space, each at most MAX_CHARACTERS long."""
    start, end = _strip(text, start, end)
    stretches: list[tuple[int, int]] = []
    if start == end:
        return stretches
    if end - start <= MAX_CHARACTERS:
        return [(start, end)]
    borders = _borders(text, start, end)
    while end - start > MAX_CHARACTERS:
        cut = _best_cut(text, borders, start, end)
        stretches.append(_strip(text, start, cut))
        start = _strip(text, _overlap_start(borders, start, cut), end)[0]
    stretches.append((start, end))
    return stretches


def _borders(text: str, start: int, end: int) -> _Borders:
    """Offsets where text[start:end] may be cut, each list ascending, the best first: paragraphs, lines, sentences."""
    paragraphs: list[int] = []
    lines: list[int] = []
    position = start
    while (position := text.find("\n", position, end)) >= 0:
        after = position
        while after < end and text[after] == "\n":
            after += 1
        # What follows a question or a colon belongs to it.
        leads_on = text[position - 1] in "?:"
        if not leads_on:
            (paragraphs if after - position > 1 else lines).append(after)
        position = after
    sentences = [start + offset for offset in sentence_ends(text[start:end])]
    kept = [offset for offset in sentences if text[offset - 1] != "?"]
    return paragraphs, lines, kept, sentences


def _best_cut(text: str, borders: _Borders, start: int, end: int) -> int:
    """The best border that leaves between half and all of MAX_CHARACTERS in the chunk."""
    remaining = end - start
    parts = -(-remaining // IDEAL_CHARACTERS)
    ideal = start + min(remaining // parts, IDEAL_CHARACTERS)
    low, high = start + MAX_CHARACTERS // 2, start + MAX_CHARACTERS
    for level in borders:
        window = level[bisect_left(level, low) : bisect_right(level, high)]
        if window:
            return min(window, key=lambda offset: abs(offset - ideal))
    for position in range(high, low, -1):
        if text[position - 1].isspace():
            return position
    return high


def _overlap_start(borders: _Borders, start: int, cut: int) -> int:
    """Where the next chunk begins: at the cut between paragraphs, else a whole sentence or line or more before it."""
    paragraphs = borders[0]
    if (at := bisect_left(paragraphs, cut)) < len(paragraphs) and paragraphs[at] == cut:
        return cut
    low = max(cut - OVERLAP_CHARACTERS, start + 1)
    candidates = [level[at] for level in borders if (at := bisect_left(level, low)) < len(level) and level[at] < cut]
    return min(candidates, default=cut)


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


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
