"""Tables as text: a line a row, which names its columns and can be understood by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

# Every row repeats the names of its columns.
_MAX_NAME_CHARACTERS = 100
_MAX_NAMES_CHARACTERS = 2_000


def table_lines(rows: Iterable[Sequence[str]], *, has_header: bool, header_column: bool = False) -> Iterator[str]:
    """One line for each row with something in it. Under a header: "Service: Check-up; Price: 500", and at the end the
    names of columns that hold nothing.

    `header_column`: the first cell of each row names it, so that a row without a header reads "Phone: 123".
    """
    names: list[str] | None = None
    unused: dict[int, str] = {}
    for row in rows:
        cells = [" ".join(cell.split()) for cell in row]
        if not any(cells):
            continue
        if names is None and has_header and len(cells) > 1:
            names = _names(cells)
            unused = {column: cell for column, cell in enumerate(cells) if cell}
            continue
        if names is None:
            yield _named_by_first(cells) if header_column else _joined(cells)
        else:
            if unused and len(cells) > 1:
                filled = {column for column, cell in enumerate(cells) if cell}
                unused = {column: name for column, name in unused.items() if column not in filled}
            yield _under(names, cells)
    if unused:
        yield _joined([*unused.values()])


def _names(cells: Sequence[str]) -> list[str]:
    most = max(min(_MAX_NAME_CHARACTERS, _MAX_NAMES_CHARACTERS // len(cells)), 8)
    return [cell.rstrip(":") if len(cell) <= most else f"{cell[: most - 1].rstrip()}…" for cell in cells]


def _under(names: Sequence[str], cells: Sequence[str]) -> str:
    """Cells beyond the last name stand for themselves, and so does a cell that is the whole row."""
    if len(cells) == 1 < len(names):
        return cells[0]
    named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell]
    return "; ".join([*named, *(cell for cell in cells[len(names) :] if cell)])


def _named_by_first(cells: Sequence[str]) -> str:
    rest = " | ".join(cell for cell in cells[1:] if cell)
    first = cells[0].rstrip(":")
    return f"{first}: {rest}" if first and rest else first or rest


def _joined(cells: Sequence[str]) -> str:
    return " | ".join(cells)
