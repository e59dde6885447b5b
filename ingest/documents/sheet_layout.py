"""What the reader of workbooks does not say: how numbers are shown, what is hidden, and how large a sheet would become.

It reads whole sheets as one block of cells, from the first to the last, so that two cells far apart could take all
memory there is. This pass over the XML counts before it does.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from ingest.documents import xml
from ingest.documents.archives import Archive
from ingest.documents.ooxml import Package
from ingest.documents.parsed import DocumentError

MAX_CELLS = 5_000_000  # of a workbook, that hold something
MAX_AREA = 30_000_000  # cells of a sheet with the empty ones between them, some 1 GB in memory
COLUMNS = 16_384

_PERCENT_IDS = (9, 10)
_MAX_TAG_BYTES = 4_096
_CHUNK_BYTES = 256 * 1024
_TAG = re.compile(rb"<(?:\w{1,20}:)?(row|c|col|sheetPr)(\s[^<>]{0,2000})?>")
_REF = re.compile(rb"\sr\s?=\s?[\"']([A-Za-z]{0,3})(\d{1,7})[\"']")
_STYLE = re.compile(rb"\ss\s?=\s?[\"'](\d{1,6})[\"']")
_HIDDEN = re.compile(rb"\shidden\s?=\s?[\"'](?:1|true)[\"']")
_FILTERED = re.compile(rb"\sfilterMode\s?=\s?[\"'](?:1|true)[\"']")
_COLUMN_RANGE = re.compile(rb"\s(min|max)\s?=\s?[\"'](\d{1,6})[\"']")
_ODS_TAG = re.compile(rb"<table:(table|table-row|table-cell|covered-table-cell)(\s[^<>]{0,2000})?>")
_ODS_REPEATED = re.compile(rb"table:number-(?:columns|rows)-repeated\s?=\s?[\"'](\d{1,10})[\"']")
_ODS_PERCENT = re.compile(rb"value-type\s?=\s?[\"']percentage[\"']")
_ODS_VALUE = re.compile(rb"office:value(?:-type)?\s?=")
_LITERAL = re.compile(r'"([^"]{1,12})"|\[\$([^\]\-]{1,6})[^\]]{0,12}\]|([₽€£$])')
_ZEROS = re.compile(r"0{2,30}")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a number is shown: as a percentage, with a unit after it, with zeros before it up to a width."""

    is_percent: bool = False
    unit: str = ""
    digits: int = 0


PERCENT = NumberFormat(is_percent=True)


@dataclass(slots=True)
class Layout:
    """Of one sheet; rows and columns count from 0."""

    formats: list[NumberFormat | None] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    # Places (row * COLUMNS + column) whose numbers have a format, ascending, and which one.
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _styles: array[int] = field(default_factory=lambda: array("L"))
    _next: int = 0

    def mark(self, row: int, column: int, style: int) -> None:
        place = row * COLUMNS + column
        if not self._places or place > self._places[-1]:  # a sheet's cells come in their order
            self._places.append(place)
            self._styles.append(style)

    def formats_of(self, row: int) -> dict[int, NumberFormat]:
        """By column. Rows are asked for in their order."""
        found: dict[int, NumberFormat] = {}
        first = row * COLUMNS
        while self._next < len(self._places) and self._places[self._next] < first + COLUMNS:
            place = self._places[self._next]
            number_format = self.formats[self._styles[self._next]]
            if place >= first and number_format is not None:
                found[place - first] = number_format
            self._next += 1
        return found


def office_layouts(archive: Archive, check: Callable[[], None]) -> dict[str, Layout]:
    """The layouts of the sheets of an XLSX workbook, by their names. Raises DocumentError `too_large`."""
    package = Package(archive)
    main = package.main_part()
    relations = package.relations(main)
    formats: list[NumberFormat | None] = []
    for relation in relations.values():
        if relation.kind == "styles" and relation.target in archive:
            formats = _number_formats(archive, relation.target, check)
    with archive.open(main) as part:
        sheets = [
            (element.get("name", ""), element.get("r:id", ""))
            for event, element in xml.walk(part, whole=(), marks={"s:sheet"}, check=check)
            if event == "start"
        ]
    layouts: dict[str, Layout] = {}
    left = MAX_CELLS
    scanned: set[str] = set()
    for name, relation_id in sheets:
        found = relations.get(relation_id)
        if found is None or found.kind != "worksheet" or found.target not in archive or found.target in scanned:
            continue
        scanned.add(found.target)
        layouts[name] = Layout(formats)
        with archive.open(found.target) as part:
            left = _scan_office(part, layouts[name], left, check)
    return layouts


