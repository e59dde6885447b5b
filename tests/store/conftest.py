"""The store's tests run on both databases: SQLite, and PostgreSQL where its programs are installed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from store.database import Database
from store.migrate import migrate
from store.settings import Settings
from tests.support import postgresql


@pytest.fixture(scope="session")
def postgresql_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if postgresql.programs() is None:
        pytest.skip("PostgreSQL is not installed (scripts/install-system-packages)")
    with postgresql.running_cluster(tmp_path_factory.mktemp("pg")) as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database with the real migrations."""
    url = ""
    if request.param == "postgresql":
        pattern: str = request.getfixturevalue("postgresql_cluster")
        name = f"t{uuid.uuid4().hex}"
        admin = sa.create_engine(pattern.format(name="postgres"), isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        admin.dispose()
        url = pattern.format(name=name)
    opened = Database(Settings(data_dir=tmp_path, database_url=url))
    migrate(opened)
    yield opened
    opened.close()
