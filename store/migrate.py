"""Brings the database's schema up to date, and tells whether it is. The same migrations run on both databases."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
import structlog
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from store import late_indexes
from store.camera_events import fill_keys
from store.database import Connection, Database
from store.errors import InvalidRequest, Unavailable
from store.figures_refresh import fill_missing
from store.settings import Settings

log = structlog.get_logger(__name__)

WORKS_FROM = "0024"
"""The schema's oldest revision whose code works with the newest schema too: such a release may be started again beside
it, or after it. Raise it with a migration that takes away or means otherwise what earlier code reads or writes."""

_TRIES, _PAUSE_S = 20, 3.0
_LOCK = 7_217_539_541
"""PostgreSQL's advisory lock of whoever runs migrations; a number that nobody else has a reason to take."""


def import_tables() -> None:
    """Imports every module that holds tables, so that `metadata` knows them all."""
    from store import (  # noqa: F401
        account_exports,
        accounts,
        analyses,
        analysis,
        audit,
        backup_outcomes,
        billing,
        camera_events,
        camera_streams,
        camera_traffic,
        camera_visitors,
        chats,
        communications,
        corrections,
        deliveries,
        evaluations,
        figures,
        housekeeping,
        idempotency,
        index_work,
        installation,
        integrations,
        jobs,
        kb_spaces,
        knowledge,
        limits,
        media,
        payments,
        quality_settings,
        saved_views,
        sessions,
        space_access,
        speakers,
        tariffs,
        tool_calls,
        transcriptions,
        trials,
        voices,
        waveforms,
        widget,
        widget_abuse,
    )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def newest_revision() -> str:
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def is_known(revision: str) -> bool:
    """Whether this Parley has the revision, and so can bring it up to date."""
    return any(each.revision == revision for each in ScriptDirectory.from_config(_config()).walk_revisions())


def current_revision(database: Database) -> str | None:
    """The schema's revision; None where the database is empty."""
    with database.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def is_current(database: Database) -> bool:
    """Whether it has this Parley's own schema."""
    return current_revision(database) == newest_revision()


def newer(database: Database) -> str:
    """That a newer Parley made the database, for people; empty where none did."""
    found = current_revision(database)
    if found is None or is_known(found):
        return ""
    return f"The database was made by a newer Parley (revision {found}; this one knows {newest_revision()})."


def trouble(database: Database) -> str:
    """Why this Parley cannot work with the database, for people; empty where it can: the schema is its own, or a newer
    one that says that it works with this one's code."""
    if is_current(database):
        return ""
    says = newer(database)
    if not says:
        return "The database is not up to date: run `parley migrate`."
    return "" if _works_with_this(database) else f"{says} Start that one, or restore a backup of before."


def _works_with_this(database: Database) -> bool:
    with database.read() as connection:
        if not _says_what_it_works_with(connection):
            return False
        oldest = connection.execute(sa.text("SELECT works_from FROM alembic_version")).scalar()
    return oldest is not None and is_known(oldest)


def _says_what_it_works_with(connection: Connection) -> bool:
    return any(each["name"] == "works_from" for each in sa.inspect(connection).get_columns("alembic_version"))


@contextmanager
def open_current(settings: Settings) -> Iterator[Database]:
    """The settings' database for a command. Raises InvalidRequest where this Parley cannot work with it."""
    database = Database(settings)
    try:
        if says := trouble(database):
            raise InvalidRequest(says)
        yield database
    finally:
        database.close()


def pending(database: Database) -> list[tuple[str, str]]:
    """What `migrate` would run, in its order: (revision, what it is about). Where the schema is up to date, the indexes
    that are still to be built. Nothing where a newer Parley's schema works with this one; raises Unavailable where it
    does not."""
    if newer(database):
        _refuse_trouble(database)
        return []
    head = newest_revision()
    if late := missing_indexes(database):
        return [(head, f"the index {name}") for name in late]
    script = ScriptDirectory.from_config(_config())
    newest_first = script.iterate_revisions(head, current_revision(database) or "base")
    return [(each.revision, each.doc) for each in newest_first][::-1]


def missing_indexes(database: Database) -> list[str]:
    """The names of indexes that `migrate` has still to build, since a run was killed before. Empty where the schema is
    not up to date: what will be missing is not known then."""
    if not is_current(database):
        return []
    import_tables()
    with database.read() as connection:
        return [str(index.name) for index in late_indexes.missing(connection)]


def _refuse_trouble(database: Database) -> None:
    if says := trouble(database):
        raise Unavailable(says)


def migrate(database: Database, target: str = "head") -> tuple[str | None, str | None]:
    """Runs what is missing, then makes what follows from the rows that are there: (revision before, revision after).
    Changes nothing where a newer Parley's schema works with this one. Raises Unavailable where it does not, and
    Unavailable lock_timeout where others did not let go of a table in `_TRIES` tries.

    On SQLite the migrations are one transaction. On PostgreSQL each is one of its own, so that it lets go of its tables
    and a run that was killed goes on where it was; then the indexes that they left out are built."""
    if database.is_sqlite:
        return _run(database, target, None)
    with _my_turn(database) as connection:
        return _run(database, target, connection)


@contextmanager
def _my_turn(database: Database) -> Iterator[Connection]:
    """Runs on PostgreSQL are one after the other. Who waits asks again and again, since one that waited inside
    `pg_advisory_lock` would be a transaction that a build CONCURRENTLY waits for, and both would wait for ever."""
    with database.outside_transactions() as connection:
        is_told = False
        while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(_LOCK))).scalar_one():
            if not is_told:
                log.warning("another process runs migrations: waited for")
                is_told = True
            time.sleep(_PAUSE_S)
        yield connection


def _run(database: Database, target: str, builder: Connection | None) -> tuple[str | None, str | None]:
    """The connection is the one that builds indexes; None on SQLite."""
    before = current_revision(database)
    if newer(database):
        _refuse_trouble(database)
        return before, before
    config = _config()
    if builder is None:
        steps = [target]
    else:
        config.attributes["tables_in_use"] = frozenset(sa.inspect(builder).get_table_names())
        script = ScriptDirectory.from_config(config)
        steps = [each.revision for each in script.iterate_revisions(target, before or "base")][::-1]
    for step in steps or [target]:
        _upgrade(database, config, step)
    if is_current(database):
        if builder is not None:
            late_indexes.build(builder)
        _make_what_follows(database)
    return before, current_revision(database)


def _upgrade(database: Database, config: Config, target: str) -> None:
    """In one transaction, which is tried again while others hold a table."""
    for number in range(_TRIES):
        try:
            with database.restructure() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, target)
                # With the first of several: what a later one takes away must find no release at work that reads it.
                if _says_what_it_works_with(connection):
                    connection.execute(sa.text("UPDATE alembic_version SET works_from = :it"), {"it": WORKS_FROM})
            return
        except Unavailable as error:
            if error.code != "lock_timeout" or number + 1 == _TRIES:
                raise
            log.warning("a table is locked: tried again soon", seconds=_PAUSE_S)
            time.sleep(_PAUSE_S)


def _make_what_follows(database: Database) -> None:
    """In batches, so that a migration that is killed here goes on the next time."""
    for make in (fill_missing, fill_keys):
        after: str | None = None
        while True:
            with database.write() as connection:
                after = make(connection, after=after)
            if after is None:
                break


def write_migration(database: Database, revision: str, message: str) -> None:
    """For developers: writes a migration from the difference between the tables and an up-to-date database."""
    config = _config()
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.revision(config, message, autogenerate=True, rev_id=revision)
