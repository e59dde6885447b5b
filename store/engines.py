"""Engines for SQLite and PostgreSQL as Parley uses them, and the file of counts beside a SQLite database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import ConnectionPoolEntry

BUSY_TIMEOUT_MS = 20_000
_PAUSE_S = 0.05
# What is sent is to be acknowledged within ten seconds, and an idle link to answer for itself about as soon.
_PATIENCE = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 2,
}
_TRUSTED_S = 2.0
_ANSWERED_S = "answered_s"
# Of a link on which an answer is still to be acknowledged nobody asks whether it lives: what is sent bounds that one.
_SERVERS_PATIENCE = """
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = 20000
"""


def make_engine(
    url: str,
    *,
    synchronous: str,
    connections: int = 20,
    of_jobs: bool = False,
    one_by_one: bool = False,
    pooled: bool = False,
) -> Engine:
    """An engine as Parley uses it; on SQLite with WAL and the given `synchronous` pragma, writing over what it deletes.

    One `of_jobs` is as DBOS is written for: it leaves BEGIN IMMEDIATE to sqlite3 itself, before the first write, and no
    transaction on PostgreSQL lies idle for a minute. To PostgreSQL it has at most `connections`, and keeps half.
    `one_by_one`: without transactions but those of SQLite's statements. `pooled`: what answers at the URL is a pooler,
    behind which each transaction may have another session of PostgreSQL's.
    """
    if not url.startswith("sqlite"):
        return _postgresql_engine(url, connections, of_jobs, pooled)
    path = sa.make_url(url).database
    assert path, "SQLite in memory has one owner and cannot be shared by threads"
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(
        url, pool_size=10, max_overflow=30, connect_args={"check_same_thread": False}, hide_parameters=True
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _entry: ConnectionPoolEntry) -> None:
        # None: transactions begin where SQLAlchemy says, not where the driver guesses.
        connection.isolation_level = "IMMEDIATE" if of_jobs else None
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
        if of_jobs or one_by_one:
            return
        if connection.get_execution_options().get("parley_write", False):
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return
        # Nothing is locked yet, so nothing can fail, and by SQLAlchemy it costs as much as a short statement.
        raw = connection.connection.dbapi_connection
        assert raw is not None
        raw.execute("BEGIN").close()

    return engine


def _postgresql_engine(url: str, connections: int, of_jobs: bool, pooled: bool) -> Engine:
    """With both sides soon aware of a link that is cut: by the systems' own bounds a request would wait a quarter of an
    hour for its answer, and the server would keep the locks of who is gone for as long, or for two hours."""
    made = sa.make_url(url).set(drivername="postgresql+psycopg")
    options: dict[str, Any] = {name: value for name, value in _PATIENCE.items() if name not in made.query}
    if pooled:
        options["prepare_threshold"] = None  # the session that knows the statement may be another's by then
    kept = max(1, connections // 2)
    engine = sa.create_engine(
        made,
        pool_size=kept,
        max_overflow=connections - kept,
        pool_use_lifo=True,  # those in use know the statements, and need not be asked whether they live
        hide_parameters=True,
        connect_args=options,
    )
    _ask_those_that_rested(engine)
    if pooled:  # a session's settings would be another's too: what is set below is the pooler's to say
        return engine

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _entry: ConnectionPoolEntry) -> None:
        connection.autocommit = True
        connection.execute(_SERVERS_PATIENCE)
        if of_jobs:
            connection.execute("SET idle_in_transaction_session_timeout = 60000")
        connection.autocommit = False

    return engine


def _ask_those_that_rested(engine: Engine) -> None:
    """Whether a connection still answers is asked before it is used, but not of one that answered a moment ago: that
    was a transaction and a journey more for nearly each of ours, and on a busy server it is never otherwise."""

    @event.listens_for(engine, "connect")
    @event.listens_for(engine, "checkin")
    def _answered(_connection: Any, entry: ConnectionPoolEntry) -> None:
        entry.info[_ANSWERED_S] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _goes_out(connection: Any, entry: ConnectionPoolEntry, _proxy: Any) -> None:
        if time.monotonic() - entry.info.get(_ANSWERED_S, 0.0) < _TRUSTED_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            if not engine.dialect.is_disconnect(error, connection, None):
                raise
            raise sa.exc.InvalidatePoolError from error  # the others are of the same age: connected anew as well


def counts_engine(url: str) -> Engine:
    """Over "parley.counts.sqlite3" beside "parley.sqlite3". Each statement is a transaction: a count is one."""
    made = sa.make_url(url)
    path = Path(made.database or "")
    beside = made.set(database=str(path.with_name(f"{path.stem}.counts{path.suffix}")))
    return make_engine(beside.render_as_string(False), synchronous="NORMAL", one_by_one=True)


def make_counts(engine: Engine, table: sa.Table) -> None:
    """Several processes may begin at the same moment, and SQLite lets none wait while another makes the file."""
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            with engine.connect() as connection:
                connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
                for index in table.indexes:
                    connection.execute(sa.schema.CreateIndex(index, if_not_exists=True))
            return
        except sa.exc.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE_S)
