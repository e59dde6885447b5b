"""Which worker keeps house for all: one at a time, so that it costs the same however many there are."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import ago, insert_ignoring, metadata, time_column
from store.scope import across_tenants

_THE_ONLY_ONE = 1
MOST_S = 600.0
"""Nobody has it for longer in one go."""

housekeeping = sa.Table(
    "housekeeping",
    metadata,
    sa.Column("number", sa.SmallInteger, primary_key=True),
    sa.Column("executor_id", sa.String(200), nullable=False),
    time_column("until", nullable=False),
)


@across_tenants("housekeeping")
def take(connection: Connection, executor_id: str, *, for_s: float) -> bool:
    """Takes it for so many seconds from now on, or goes on with it. False where another worker has it, who is the same
    one from sweep to sweep, since sweeps remember how far they are."""
    row, until = housekeeping.c, ago(connection, -min(for_s, MOST_S))
    # A time too far ahead is from before the clock was set back.
    is_free = sa.not_(row.until.between(ago(connection, 0.0), ago(connection, -MOST_S)))
    mine = sa.update(housekeeping).where(sa.or_(row.executor_id == executor_id, is_free))
    if connection.execute(mine.values(executor_id=executor_id, until=until)).rowcount:
        return True
    return insert_ignoring(
        connection, housekeeping, {"number": _THE_ONLY_ONE, "executor_id": executor_id, "until": until}
    )


@across_tenants("housekeeping")
def let_go(connection: Connection, executor_id: str) -> None:
    """Of what the worker may have: the next who asks takes it."""
    mine = sa.update(housekeeping).where(housekeeping.c.executor_id == executor_id)
    connection.execute(mine.values(until=ago(connection, MOST_S)))
