"""The database: transactions, column types, and the one place of `metadata`.

Writers on SQLite begin with BEGIN IMMEDIATE: they queue for the write lock at the start, where the busy timeout
applies, instead of failing when a read transaction turns into a write.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from prometheus_client import Histogram
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection as Connection
from sqlalchemy.engine import Dialect

from store import meters
from store.changes import take_changed
from store.clocks import CLOCK, WRONG_FROM_S
from store.engines import BUSY_TIMEOUT_MS, counts_engine, make_counts, make_engine
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

LOCK_TIMEOUT_S = 3
_LOCK_NOT_AVAILABLE = ("55P03", "40P01")  # waited for too long, or by two for each other
_AHEAD = timedelta(seconds=WRONG_FROM_S)
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


class Id(sa.Uuid[str]):
    """A UUID whose Python side is a string. SQLite keeps 32 hexadecimal digits, which get their hyphens back without a
    `uuid.UUID` on the way: that was a thirtieth of a cheap request."""

    cache_ok = True

    def __init__(self) -> None:
        super().__init__(as_uuid=False)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        if dialect.name == "sqlite":
            return _with_hyphens
        return super().result_processor(dialect, coltype)  # type: ignore[no-untyped-call]


def _with_hyphens(digits: str | None) -> str | None:
    if digits is None:
        return None
    if len(digits) != 32:
        raise ValueError(f"{digits[:50]!r} is no UUID as SQLite keeps it")
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def id_column(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    """A UUID column whose Python side is a string."""
    return sa.Column(name, Id(), *arguments, **options)


def time_column(name: str, **options: Any) -> sa.Column[datetime]:
    return sa.Column(name, UtcDateTime(), **options)


def now() -> datetime:
    return CLOCK.now()


def ago(connection: Connection, seconds: float) -> Any:
    """A moment by the database's clock, which machines have in common; SQLite has one machine alone. Of the future
    where `seconds` are negative."""
    if connection.dialect.name == "sqlite":
        return now() - timedelta(seconds=seconds)
    return sa.func.clock_timestamp() - timedelta(seconds=seconds)


def is_older(at: sa.ColumnElement[datetime], seconds: float) -> sa.ColumnElement[bool]:
    """Whether so much time has gone by since; with 0, always. What comes from the future is old: the clock was set
    back, or is another machine's."""
    if not seconds:
        return sa.true()
    return sa.or_(at < now() - timedelta(seconds=seconds), at > now() + _AHEAD)


class Database:
    """One database. `read()` and `write()` give a connection inside a transaction; `write()` commits when left
    without an error. Safe to use from many threads."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.effective_database_url
        self.direct_url = settings.database_direct_url or self.url
        """Of the database itself, where a pooler answers at `url`."""
        for name, url in (("PARLEY_DATABASE_URL", self.url), ("PARLEY_DATABASE_DIRECT_URL", self.direct_url)):
            try:
                sa.make_url(url)
            except sa.exc.ArgumentError:
                raise InvalidRequest(f"{name} is no database URL.") from None
        self.engine = make_engine(
            self.url, synchronous="FULL", connections=settings.database_pool, pooled=self.is_pooled
        )
        # Counters and heartbeats need no fsync each: what a power cut takes of them is worthless a minute later.
        self._relaxed = make_engine(self.url, synchronous="NORMAL") if self.is_sqlite else self.engine
        # Counts of requests have a file of their own: each would make every reader of the database read its pages anew,
        # and wait while somebody writes for long.
        self._counts = counts_engine(self.url) if self.is_sqlite else None
        self._counts_are_made = False
        self._of_thread = threading.local()
        # SQLite has one writer at a time, and those who wait for it sleep: this process's own wait their turn awake.
        self._turn = threading.Lock() if self.is_sqlite else None
        self._counts_turn = threading.Lock() if self.is_sqlite else None

    @property
    def shown_url(self) -> str:
        """The URL without its password."""
        return sa.make_url(self.url).render_as_string(hide_password=True)

    @property
    def is_sqlite(self) -> bool:
        return self.url.startswith("sqlite")

    @property
    def is_pooled(self) -> bool:
        """Whether each transaction may have another session of PostgreSQL's."""
        return not self.is_sqlite and self.direct_url != self.url

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Raises Unavailable where the database does not answer."""
        shared: Connection | None = getattr(self._of_thread, "connection", None)
        if shared is not None:
            yield shared
            return
        with answering(), _waiting(meters.READ_WAIT) as begun, self.engine.connect() as connection, connection.begin():
            begun()
            self._keep_time(connection)
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
            _waiting(meters.WRITE_WAIT) as begun,
            _in_turn(self._turn),
            answering(),
            engine.connect().execution_options(parley_write=True) as connection,
            connection.begin(),
        ):
            begun()
            self._keep_time(connection)
            take_changed(connection)  # what a transaction that failed had noted
            yield connection
            refresh(connection, take_changed(connection))

    def _keep_time(self, connection: Connection) -> None:
        if not self.is_sqlite and CLOCK.is_due():
            CLOCK.compare(lambda: connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one())

    @contextmanager
    def count(self) -> Iterator[Connection]:
        """`write()` of the counts of requests (`store.limits`), which are worth nothing without this installation, and
        are in no backup. Raises Unavailable where the database does not answer."""
        if self._counts is None:
            with self.write(durable=False) as connection:
                yield connection
            return
        with _in_turn(self._counts_turn), answering():
            if not self._counts_are_made:
                make_counts(self._counts, metadata.tables["rate_windows"])
                self._counts_are_made = True
            with self._counts.connect() as connection:
                yield connection

    @contextmanager
    def restructure(self) -> Iterator[Connection]:
        """`write()` for migrations. SQLite changes a table by putting a new one in its place, and dropping the old one
        would take along every row that refers to it: foreign keys are checked at the end instead.

        On PostgreSQL it waits for no lock longer than `LOCK_TIMEOUT_S`, since all who come after it wait behind it:
        Unavailable lock_timeout, and nothing was changed.
        """
        with answering(), self.engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert raw is not None
            if self.is_sqlite:
                raw.execute("PRAGMA foreign_keys=OFF").close()
            try:
                with connection.execution_options(parley_write=True).begin():
                    if not self.is_sqlite:
                        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s'")
                    yield connection
                    if self.is_sqlite:
                        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                        assert not broken, f"a migration left {len(broken)} rows without what they refer to"
            finally:
                if self.is_sqlite:
                    raw.execute("PRAGMA foreign_keys=ON").close()

    @contextmanager
    def outside_transactions(self) -> Iterator[Connection]:
        """A session of PostgreSQL's for what takes long and cannot be in a transaction: each statement is one of its
        own, and waits without a bound. The session ends, with its locks, when it is left."""
        assert not self.is_sqlite
        with answering(), self._session() as connection:
            connection.exec_driver_sql("SET lock_timeout = 0; SET statement_timeout = 0")
            yield connection

    @contextmanager
    def _session(self) -> Iterator[Connection]:
        """One of its own, without transactions, also where a pooler stands before PostgreSQL."""
        engine = make_engine(self.direct_url, synchronous="FULL", connections=2) if self.is_pooled else self.engine
        try:
            with engine.connect() as connection:
                connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.detach()  # its settings are for nobody else
                yield connection
        finally:
            if engine is not self.engine:
                engine.dispose()

    def begin_logs_anew(self) -> None:
        """Has SQLite's logs of what was written, which still hold what was deleted, begin anew."""
        for engine in (self.engine, self._counts) if self._counts is not None else ():
            assert engine is not None
            with engine.connect() as connection:
                connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()

    def ping(self) -> None:
        """Raises Unavailable where the database does not answer."""
        with self.read() as connection:
            connection.execute(sa.text("SELECT 1"))

    def most_connections(self) -> int | None:
        """How many PostgreSQL takes of those who are not its superusers; None for SQLite, which has no bound, and for a
        pooler, whose own bound is another."""
        if self.is_sqlite or self.is_pooled:
            return None
        named = ("max_connections", "superuser_reserved_connections", "reserved_connections")  # the last since 16
        with self.read() as connection:
            asked = [sa.func.coalesce(sa.func.current_setting(name, True), "0") for name in named]
            most, *reserved = map(int, connection.execute(sa.select(*asked)).one())
        return most - sum(reserved)

    def reconnect(self) -> None:
        """Connections that are in use end as they are; the next ones are new."""
        for engine in (self.engine, self._relaxed, self._counts):
            if engine is not None:
                engine.dispose()

    def close(self) -> None:
        for engine in (self.engine, self._relaxed, self._counts):
            if engine is not None:
                engine.dispose()


