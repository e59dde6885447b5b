"""Table and queries of what the site widget refused: which page or address tried what it may not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

Reason = Literal["origin", "rate", "daily_limit", "captcha"]

widget_abuse = sa.Table(
    "widget_abuse",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("chat_id", sa.ForeignKey("chats.id", ondelete="CASCADE"), nullable=False),
    time_column("at", nullable=False),
    sa.Column("reason", sa.String(40), nullable=False),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("origin", sa.String(300), nullable=True),
    sa.Index(None, "tenant_id", "chat_id", "at"),
    sa.Index(None, "at"),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    id: str
    tenant_id: str
    chat_id: str
    at: datetime
    reason: str
    address: str
    origin: str | None


def add(
    tenant_id: str, connection: Connection, chat_id: str, *, reason: Reason, address: str, origin: str | None
) -> None:
    connection.execute(
        sa.insert(widget_abuse).values(
            id=new_id(),
            tenant_id=tenant_id,
            chat_id=chat_id,
            at=now(),
            reason=reason,
            address=address[:64],
            origin=origin[:300] if origin else None,
        )
    )


def list_page(
    tenant_id: str, connection: Connection, chat_id: str, *, limit: int, offset: int
) -> tuple[list[Refusal], int]:
    """The newest first, and how many there are."""
    table = widget_abuse.c
    mine: list[Any] = [table.tenant_id == tenant_id, table.chat_id == chat_id]
    total = connection.execute(sa.select(sa.func.count()).select_from(widget_abuse).where(*mine)).scalar_one()
    rows = connection.execute(
        sa.select(widget_abuse).where(*mine).order_by(table.at.desc(), table.id.desc()).limit(limit).offset(offset)
    )
    return [Refusal(**row._mapping) for row in rows], total


@across_tenants("housekeeping")
def forget_before(connection: Connection, moment: datetime) -> None:
    connection.execute(sa.delete(widget_abuse).where(widget_abuse.c.at < moment))
