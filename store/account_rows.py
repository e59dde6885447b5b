"""Everything that is one account's, whatever table it is in: read page by page for an export, deleted batch by batch.

A table belongs to accounts by its `tenant_id`, or by the column that `_OWNERS` names. A new table needs nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import api_keys, tenants
from store.audit import Action, audit_entries
from store.chats import chats
from store.database import metadata, now
from store.migrate import import_tables
from store.operators import mailed_codes, operators
from store.scope import across_tenants
from store.sessions import cabinet_sessions, session_codes
from store.trials import HOUSE_ID

Record = sa.Row[Any]
"""A row of any table, its values by their columns' names."""

_OWNERS = {"idempotency_keys": "owner_id"}
DELETION_WARNED: Action = "account.deletion_warned"
_DOORS = (api_keys, cabinet_sessions, session_codes)


def tables() -> list[sa.Table]:
    """Of accounts, those that others refer to last."""
    import_tables()
    return [table for table in reversed(metadata.sorted_tables) if _owner(table) is not None]


def _owner(table: sa.Table) -> sa.Column[Any] | None:
    return table.c.get(_OWNERS.get(table.name, "tenant_id"))


def _mine(tenant_id: str, table: sa.Table) -> sa.ColumnElement[bool]:
    owner = _owner(table)
    assert owner is not None
    return owner == tenant_id


def page(
    tenant_id: str, connection: Connection, table: sa.Table, *, after: Sequence[Any] | None, limit: int
) -> list[Record]:
    """Rows of an account by their primary key, those behind `after`, which is the key of a row."""
    key = list(table.primary_key.columns)
    query = sa.select(table).where(_mine(tenant_id, table)).order_by(*key).limit(limit)
    if after is not None:
        values = [sa.literal(value, column.type) for column, value in zip(key, after, strict=True)]
        query = query.where(sa.tuple_(*key) > sa.tuple_(*values) if len(key) > 1 else key[0] > values[0])
    return list(connection.execute(query))


def of_communications(
    tenant_id: str, connection: Connection, table: sa.Table, communication_ids: Sequence[str]
) -> list[Record]:
    """The rows of a table that belong to these communications, in the order of its key."""
    query = sa.select(table).where(_mine(tenant_id, table), table.c.communication_id.in_(communication_ids))
    return list(connection.execute(query.order_by(*table.primary_key.columns)))


def count(tenant_id: str, connection: Connection) -> dict[str, int]:
    """How many rows of which table an account has; without the tables that hold none."""
    counts = {}
    for table in tables():
        query = sa.select(sa.func.count()).select_from(table).where(_mine(tenant_id, table))
        counts[table.name] = connection.execute(query).scalar_one()
    return {name: number for name, number in counts.items() if number}


def delete_some(tenant_id: str, connection: Connection, table: sa.Table, *, limit: int) -> int:
    """How many rows were deleted, up to `limit` of them."""
    key = list(table.primary_key.columns)
    chosen = sa.select(*key).where(_mine(tenant_id, table)).limit(limit)
    column: Any = sa.tuple_(*key) if len(key) > 1 else key[0]
    return connection.execute(sa.delete(table).where(column.in_(chosen))).rowcount


def begin_deletion(tenant_id: str, connection: Connection) -> None:
    """Closes the account for everybody at once: keys, sessions, widget, jobs that are to be charged, cameras. Its name
    among others is free again."""
    for table in _DOORS:
        connection.execute(sa.delete(table).where(table.c.tenant_id == tenant_id))
    # A sign-in link is mailed to an address, not for an account: those go that work in no other one.
    own = sa.select(operators.c.email).where(operators.c.tenant_id == tenant_id)
    others = sa.select(operators.c.email).where(operators.c.tenant_id != tenant_id)
    connection.execute(
        sa.delete(mailed_codes).where(mailed_codes.c.email.in_(own), mailed_codes.c.email.not_in(others))
    )
    connection.execute(sa.update(chats).where(chats.c.tenant_id == tenant_id).values(is_active=False))
    values = {
        "is_active": False,
        "pause_reason": "operator",
        "deleting_since": now(),
        "name": "",
        "email": None,
        "external_id": None,
        "webhook_url": None,
        "widget_origins": [],
    }
    connection.execute(sa.update(tenants).where(tenants.c.id == tenant_id).values(**values))


def end_deletion(tenant_id: str, connection: Connection) -> None:
    """The account's own row, the last one."""
    connection.execute(sa.delete(tenants).where(tenants.c.id == tenant_id))


@across_tenants("deletions are swept for all")
def list_deleting(connection: Connection) -> list[tuple[str, datetime]]:
    """(tenant id, since when), the first one first."""
    query = sa.select(tenants.c.id, tenants.c.deleting_since).where(tenants.c.deleting_since.is_not(None))
    return [(row[0], row[1]) for row in connection.execute(query.order_by(tenants.c.deleting_since))]


@across_tenants("pauses are noted for all")
def note_pauses(connection: Connection) -> None:
    """Notes since when an account is paused that a release of before paused, as far as it was seen."""
    paused = tenants.c.is_active.is_(False)
    begun = sa.update(tenants).where(paused, tenants.c.paused_since.is_(None)).values(paused_since=now())
    over = sa.update(tenants).where(~paused, tenants.c.paused_since.is_not(None)).values(paused_since=None)
    connection.execute(begun)
    connection.execute(over)


@across_tenants("what was paused for long is warned for all")
def list_unwarned(connection: Connection, *, paused_days: int) -> list[tuple[str, datetime]]:
    """(tenant id, since when it is paused) of those who were not warned in this pause."""
    query = sa.select(tenants.c.id, tenants.c.paused_since).where(*_paused_for(paused_days), ~_was_warned())
    return [(row[0], row[1]) for row in connection.execute(query)]


@across_tenants("what was paused for long is deleted for all")
def list_long_paused(connection: Connection, *, paused_days: int, warned_days: int) -> list[str]:
    """Those who were paused, and warned in this pause, so many days ago."""
    query = sa.select(tenants.c.id).where(*_long_paused(paused_days, warned_days))
    return list(connection.execute(query).scalars())


def is_long_paused(tenant_id: str, connection: Connection, *, paused_days: int, warned_days: int) -> bool:
    query = sa.select(tenants.c.id).where(tenants.c.id == tenant_id, *_long_paused(paused_days, warned_days))
    return connection.execute(query).first() is not None


def _long_paused(paused_days: int, warned_days: int) -> list[sa.ColumnElement[bool]]:
    return [*_paused_for(paused_days), _was_warned(before=now() - timedelta(days=warned_days))]


def _paused_for(days: int) -> list[sa.ColumnElement[bool]]:
    return [
        tenants.c.is_active.is_(False),
        tenants.c.paused_since <= now() - timedelta(days=days),
        tenants.c.deleting_since.is_(None),
        tenants.c.id != HOUSE_ID,
    ]


def _was_warned(before: datetime | None = None) -> sa.ColumnElement[bool]:
    """In this pause, as the audit log has it."""
    entry, action = audit_entries.c, DELETION_WARNED
    warned = sa.exists().where(
        entry.tenant_id == tenants.c.id, entry.action == action, entry.at >= tenants.c.paused_since
    )
    return warned.where(entry.at <= before) if before is not None else warned
