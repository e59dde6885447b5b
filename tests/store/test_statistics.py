"""SQLite's statistics: that they are there, that connections of before get them, and what they change."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from store import accounts, statistics
from store.communications import create, get_many
from store.database import Database, now
from store.errors import Unavailable
from store.ids import new_id
from store.migrate import migrate
from store.settings import Settings
from store.statistics import Statistics
from tests.store.conftest import database as database


def plan(database: Database, ids: list[str]) -> str:
    asked: list[tuple[str, object]] = []
    with database.read() as connection:
        remember = lambda _c, _cursor, statement, parameters, *_: asked.append((statement, parameters))  # noqa: E731
        sa.event.listen(connection, "before_cursor_execute", remember)
        get_many(new_id(), connection, ids)
        statement, parameters = asked[0]
        raw = connection.connection.dbapi_connection
        assert raw is not None
        return " ".join(str(row[3]) for row in raw.execute("EXPLAIN QUERY PLAN " + statement, parameters))


def test_ids_are_looked_up_by_id_once_there_are_statistics(tmp_path: Path) -> None:
    database = Database(Settings(data_dir=tmp_path, _env_file=None))  # type: ignore[call-arg]
    try:
        migrate(database)
        ids = [new_id() for _ in range(25)]
        assert "tenant_id" in plan(database, ids)
        with database.write() as connection:
            tenant = accounts.create_tenant(connection, name="Shop", external_id="shop")
            assert tenant is not None
            for number in range(300):
                create(tenant.id, connection, kind="call", channel_type="phone", occured_at=now(), title=str(number))
        Statistics(database).sweep()
        assert "tenant_id" not in plan(database, ids)
    finally:
        database.close()


def test_they_are_gathered_now_and_then_alone(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered = []
    monkeypatch.setattr(database, "reconnect", lambda: gathered.append(1))
    sweeping = Statistics(database)
    sweeping.sweep()
    sweeping.sweep()
    assert len(gathered) == database.is_sqlite
    monkeypatch.setattr(statistics, "EVERY_S", 0.0)
    sweeping.sweep()
    assert len(gathered) == 2 * database.is_sqlite


def test_they_are_gathered_again_when_the_database_has_grown_by_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(Settings(data_dir=tmp_path, _env_file=None))  # type: ignore[call-arg]
    gathered = []
    try:
        migrate(database)
        sweeping = Statistics(database)
        sweeping.sweep()
        monkeypatch.setattr(database, "reconnect", lambda: gathered.append(1))
        sweeping.sweep()
        assert not gathered
        with database.write() as connection:
            tenant = accounts.create_tenant(connection, name="Shop", external_id="shop")
            assert tenant is not None
            for _ in range(100):
                create(tenant.id, connection, kind="call", channel_type="phone", occured_at=now(), title="t" * 50_000)
        sweeping.sweep()
        sweeping.sweep()
        assert len(gathered) == 1
    finally:
        database.close()


def test_what_could_not_be_gathered_is_tried_again_at_the_next_sweep(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered = []
    monkeypatch.setattr(database, "reconnect", lambda: gathered.append(1))
    with monkeypatch.context() as away:
        away.setattr(database, "write", _away)
        sweeping = Statistics(database)
        sweeping.sweep()
    assert not gathered
    sweeping.sweep()
    assert len(gathered) == database.is_sqlite


def _away(**_: object) -> None:
    raise Unavailable("The database does not answer.")
