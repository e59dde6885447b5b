"""How commands print: a table for people, JSON for programs."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Never

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing when all is well.")]
_WIDE = 1000


def print_rows(rows: Sequence[dict[str, Any]], as_json: bool, *, single: bool = False) -> None:
    """Prints rows with the same keys; `single` prints one object instead of a list as JSON."""
    if as_json:
        assert not single or len(rows) == 1
        value: Any = rows[0] if single else list(rows)
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")
        return
    if single and len(rows) == 1:
        # A line a value, never wrapped or padded: a key that is shown once must be copied whole.
        width = max(len(name) for name in rows[0])
        for name, value in rows[0].items():
            sys.stdout.write(f"{name.replace('_', ' '):<{width}}  {_text(value)}\n")
        return
    from rich.console import Console
    from rich.table import Table

    if not rows:
        sys.stdout.write("nothing\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        table.add_column(name.replace("_", " "), overflow="fold", no_wrap=name in ("id", "name", "part"))
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    # In a file or a pipe a row is a line, however wide.
    Console(width=None if sys.stdout.isatty() else _WIDE).print(table)


def _cell(value: Any) -> str:
    from rich.markup import escape

    return escape(_text(value))


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "–"
    return str(value)


def end_as_by_ctrl_c() -> None:
    """A service manager's SIGTERM and a closed terminal end a command as Ctrl-C does: what it began is taken back."""
    ends = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]

    def end(*_: object) -> Never:
        # Once: a second one must not interrupt the taking back.
        for number in ends:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in ends:
        signal.signal(number, end)
