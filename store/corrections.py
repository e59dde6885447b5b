"""Table and queries of corrections: what people changed in a timeline after recognition or import, with its history."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.changes import communication_changed
from store.communications import ContentItem, content_items
from store.database import id_column, metadata, now, time_column
from store.ids import new_id

Kind = Literal["text", "label", "speaker"]

corrections = sa.Table(
    "corrections",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=False),
    sa.Column("kind", sa.String(8), nullable=False),  # text, label or speaker
    sa.Column("idx", sa.Integer, nullable=True),
    sa.Column("label", sa.String(64), nullable=True),
    sa.Column("before", sa.Text, nullable=True),
    sa.Column("after", sa.Text, nullable=True),
    sa.Column("actor", sa.String(200), nullable=False),
    time_column("created_at", nullable=False),
    sa.Index(None, "tenant_id"),
    sa.Index(None, "communication_id", "created_at", "id"),
)


@dataclass(frozen=True, slots=True)
class Correction:
    """`text`: of the item `idx`. `label`: who said the item `idx`, by labels. `speaker`: whose voice `label` is, by
    names. `before` and `after` are null where there was or is none."""

    id: str
    kind: Kind
    idx: int | None
    label: str | None
    before: str | None
    after: str | None
    actor: str
    created_at: datetime


_COLUMNS = [corrections.c[name] for name in Correction.__dataclass_fields__]


def add(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    *,
    kind: Kind,
    before: str | None,
    after: str | None,
    actor: str,
    idx: int | None = None,
    label: str | None = None,
) -> Correction:
    made = Correction(new_id(), kind, idx, label, before, after, actor[:200], now())
    values = {**asdict(made), "tenant_id": tenant_id, "communication_id": communication_id}
    connection.execute(sa.insert(corrections).values(**values))
    return made


def list_of(tenant_id: str, connection: Connection, communication_id: str, *, limit: int) -> list[Correction]:
    """Newest first."""
    table = corrections.c
    query = (
        sa.select(*_COLUMNS)
        .where(table.tenant_id == tenant_id, table.communication_id == communication_id)
        .order_by(table.created_at.desc(), table.id.desc())
        .limit(limit)
    )
    return [Correction(*row) for row in connection.execute(query)]


def get_item(tenant_id: str, connection: Connection, communication_id: str, idx: int) -> ContentItem | None:
    """One turn of a timeline."""
    table = content_items.c
    query = sa.select(*(table[name] for name in ContentItem.__dataclass_fields__)).where(
        table.tenant_id == tenant_id, table.communication_id == communication_id, table.idx == idx
    )
    row = connection.execute(query).first()
    return ContentItem(*row) if row else None


def labels_of(tenant_id: str, connection: Connection, communication_id: str) -> set[str]:
    """Those that its timeline has."""
    table = content_items.c
    query = (
        sa.select(table.label)
        .where(table.tenant_id == tenant_id, table.communication_id == communication_id, table.label.is_not(None))
        .distinct()
    )
    return set(connection.execute(query).scalars())


def set_item(
    tenant_id: str, connection: Connection, communication_id: str, idx: int, *, text: str, label: str | None
) -> None:
    """What one turn says, and who says it."""
    table = content_items.c
    connection.execute(
        sa.update(content_items)
        .where(table.tenant_id == tenant_id, table.communication_id == communication_id, table.idx == idx)
        .values(text=text, label=label)
    )
    communication_changed(tenant_id, connection, communication_id)


def relabel(tenant_id: str, connection: Connection, communication_id: str, label: str, other: str) -> None:
    """Gives all turns of one label to another: recognition took one voice for two."""
    table = content_items.c
    connection.execute(
        sa.update(content_items)
        .where(table.tenant_id == tenant_id, table.communication_id == communication_id, table.label == label)
        .values(label=other)
    )
    communication_changed(tenant_id, connection, communication_id)
