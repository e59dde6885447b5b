"""`parley move`: an installation of one machine becomes one of several, or the other way round."""

from __future__ import annotations

import shlex
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from accounts.installation import refuse_other_secret
from accounts.keys import Keyring
from api.console import JsonOption, print_rows
from ingest.index_state import write_progress
from rag.embedding import EmbedderSpec, choose_embedder
from rag.index import IndexLocked
from rag.index_move import MovedIndex, NotMovable, is_same_place, move_index
from rag.index_places import index_name, open_place
from store import index_work, moved_accounts, moves
from store.blobs import Blobs
from store.database import Database
from store.errors import Conflict
from store.files import SECRET_FILE
from store.heartbeats import live_workers, note_absence, was_one_heard
from store.job_records import jobs_apart
from store.settings import Settings, load_settings
from store.weights import ModelMissing

_KEPT_FILES = (SECRET_FILE, "demo.json")


def register(app: typer.Typer) -> None:
    app.command("move")(move)


def move(
    database_url: Annotated[str, typer.Option(help="Where the database goes. Without it: into the data dir.")] = "",
    blob_url: Annotated[str, typer.Option(help="Where recordings and documents go. Without it: the data dir.")] = "",
    qdrant_url: Annotated[str, typer.Option(help="The Qdrant that the index goes to. Without it: the data dir.")] = "",
    data_dir: Annotated[Path | None, typer.Option(help="The data dir there. Without it: the same as here.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Moves everything to another database, another place for blobs and another index, with the servers stopped, and
    compares both. Run again, it makes the other side as this one is. The settings name what is moved."""
    source = load_settings()
    is_pooled = bool(source.database_direct_url)
    if is_pooled:  # long transactions, and locks of a session's, are nothing for a pooler
        source = load_settings(database_url=source.database_direct_url, database_direct_url="")
    target = load_settings(
        database_url=database_url,
        database_direct_url="",
        blob_url=blob_url,
        qdrant_url=qdrant_url,
        data_dir=data_dir or source.data_dir,
    )
    if source.effective_database_url == target.effective_database_url:
        raise Conflict("The database would be moved to where it is.", code="same_place")
    target.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(Database(source)) as ours, closing(Database(target)) as theirs:
        parts, index = _moved(source, target, ours, theirs, quiet=as_json)
    rows = [
        {"what": part.name, "here": part.source[0], "there": part.target[0], "same": part.is_whole} for part in parts
    ]
    print_rows(rows, as_json)
    if not all(part.is_whole for part in parts):
        sys.stderr.write("parley: what is there differs from what is here\n")
        raise typer.Exit(1)
    if not as_json:
        steps = _next_steps(target, blobs_moved=bool(blob_url), index_moved=index.is_full, was_pooled=is_pooled)
        sys.stdout.write(steps)


def _moved(
    source: Settings, target: Settings, ours: Database, theirs: Database, *, quiet: bool
) -> tuple[list[moves.Part], MovedIndex]:
    def tell(what: str, count: int) -> None:
        if not quiet and count:
            sys.stderr.write(f"{what}: {count}\n")

    with ours.write() as connection:
        if live_workers(connection, fresh_for_s=source.takeover_after_s):
            raise Conflict("A server is at work: stop it first.", code="server_runs")
        refuse_other_secret(connection, Keyring.of(source))
        note_absence(connection)
    _check_keys(source, target)
    spec = _model(target)
    carried = moved_accounts.carried(source.data_dir, target.data_dir)
    moves.prepare(ours, theirs, carried=carried, fresh_for_s=target.takeover_after_s)
    accounts = moves.accounts_of(ours)
    moved_accounts.note(target.data_dir, accounts | carried)
    for name in _KEPT_FILES:
        there = target.data_dir / name
        if (source.data_dir / name).exists() and not there.exists():
            shutil.copy2(source.data_dir / name, there)
    for settings in (source, target):
        open_place(settings).names()  # a Qdrant that does not answer is known before hours of copying
    moves.move_rows(ours, theirs, tell)
    own, other = Blobs(source), Blobs(target)
    same_blobs = (source.blob_url, source.data_dir) == (target.blob_url, target.data_dir)
    if not same_blobs:
        moves.move_blobs(own, other, accounts | carried, tell)
    parts = list(moves.compare(ours, theirs, own, other))
    # The index of there may be of another moment than the rows. Taken back once it is known not to be.
    refill = _note_refill(theirs, index_name(spec))
    index = _index_moved(source, target, spec, accounts, carried - accounts, tell)
    with ours.read() as connection:
        if was_one_heard(connection):
            raise Conflict("A server was at work meanwhile: stop it, and run this again.", code="server_runs")
    if target.data_dir != source.data_dir:
        for path in target.data_dir.glob("jobs.sqlite3*"):  # of another moment than the rows
            path.unlink()
    with jobs_apart(target) as jobs:
        if jobs is not None:
            jobs.drop()
    if all(part.is_whole for part in parts):
        _tick_off(target, theirs, spec, index, refill)
    return [*parts, *index.parts], index


def _model(target: Settings) -> EmbedderSpec | None:
    try:
        return choose_embedder(target)
    except ModelMissing as error:
        raise Conflict(str(error), code="model_missing") from None


def _note_refill(database: Database, name: str) -> index_work.IndexWork | None:
    """None where that came with the rows: then it is not this move's."""
    with database.write() as connection:
        if any(each.tenant_id is None for each in index_work.list_refills(connection, name)):
            return None
        index_work.note_refill(connection, name)
        (noted,) = (each.work for each in index_work.list_refills(connection, name) if each.tenant_id is None)
    return noted


def _index_moved(
    source: Settings,
    target: Settings,
    spec: EmbedderSpec | None,
    tenant_ids: set[str],
    gone: set[str],
    tell: moves.Tell,
) -> MovedIndex:
    if is_same_place(source, target):
        return MovedIndex()
    try:
        index = move_index(source, target, spec, tenant_ids, tell, gone=gone)
    except NotMovable as error:
        sys.stderr.write(f"parley: the index is not moved, the first start makes it: {error}\n")
        return MovedIndex()
    except IndexLocked as error:
        raise Conflict(str(error), code="server_runs") from None
    for tenant_id, why in index.unreadable.items():
        sys.stderr.write(f"parley: the index of {tenant_id} is not moved, the first start makes it: {why}\n")
    return index


def _tick_off(
    target: Settings,
    database: Database,
    spec: EmbedderSpec | None,
    index: MovedIndex,
    refill: index_work.IndexWork | None,
) -> None:
    """Notes what of the index the first start there must fill, where it need not go over all of it."""
    if not index.is_full:
        return
    name = index_name(spec)
    with database.write() as connection:
        for tenant_id in index.unreadable:
            index_work.note_refill(connection, name, tenant_id)
        if refill is not None:
            index_work.done(refill.tenant_id, connection, refill)
    write_progress(target, name, None)  # of what was being filled there before


def _check_keys(source: Settings, target: Settings) -> None:
    """Raises Conflict where the target's folder has another installation's secret key."""
    own, there = source.data_dir / _KEPT_FILES[0], target.data_dir / _KEPT_FILES[0]
    if own.exists() and there.exists() and own.read_bytes() != there.read_bytes():
        raise Conflict(f"{there} is another installation's: no key would be known any more.", code="other_secret")


def _next_steps(target: Settings, *, blobs_moved: bool, index_moved: bool, was_pooled: bool) -> str:
    settings = [f"PARLEY_DATABASE_URL={target.database_url}"] if target.database_url else []
    settings += ["PARLEY_DATABASE_DIRECT_URL=  (what it was is the old database's)"] if was_pooled else []
    settings += [f"PARLEY_BLOB_URL={target.blob_url}"] if blobs_moved else []
    settings += [f"PARLEY_QDRANT_URL={target.qdrant_url}"] if target.qdrant_url else []
    file = target.data_dir / SECRET_FILE
    if target.secret_key.get_secret_value():
        key = "PARLEY_SECRET_KEY is the same as here, for each process."
    else:
        key = f"Each further machine's data dir wants a copy of {file}, or all of them PARLEY_SECRET_KEY:\n"
        key += f'  echo "PARLEY_SECRET_KEY=base64:$(base64 -w0 {shlex.quote(str(file))})"'
    shown = "\n".join(f"  {line}" for line in settings) or "  (nothing: all of it lies in the data dir)"
    index = (
        "The index went along: nothing is embedded again."
        if index_moved
        else "The first start fills the index with what it lacks (several machines share one by PARLEY_QDRANT_URL); "
        "`parley doctor` shows how far it is."
    )
    return (
        f"\nEverything is there. Start the servers with\n{shown}\n  PARLEY_DATA_DIR={target.data_dir}\n{index}\n{key}\n"
    )
