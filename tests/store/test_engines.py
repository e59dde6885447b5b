"""Connections to PostgreSQL: how many there are, and what becomes of those whose other end is gone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from store import engines
from store.database import Database
from store.engines import make_engine
from store.errors import Unavailable
from store.settings import Settings

pytestmark = pytest.mark.postgresql


@pytest.mark.parametrize("of_jobs", [False, True], ids=["the database's", "the jobs'"])
def test_a_process_has_no_more_connections_than_its_pool(postgresql_url: str, of_jobs: bool) -> None:
    if of_jobs:
        engine = make_engine(postgresql_url, synchronous="NORMAL", connections=3, of_jobs=True)
    else:
        settings = Settings(database_url=postgresql_url, database_pool=3, _env_file=None)  # type: ignore[call-arg]
        engine = Database(settings).engine

    def in_use(_number: int) -> int:
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT pg_sleep(0.1)"))
            return engine.pool.checkedout()  # type: ignore[attr-defined, no-any-return]

    with ThreadPoolExecutor(9) as threads:
        assert max(threads.map(in_use, range(18))) == 3
    engine.dispose()


def test_a_connection_that_rested_is_asked_whether_it_lives_and_one_just_used_is_not(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(postgresql_url, synchronous="NORMAL", connections=3)
    other = make_engine(postgresql_url, synchronous="NORMAL", connections=3)
    asked: list[object] = []
    ask = engine.dialect.do_ping
    monkeypatch.setattr(engine.dialect, "do_ping", lambda connection: asked.append(connection) or ask(connection))

    def process_id() -> int:
        with engine.connect() as connection:
            return int(connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one())

    monkeypatch.setattr(engines, "_TRUSTED_S", 3600.0)
    assert len({process_id() for _ in range(5)}) == 1
    assert not asked
    gone = process_id()
    with other.connect() as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:id, 5000)"), {"id": gone})
    monkeypatch.setattr(engines, "_TRUSTED_S", 0.0)
    assert process_id() != gone, "another in its place, and nobody hears of it"
    assert asked
    engine.dispose()
    other.dispose()


def test_where_the_database_went_away_a_moment_ago_one_transaction_fails_and_the_next_does_not(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_TRUSTED_S", 3600.0)
    database = Database(Settings(database_url=postgresql_url, _env_file=None))  # type: ignore[call-arg]
    other = make_engine(postgresql_url, synchronous="NORMAL", connections=3)
    with database.read() as first, database.read() as second:
        gone = [int(each.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()) for each in (first, second)]
    with other.connect() as connection:
        for process_id in gone:
            connection.execute(sa.text("SELECT pg_terminate_backend(:id, 5000)"), {"id": process_id})
    with pytest.raises(Unavailable), database.read() as connection:
        connection.execute(sa.text("SELECT 1"))
    with database.read() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar_one() == 1
    database.close()
    other.dispose()
