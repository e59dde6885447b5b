"""Databases with the real migrations, which run once for each process of a test run: after that they are copied."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from store.database import Database
from store.migrate import migrate
from store.settings import Settings
from tests.support import postgresql

FILE = "parley.sqlite3"


def migrated_sqlite(data_dir: Path) -> None:
    """Makes the data folder's SQLite database, where there is none yet."""
    if not (data_dir / FILE).exists():
        (data_dir / FILE).write_bytes(_sqlite_content())


def migrated_postgresql(cluster: str) -> str:
    """The URL of a database of its own on a running cluster, whose URL pattern is given."""
    return postgresql.new_database(cluster, template=_postgresql_template(cluster))


@cache
def _sqlite_content() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _migrate(Settings(data_dir=Path(folder), _env_file=None))  # type: ignore[call-arg]
        return (Path(folder) / FILE).read_bytes()


@cache
def _postgresql_template(cluster: str) -> str:
    url = postgresql.new_database(cluster)
    with tempfile.TemporaryDirectory() as folder:
        _migrate(Settings(data_dir=Path(folder), database_url=url, _env_file=None))  # type: ignore[call-arg]
    return postgresql.name_of(url)


def _migrate(settings: Settings) -> None:
    database = Database(settings)
    try:
        migrate(database)
    finally:
        database.close()
