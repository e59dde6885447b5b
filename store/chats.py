"""Table and queries of chat agents."""

from __future__ import annotations

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
    # What the model is told beside the house's rules, and which one is asked; null: the server's.
    sa.Column("instructions", sa.Text, nullable=False, server_default=""),
    sa.Column("model", sa.String(200), nullable=True),
    # Names of the tools it may call; null: all that a chat can have.
    sa.Column("tools", sa.JSON(none_as_null=True), nullable=True),
    # What a visitor of the site may be answered from: documents alone, and what the owner opens beside; of the named
    # spaces, or where none is named of the chat's own.
    sa.Column("site_tools", sa.JSON, nullable=False, server_default="[]"),
    sa.Column("site_space_ids", sa.JSON, nullable=False),
    sa.Column("theme", sa.JSON, nullable=False, server_default="{}"),
    sa.Column("languages", sa.JSON, nullable=False, server_default="[]"),
    # Pages that may show it; none: those of the account.
    sa.Column("allowed_origins", sa.JSON, nullable=False, server_default="[]"),
    sa.Column("messages_per_day", sa.Integer, nullable=True),
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
    instructions: str
    model: str | None
    tools: list[str] | None
    site_tools: list[str]
    site_space_ids: list[str]
    theme: dict[str, Any]
    languages: list[str]
    allowed_origins: list[str]
    messages_per_day: int | None
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
    **settings: Any,
) -> Chat:
    """A new active chat; the tenant's first one is its default. `settings` are the columns that its owner sets."""
    made_at = now()
    count = connection.execute(
        sa.select(sa.func.count()).select_from(chats).where(chats.c.tenant_id == tenant_id)
    ).scalar_one()
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "name": name,
        "header_title": header_title,
        "greeting": "",
        "suggestions": [],
        "is_default": count == 0,
        "is_active": True,
        "default_space_ids": [],
        "instructions": "",
        "model": None,
        "tools": None,
        "site_tools": [],
        "site_space_ids": [],
        "theme": {},
        "languages": [],
        "allowed_origins": [],
        "messages_per_day": None,
        "workflow_flow_id": None,
        **settings,
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


def make_default(tenant_id: str, connection: Connection, chat_id: str) -> None:
    """Makes it the tenant's default chat, in place of the one that was."""
    mine = chats.c.tenant_id == tenant_id
    connection.execute(sa.update(chats).where(mine, chats.c.is_default).values(is_default=False))
    connection.execute(sa.update(chats).where(mine, chats.c.id == chat_id).values(is_default=True))


def delete(tenant_id: str, connection: Connection, chat_id: str) -> bool:
    """Its conversations stay. Where it was the default, the oldest active one becomes it. False where
    there is none."""
    chat = get(tenant_id, connection, chat_id)
    if chat is None:
        return False
    connection.execute(sa.delete(chats).where(chats.c.tenant_id == tenant_id, chats.c.id == chat_id))
    left = [other for other in list_all(tenant_id, connection) if other.is_active]
    if chat.is_default and left:
        make_default(tenant_id, connection, left[0].id)
    return True


@across_tenants("the public key is what tells the tenant")
def find_by_public_key(connection: Connection, public_key: str) -> Chat | None:
    row = connection.execute(sa.select(chats).where(chats.c.public_key == public_key, chats.c.is_active)).first()
    return _chat(row) if row else None
