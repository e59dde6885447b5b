"""Migrations of a database that people work with: nothing of theirs is lost on the way up, or down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from store import accounts, migrate, tariffs
from store.database import Database
from store.errors import Unavailable
from store.settings import Settings
from tests.support.filled import fill, rows, value_for

FIRST = "0001"
BEFORE_WORKERS_SAID_WHAT_THEY_TAKE = "0021"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def first_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of the first schema with a row in every table."""
    url = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    database = Database(Settings(data_dir=tmp_path, database_url=url, _env_file=None))  # type: ignore[call-arg]
    migrate.migrate(database, FIRST)
    fill(database)
    yield database
    database.close()


def test_an_upgrade_keeps_every_row_and_every_value(first_database: Database) -> None:
    before = rows(first_database)
    assert all(len(found) == 1 for found in before.values())
    migrate.migrate(first_database)
    after = rows(first_database)
    (chat,), (chat_after,) = before["chats"], after["chats"]
    opened = chat.pop("site_sees_communications")  # became a list of tools
    assert ("search_communications" in str(chat_after["site_tools"])) == bool(opened)
    for name, (row,) in before.items():
        (now_there,) = after[name]
        assert {column: now_there[column] for column in row} == row, name


def test_clients_of_before_can_go_on_after_the_upgrade(first_database: Database) -> None:
    migrate.migrate(first_database)
    with first_database.read() as connection:
        (tenant,) = accounts.list_tenants(connection)
        assert (tenant.is_active, tenant.allow_credit, tenant.pause_reason) == (True, True, None)
        assert (tenant.memory_enabled, tenant.qc_enabled, tenant.voices_enabled) == (True, True, False)
        assert tariffs.get(connection) is not None
    (balance,) = rows(first_database)["balances"]
    assert (balance["available_micro"], balance["held_micro"]) == (0, 0)


def test_the_tone_that_was_judged_before_is_among_the_figures_after_the_upgrade(first_database: Database) -> None:
    migrate.migrate(first_database, "0020")
    tables = sa.MetaData()
    with first_database.write() as connection:
        tables.reflect(connection)
        there = connection.execute(sa.select(tables.tables["communications"])).one()._mapping
        own = {"tenant_id": there["tenant_id"], "communication_id": there["id"], "occured_at": there["occured_at"]}
        judged = [{"code": "greeting", "value": True}, {"code": "tone_of_voice", "value": 0.75}]
        for name, values in (("qc_evaluations", {"criteria": judged}), ("communication_figures", {})):
            others = {each.name: value_for(each, {}) for each in tables.tables[name].columns if each.name not in own}
            of_table = {each: own[each] for each in own if each in tables.tables[name].columns}
            connection.execute(sa.insert(tables.tables[name]).values(**others | of_table | values))
    migrate.migrate(first_database)
    (found,) = rows(first_database)["communication_figures"]
    assert found["tone"] == 0.75


def made_by_a_newer_release(database: Database, *, works_from: str | None) -> None:
    with database.write() as connection:
        changed = sa.text("UPDATE alembic_version SET version_num = '9999', works_from = :works_from")
        connection.execute(changed, {"works_from": works_from})


def test_a_newer_schema_that_works_with_this_release_is_left_as_it_is(first_database: Database) -> None:
    migrate.migrate(first_database)
    assert (migrate.newer(first_database), migrate.trouble(first_database)) == ("", "")
    with first_database.read() as connection:
        found = connection.execute(sa.text("SELECT works_from FROM alembic_version")).scalar_one()
    assert found == migrate.WORKS_FROM
    made_by_a_newer_release(first_database, works_from=migrate.newest_revision())
    assert migrate.trouble(first_database) == ""
    assert "newer Parley (revision 9999;" in migrate.newer(first_database)
    assert migrate.pending(first_database) == []
    assert migrate.migrate(first_database) == ("9999", "9999")


@pytest.mark.parametrize("works_from", ["9998", None])
def test_a_newer_schema_that_does_not_is_refused_in_one_line(first_database: Database, works_from: str | None) -> None:
    migrate.migrate(first_database)
    made_by_a_newer_release(first_database, works_from=works_from)
    for ask in (migrate.pending, migrate.migrate):
        with pytest.raises(Unavailable, match=r"made by a newer Parley \(revision 9999;"):
            ask(first_database)
    assert migrate.current_revision(first_database) == "9999"


def test_a_newer_schema_that_says_nothing_of_releases_is_refused(first_database: Database) -> None:
    with first_database.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    assert "newer Parley (revision 9999;" in migrate.trouble(first_database)


def test_what_refers_to_nothing_after_a_migration_takes_it_back(first_database: Database) -> None:
    if not first_database.is_sqlite:
        pytest.skip("PostgreSQL checks at each statement")

    def break_it() -> None:
        with first_database.restructure() as connection:
            connection.exec_driver_sql("DELETE FROM tenants")

    with pytest.raises(AssertionError, match="without what they refer to"):
        break_it()
    assert len(rows(first_database)["tenants"]) == 1
    with first_database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1


@pytest.mark.postgresql
def test_a_migration_does_not_stand_in_everybodys_way(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(Settings(database_url=postgresql_url, _env_file=None))  # type: ignore[call-arg]
    migrate.migrate(database, BEFORE_WORKERS_SAID_WHAT_THEY_TAKE)
    reader = database.engine.connect()
    reader.execute(sa.text("SELECT * FROM workers")).all()  # as a backup does for an hour
    slept: list[float] = []

    def pause(seconds: float) -> None:
        slept.append(seconds)
        # Nothing waits behind it meanwhile.
        with database.write() as connection:
            connection.execute(sa.text("DELETE FROM workers"))
        if len(slept) == 2:
            reader.rollback()

    monkeypatch.setattr(migrate.time, "sleep", pause)
    _, after = migrate.migrate(database)
    assert after == migrate.newest_revision()
    assert len(slept) >= 2  # once more where the machine is busy
    reader.close()
    database.close()


@pytest.mark.postgresql
def test_a_migration_that_gets_no_lock_changes_nothing(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(Settings(database_url=postgresql_url, _env_file=None))  # type: ignore[call-arg]
    migrate.migrate(database, BEFORE_WORKERS_SAID_WHAT_THEY_TAKE)
    monkeypatch.setattr(migrate, "_TRIES", 1)
    with database.engine.connect() as reader:
        reader.execute(sa.text("SELECT * FROM workers")).all()
        with pytest.raises(Unavailable) as caught:
            migrate.migrate(database)
    assert caught.value.code == "lock_timeout"
    assert migrate.current_revision(database) == BEFORE_WORKERS_SAID_WHAT_THEY_TAKE
    assert next(revision for revision, _ in migrate.pending(database)) == "0022"
    database.close()
