"""`parley move`: an installation of one machine becomes one of several, or the other way round."""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from api.console import JsonOption, print_rows
from rag.embedding import choose_embedder
from rag.index_places import index_name
from store import index_work, moves
from store.blobs import Blobs
from store.database import Database
from store.errors import Conflict
from store.heartbeats import heard_since, live_workers
from store.settings import Settings, load_settings

_KEPT_FILES = ("secret.key", "demo.json")


def register(app: typer.Typer) -> None:
    app.command("move")(move)


def move(
    database_url: Annotated[str, typer.Option(help="Where the database goes. Without it: into the data dir.")] = "",
    blob_url: Annotated[str, typer.Option(help="Where recordings and documents go. Without it: the data dir.")] = "",
    data_dir: Annotated[Path | None, typer.Option(help="The data dir there. Without it: the same as here.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Moves everything to another database and another place for blobs, with the servers stopped, and compares both.
    Run again, it makes the other side as this one is. The settings name what is moved."""
    source = load_settings()
    target = load_settings(database_url=database_url, blob_url=blob_url, data_dir=data_dir or source.data_dir)
    if source.effective_database_url == target.effective_database_url:
        raise Conflict("The database would be moved to where it is.", code="same_place")
    target.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(Database(source)) as ours, closing(Database(target)) as theirs:
        parts = _moved(source, target, ours, theirs, quiet=as_json)
    rows = [
        {"what": part.name, "here": part.source[0], "there": part.target[0], "same": part.is_whole} for part in parts
    ]
    print_rows(rows, as_json)
    if not all(part.is_whole for part in parts):
        sys.stderr.write("parley: what is there differs from what is here\n")
        raise typer.Exit(1)
    if not as_json:
        sys.stdout.write(_next_steps(target, blobs_moved=bool(blob_url)))


def _moved(source: Settings, target: Settings, ours: Database, theirs: Database, *, quiet: bool) -> list[moves.Part]:
    def tell(what: str, count: int) -> None:
        if not quiet and count:
            sys.stderr.write(f"{what}: {count}\n")

    with ours.read() as connection:
        if live_workers(connection, fresh_for_s=source.takeover_after_s):
            raise Conflict("A server is at work: stop it first.", code="server_runs")
        before = heard_since(connection)
    _check_keys(source, target)
    moves.prepare(ours, theirs, fresh_for_s=target.takeover_after_s)
    moves.move_rows(ours, theirs, tell)
    own, other = Blobs(source), Blobs(target)
    same_blobs = (source.blob_url, source.data_dir) == (target.blob_url, target.data_dir)
    if not same_blobs:
        moves.move_blobs(own, other, moves.accounts_of(ours), tell)
    parts = list(moves.compare(ours, theirs, own, other))
    with ours.read() as connection:
        if heard_since(connection) != before:
            raise Conflict("A server was at work meanwhile: stop it, and run this again.", code="server_runs")
    for name in _KEPT_FILES:
        there = target.data_dir / name
        if (source.data_dir / name).exists() and not there.exists():
            shutil.copy2(source.data_dir / name, there)
    if target.data_dir != source.data_dir:
        for path in target.data_dir.glob("jobs.sqlite3*"):  # of another moment than the rows
            path.unlink()
    # One that is there already, on a Qdrant server say, is of another moment too.
    with theirs.write() as connection:
        index_work.note_refill(connection, index_name(choose_embedder(target)))
    return parts


def _check_keys(source: Settings, target: Settings) -> None:
    """Raises Conflict where the target's folder has another installation's secret key."""
    own, there = source.data_dir / _KEPT_FILES[0], target.data_dir / _KEPT_FILES[0]
    if own.exists() and there.exists() and own.read_bytes() != there.read_bytes():
        raise Conflict(f"{there} is another installation's: no key would be known any more.", code="other_secret")


def _next_steps(target: Settings, *, blobs_moved: bool) -> str:
    settings = [f"PARLEY_DATABASE_URL={target.database_url}"] if target.database_url else []
    settings += [f"PARLEY_BLOB_URL={target.blob_url}"] if blobs_moved else []
    shown = "\n".join(f"  {line}" for line in settings) or "  (nothing: all of it lies in the data dir)"
    return (
        f"\nEverything is there. Start the servers with\n{shown}\n"
        f"  PARLEY_DATA_DIR={target.data_dir}\n"
        "Each further machine's data dir wants a copy of secret.key. The index is made anew at the first start "
        "(PARLEY_QDRANT_URL where several machines share one); `parley doctor` shows how far it is.\n"
    )
