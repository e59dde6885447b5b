"""Table and queries of the tools' log: who called which tool with what, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store import due_accounts
from store.accounts import tenants
from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

OUTCOMES = ("ok", "error")
_DELETED_AT_ONCE = 1000

tool_calls = sa.Table(
    "tool_calls",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    time_column("at", nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),  # as in the audit log; or a chat
    sa.Column("tool", sa.String(100), nullable=False),
    sa.Column("arguments", sa.JSON, nullable=False),
    sa.Column("outcome", sa.String(10), nullable=False),
    sa.Column("error", sa.String(300), nullable=True),
    sa.Column("duration_ms", sa.Float, nullable=False),
    sa.Column("items", sa.Integer, nullable=True),
    sa.Column("characters", sa.Integer, nullable=True),
    sa.Column("protocol_version", sa.String(20), nullable=True),
    sa.Column("client", sa.String(200), nullable=True),
    sa.Column("request_id", sa.String(128), nullable=True),
    # With all that a list is filtered by, so that counting what matches reads no row.
    sa.Index(None, "tenant_id", "at", "id", "tool", "outcome"),
    sa.Index(None, "at"),
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that has ended, with nothing secret in it. `tool` is a tool's name, or the method where it was no tool
    (`resources/read`). `items` and `characters` measure the result and are null where there was none."""

    tenant_id: str
    actor: str
    tool: str
    arguments: dict[str, Any]
    outcome: str
    duration_ms: float
    error: str | None = None
    items: int | None = None
    characters: int | None = None
    protocol_version: str | None = None
    client: str | None = None
    request_id: str | None = None
    at: datetime = field(default_factory=now)
    id: str = field(default_factory=new_id)


_COLUMNS = [tool_calls.c[name] for name in ToolCall.__dataclass_fields__]


@across_tenants("each row names its own tenant")
def add_all(connection: Connection, calls: Sequence[ToolCall]) -> None:
    """Writes calls of any tenants, leaving out those of a tenant that is gone."""
    wanted = {call.tenant_id for call in calls}
    there = set(connection.execute(sa.select(tenants.c.id).where(tenants.c.id.in_(wanted))).scalars())
    rows = [
        {name: getattr(call, name) for name in ToolCall.__dataclass_fields__}
        for call in calls
        if call.tenant_id in there
    ]
    if rows:
        connection.execute(sa.insert(tool_calls), rows)


def list_page(
    tenant_id: str,
    connection: Connection,
    *,
    tool: str | None = None,
    outcome: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
    limit: int,
    offset: int = 0,
) -> tuple[list[ToolCall], int]:
    """(calls newest first, how many match in all). `since` is inside the bounds, `before` is not."""
    table = tool_calls.c
    given = {table.tool: tool, table.outcome: outcome}
    matching = [
        table.tenant_id == tenant_id,
        *(column == value for column, value in given.items() if value is not None),
    ]
    if since is not None:
        matching.append(table.at >= since)
    if before is not None:
        matching.append(table.at < before)
    query = sa.select(*_COLUMNS).where(*matching).order_by(table.at.desc(), table.id.desc())
    rows = connection.execute(query.limit(limit).offset(offset))
    total = sa.select(sa.func.count()).select_from(tool_calls).where(*matching)
    return [ToolCall(**row._mapping) for row in rows], connection.execute(total).scalar_one()


@across_tenants("housekeeping")
def purge(connection: Connection, *, before: datetime, limit: int = _DELETED_AT_ONCE) -> int:
    """Deletes calls from before `before`, the oldest first, at most `limit`; how many they were."""
    table = tool_calls.c
    return _delete(connection, sa.select(table.id).where(table.at < before).order_by(table.at).limit(limit))


def purge_of(tenant_id: str, connection: Connection, *, before: datetime, limit: int = _DELETED_AT_ONCE) -> int:
    """`purge`, of one tenant's calls."""
    table = tool_calls.c
    old = sa.select(table.id).where(table.tenant_id == tenant_id, table.at < before)
    return _delete(connection, old.order_by(table.at, table.id).limit(limit))


@across_tenants("housekeeping")
def list_due(connection: Connection) -> list[str]:
    """Ids of the accounts with calls that they no longer keep, since they keep communications no longer."""
    table = tool_calls.c
    return due_accounts.list_due(
        connection,
        tenants.c.retention_days,
        lambda tenant_id, before: sa.select(table.id).where(table.tenant_id == tenant_id, table.at < before),
    )


@across_tenants("housekeeping")
def list_over(connection: Connection, kept: int) -> list[str]:
    """Ids of the tenants with more than `kept` calls."""
    tenant_id = tool_calls.c.tenant_id
    query = sa.select(tenant_id).group_by(tenant_id).having(sa.func.count() > kept).order_by(tenant_id)
    return list(connection.execute(query).scalars())


def time_of_nth(tenant_id: str, connection: Connection, number: int) -> datetime | None:
    """When the `number`-th newest call was, counted from 1; None where there are fewer."""
    table = tool_calls.c
    query = sa.select(table.at).where(table.tenant_id == tenant_id).order_by(table.at.desc(), table.id.desc())
    return connection.execute(query.limit(1).offset(number - 1)).scalar_one_or_none()


def _delete(connection: Connection, ids: sa.Select[tuple[str]]) -> int:
    return connection.execute(sa.delete(tool_calls).where(tool_calls.c.id.in_(ids))).rowcount
