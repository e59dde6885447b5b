"""A table of a page: its spans filled, so that every row is whole, and its header told from its rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.documents.parsed import Outline

_MAX_COLUMNS = 1_000
# What a span repeats costs memory that the page's size does not bound.
_MAX_REPEATED_CHARACTERS = 200
_MAX_REPEATED_CELLS = 200_000


@dataclass(slots=True)
class _Span:
    text: str
    rows: int  # still to come


@dataclass(slots=True)
class HtmlTable:
    rows: list[list[str]] = field(default_factory=list)
    caption: str = ""
    _header_cells: list[int] = field(default_factory=list)  # of each row
    _cells: list[int] = field(default_factory=list)
    _spans: list[int] = field(default_factory=list)  # columns of each row's first cell, where it begins the row
    _starts_with_header: list[bool] = field(default_factory=list)
    _heads: int = 0  # leading rows that the page marks as the head
    _above: dict[int, _Span] = field(default_factory=dict)
    _repeated: int = 0

    def begin_row(self, *, in_head: bool) -> None:
        if self.rows:
            self._fill_to_end()
        self._heads += in_head and self._heads == len(self.rows)
        self.rows.append([])
        self._header_cells.append(0)
        self._cells.append(0)
        self._spans.append(0)
        self._starts_with_header.append(False)

    def add_cell(self, text: str, *, is_header: bool, columns: int, rows: int) -> None:
        """`rows` 0: to the end of the table."""
        if not self.rows:
            return
        row = self.rows[-1]
        self._fill()
        if not self._cells[-1]:
            self._starts_with_header[-1] = is_header
        self._cells[-1] += 1
        self._header_cells[-1] += is_header
        repeats = len(text) <= _MAX_REPEATED_CHARACTERS and self._repeated < _MAX_REPEATED_CELLS
        if not row:
            self._spans[-1] = min(max(columns, 1), _MAX_COLUMNS)
        for column in range(max(columns, 1)):
            if len(row) >= _MAX_COLUMNS:
                break
            if rows != 1 and repeats:
                self._above[len(row)] = _Span(text, (rows or 65_535) - 1)
            row.append(text if column == 0 or repeats else "")
            self._repeated += column > 0

    def add_to(self, outline: Outline) -> None:
        """Several rows of a head become one: "Moscow, price"."""
        self._fill_to_end()
        kept = [at for at, row in enumerate(self.rows) if any(row)]
        rows = [self.rows[at] for at in kept]
        # A cell over the whole width is a line between the rows, not a value of each column.
        width = max(map(len, rows), default=0)
        rows = [row[:1] if self._spans[at] == width else row for at, row in zip(kept, rows, strict=True)]
        heads = 0
        for at in kept:
            if at >= self._heads and not (self._cells[at] and self._header_cells[at] == self._cells[at]):
                break
            heads += 1
        if heads == len(rows):  # a header of nothing
            heads = min(heads, 1)
        titles, body = rows[:heads], rows[heads:]
        while len(titles) > 1 and len(titles[0]) == 1 < width:  # the table's name in the place of its first row
            self.caption = self.caption or titles[0][0]
            titles.pop(0)
        names = [[", ".join(dict.fromkeys(filter(None, column))) for column in _columns(titles)]] if titles else []
        first_names = bool(body) and all(self._starts_with_header[at] for at in kept[heads:])
        outline.table([*names, *body], has_header=bool(titles), caption=self.caption, header_column=first_names)

    def _fill(self) -> None:
        """Puts the cells in that reach down from the rows above, as far as they come next."""
        row = self.rows[-1]
        while (span := self._above.get(len(row))) is not None and len(row) < _MAX_COLUMNS:
            span.rows -= 1
            self._repeated += 1
            if span.rows <= 0 or self._repeated >= _MAX_REPEATED_CELLS:
                del self._above[len(row)]
            row.append(span.text)

    def _fill_to_end(self) -> None:
        if not self.rows or not self._cells[-1]:
            return
        self._fill()
        for column in sorted(column for column in self._above if column >= len(self.rows[-1])):
            self.rows[-1] += [""] * (column - len(self.rows[-1]))
            self._fill()


def _columns(rows: list[list[str]]) -> list[list[str]]:
    width = max(map(len, rows), default=0)
    return [[row[at] if at < len(row) else "" for row in rows] for at in range(width)]
