"""Tables of office documents: merged cells filled, headers found, and tables that only arrange a page read as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.documents.parsed import DocumentError, Outline

_MAX_COLUMNS = 2_000
_MAX_CELLS = 1_000_000
_MAX_REPEATED_CHARACTERS = 200
_MAX_HEADER_CHARACTERS = 2_000  # each row repeats them
_MAX_NAME_CHARACTERS = 100
_NUMBER = re.compile(r"[\d\s.,:%+()/-]+")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str


class Bullets(str):
    """A list, a line or more an item."""


def add_parts(parts: Iterable[str | Heading | Table], outline: Outline, *, in_box: bool = False) -> None:
    """Adds what a cell, note or text box holds. What stands in a box beside the text begins no section of it."""
    for part in parts:
        if isinstance(part, Table):
            part.add_to(outline)
        elif isinstance(part, Bullets):
            outline.bullets(part)
        elif isinstance(part, Heading) and not in_box:
            outline.heading(part.level, part.text)
        else:
            outline.block(part if isinstance(part, str) else part.text)


@dataclass(slots=True)
class Cell:
    """What a cell holds, in order, and over how many columns it goes."""

    parts: list[str | Heading | Table] = field(default_factory=list)
    span: int = 1
    is_continued: bool = False  # it is a part of the one above
    is_bold: bool = False

    @property
    def text(self) -> str:
        texts = (part if isinstance(part, str) else part.text for part in self.parts if not isinstance(part, Table))
        return "\n".join(text for text in texts if text)


@dataclass(slots=True)
class Table:
    """Rows as they come. `has_header` is what the document itself says of its first row, None where it does not."""

    has_header: bool | None = None
    header_rows: int = 0  # that the document marks as such
    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)
    parts: list[str | Heading | Table] = field(default_factory=list)
    characters: int = 0
    cells: int = 0
    _above: dict[int, str] = field(default_factory=dict)
    _bold: list[bool] = field(default_factory=list)  # of the first two rows

    def add_row(self, cells: Iterable[Cell], *, is_header: bool = False) -> None:
        """A cell merged with the one above repeats it, so that each row can be understood by itself; so does a header
        over several columns."""
        row: list[str] = []
        held: list[Cell] = []
        if is_header and self.header_rows == len(self.rows):
            self.header_rows += 1
        for cell in cells:
            column = len(row)
            if column >= _MAX_COLUMNS:
                break
            span = max(1, min(cell.span, _MAX_COLUMNS - column))
            text = self._above.get(column, "") if cell.is_continued else cell.text
            self._above[column] = text if len(text) <= _MAX_REPEATED_CHARACTERS else ""
            is_head = len(self.rows) < max(self.header_rows, 1)
            row += [text] + [text if is_head and len(text) <= _MAX_NAME_CHARACTERS else ""] * (span - 1)
            held.append(cell)
            if not cell.is_continued:
                self.parts += cell.parts
        self.rows.append(row)
        self.cells += len(row)
        if self.cells > _MAX_CELLS:
            raise DocumentError("too_large", f"A table of it has more than {_MAX_CELLS:,} cells.")
        self.characters += sum(map(len, row))
        if len(self._bold) < 2:
            written = [cell for cell in held if cell.text.strip()]
            self._bold.append(bool(written) and all(cell.is_bold for cell in written))

    @property
    def is_layout(self) -> bool:
        """Whether it arranges text and other tables, and holds no rows of data."""
        return max(map(len, self.rows), default=0) < 2 or any(not isinstance(part, str) for part in self.parts)

    def add_to(self, outline: Outline) -> None:
        if self.is_layout:
            if self.caption:
                outline.block(self.caption)
            add_parts(self.parts, outline)
            return
        outline.check_characters(self.characters)
        rows = self._with_one_header()
        outline.table(rows, has_header=self._first_names_columns(rows), caption=self.caption)

    def _with_one_header(self) -> list[list[str]]:
        """Headers of several rows in one: "2025 / Plan"."""
        if not 1 < self.header_rows < len(self.rows):
            return self.rows
        heads = self.rows[: self.header_rows]
        header = []
        for column in range(max(map(len, heads))):
            names = [" ".join(row[column].split()) for row in heads if column < len(row)]
            header.append(" / ".join(dict.fromkeys(name for name in names if name)))
        return [header, *self.rows[self.header_rows :]]

    def _first_names_columns(self, rows: list[list[str]]) -> bool:
        header = [" ".join(cell.split()) for cell in rows[0]]
        named = [name for name in header if name]
        if len(rows) < 2 or len(named) < 2 or sum(map(len, header)) > _MAX_HEADER_CHARACTERS:
            return False
        if self.header_rows or self.has_header is False:
            return bool(self.header_rows)
        if any(len(name) > _MAX_NAME_CHARACTERS or _NUMBER.fullmatch(name) for name in named):
            return False
        if self._bold[:1] == [True] and self._bold[1:] != [True]:
            return True
        # Two columns are as often names and values without a head.
        is_full = len(named) >= len(header) - 1 and len(set(named)) == len(named)
        return is_full and (self.has_header is True or len(header) > 2)
