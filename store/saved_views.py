"""Table and queries of saved views: named sets of filters of the list of communications, an account's own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id

saved_views = sa.Table(
    "saved_views",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(100), nullable=False),
    sa.Column("filters", sa.JSON, nullable=False),
    time_column("created_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "name"),
)


@dataclass(frozen=True, slots=True)
class SavedView:
    """`filters` are those of the list, by their names."""

    id: str
    name: str
    filters: dict[str, str]
    created_at: datetime


_COLUMNS = [saved_views.c[name] for name in SavedView.__dataclass_fields__]


def list_all(tenant_id: str, connection: Connection) -> list[SavedView]:
    """By name."""
    query = sa.select(*_COLUMNS).where(saved_views.c.tenant_id == tenant_id).order_by(saved_views.c.name)
    return [SavedView(*row) for row in connection.execute(query)]


def add(tenant_id: str, connection: Connection, *, name: str, filters: dict[str, str]) -> SavedView | None:
    """None where the account has one of that name."""
    made = SavedView(new_id(), name, filters, now())
    return made if insert_ignoring(connection, saved_views, {**asdict(made), "tenant_id": tenant_id}) else None


def delete(tenant_id: str, connection: Connection, view_id: str) -> bool:
    """False where there is none."""
    table = saved_views.c
    deleted = connection.execute(sa.delete(saved_views).where(table.tenant_id == tenant_id, table.id == view_id))
    return deleted.rowcount == 1
