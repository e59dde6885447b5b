"""When a backup was last made, and when one last failed: for whoever watches over the installation."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import metadata, now, put_all, time_column
from store.scope import across_tenants

Outcome = Literal["success", "error"]

backup_outcomes = sa.Table(
    "backup_outcomes",
    metadata,
    sa.Column("outcome", sa.String(10), primary_key=True),
    time_column("at", nullable=False),
)


@across_tenants("backups are of the whole installation")
def note(connection: Connection, outcome: Outcome) -> None:
    put_all(connection, backup_outcomes, [{"outcome": outcome, "at": now()}])


@across_tenants("backups are of the whole installation")
def begin_anew(connection: Connection, made_at: datetime) -> None:
    """Of a database that was restored from a backup of that moment, which is the last there is of it. Of whichever
    release: there may be no such table."""
    if sa.inspect(connection).has_table(backup_outcomes.name):
        connection.execute(sa.delete(backup_outcomes))
        put_all(connection, backup_outcomes, [{"outcome": "success", "at": made_at}])


@across_tenants("backups are of the whole installation")
def last(connection: Connection) -> dict[str, datetime]:
    """By the outcome; empty where nobody has tried yet."""
    return {row.outcome: row.at for row in connection.execute(sa.select(backup_outcomes))}
