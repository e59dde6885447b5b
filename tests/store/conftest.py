"""The store's tests run on both databases: SQLite, and PostgreSQL where its programs are installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.database import Database
from store.migrate import migrate
from store.settings import Settings


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database with the real migrations."""
    url = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    opened = Database(Settings(data_dir=tmp_path, database_url=url))
    migrate(opened)
    yield opened
    opened.close()
