"""Finds the tables in the rows of a sheet: their titles, header rows and groups, as a reader sees them.

Rows are texts. Empty rows divide a sheet into tables. Lines of one cell above a table are its caption, the rows that
name its columns its header; lines of one cell within a table are headings of the rows below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby

from ingest.documents.parsed import Outline

Row = list[str]
Spans = Mapping[int, Sequence[tuple[int, int]]]
"""Cells merged sideways: by row, the first and the last column of each."""

_MAX_TITLES = 8
_MAX_TITLE_CHARACTERS = 300
_MAX_HEADER_ROWS = 3
_MAX_NAME_CHARACTERS = 120
_LOOK_AHEAD_ROWS = 50
_CHECK_ROWS = 1_000
_MIN_FILLED_SHARE = 0.6
_MAX_GROUP_SHARE = 0.4
_LONG_TEXT_CHARACTERS = 60
_NUMBER = re.compile(r"[-+−(]?[$€£₽]? ?\d[\d\s.,'’]*+(?:e[-+]?\d+)?\)?(?: ?(?:[%‰₽$€£]|р\.?|руб\.?|[A-Z]{3}))?", re.I)
_DATE = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?:[ T]\d\d:\d\d(?::\d\d)?\S{0,8})?|"
    r"\d{1,2}[./]\d{1,2}[./]\d{2,4}(?: \d{1,2}:\d\d(?::\d\d)?)?|\d{1,2}:\d\d(?::\d\d)?"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATUM = re.compile(
    r"[^\s@]{1,64}@[^\s@]{1,255}|https?://\S+|\+?\d[\d ()-]{5,30}|yes|no|true|false|да|нет|истина|ложь", re.I
)
# What columns are called, at the beginning of a name.
_COLUMN_NAME = re.compile(
    r"(?:name|title|descr|price|cost|amount|sum|total|date|time|id\b|code|sku|email|e-mail|phone|address|city|country|"
    r"status|type|category|comment|note|question|answer|key|value|quantity|qty|unit|product|service|item|customer|"
    r"client|company|department|position|manager|url|link|text|language|term|definition|"
    r"назв|наимен|имя|фио|ф\.и\.о|фамил|опис|цена|стоим|сумм|итог|дата|врем|код|артик|почта|телеф|адрес|"
    r"город|стран|статус|тип|вид|катег|коммент|примеч|вопрос|ответ|ключ|знач|колич|кол-во|ед\.|единиц|товар|услуг|"
    r"клиент|компан|отдел|должн|менедж|ссылк|текст|язык|термин|определ|№|n\b|п/п|параметр|показат|срок|услов)",
    re.I,
)


def add_tables(rows: Iterable[Row | None], outline: Outline, sheet: str = "", spans: Spans | None = None) -> None:
    """Adds the tables of a sheet, under the sheet's name if it has one. A row that is None is not there to be seen.

    Raises DocumentError over the limits.
    """
    finder = _Finder(outline, sheet, spans or {})
    outline.heading(1, sheet)
    block: list[tuple[int, Row]] = []
    characters = 0
    for number, row in enumerate(rows):
        if number % _CHECK_ROWS == 0:
            outline.check_time()
        if row is None:
            continue
        if any(row):
            characters += sum(map(len, row))
            outline.check_characters(characters)
            block.append((number, row))
        elif block:
            finder.add(block)
            block = []
    if block:
        finder.add(block)
    finder.end()


@dataclass(slots=True)
class _Finder:
    outline: Outline
    sheet: str
    spans: Spans
    _titles: list[str] = field(default_factory=list)
    _names: dict[int, str] = field(default_factory=dict)  # of the table above, by column
    _is_grouped: bool = False

    def add(self, block: list[tuple[int, Row]]) -> None:
        """A stretch of rows without an empty one between them."""
        columns = sorted({column for _, row in block for column, cell in enumerate(row) if cell})
        if len(columns) > 1:
            first = _first_of_table(block)
            self._titles += [next(filter(None, row)) for _, row in block[:first]]
            self._add_table(block[first:])
            return
        lines = [row[columns[0]] for _, row in block]
        if len(lines) <= _MAX_TITLES and all(len(line) <= _MAX_TITLE_CHARACTERS for line in lines):
            self._titles += lines
            if len(self._titles) > _MAX_TITLES:
                self.end()
        else:
            self.end()
            self.outline.block("\n".join(lines))

    def end(self) -> None:
        """What stood above a table that never came is text."""
        if self._titles:
            self.outline.block("\n".join(self._titles))
            self._titles.clear()

    def _add_table(self, block: list[tuple[int, Row]]) -> None:
        columns = sorted({column for _, row in block for column, cell in enumerate(row) if cell})
        rows = [[row[column] if column < len(row) else "" for column in columns] for _, row in block]
        inner_spans = [self._spans_of(number, columns) for number, _ in block[:_MAX_HEADER_ROWS]]
        height = _header_height(rows, inner_spans)
        if height:
            self._leave_group()
            names = _names(rows[:height], inner_spans[:height])
            self._names = dict(zip(columns, names, strict=True))
            rows = rows[height:]
        elif len(columns) > 1 and set(columns) <= set(self._names):
            names = [self._names[column] for column in columns]
        else:
            self._leave_group()
            self._names = {}
            names = []
        if len(self._titles) > _MAX_TITLES:
            self.end()
        caption = "\n".join(self._titles)
        self._titles.clear()
        self._hand_over(names, rows, caption)

    def _spans_of(self, number: int, columns: list[int]) -> list[tuple[int, int]]:
        """Merged cells of a row, in the columns that are used."""
        found = []
        for first, last in self.spans.get(number, ()):
            inside = [at for at, column in enumerate(columns) if first <= column <= last]
            if len(inside) > 1:
                found.append((inside[0], inside[-1]))
        return found

    def _hand_over(self, names: list[str], rows: list[Row], caption: str) -> None:
        """Rows under each heading of one cell apart."""
        if not rows:  # a header with nothing below it
            self.outline.block("\n".join(filter(None, [caption, " | ".join(filter(None, names))])))
            return
        for is_heading, group in groupby(zip(_headings(rows), rows, strict=True), key=lambda pair: pair[0]):
            found = [row for _, row in group]
            if is_heading:
                self.outline.block(caption)
                self.outline.heading(2, found[0][0])
                self._is_grouped = True
            elif names:
                self.outline.table(chain([names], found), has_header=True, caption=caption)
            else:
                self.outline.table(found, has_header=False, caption=caption, header_column=_are_named(found))
            caption = ""

    def _leave_group(self) -> None:
        """The table that begins is not under the last heading of the one above."""
        if self._is_grouped:
            self.outline.heading(2, self._titles.pop(0) if self._titles else self.sheet)
        self._is_grouped = False


def is_datum(text: str) -> bool:
    """Whether a cell is a number, a date, an address or an answer rather than a name."""
    return any(pattern.fullmatch(text) for pattern in (_NUMBER, _DATE, _DATUM))


def _first_of_table(block: list[tuple[int, Row]]) -> int:
    """How many rows of one cell stand above the first of several."""
    for at, (_, row) in enumerate(block[: _MAX_TITLES + 1]):
        if _filled(row) > 1:
            return at
    return 0


def _filled(row: Sequence[str]) -> int:
    return sum(map(bool, row))


def _header_height(rows: list[Row], spans: list[list[tuple[int, int]]]) -> int:
    """How many of the first rows name the columns."""
    width = len(rows[0])
    if width < 2:
        return 0
    height = 0
    for at in range(min(_MAX_HEADER_ROWS, len(rows))):
        if not _may_name_columns(rows[at]):
            break
        height = at + 1
        if not _goes_on_naming(rows, at, spans[at]):
            break
    below = rows[height : height + _LOOK_AHEAD_ROWS]
    if not height or not below:
        return 1 if height and len(rows) == 1 and _says_column_names(rows[0]) else 0
    names = _names(rows[:height], spans[:height])
    used = [column for column in range(width) if any(row[column] for row in below)]
    if _filled(names) < 2 or sum(bool(names[column]) for column in used) < len(used) * _MIN_FILLED_SHARE:
        return 0
    are_data = [column for column in used if _mostly_data(below, column)]
    if any(names[column] and not is_datum(names[column]) for column in are_data) or _are_years(names, below, are_data):
        return height
    if height > 1 or _says_column_names(names) or (width > 2 and _looks_apart(rows[0], below)):
        return height
    return 0


def _may_name_columns(row: Row) -> bool:
    """All text, but for years; and short."""
    cells = [cell for cell in row if cell]
    if not cells or any(len(cell) > _MAX_NAME_CHARACTERS for cell in cells):
        return False
    years = sum(bool(_YEAR.fullmatch(cell)) for cell in cells)
    if any(is_datum(cell) and not _YEAR.fullmatch(cell) for cell in cells):
        return False
    return years < len(cells) or (years > 1 and not row[0])


def _goes_on_naming(rows: list[Row], at: int, merged: list[tuple[int, int]]) -> bool:
    """Whether the next row names columns too: below a merged cell, or below gaps that it fills."""
    if at + 1 >= len(rows) or not _may_name_columns(rows[at + 1]):
        return False
    row, below = rows[at], rows[at + 1]
    if merged:
        return any(below[column] for first, last in merged for column in range(first, last + 1))
    gaps = [column for column in range(1, len(row)) if not row[column]]
    is_followed = at + 2 < len(rows) and any(map(is_datum, rows[at + 2]))
    return bool(gaps) and is_followed and all(below[column] for column in gaps)


def _names(rows: list[Row], spans: list[list[tuple[int, int]]]) -> list[str]:
    """What the columns are called, from the uppermost name to the lowest."""
    spread: list[Row] = []
    for at, (cells, merged) in enumerate(zip(rows, spans, strict=True)):
        row = list(cells)
        for first, last in merged:
            row[first : last + 1] = [row[first]] * (last + 1 - first)
        if at + 1 < len(rows) and not merged:
            for column in range(1, len(row)):  # a name over several columns stands in the first of them
                row[column] = row[column] or (row[column - 1] if rows[at + 1][column] else "")
        spread.append(row)
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*spread, strict=True)]


def _mostly_data(rows: list[Row], column: int) -> bool:
    cells = [row[column] for row in rows if row[column]]
    return bool(cells) and sum(map(is_datum, cells)) * 2 > len(cells)


def _are_years(names: Sequence[str], rows: list[Row], columns: list[int]) -> bool:
    """Whether several columns are named by years, and do not hold some."""
    years = {names[column] for column in columns if _YEAR.fullmatch(names[column])}
    return len(years) > 1 and not any(_YEAR.fullmatch(row[column]) for row in rows[:1] for column in columns)


def _says_column_names(row: Sequence[str]) -> bool:
    cells = [cell for cell in row if cell]
    return sum(bool(_COLUMN_NAME.match(cell)) for cell in cells) * 2 >= len(cells) > 1


def _looks_apart(first: Row, below: list[Row]) -> bool:
    """Whether a row over others that are text too names them: whole, saying nothing twice, nor what they say."""
    if not all(first) or len(set(first)) < len(first) or len(below) < 2:
        return False
    if any(cell[-1] in ".!?;," or not cell[0].isalpha() or len(cell) > _LONG_TEXT_CHARACTERS for cell in first):
        return False
    return not any(cell == row[column] for row in below for column, cell in enumerate(first))


def _are_named(rows: list[Row]) -> bool:
    """Whether each row is a name and what it stands for: "Phone", "+7 495 000-00-00"."""
    if len(rows[0]) != 2 or not all(row[0] and row[1] for row in rows):
        return False
    names = {row[0] for row in rows}
    return len(names) == len(rows) and not any(len(n) > _LONG_TEXT_CHARACTERS or is_datum(n) for n in names)


def _headings(rows: list[Row]) -> list[bool]:
    """Which rows are one cell, the first, over rows of several."""
    none = [False] * len(rows)
    if len(rows[0]) < 3:
        return none
    alone = [_filled(row) == 1 and 0 < len(row[0]) <= _MAX_NAME_CHARACTERS and not is_datum(row[0]) for row in rows]
    if sum(alone) > len(rows) * _MAX_GROUP_SHARE:
        return none
    leads = [_filled(row) > 1 for row in rows[1:]] + [False]
    return [is_alone and is_first for is_alone, is_first in zip(alone, leads, strict=True)]
