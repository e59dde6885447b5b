"""The database: engines for SQLite and PostgreSQL, transactions, column types, and the one place of `metadata`.

Writers on SQLite begin with BEGIN IMMEDIATE: they queue for the write lock at the start, where the busy timeout
applies, instead of failing when a read transaction turns into a write.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection as Connection
from sqlalchemy.engine import Dialect, Engine
from sqlalchemy.pool import ConnectionPoolEntry

from store.changes import take_changed
from store.errors import InvalidRequest, Unavailable
from store.settings import Settings

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

BUSY_TIMEOUT_MS = 20_000
_SQLITE_AWAY = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


class UtcDateTime(sa.types.TypeDecorator[datetime]):
    """A timezone-aware UTC datetime on both databases. SQLite keeps no zone, so it is taken off and put back."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        assert value.tzinfo is not None, "times inside are timezone-aware"
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def id_column(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    """A UUID column whose Python side is a string."""
    return sa.Column(name, sa.Uuid(as_uuid=False), *arguments, **options)


def time_column(name: str, **options: Any) -> sa.Column[datetime]:
    return sa.Column(name, UtcDateTime(), **options)


def now() -> datetime:
    return datetime.now(UTC)


class Database:
    """One database. `read()` and `write()` give a connection inside a transaction; `write()` commits when left
    without an error. Safe to use from many threads."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.effective_database_url
        try:
            sa.make_url(self.url)
        except sa.exc.ArgumentError:
            raise InvalidRequest("PARLEY_DATABASE_URL is no database URL.") from None
        self.engine = make_engine(self.url, synchronous="FULL")
        # Counters and heartbeats need no fsync each: what a power cut takes of them is worthless a minute later.
        self._relaxed = make_engine(self.url, synchronous="NORMAL") if self.is_sqlite else self.engine
        self._of_thread = threading.local()
        # SQLite has one writer at a time, and those who wait for it sleep: this process's own wait their turn awake.
        self._turn = threading.Lock() if self.is_sqlite else None

    @property
    def shown_url(self) -> str:
        """The URL without its password."""
        return sa.make_url(self.url).render_as_string(hide_password=True)

    @property
    def is_sqlite(self) -> bool:
        return self.url.startswith("sqlite")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Raises Unavailable where the database does not answer."""
        shared: Connection | None = getattr(self._of_thread, "connection", None)
        if shared is not None:
            yield shared
            return
        with _answering(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def one_read(self) -> Iterator[None]:
        """Every `read()` of this thread inside is the same transaction. For work that only reads: on SQLite it does not
        see what is written meanwhile, itself included."""
        before: Connection | None = getattr(self._of_thread, "connection", None)
        with self.read() as connection:
            self._of_thread.connection = connection
            try:
                yield
            finally:
                self._of_thread.connection = before

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """Raises Unavailable where the database does not answer."""
        # Here, since it stands on tables, and they on this module.
        from store.figures_refresh import refresh

        engine = self.engine if durable else self._relaxed
        with (
            self._my_turn(),
            _answering(),
            engine.connect().execution_options(parley_write=True) as connection,
            connection.begin(),
        ):
            take_changed(connection)  # what a transaction that failed had noted
            yield connection
            refresh(connection, take_changed(connection))

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if self._turn is None:
            yield
            return
        if not self._turn.acquire(timeout=BUSY_TIMEOUT_MS / 1000):
            raise Unavailable("The database does not answer.", retry_after_s=5)
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def restructure(self) -> Iterator[Connection]:
        """`write()` for migrations. SQLite changes a table by putting a new one in its place, and dropping the old one
        would take along every row that refers to it: foreign keys are checked at the end instead."""
        with _answering(), self.engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert raw is not None
            if self.is_sqlite:
                raw.execute("PRAGMA foreign_keys=OFF").close()
            try:
                with connection.execution_options(parley_write=True).begin():
                    yield connection
                    if self.is_sqlite:
                        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                        assert not broken, f"a migration left {len(broken)} rows without what they refer to"
            finally:
                if self.is_sqlite:
                    raw.execute("PRAGMA foreign_keys=ON").close()

    def ping(self) -> None:
        """Raises Unavailable where the database does not answer."""
        with self.read() as connection:
            connection.execute(sa.text("SELECT 1"))

    def reconnect(self) -> None:
        """Connections that are in use end as they are; the next ones are new."""
        self.engine.dispose()
        self._relaxed.dispose()

    def close(self) -> None:
        self.engine.dispose()
        self._relaxed.dispose()


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError) as error:
        # SQLite calls a missing table an operational error too, and that is a fault of ours.
        code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
        if code is not None and code & 0xFF not in _SQLITE_AWAY:
            raise
        raise Unavailable("The database does not answer.", retry_after_s=5) from error


def make_engine(url: str, *, synchronous: str, driver_begins: bool = False) -> Engine:
    """An engine as Parley uses it; on SQLite with WAL and the given `synchronous` pragma, writing over what it deletes.

    `driver_begins` leaves BEGIN IMMEDIATE to sqlite3 itself, before the first write: DBOS is written for that.
    """
    if not url.startswith("sqlite"):
        return sa.create_engine(url, pool_size=10, max_overflow=10, pool_pre_ping=True, hide_parameters=True)
    path = sa.make_url(url).database
    assert path, "SQLite in memory has one owner and cannot be shared by threads"
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(
        url, pool_size=10, max_overflow=30, connect_args={"check_same_thread": False}, hide_parameters=True
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _entry: ConnectionPoolEntry) -> None:
        # None: transactions begin where SQLAlchemy says, not where the driver guesses.
        connection.isolation_level = "IMMEDIATE" if driver_begins else None
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "journal_mode=WAL",
            f"synchronous={synchronous}",
            "foreign_keys=ON",
            "cache_size=-16000",
            # Deleted texts are written over in the file, which some builds of SQLite do unasked. FAST would leave them
            # in pages that come free, where most of a long text is. Beside an fsync its cost cannot be measured.
            "secure_delete=ON",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if driver_begins:
            return
        immediate = connection.get_execution_options().get("parley_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def upsert(connection: Connection, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT with ON CONFLICT, in the words of the connection's database."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def insert_ignoring(connection: Connection, table: sa.Table, values: dict[str, Any]) -> bool:
    """INSERT that does nothing where a unique key is taken. True when a row was made."""
    key = table.primary_key.columns.values()[0]
    statement = upsert(connection, table).values(**values).on_conflict_do_nothing().returning(key)
    return connection.execute(statement).first() is not None
