"""Where a document may be cut: between paragraphs, list items, rows and lines of code before sentences and words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag.sentences import sentence_ends

MAX_CHARACTERS = 900
IDEAL_CHARACTERS = 750
OVERLAP_CHARACTERS = 150

PROSE, HEADING, LIST, TABLE, CODE = "prose", "heading", "list", "table", "code"

# A piece that ends before its neighbour, which must stay whole, is not worth being alone below this.
_ALONE_CHARACTERS = 150
# A line no longer than this above a list, a table or code introduces it.
_LEAD_CHARACTERS = 200
_ITEM = re.compile(r"^([ \t]*)(?:[-*•–—▪●◦·+]|\(?\d{1,4}(?:\.\d{1,4})*[.)]|\(?\w[.)])[ \t]", re.M)
_CELL_END = re.compile(r"(?:;| \|) ")


@dataclass(frozen=True, slots=True)
class Block:
    """What text[start:end] is. A table's rows begin at `body`; what is above them is its caption.

    `start_ms` and `end_ms` say when it is heard, from the start of the recording.
    """

    kind: str
    start: int
    end: int
    body: int = 0
    start_ms: int | None = None
    end_ms: int | None = None

    def moved(self, by: int) -> Block:
        return replace(self, start=self.start + by, end=self.end + by, body=self.body + by)


@dataclass(slots=True)
class _Borders:
    """Offsets, each list ascending. `whole` are the beginnings of rows and items, which are cut only if they alone are
    over the bound; `weak` part what belongs together; `cells` are those of rows over the bound."""

    paragraphs: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    nested: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)  # ends of sentences that are no questions
    sentences: list[int] = field(default_factory=list)
    weak: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    whole: set[int] = field(default_factory=set)
    tables: list[Block] = field(default_factory=list)

    @property
    def levels(self) -> tuple[list[int], ...]:
        return self.paragraphs, self.lines, self.nested, self.kept, self.sentences


def cut(text: str, start: int, end: int, blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Stretches of text[start:end] without outer white space, each at most MAX_CHARACTERS long."""
    start, end = strip(text, start, end)
    if start == end:
        return []
    if end - start <= MAX_CHARACTERS:
        return [(start, end)]
    stretches: list[tuple[int, int]] = []
    borders = _find_borders(text, start, end, blocks)
    fresh = start  # what comes before is in the stretch before
    while end - start > MAX_CHARACTERS:
        best = _good_cut(borders, start, end)
        if best is None and start < fresh:
            start = fresh  # an overlap that leaves no good border is given up
            continue
        best = best or _forced_cut(text, borders, start)
        stretches.append(strip(text, start, best))
        fresh = strip(text, best, end)[0]
        start = min(strip(text, _overlap_start(borders, start, best), end)[0], fresh)
    stretches.append((start, end))
    return stretches


def strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _good_cut(borders: _Borders, start: int, end: int) -> int | None:
    """The best border that leaves between half and all of MAX_CHARACTERS in the stretch; else the last one before what
    has to stay whole."""
    remaining = end - start
    parts = -(-remaining // IDEAL_CHARACTERS)
    ideal = start + min(remaining // parts, IDEAL_CHARACTERS)
    low, high = start + MAX_CHARACTERS // 2, start + MAX_CHARACTERS
    for level in borders.levels:
        window = level[bisect_left(level, low) : bisect_right(level, high)]
        if window:
            return min(window, key=lambda offset: abs(offset - ideal))
    latest = max((_last(level, start, low) for level in borders.levels), default=start)
    if latest > start and (latest in borders.whole or latest - start >= _ALONE_CHARACTERS):
        return latest
    return None


def first_cell(row: str) -> str:
    """The text of a row's first cell, with its column's name where the table has any."""
    return _CELL_END.split(row, maxsplit=1)[0].strip(" |;\n")


def _forced_cut(text: str, borders: _Borders, start: int) -> int:
    low, high = start + MAX_CHARACTERS // 2, start + MAX_CHARACTERS
    weak = _last(borders.weak, start, high)
    if weak > start and weak in borders.whole:
        return weak
    # The cells before one that is over the bound itself stay with its beginning, unless they say enough alone.
    for level, lowest in ((borders.weak, low), (borders.cells, low), (borders.cells, start + _ALONE_CHARACTERS)):
        if (found := _last(level, lowest, high)) > lowest:
            return found
    if (sentence := _last([start + end for end in sentence_ends(text[start:high])], low, high)) > low:
        return sentence
    for position in range(high, low, -1):
        if text[position - 1].isspace():
            return position
    return high


def _last(level: Sequence[int], low: int, high: int) -> int:
    """The last border above `low`, up to `high`; `low` where there is none."""
    at = bisect_right(level, high)
    return level[at - 1] if at and level[at - 1] > low else low


def _overlap_start(borders: _Borders, start: int, cut: int) -> int:
    """Where the next stretch begins: at a cut between paragraphs, or in or next to a table; else at a whole sentence
    or line or more before it."""
    paragraphs = borders.paragraphs
    if (at := bisect_left(paragraphs, cut)) < len(paragraphs) and paragraphs[at] == cut:
        return cut
    low = max(cut - OVERLAP_CHARACTERS, start + 1)
    at = bisect_left(borders.tables, cut, key=lambda table: table.start)
    if at:
        low = max(low, borders.tables[at - 1].end)
    candidates = [level[at] for level in borders.levels if (at := bisect_left(level, low)) < len(level)]
    return min((offset for offset in candidates if offset < cut), default=cut)


def _find_borders(text: str, start: int, end: int, blocks: Sequence[Block]) -> _Borders:
    borders = _Borders()
    before: Block | None = None
    for block in _tiles(text, start, end, blocks):
        if before is not None:
            leads = _leads_on(text, before, block)
            (borders.weak if leads else borders.paragraphs).append(block.start)
        if block.kind == TABLE:
            _add_rows(text, block, borders)
        elif block.kind == LIST:
            _add_items(text, block, borders)
        elif block.kind == CODE:
            _add_lines(text, block.start, block.end, borders.paragraphs, borders.lines)
        elif block.kind == HEADING:
            borders.weak += _line_starts(text, block.start, block.end)
        else:
            _add_prose(text, block.start, block.end, borders)
        before = block
    for level in (*borders.levels, borders.weak):
        level.sort()
    return borders


def _tiles(text: str, start: int, end: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, and what is between them as prose."""
    for block in blocks:
        if block.end <= start or block.start >= end:
            continue
        if text[start : block.start].strip():
            yield Block(PROSE, *strip(text, start, block.start))
        yield block
        start = block.end
    if text[start:end].strip():
        yield Block(PROSE, *strip(text, start, end))


def _leads_on(text: str, before: Block, block: Block) -> bool:
    """Whether the first of two neighbours ends by introducing the second."""
    if before.kind == HEADING or text[before.end - 1] in "?:":
        return True
    if before.kind != PROSE or block.kind not in (LIST, TABLE, CODE):
        return False
    last_line = text.rfind("\n", max(before.start, before.end - _LEAD_CHARACTERS - 1), before.end)
    return last_line >= 0 or before.end - before.start <= _LEAD_CHARACTERS


def _add_rows(text: str, table: Block, borders: _Borders) -> None:
    borders.tables.append(table)
    first = max(table.body, table.start)
    rows = [offset for offset in _line_starts(text, first, table.end) if offset > first]
    if first > table.start:  # a caption
        first += len(text[first : table.end]) - len(text[first : table.end].lstrip("\n"))
        borders.weak.append(first)
    borders.lines += [offset for offset in rows if offset > first]
    starts = sorted({first, *rows})
    borders.whole.update(starts)
    for row, row_end in zip(starts, [*starts[1:], table.end], strict=True):
        if row_end - row > MAX_CHARACTERS:
            borders.cells += [row + match.end() for match in _CELL_END.finditer(text[row:row_end])]


def _add_items(text: str, block: Block, borders: _Borders) -> None:
    """Items of the outermost list stay whole where they fit, else those inside them."""
    marks = [(block.start + match.start(), len(match[1])) for match in _ITEM.finditer(text[block.start : block.end])]
    if not marks:
        _add_prose(text, block.start, block.end, borders)
        return
    outermost = min(indent for _, indent in marks)
    items = [offset for offset, indent in marks if indent == outermost]
    first = items[0]
    if first > block.start:  # lines that introduce the items
        _add_prose(text, block.start, first, borders)
        for level in (*borders.levels, borders.weak):
            while level and level[-1] == first:
                level.pop()
        borders.weak.append(first)
    borders.whole.update(items)
    borders.lines += [offset for offset in items if offset > first]
    inner = [offset for offset, indent in marks if indent > outermost]
    for item, item_end in zip(items, [*items[1:], block.end], strict=True):
        if item_end - item <= MAX_CHARACTERS:
            continue
        parts = inner[bisect_left(inner, item) : bisect_left(inner, item_end)]
        borders.nested += parts
        borders.whole.update(parts)
        for part, part_end in zip([item, *parts], [*parts, item_end], strict=True):
            if part_end - part > MAX_CHARACTERS:
                _add_prose(text, part, part_end, borders)


def _add_prose(text: str, start: int, end: int, borders: _Borders) -> None:
    _add_lines(text, start, end, borders.paragraphs, borders.lines, borders.weak)
    sentences = [start + offset for offset in sentence_ends(text[start:end])]
    borders.sentences += sentences
    borders.kept += [offset for offset in sentences if text[offset - 1] != "?"]


def _add_lines(
    text: str, start: int, end: int, paragraphs: list[int], lines: list[int], leading: list[int] | None = None
) -> None:
    """`leading` takes what follows a question or a colon, where that belongs to it."""
    position = start
    while (position := text.find("\n", position, end)) >= 0:
        after = position
        while after < end and text[after] == "\n":
            after += 1
        if leading is not None and text[position - 1] in "?:":
            leading.append(after)
        else:
            (paragraphs if after - position > 1 else lines).append(after)
        position = after


def _line_starts(text: str, start: int, end: int) -> list[int]:
    starts: list[int] = []
    _add_lines(text, start, end, starts, starts)
    return [offset for offset in starts if offset < end]
