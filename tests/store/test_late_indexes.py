"""Upgrades of PostgreSQL while people work: whom they keep waiting, and what a run that was killed leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.config import Config

from store import migrate
from store.database import Connection, Database
from store.settings import Settings
from tests.support.calls import wait_until
from tests.support.filled import fill, rows
from tests.support.migrated import migrated_postgresql

pytestmark = pytest.mark.postgresql

BEFORE_NARROW_LISTS = "0016"  # whose migration has indexes on tables of before
LAST_THAT_MAY_REWRITE = "0024"
JUDGED = "ix_widget_turns_judged"
GOES_THROUGH = (
    re.compile(r"ALTER TABLE (?P<table>\w+) ALTER COLUMN \w+ (?P<what>SET NOT NULL|TYPE)"),
    re.compile(
        r"ALTER TABLE (?P<table>\w+) ADD CONSTRAINT \w+ (?P<what>CHECK|FOREIGN KEY|UNIQUE|PRIMARY KEY)(?!.* NOT VALID)"
    ),
    re.compile(r"CREATE (?P<what>UNIQUE INDEX) (?!CONCURRENTLY)\w+ ON (?P<table>\w+)"),
)
"""What PostgreSQL looks at a whole table for while it keeps everybody from writing to it."""
INDEXES = """
    SELECT name.relname, pg_get_indexdef(name.oid) FROM pg_index JOIN pg_class AS name ON name.oid = indexrelid
    WHERE indisvalid AND relnamespace = 'public'::regnamespace
"""
OTHERS = """
    SELECT query, state, wait_event_type, backend_xmin FROM pg_stat_activity
    WHERE datname = current_database() AND pid != pg_backend_pid() AND backend_type = 'client backend'
