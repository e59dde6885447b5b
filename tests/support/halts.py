"""Stops a transaction of a PostgreSQL at a statement that a test chooses: to kill who is in the middle of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from tests.support.server import JOB_S

_LOCK = 7101
_FUNCTION = f"""
CREATE FUNCTION halt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({_LOCK});
    RETURN NEW;
END $$
"""


@dataclass(frozen=True)
class Moment:
    """When a row comes into the table of which the condition is true."""

    table: str
    condition: str


def done(step: str) -> Moment:
    """A job's step has done its work, and the job runtime is about to note it: who is killed then does it again."""
    return Moment("dbos.operation_outputs", f"NEW.function_name = '{step}'")


def told(event: str) -> Moment:
    """In the transaction in which a piece of work ends, as its event is stored."""
    return Moment("webhook_deliveries", f"NEW.event = '{event}'")


CHARGED = Moment("ledger_transactions", "NEW.kind = 'debit'")
"""In the transaction in which a piece of work is paid for."""


class Halts:
    """Of one database, which has its tables already."""

    def __init__(self, database_url: str) -> None:
        self._engine = sa.create_engine(database_url, isolation_level="AUTOCOMMIT")
        self._connection = self._engine.connect()
        self._execute(_FUNCTION)

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()

    @contextmanager
    def at(self, moment: Moment) -> Iterator[None]:
        """In the block, whoever comes to the moment stays there, its transaction open."""
        self._execute(f"SELECT pg_advisory_lock({_LOCK})")
        self._execute(
            f"CREATE TRIGGER halt BEFORE INSERT ON {moment.table} FOR EACH ROW WHEN ({moment.condition}) "
            "EXECUTE FUNCTION halt()"
        )
        try:
            yield
        finally:
            self._execute(f"SELECT pg_advisory_unlock({_LOCK})")
            self._execute(f"DROP TRIGGER halt ON {moment.table}")  # once the transaction of who was killed is undone

    def wait(self) -> None:
        """Until somebody is at the moment."""
        deadline = time.monotonic() + JOB_S
        waiting = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = {_LOCK} AND NOT granted"
        while not self._execute(waiting).scalar_one():
            assert time.monotonic() < deadline, "nobody came to the moment"
            time.sleep(0.01)

    def _execute(self, statement: str) -> sa.CursorResult[int]:
        return self._connection.execute(sa.text(statement))
