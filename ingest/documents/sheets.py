"""Workbooks (xlsx, xlsm, xlsb, xls, ods): the tables of each sheet that can be seen.

python-calamine reads the cells, formulas as the values that the workbook keeps of them. Hidden sheets are left out; of
an xlsx also hidden columns, and hidden rows but those of a filter.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from ingest.documents import detect
from ingest.documents.archives import Archive, open_archive
from ingest.documents.ooxml import Package
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.documents.sheet_layout import Layout, NumberFormat, office_layouts, open_document_layouts
from ingest.documents.sheet_tables import Row, add_tables

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

    Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta

MAX_SHEETS = 1_000
_MAX_MERGED = 100_000
_ANSWERS = {True: {False: "no", True: "yes"}, False: {False: "нет", True: "да"}}  # by whether the sheet is English
_SAMPLE_ROWS = 20
_CHUNK_BYTES = 1024 * 1024


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    mime = detect.detect_file(path, declared_name)
    by_name: dict[str, Layout] = {}
    in_order: list[Layout] = []
    if mime != detect.XLS:
        with open_archive(path) as archive:
            archive.verify(".xml", ".rels", ".bin")
        with open_archive(path) as archive:
            if mime == detect.XLSX:
                outline.title = Package(archive).title()
                by_name = office_layouts(archive, outline.check_time)
            elif mime == detect.ODS:
                _check_well_formed(archive, outline)
                in_order = open_document_layouts(archive, outline.check_time)
    _read(path, outline, by_name, in_order)
    return outline.finish(mime, declared_name)


def _read(path: Path, outline: Outline, by_name: dict[str, Layout], in_order: list[Layout]) -> None:
    from python_calamine import (
        CalamineWorkbook,
        PasswordError,
        SheetTypeEnum,
        SheetVisibleEnum,
    )

    try:
        with _damage_found(), path.open("rb") as file:
            workbook = CalamineWorkbook.from_filelike(file)
    except PasswordError:
        raise DocumentError("encrypted", "It is protected by a password.") from None
    failure: DocumentError | None = None
    read = 0
    sheets = workbook.sheets_metadata
    if len(sheets) > MAX_SHEETS:
        raise DocumentError("too_large", f"It has {len(sheets):,} sheets; {MAX_SHEETS:,} is the most.")
    for index, sheet in enumerate(sheets):
        if sheet.typ != SheetTypeEnum.WorkSheet or sheet.visible != SheetVisibleEnum.Visible:
            continue
        try:
            with _damage_found():
                cells = workbook.get_sheet_by_index(index)
        except DocumentError as error:  # the other sheets may be whole
            failure = error
            continue
        read += 1
        layout = by_name.get(sheet.name) or (in_order[index] if index < len(in_order) else Layout())
        _add_sheet(sheet.name, cells, layout, outline)
    if failure is not None and not read:
        raise failure


def _check_well_formed(archive: Archive, outline: Outline) -> None:
    """The library waits for ever for an end tag that never comes (calamine 0.37)."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.EntityDeclHandler = _refuse_entities
    try:
        with archive.open("content.xml") as part:
            while data := part.read(_CHUNK_BYTES):
                outline.check_time()
                parser.Parse(data, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise _unreadable(error) from None


def _refuse_entities(*_: object) -> None:
    raise DocumentError("unreadable", "Its XML declares entities, which documents do not need.")


@contextmanager
def _damage_found() -> Iterator[None]:
    """Makes the ways in which the reader fails on a damaged workbook one."""
    from python_calamine import CalamineError, PasswordError

    try:
        yield
    except PasswordError:
        raise
    except (CalamineError, OSError, ValueError) as error:
        raise _unreadable(error) from None
    except BaseException as error:
        # A panic of the library, which leaves the interpreter whole, is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise DocumentError("unreadable", "It is damaged: its reader gives up on it.") from None


def _add_sheet(name: str, sheet: CalamineSheet, layout: Layout, outline: Outline) -> None:
    if sheet.start is None:
        return
    top, left = sheet.start
    down: dict[int, list[tuple[int, int]]] = {}  # by the first row: column and last row of cells merged downwards
    spans: dict[int, list[tuple[int, int]]] = {}
    for (first_row, first), (last_row, last) in (sheet.merged_cell_ranges or [])[:_MAX_MERGED]:
        if last_row > first_row:
            down.setdefault(first_row, []).append((first, last_row))
        if last > first:
            spans.setdefault(first_row - top, []).append((first - left, last - left))
    rows = _rows(sheet, layout, _are_answers_english(sheet))
    add_tables(_filled_down(rows, down, top, left), outline, name, spans)


def _rows(sheet: CalamineSheet, layout: Layout, is_english: bool) -> Iterator[Row | None]:
    """The rows as texts: None for a hidden one, nothing in a hidden column."""
    top, left = sheet.start or (0, 0)
    hidden = [column - left for column in layout.hidden_columns if column >= left]
    answers = _ANSWERS[is_english]
    for number, values in enumerate(sheet.iter_rows(), start=top):
        formats = layout.formats_of(number)
        if number in layout.hidden_rows:
            yield None
            continue
        row = [
            value.strip() if isinstance(value, str) else shown(value, formats.get(column), answers)
            for column, value in enumerate(values, start=left)
        ]
        for column in hidden:
            if column < len(row):
                row[column] = ""
        yield row


def _filled_down(
    rows: Iterable[Row | None], merged: dict[int, list[tuple[int, int]]], top: int, left: int
) -> Iterator[Row | None]:
    """Cells merged downwards say in each row what they say in the first, where there is something beside them."""
    going_on: dict[int, tuple[int, str]] = {}  # by column: the last row and the text
    for number, row in enumerate(rows, start=top):
        if row is None:
            yield None
            continue
        if going_on:
            has_more = any(row)
            for column, (last_row, text) in list(going_on.items()):
                if last_row < number:
                    del going_on[column]
                elif has_more and not row[column]:
                    row[column] = text
        for column, last_row in merged.get(number, ()):
            if 0 <= column - left < len(row) and row[column - left]:
                going_on[column - left] = (last_row, row[column - left])
        yield row


def shown(value: Value, number_format: NumberFormat | None, answers: dict[bool, str]) -> str:
    """A value as people read it: no 1.0 for 1, dates as ISO 8601 has them."""
    if isinstance(value, bool):
        return answers[value]
    if isinstance(value, (int, float)):
        return _number(value, number_format)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "minutes" if value.second == 0 else "seconds")
    if isinstance(value, datetime.time):
        return value.isoformat("minutes" if value.second == 0 else "seconds")
    if isinstance(value, datetime.timedelta):
        seconds = round(value.total_seconds())
        sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
        text = f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}"
        return f"{text}:{seconds % 60:02}" if seconds % 60 else text
    return str(value)


def _number(value: float, number_format: NumberFormat | None) -> str:
    if number_format is None:
        return _plain(value)
    if number_format.is_percent:
        return f"{_plain(value * 100)}%"
    text = _plain(value)
    if number_format.digits and text.isdigit():
        return text.zfill(number_format.digits)
    return f"{text} {number_format.unit}" if number_format.unit else text


def _plain(value: float) -> str:
    """Without the noise of binary fractions, and without an exponent where a person would write none."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.12g}"
    if "e" in text and 1e-9 < abs(value) < 1e21:
        text = f"{value:.12f}".rstrip("0").rstrip(".")
    return text


def _are_answers_english(sheet: CalamineSheet) -> bool:
    """Whether TRUE and FALSE are to be "yes" and "no": by the letters of the first rows."""
    letters = "".join(
        value for row in sheet.to_python(nrows=_SAMPLE_ROWS) for value in row if isinstance(value, str)
    ).lower()
    return not any("а" <= letter <= "я" for letter in letters[:10_000])


def _unreadable(error: Exception) -> DocumentError:
    return DocumentError("unreadable", f"It is damaged: {str(error)[:200] or type(error).__name__}.")
