"""Tables as text (csv, tsv): divided by commas, semicolons, tabs or bars, in any usual encoding.

The separator is the one that gives the most rows the same number of columns. A quotation mark that nothing closes is a
character like others, so that it does not swallow the rows below it.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePath

from ingest.documents import detect, plain_text
from ingest.documents.parsed import Outline, ParsedDocument
from ingest.documents.sheet_tables import Row, add_tables

_SEPARATORS = ("\t", ";", "|", ",")  # the first of equals: commas stand in numbers too
_BYTES_A_CHARACTER = 4
_SAMPLE_LINES = 500
_SAMPLE_CHARACTERS = 256 * 1024
_MIN_SAME_SHARE = 0.6
_MAX_JOINED_LINES = 2_000  # of one quoted field
_MAX_JOINED_CHARACTERS = 1_000_000
_MAX_TRIES = 3


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    outline.check_characters(path.stat().st_size // _BYTES_A_CHARACTER)
    data = path.read_bytes()
    text = plain_text.decode(data).removeprefix("\ufeff").replace("\0", "")
    outline.check_characters(len(text))
    is_tabbed = PurePath(declared_name.lower()).suffix in {".tsv", ".tab"}
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    del text
    told = _told_separator(lines[0])
    if told:
        lines = lines[1:]
    separator = told or find_separator(lines, first="\t" if is_tabbed else None)
    if separator is None and len(lines) > 1 and _is_prose(lines):
        return plain_text.parse(data, declared_name, outline)
    add_tables(([cell.strip() for cell in row] for row in rows_of(lines, separator or ",")), outline)
    return outline.finish(detect.TSV if separator == "\t" else detect.CSV, declared_name)


def find_separator(lines: list[str], first: str | None = None) -> str | None:
    """What divides the columns; None where nothing does so evenly. `first` is taken where it does at all."""
    sample: list[str] = []
    characters = 0
    for line in lines:
        if line.strip():
            sample.append(line)
            characters += len(line)
        if len(sample) >= _SAMPLE_LINES or characters >= _SAMPLE_CHARACTERS:
            break
    best: tuple[float, int] = (0.0, 0)
    chosen: str | None = None
    for separator in _SEPARATORS:
        if not any(separator in line for line in sample):
            continue
        # A cell that a quotation mark opens or closes alone was cut by a separator within a quoted field.
        widths = Counter(
            0 if any(cell.count('"') % 2 for cell in row) else len(row) for row in rows_of(sample, separator)
        )
        # Titles above the table, and notes below it, are rows of one cell.
        ragged = sum(widths.values()) - widths[1]
        width, count = max(widths.items(), key=lambda pair: (pair[0] > 1, pair[1] * min(pair[0], 10), pair[0]))
        if width < 2 or (count < 2 and len(widths) > 1):
            continue
        share = count / max(ragged, sum(widths.values()) / 2)
        if separator == first and share >= _MIN_SAME_SHARE / 2:
            return separator
        score = (round(share, 1), width)
        if share >= _MIN_SAME_SHARE and score > best:
            best, chosen = score, separator
    return chosen


def rows_of(lines: list[str], separator: str) -> Iterator[Row]:
    """The rows in the lines; a quoted field may go over several."""
    csv.field_size_limit(1 << 30)
    # A field that one line leaves open can only be closed by a line with an odd number of quotation marks.
    odd = [number for number, line in enumerate(lines) if line.count('"') % 2]
    position = 0
    while position < len(lines):
        line = lines[position]
        end = position + 1
        if '"' not in line:
            row = line.split(separator)
        elif (strict := _strict(line, separator)) is not None:
            row = strict
        elif _stays_open(line, separator) and (joined := _joined(lines, position, odd, separator)):
            row, end = joined
        else:
            row = _lenient(line, separator)
        yield row
        position = end


def _strict(text: str, separator: str) -> Row | None:
    try:
        lines = [f"{line}\n" for line in text.split("\n")]
        rows = list(csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _stays_open(line: str, separator: str) -> bool:
    try:
        list(csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def _joined(lines: list[str], position: int, odd: list[int], separator: str) -> tuple[Row, int] | None:
    """The row that goes on over the next lines, and where the one after it begins."""
    at = bisect_right(odd, position)
    characters = 0
    counted = position
    for last in odd[at : at + _MAX_TRIES]:
        if last - position > _MAX_JOINED_LINES:
            return None
        characters += sum(map(len, lines[counted : last + 1]))
        counted = last + 1
        if characters > _MAX_JOINED_CHARACTERS:
            return None
        if (row := _strict("\n".join(lines[position : last + 1]), separator)) is not None:
            return row, last + 1
    return None


def _lenient(line: str, separator: str) -> Row:
    """Quotation marks around a whole field are none of it; others stay."""
    cells = line.split(separator)
    return [cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell for cell in cells]


def _told_separator(line: str) -> str | None:
    """What Excel writes in the first line for itself."""
    line = line.strip().strip('"')
    return line[4] if len(line) == 5 and line.lower().startswith("sep=") else None


def _is_prose(lines: list[str]) -> bool:
    return any(len(line.split()) > 1 for line in lines)