def open_document_layouts(archive: Archive, check: Callable[[], None]) -> list[Layout]:
    """The layouts of the tables of an ODS workbook, in their order. Raises DocumentError `too_large`."""
    layouts: list[Layout] = []
    left = MAX_CELLS
    row, row_repeats, column = -1, 1, 0
    next_row = 0
    with archive.open("content.xml") as part:
        for match in _tags(part, _ODS_TAG, check):
            kind, attributes = match[1], match[2] or b""
            found = _ODS_REPEATED.search(attributes)
            repeats = max(int(found[1]), 1) if found else 1
            if kind == b"table":
                layouts.append(Layout([PERCENT]))
                next_row = 0
            elif kind == b"table-row":
                row, row_repeats, column = next_row, repeats, 0
                next_row += repeats
            elif layouts:
                if _ODS_VALUE.search(attributes):
                    left -= repeats * row_repeats
                    if left < 0 or (row + row_repeats) * (column + repeats) > MAX_AREA:
                        raise _too_many()
                    if _ODS_PERCENT.search(attributes):
                        for at in range(row, row + row_repeats):
                            for place in range(column, min(column + repeats, COLUMNS)):
                                layouts[-1].mark(at, place, 0)
                column += repeats
    return layouts


def _scan_office(part: IO[bytes], layout: Layout, cells_left: int, check: Callable[[], None]) -> int:
    """Fills the layout; gives how many cells are left."""
    row, column = -1, -1
    first_row = first_column = 1 << 40
    last_row = last_column = -1
    is_filtered = False
    for match in _tags(part, _TAG, check):
        kind, attributes = match[1], match[2] or b""
        if kind == b"c":
            is_empty = attributes.endswith(b"/")
            reference = _REF.search(attributes)
            if reference and reference[1]:
                row, column = int(reference[2]) - 1, _column_number(reference[1])
            else:
                column += 1
            if is_empty:
                continue
            cells_left -= 1
            first_row, last_row = min(first_row, row), max(last_row, row)
            first_column, last_column = min(first_column, column), max(last_column, column)
            if cells_left < 0 or (last_row - first_row + 1) * (last_column - first_column + 1) > MAX_AREA:
                raise _too_many()
            style = _STYLE.search(attributes)
            if style and int(style[1]) < len(layout.formats) and layout.formats[int(style[1])] is not None:
                layout.mark(max(row, 0), column, int(style[1]))
        elif kind == b"row":
            reference = _REF.search(attributes)
            row, column = (int(reference[2]) - 1 if reference else row + 1), -1
            if _HIDDEN.search(attributes) and not is_filtered:
                layout.hidden_rows.add(row)
        elif kind == b"col":
            if _HIDDEN.search(attributes):
                bounds = {key: int(value) for key, value in _COLUMN_RANGE.findall(attributes)}
                first, last = bounds.get(b"min", 1), min(bounds.get(b"max", 0), COLUMNS)
                layout.hidden_columns.update(range(first - 1, last))
        elif _FILTERED.search(attributes):  # rows that a filter leaves out for the moment
            is_filtered = True
    return cells_left


def _tags(part: IO[bytes], pattern: re.Pattern[bytes], check: Callable[[], None]) -> Iterator[re.Match[bytes]]:
    rest = b""
    while data := part.read(_CHUNK_BYTES):
        check()
        data = rest + data
        cut = data.rfind(b"<")
        # A tag that the end of the piece cuts in two comes whole with the next one.
        if cut < 0 or b">" in data[cut:] or len(data) - cut > _MAX_TAG_BYTES:
            cut = len(data)
        rest = data[cut:]
        yield from pattern.finditer(data, 0, cut)


def _number_formats(archive: Archive, name: str, check: Callable[[], None]) -> list[NumberFormat | None]:
    """By the index of the style."""
    codes: dict[str, str] = {}
    formats: list[NumberFormat | None] = []
    try:
        with archive.open(name) as part:
            for _, element in xml.walk(part, whole={"s:numFmts", "s:cellXfs"}, check=check):
                for each in element:
                    if each.tag == "s:numFmt":
                        codes[each.get("numFmtId", "")] = each.get("formatCode", "")
                    elif each.tag == "s:xf":
                        identity = each.get("numFmtId", "0")
                        is_percent = identity in map(str, _PERCENT_IDS)
                        formats.append(PERCENT if is_percent else _number_format(codes.get(identity, "")))
    except DocumentError as error:
        if error.code != "unreadable":
            raise
    return formats


def _number_format(code: str) -> NumberFormat | None:
    code = code[:200].partition(";")[0]
    if "%" in re.sub(r'"[^"]*"', "", code):
        return PERCENT
    if _ZEROS.fullmatch(code):
        return NumberFormat(digits=len(code))
    literal = _LITERAL.search(code)
    unit = next(filter(None, literal.groups()), "").strip(" \\") if literal and re.search(r"[0#]", code) else ""
    return NumberFormat(unit=unit) if any(each.isalpha() or each in "₽€£$°" for each in unit) else None


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number - 1


def _too_many() -> DocumentError:
    return DocumentError(
        "too_large",
        f"Its sheets hold more than {MAX_CELLS:,} cells, or lie over an area of more than {MAX_AREA:,}.",
    )
