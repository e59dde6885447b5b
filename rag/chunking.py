"""Cuts documents into the passages that are embedded, indexed and quoted.

A document's full text is its sections, each at its `start`, with line breaks between them (`join_sections`). A chunk is
a stretch of it: `full_text[chunk.start:chunk.end] == chunk.text`, always. A section's text begins with its own heading,
so that a question which is a heading stays with its answer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rag.borders import MAX_CHARACTERS, TABLE, Block, cut, first_cell

# A shorter chunk says too little by itself: it is joined with its neighbour where they belong together.
SHORT_CHARACTERS = 300
SECTION_BREAK = "\n\n"
_KEY_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one heading (its own is the last of `title_path`) or on one page.

    `blocks` say what its parts are, with offsets in `text`, in order; what is in none of them is prose.
    """

    text: str
    title_path: tuple[str, ...]
    page: int | None
    start: int
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, with the headings that all of it is under and the page it begins on.

    One that begins within a table has the table's caption as the last of them, and within a row the row's first cell
    behind it. `start_ms` and `end_ms` say when it is heard, where it is of a recording.
    """

    index: int
    text: str
    title_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    start_ms: int | None = None
    end_ms: int | None = None


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
    """Cuts a document into chunks of at most 900 characters, at the highest border there is: section, paragraph, row or
    list item, line, sentence, word.

    Rows of tables, and items of lists where they fit, are in one chunk. Only parts of one section overlap, by at most
    150 characters of whole sentences or lines, and those of a table do not. Short neighbours under the same heading are
    joined. Every character that is not white space is in a chunk.
    """
    text = join_sections(sections)
    chunks: list[Chunk] = []
    for group in _join_short(sections):
        first, last = group[0], group[-1]
        path = _common_path(group)
        blocks = [block.moved(section.start) for section in group for block in section.blocks]
        starts = [block.start for block in blocks]
        for start, end in cut(text, first.start, last.start + len(last.text), blocks):
            # Blocks do not overlap: those that the chunk touches stand together.
            begins = max(bisect_right(starts, start) - 1, 0)
            touched = [block for block in blocks[begins : bisect_left(starts, end)] if block.end > start]
            chunks.append(
                Chunk(
                    index=len(chunks),
                    text=text[start:end],
                    title_path=path + _caption(text, start, touched, path),
                    page=first.page,
                    start=start,
                    end=end,
                    start_ms=min((block.start_ms for block in touched if block.start_ms is not None), default=None),
                    end_ms=max((block.end_ms for block in touched if block.end_ms is not None), default=None),
                )
            )
    return chunks


def _caption(text: str, start: int, touched: Sequence[Block], path: tuple[str, ...]) -> tuple[str, ...]:
    if not touched or touched[0].kind != TABLE or not touched[0].start < start:
        return ()
    table = touched[0]
    caption = text[table.start : table.body].strip()
    names = (caption,) if caption and path[-1:] != (caption,) else ()
    row = max(text.rfind("\n", table.start, start) + 1, table.body, table.start)
    if not text[row:start].strip():
        return names
    # Of a row that is over the bound this is not the beginning: its first cell tells which row it is.
    return (*names, first_cell(text[row:start])[:_KEY_CHARACTERS])


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