"""


def opened(url: str) -> Database:
    return Database(Settings(database_url=url, _env_file=None))  # type: ignore[call-arg]


@pytest.fixture
def database(postgresql_url: str) -> Iterator[Database]:
    """An empty one."""
    database = opened(postgresql_url)
    yield database
    database.close()


@pytest.fixture
def whole(postgresql_cluster: str) -> dict[str, str]:
    """The indexes of a database that was made at once."""
    fresh = opened(migrated_postgresql(postgresql_cluster))
    try:
        return indexes(fresh)
    finally:
        fresh.close()


def indexes(database: Database) -> dict[str, str]:
    """Those that serve queries: by name, how they are made."""
    with database.read() as connection:
        return dict(connection.execute(sa.text(INDEXES)).all())  # type: ignore[arg-type]


def at(database: Database, revision: str) -> None:
    """Makes the schema of the revision, with a row in every table."""
    migrate.migrate(database, revision)
    fill(database)
    with database.write() as connection:
        connection.execute(sa.text("UPDATE webhook_deliveries SET body = '{}'"))  # migrations read it


def write(connection: Connection) -> None:
    """As everybody does; fails where it would have to wait for a build."""
    connection.execute(sa.text("SET LOCAL lock_timeout = '1s'"))
    connection.execute(sa.text("UPDATE widget_turns SET feedback = 'up'"))


def hold(connection: Connection) -> None:
    """As a transaction that has written to the table, and goes on."""
    connection.execute(sa.text("LOCK TABLE widget_turns IN ROW EXCLUSIVE MODE"))


def builds_in_wait(database: Database) -> int:
    with database.read() as connection:
        others = connection.execute(sa.text(OTHERS)).all()
    return sum(each.query.startswith("CREATE INDEX CONCURRENTLY") and each.wait_event_type == "Lock" for each in others)


def test_a_table_is_written_to_while_its_index_is_built(database: Database, whole: dict[str, str]) -> None:
    at(database, BEFORE_NARROW_LISTS)
    with ThreadPoolExecutor(1) as beside, database.engine.connect() as writer:
        hold(writer)
        upgrade = beside.submit(migrate.migrate, database)
        wait_until(lambda: upgrade.done() or builds_in_wait(database) > 0)
        assert not upgrade.done()
        assert JUDGED not in indexes(database)
        with database.write() as connection:
            write(connection)
        writer.rollback()
        assert upgrade.result(timeout=60) == (BEFORE_NARROW_LISTS, migrate.newest_revision())
    assert indexes(database) == whole


@pytest.mark.parametrize("revision", ["0001", "0007", "0012", "0017"])
def test_an_upgraded_database_has_the_indexes_of_a_new_one(
    database: Database, whole: dict[str, str], revision: str
) -> None:
    """Also those that a migration left out and a later one drops."""
    migrate.migrate(database, revision)
    migrate.migrate(database)
    assert indexes(database) == whole
    assert migrate.missing_indexes(database) == []


def test_what_a_build_that_broke_off_has_left_is_built_anew(database: Database, whole: dict[str, str]) -> None:
    migrate.migrate(database)
    with database.engine.connect() as writer, database.outside_transactions() as builder:
        builder.execute(sa.text(f"DROP INDEX {JUDGED}"))
        builder.execute(sa.text("SET lock_timeout = '10ms'"))
        hold(writer)
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            builder.execute(sa.text(whole[JUDGED].replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY")))
    assert JUDGED not in indexes(database)
    with database.read() as connection:
        assert connection.execute(sa.text("SELECT to_regclass(:it)"), {"it": JUDGED}).scalar()  # there, and of no use
    head = migrate.newest_revision()
    assert migrate.pending(database) == [(head, f"the index {JUDGED}")]
    assert migrate.migrate(database) == (head, head)
    assert indexes(database) == whole
    assert migrate.pending(database) == []


def test_a_run_that_was_killed_goes_on_where_it_was(
    database: Database, whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at(database, BEFORE_NARROW_LISTS)
    before = rows(database)
    run = migrate.command.upgrade

    def killed_at_0019(config: Config, revision: str) -> None:
        run(config, revision)
        if revision == "0019":
            raise KeyboardInterrupt

    def killed(_connection: Connection) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(migrate.command, "upgrade", killed_at_0019)
        with pytest.raises(KeyboardInterrupt):
            migrate.migrate(database)
    assert migrate.current_revision(database) == "0018"
    with monkeypatch.context() as patched:
        patched.setattr(migrate.late_indexes, "build", killed)
        with pytest.raises(KeyboardInterrupt):
            migrate.migrate(database)
    assert migrate.is_current(database)
    assert migrate.trouble(database) == ""  # slower, and at work
    assert JUDGED in migrate.missing_indexes(database)
    migrate.migrate(database)
    assert indexes(database) == whole
    after = rows(database)
    for name, there in before.items():
        assert len(after[name]) == len(there)
        assert all(any(each.items() >= row.items() for each in after[name]) for row in there), name


def test_two_runs_at_once_are_one_after_the_other(
    database: Database, whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "_PAUSE_S", 0.01)
    at(database, BEFORE_NARROW_LISTS)
    with ThreadPoolExecutor(2) as beside:
        both = [beside.submit(migrate.migrate, database) for _ in range(2)]
        found = sorted(str(each.result(timeout=60)[0]) for each in both)
    assert found == [BEFORE_NARROW_LISTS, migrate.newest_revision()]
    assert indexes(database) == whole


def test_who_waits_for_another_run_is_no_transaction_that_builds_wait_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    with database.engine.connect() as other:
        other.execute(sa.select(sa.func.pg_advisory_lock(migrate._LOCK)))
        other.commit()

        def pause(seconds: float) -> None:
            slept.append(seconds)
            if len(slept) == 1:
                found = other.execute(sa.text(OTHERS)).all()
                assert {(each.state, each.backend_xmin) for each in found} == {("idle", None)}
            else:
                other.execute(sa.select(sa.func.pg_advisory_unlock(migrate._LOCK)))
            other.commit()

        monkeypatch.setattr(migrate.time, "sleep", pause)
        assert migrate.migrate(database) == (None, migrate.newest_revision())
    assert len(slept) == 2


def places(database: Database) -> dict[str, tuple[str, list[str]]]:
    """By table: the file that it is in, and the transactions that its rows are of."""
    found = {}
    with database.read() as connection:
        for name in sa.inspect(connection).get_table_names():
            file = sa.select(sa.func.pg_relation_filepath(name)).scalar_subquery()
            of = sa.text(f"SELECT xmin::text FROM {name} ORDER BY 1")
            written = list(connection.execute(of).scalars())
            found[name] = (str(connection.execute(sa.select(file)).scalar_one()), written)
    del found["alembic_version"]
    return found


def rewritten(database: Database, target: str) -> set[str]:
    """The tables of now whose rows the migrations up to the target write anew."""
    before = places(database)
    migrate.migrate(database, target)
    after = places(database)
    return {name for name, place in before.items() if after.get(name, place) != place}


def test_no_migration_writes_a_table_anew_in_its_transaction(database: Database) -> None:
    """For the time that this takes nobody could work with the table, or with its rows."""
    at(database, LAST_THAT_MAY_REWRITE)
    assert rewritten(database, "head") == set()


def test_the_test_before_finds_a_migration_that_does(database: Database) -> None:
    at(database, "0020")
    assert rewritten(database, "0021") == {"communication_figures"}


def looked_through(statement: str) -> set[tuple[str, str]]:
    """(table, what for): to which nobody may write while a statement has all of it looked at."""
    words = " ".join(statement.replace('"', "").split())
    return {(each["table"], each["what"]) for pattern in GOES_THROUGH for each in pattern.finditer(words)}


def looked_through_by_migrations(database: Database, target: str) -> set[tuple[str, str]]:
    """The same of the migrations up to the target, and of tables that are there before them."""
    found = set()
    with database.read() as connection:
        there = set(sa.inspect(connection).get_table_names())

    def look(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        found.update(each for each in looked_through(statement) if each[0] in there)

    sa.event.listen(sa.Engine, "before_cursor_execute", look)
    try:
        migrate.migrate(database, target)
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", look)
    return found


def test_no_migration_looks_through_a_table_that_nobody_may_write_to_meanwhile(database: Database) -> None:
    """What is to hold of a large table is said NOT VALID and validated afterwards, or made beside it, CONCURRENTLY."""
    at(database, LAST_THAT_MAY_REWRITE)
    assert looked_through_by_migrations(database, "head") == set()


def test_the_test_before_finds_one_that_does(database: Database) -> None:
    at(database, "0004")
    assert looked_through_by_migrations(database, "0005") == {("kb_documents", "UNIQUE")}


@pytest.mark.parametrize(
    ("statement", "what_for"),
    [
        ("ALTER TABLE t ALTER COLUMN a SET NOT NULL", "SET NOT NULL"),
        ("ALTER TABLE t ALTER COLUMN a TYPE TEXT", "TYPE"),
        ('ALTER TABLE "t" ADD CONSTRAINT c CHECK (true)', "CHECK"),
        ("ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY(a) REFERENCES o (id)", "FOREIGN KEY"),
        ("CREATE UNIQUE INDEX c ON t (a)", "UNIQUE INDEX"),
        ("ALTER TABLE t ADD CONSTRAINT c CHECK (true) NOT VALID", None),
        ("CREATE UNIQUE INDEX CONCURRENTLY c ON t (a)", None),
        ("CREATE INDEX c ON t (a)", None),  # left for later (`store.late_indexes`)
        ("ALTER TABLE t ADD COLUMN a INTEGER DEFAULT 1 NOT NULL", None),
        ("ALTER TABLE t ALTER COLUMN a DROP NOT NULL", None),
    ],
)
def test_which_statements_keep_writers_waiting(statement: str, what_for: str | None) -> None:
    assert looked_through(statement) == ({("t", what_for)} if what_for else set())
