"""Table and queries of exports: the archive of everything that an account has, made on demand and kept for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

UNFINISHED = ("pending", "processing")

account_exports = sa.Table(
    "account_exports",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("status", sa.String(10), nullable=False),  # pending, processing, success, error
    sa.Column("progress", sa.Float, nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),
    sa.Column("error_message", sa.String(300), nullable=True),
    sa.Column("blob_key", sa.String(300), nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=True),
    sa.Column("sha256", sa.String(64), nullable=True),
    time_column("created_at", nullable=False),
    time_column("ended_at", nullable=True),
    time_column("expires_at", nullable=True),
    sa.Index(None, "tenant_id", "created_at"),
    sa.Index(None, "status"),
)


@dataclass(frozen=True, slots=True)
class Export:
    id: str
    tenant_id: str
    status: str
    progress: float
    actor: str
    error_message: str | None
    blob_key: str
    size_bytes: int | None
    sha256: str | None
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None


def create(tenant_id: str, connection: Connection, *, actor: str) -> Export:
    export_id = new_id()
    export = Export(
        id=export_id,
        tenant_id=tenant_id,
        status="pending",
        progress=0.0,
        actor=actor[:200],
        error_message=None,
        blob_key=f"{tenant_id}/exports/{export_id}",
        size_bytes=None,
        sha256=None,
        created_at=now(),
        ended_at=None,
        expires_at=None,
    )
    values = {name: getattr(export, name) for name in Export.__dataclass_fields__}
    connection.execute(sa.insert(account_exports).values(**values))
    return export


def get(tenant_id: str, connection: Connection, export_id: str) -> Export | None:
    table = account_exports
    row = connection.execute(sa.select(table).where(table.c.tenant_id == tenant_id, table.c.id == export_id)).first()
    return Export(**row._mapping) if row else None


def find_unfinished(tenant_id: str, connection: Connection) -> Export | None:
    table = account_exports
    row = connection.execute(
        sa.select(table).where(table.c.tenant_id == tenant_id, table.c.status.in_(UNFINISHED)).limit(1)
    ).first()
    return Export(**row._mapping) if row else None


def list_newest(tenant_id: str, connection: Connection, *, limit: int) -> list[Export]:
    table = account_exports
    query = sa.select(table).where(table.c.tenant_id == tenant_id).order_by(table.c.created_at.desc()).limit(limit)
    return [Export(**row._mapping) for row in connection.execute(query)]


def update(tenant_id: str, connection: Connection, export_id: str, **values: Any) -> bool:
    """False where it has ended, or was deleted."""
    table = account_exports
    changed = connection.execute(
        sa.update(table)
        .where(table.c.tenant_id == tenant_id, table.c.id == export_id, table.c.status.in_(UNFINISHED))
        .values(**values)
    )
    return changed.rowcount == 1


def delete(tenant_id: str, connection: Connection, export_id: str) -> None:
    table = account_exports
    connection.execute(sa.delete(table).where(table.c.tenant_id == tenant_id, table.c.id == export_id))


@across_tenants("exports are swept for all")
def list_unfinished(connection: Connection, *, before: datetime) -> list[Export]:
    """Made before then, the oldest first."""
    table = account_exports
    query = sa.select(table).where(table.c.status.in_(UNFINISHED), table.c.created_at < before)
    return [Export(**row._mapping) for row in connection.execute(query.order_by(table.c.created_at).limit(1000))]


@across_tenants("exports are swept for all")
def list_expired(connection: Connection) -> list[Export]:
    table = account_exports
    query = sa.select(table).where(table.c.expires_at <= now()).limit(1000)
    return [Export(**row._mapping) for row in connection.execute(query)]
