"""The store's tests run on both databases: SQLite, and PostgreSQL where its programs are installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.database import Database
from store.settings import Settings
from tests.support.migrated import migrated_postgresql, migrated_sqlite


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database with the real migrations."""
    url = ""
    if request.param == "postgresql":
        url = migrated_postgresql(request.getfixturevalue("postgresql_cluster"))
    else:
        migrated_sqlite(tmp_path)
    opened = Database(Settings(data_dir=tmp_path, database_url=url))
    yield opened
    opened.close()
