"""Table and queries of chat agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

chats = sa.Table(
    "chats",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("header_title", sa.String(200), nullable=False),
    sa.Column("greeting", sa.Text, nullable=False),
    sa.Column("suggestions", sa.JSON, nullable=False),
    sa.Column("is_default", sa.Boolean, nullable=False),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("default_space_ids", sa.JSON, nullable=False),
    # What a visitor of the site may be answered from: documents alone, unless the owner opens calls and chats too;
    # of the named spaces, or where none is named of the chat's own.
    sa.Column("site_sees_communications", sa.Boolean, nullable=False),
    sa.Column("site_space_ids", sa.JSON, nullable=False),
    id_column("workflow_flow_id", nullable=True),
    sa.Column("public_key", sa.String(64), nullable=False, unique=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id", "created_at"),
)


@dataclass(frozen=True, slots=True)
class Chat:
    id: str
    tenant_id: str
    name: str
    header_title: str
    greeting: str
    suggestions: list[str]
    is_default: bool
    is_active: bool
    default_space_ids: list[str]
    site_sees_communications: bool
    site_space_ids: list[str]
    workflow_flow_id: str | None
    public_key: str
    created_at: datetime
    updated_at: datetime


def _chat(row: Row[Any]) -> Chat:
    return Chat(**row._mapping)


def create(
    tenant_id: str,
    connection: Connection,
    *,
    name: str,
    header_title: str,
    public_key: str,
    greeting: str = "",
    suggestions: Sequence[str] = (),
    default_space_ids: Sequence[str] = (),
    site_sees_communications: bool = False,
) -> Chat:
    """A new active chat; the tenant's first one is its default."""
    made_at = now()
    count = connection.execute(
        sa.select(sa.func.count()).select_from(chats).where(chats.c.tenant_id == tenant_id)
    ).scalar_one()
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "name": name,
        "header_title": header_title,
        "greeting": greeting,
        "suggestions": list(suggestions),
        "is_default": count == 0,
        "is_active": True,
        "default_space_ids": list(default_space_ids),
        "site_sees_communications": site_sees_communications,
        "site_space_ids": [],
        "workflow_flow_id": None,
        "public_key": public_key,
        "created_at": made_at,
        "updated_at": made_at,
    }
    connection.execute(sa.insert(chats).values(**values))
    return Chat(**values)


def get(tenant_id: str, connection: Connection, chat_id: str) -> Chat | None:
    row = connection.execute(sa.select(chats).where(chats.c.tenant_id == tenant_id, chats.c.id == chat_id)).first()
    return _chat(row) if row else None


def list_all(tenant_id: str, connection: Connection) -> list[Chat]:
    query = sa.select(chats).where(chats.c.tenant_id == tenant_id).order_by(chats.c.created_at, chats.c.id)
    return [_chat(row) for row in connection.execute(query)]


def update(tenant_id: str, connection: Connection, chat_id: str, **values: Any) -> None:
    """Sets the given columns."""
    connection.execute(
        sa.update(chats).where(chats.c.tenant_id == tenant_id, chats.c.id == chat_id).values(**values, updated_at=now())
    )


@across_tenants("the public key is what tells the tenant")
def find_by_public_key(connection: Connection, public_key: str) -> Chat | None:
    row = connection.execute(sa.select(chats).where(chats.c.public_key == public_key, chats.c.is_active)).first()
    return _chat(row) if row else None
