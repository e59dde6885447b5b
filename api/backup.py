"""What `parley backup` and `parley restore` do, over the database, the blobs and the secret key of the settings."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog

from accounts.installation import refuse_other_secret
from accounts.keys import Keyring
from rag.index_places import open_place
from store import backup_outcomes, backups, index_work, migrate
from store.backups import Manifest
from store.blobs import Blobs
from store.database import Database
from store.errors import Conflict, InvalidRequest, NotFound, Unavailable
from store.files import SECRET_FILE
from store.heartbeats import is_one_alive
from store.job_records import JobRecords, jobs_apart
from store.settings import Settings

log = structlog.get_logger(__name__)

_OWN = (
    "jobs.sqlite3",
    "jobs.sqlite3-wal",
    "jobs.sqlite3-shm",
    "index",
    "work",
    "document-work",
    "uploads",
    "worker.id",
)


def make_backup(settings: Settings, path: Path) -> dict[str, Any]:
    """A row that tells what was copied; `missing`: blobs that were replaced too quickly to be. Raises InvalidRequest
    where the path is taken, or the secret key is not the database's; Conflict backup_runs while another backup to the
    path, or of the data folder, runs."""
    database = Database(settings)
    try:
        schema = migrate.current_revision(database)
        if schema is None:
            raise NotFound(f"There is no database to back up: {database.shown_url}")
        keyring = Keyring.of(settings)
        with database.read() as connection:
            refuse_other_secret(connection, keyring)
        outcome: backup_outcomes.Outcome = "error"
        try:
            with backups.open_target(path) as target:
                manifest, missing = backups.back_up(
                    settings, database, target, schema=schema, installation_id=keyring.installation_id
                )
            outcome = "error" if missing else "success"
        finally:
            _note(database, outcome)
    finally:
        database.close()
    return _row(path, manifest) | {"missing": missing}


def _note(database: Database, outcome: backup_outcomes.Outcome) -> None:
    """For the metrics. A schema of before knows no such table, and what cannot be noted spoils no backup."""
    try:
        if migrate.is_current(database):
            with database.write() as connection:
                backup_outcomes.note(connection, outcome)
    # In any way: who makes backups may not even be allowed to write.
    except Exception as error:
        log.warning("how the backup ended could not be noted", outcome=outcome, error=type(error).__name__)


def restore_backup(settings: Settings, path: Path, *, force: bool) -> dict[str, Any]:
    """A row that tells what was restored. Raises Conflict where something would be overwritten, or a server runs;
    BackupDamaged before anything is touched."""
    if not path.exists():
        raise NotFound(f"There is no backup at {path}")
    data_dir = settings.data_dir.absolute()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_beside_a_server(data_dir)
    database = Database(settings)
    try:
        _refuse_beside_servers(settings, database)
        with jobs_apart(settings) as jobs:
            # Asked with --force too: a database that does not answer is known before anything is touched.
            if (what := _what_is_there(settings, database, jobs)) and not force:
                raise Conflict(f"{what} is there already: name an empty place, or --force to replace it.")
            with _staged(data_dir) as staged:
                manifest = backups.unpack(path, staged)
                _check_fits(settings, database, manifest, staged)
                _put(settings, database, jobs, manifest, staged, force=force)
    finally:
        database.close()
    return _row(path, manifest)


@contextmanager
def _staged(data_dir: Path) -> Iterator[Path]:
    """An empty folder that no other restore has, without what one that was killed left in it."""
    staged = data_dir / ".restoring"
    number = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(staged)
        staged.mkdir(mode=0o700)
        try:
            yield staged
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except BlockingIOError:
        raise Unavailable("Another restore works on this data folder.") from None
    finally:
        os.close(number)


def _check_fits(settings: Settings, database: Database, manifest: Manifest, staged: Path) -> None:
    """Raises InvalidRequest or Unavailable, before anything is touched."""
    kind = "sqlite" if database.is_sqlite else "postgresql"
    if manifest.database != kind:
        raise InvalidRequest(f"The backup is of {manifest.database}, and the settings name {kind}.")
    if not migrate.is_known(manifest.schema):
        raise InvalidRequest("The backup was made by a newer Parley: restore it with that one.")
    given = settings.secret_key.get_secret_value()
    secret = staged / SECRET_FILE
    if given:
        keyring = Keyring.of(settings)
    elif secret.is_file():
        keyring = Keyring(secret.read_bytes())
    else:
        raise InvalidRequest("The backup's secret key came from PARLEY_SECRET_KEY: set it to the same value.")
    if keyring.installation_id != manifest.installation_id:
        raise InvalidRequest(
            "PARLEY_SECRET_KEY is not the backup's: no key of its accounts would be known any more. That of one with a "
            "secret.key inside is `base64:` and its content in base64."
        )
    open_place(settings.model_copy(update={"data_dir": staged})).names()  # a Qdrant that does not answer


def _put(
    settings: Settings, database: Database, jobs: JobRecords | None, manifest: Manifest, staged: Path, *, force: bool
) -> None:
    """Until the database is another one, in one step, nothing is lost: blobs that it does not name yet are beside those
    that it names. After a kill, wherever it was, all of it can be done again."""
    backups.put_blobs(settings, staged)
    backups.put_database(database, staged, replace=force)
    if jobs is not None:
        _drop(jobs)
    backups.put_files(settings, staged)
    if force:
        for name in _OWN:
            _remove(settings.data_dir.absolute() / name)
        backups.clear_scratch(settings.data_dir)
        backups.delete_other_blobs(settings, manifest)
    # Indexes elsewhere, on a Qdrant server say, are of another moment than what was restored. Noted whatever the
    # schema, since each has that table, and whatever the model: this machine may have none yet.
    names = open_place(settings).names()
    with database.write() as connection:
        for name in names:
            index_work.note_refill(connection, name)
        backup_outcomes.begin_anew(connection, datetime.fromisoformat(manifest.made_at))


def _drop(jobs: JobRecords) -> None:
    """Else what ended under them would not begin again. Raises Unavailable."""
    try:
        jobs.drop()
    except Unavailable as error:
        says = "The database is restored, but its jobs are still those of before: run this again, with --force."
        raise Unavailable(says) from error


def _what_is_there(settings: Settings, database: Database, jobs: JobRecords | None) -> str | None:
    """Raises Unavailable where a database does not answer."""
    if jobs is not None and jobs.are_there():
        return "A database with jobs (PARLEY_JOBS_DATABASE_URL)"
    if (settings.data_dir / SECRET_FILE).exists():
        return str(settings.data_dir / SECRET_FILE)
    if next(Blobs(settings).list_all(), None) is not None:
        return "A blob store with blobs in it"
    return database.shown_url if backups.has_tables(database) else None


def _refuse_beside_a_server(data_dir: Path) -> None:
    """Raises Unavailable while a server works on the folder."""
    for path in data_dir.glob("worker-*.lock"):
        with path.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Unavailable("A server works on this data folder: stop it first.") from None


def _refuse_beside_servers(settings: Settings, database: Database) -> None:
    """Raises Unavailable while a server, on whichever machine, works on the database."""
    with database.read() as connection:
        if is_one_alive(connection, fresh_for_s=settings.takeover_after_s):
            raise Unavailable("A server works on this database: stop it first.")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _row(path: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "path": str(path),
        "made_at": manifest.made_at,
        "database": manifest.database,
        "schema": manifest.schema,
        "files": len(manifest.files),
        "bytes": sum(entry.size for entry in manifest.files),
    }
