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

from store.database import Database
from store.errors import InvalidRequest, Unavailable
from store.figures_refresh import fill_missing
from store.settings import Settings

log = structlog.get_logger(__name__)

WORKS_FROM = "0024"
"""The schema's oldest revision whose code works with the newest schema too: such a release may be started again beside
it, or after it. Raise it with a migration that takes away or means otherwise what earlier code reads or writes."""

_TRIES, _PAUSE_S = 20, 3.0


def import_tables() -> None:
    """Imports every module that holds tables, so that `metadata` knows them all."""
    from store import (  # noqa: F401
        account_exports,
        accounts,
        analyses,
        analysis,
        audit,
        billing,
        camera_events,
        camera_streams,
        camera_traffic,
        chats,
        communications,
        corrections,
        deliveries,
        evaluations,
        figures,
        idempotency,
        index_work,
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
        if all(each["name"] != "works_from" for each in sa.inspect(connection).get_columns("alembic_version")):
            return False
        oldest = connection.execute(sa.text("SELECT works_from FROM alembic_version")).scalar()
    return oldest is not None and is_known(oldest)


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
    """What `migrate` would run, in its order: (revision, what it is about). Nothing where a newer Parley's schema works
    with this one; raises Unavailable where it does not."""
    if newer(database):
        _refuse_trouble(database)
        return []
    before = current_revision(database)
    found = []
    for each in ScriptDirectory.from_config(_config()).walk_revisions():  # the newest first
        if each.revision == before:
            break
        found.append((each.revision, each.doc))
    return found[::-1]


def _refuse_trouble(database: Database) -> None:
    if says := trouble(database):
        raise Unavailable(says)


def migrate(database: Database, target: str = "head") -> tuple[str | None, str | None]:
    """Runs what is missing in one transaction, then makes what follows from the rows that are there: (revision before,
    revision after). Changes nothing where a newer Parley's schema works with this one. Raises Unavailable where it does
    not, and Unavailable lock_timeout where others did not let go of a table in `_TRIES` tries."""
    before = current_revision(database)
    if newer(database):
        _refuse_trouble(database)
        return before, before
    config = _config()
    for number in range(_TRIES):
        try:
            with database.restructure() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, target)
                if target == "head":
                    connection.execute(sa.text("UPDATE alembic_version SET works_from = :it"), {"it": WORKS_FROM})
            break
        except Unavailable as error:
            if error.code != "lock_timeout" or number + 1 == _TRIES:
                raise
            log.warning("a table is locked: tried again soon", seconds=_PAUSE_S)
            time.sleep(_PAUSE_S)
    if is_current(database):
        _make_figures(database)
    return before, current_revision(database)


def _make_figures(database: Database) -> None:
    """In batches, so that a migration that is killed here goes on the next time."""
    after: str | None = None
    while True:
        with database.write() as connection:
            after = fill_missing(connection, after=after)
        if after is None:
            return


def write_migration(database: Database, revision: str, message: str) -> None:
    """For developers: writes a migration from the difference between the tables and an up-to-date database."""
    config = _config()
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.revision(config, message, autogenerate=True, rev_id=revision)