@contextmanager
def _waiting(meter: Histogram) -> Iterator[Callable[[], None]]:
    """Counts the time until what it gives is called, or until whoever waits gives up."""
    asked_s = time.perf_counter()
    is_begun = False

    def begun() -> None:
        nonlocal is_begun
        is_begun = True
        meter.observe(time.perf_counter() - asked_s)

    try:
        yield begun
    finally:
        if not is_begun:
            begun()


@contextmanager
def _in_turn(turn: threading.Lock | None) -> Iterator[None]:
    if turn is None:
        yield
        return
    if not turn.acquire(timeout=BUSY_TIMEOUT_MS / 1000):
        raise Unavailable("The database does not answer.", retry_after_s=5)
    try:
        yield
    finally:
        turn.release()


def _sqlite_code(error: BaseException) -> int | None:
    code: int | None = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return code


def is_sqlite_away(error: BaseException) -> bool:
    """Whether SQLite failed for want of its file, its lock or its disk, and would do the same later."""
    code = _sqlite_code(error)
    return code is not None and code & 0xFF in _SQLITE_AWAY


@contextmanager
def answering() -> Iterator[None]:
    """What is asked inside raises Unavailable where the database does not answer."""
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError) as error:
        # SQLite calls a missing table an operational error too, and that is a fault of ours.
        if _sqlite_code(error) is not None and not is_sqlite_away(error):
            raise
        if getattr(getattr(error, "orig", None), "sqlstate", None) in _LOCK_NOT_AVAILABLE:
            raise Unavailable("The database is locked.", code="lock_timeout", retry_after_s=5) from error
        raise Unavailable("The database does not answer.", retry_after_s=5) from error


def upsert(connection: Connection, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT with ON CONFLICT, in the words of the connection's database."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def put_all(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """INSERT of many, each in the place of the row that has its primary key."""
    if not rows:
        return
    statement = upsert(connection, table)
    key = [column.name for column in table.primary_key.columns]
    changed = {column.name: statement.excluded[column.name] for column in table.columns if column.name not in key}
    if changed:
        statement = statement.on_conflict_do_update(index_elements=key, set_=changed)
    else:
        statement = statement.on_conflict_do_nothing()
    connection.execute(statement, rows)


def insert_ignoring(connection: Connection, table: sa.Table, values: dict[str, Any]) -> bool:
    """INSERT that does nothing where a unique key is taken. True when a row was made."""
    key = table.primary_key.columns.values()[0]
    statement = upsert(connection, table).values(**values).on_conflict_do_nothing().returning(key)
    return connection.execute(statement).first() is not None
