"""SQLite's own copies: a database as it is at one moment, and put in its place in one step."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sa

from store.database import Database
from store.postgresql_dumps import Moment


@contextmanager
def moment(database: Database, path: Path) -> Iterator[Moment]:
    """Kept at the path from the beginning. All pages in one step: readers keep no writer waiting, while a copy in
    several steps would begin anew with each write of another process."""
    path.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(f"file:{_place(database)}?mode=ro", uri=True, timeout=60)) as source,
        closing(sqlite3.connect(path)) as copy,
    ):
        source.backup(copy, pages=-1)
        # In one file, without a log beside it.
        copy.execute("PRAGMA journal_mode=DELETE").close()
    engine = sa.create_engine(f"sqlite:///{path}")
    try:
        with engine.connect() as connection:
            yield Moment(connection, lambda: None)
    finally:
        engine.dispose()


def restore(database: Database, path: Path) -> None:
    """Moves a copy to where the database is, without what workers noted of themselves."""
    with closing(sqlite3.connect(path)) as restored, restored:
        restored.execute("DELETE FROM workers")
    place = _place(database)
    draft = place.with_name(place.name + ".restored")
    shutil.move(path, draft)  # from another disk it is a copy, which takes its time
    for suffix in ("-wal", "-shm"):  # before: the other file's log would be read into this one
        place.with_name(place.name + suffix).unlink(missing_ok=True)
    draft.replace(place)


def _place(database: Database) -> Path:
    return Path(str(sa.make_url(database.url).database))
