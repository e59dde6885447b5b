"""Table and queries of quality control's settings: an account's scenarios, criteria and words of its own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column, upsert

quality_settings = sa.Table(
    "quality_settings",
    metadata,
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
    # As `ingest/analysis/scenarios.py` reads it: read and replaced as a whole.
    sa.Column("settings", sa.JSON, nullable=False),
    time_column("updated_at", nullable=False),
)


def get(tenant_id: str, connection: Connection) -> dict[str, Any] | None:
    """None for an account that never changed them."""
    query = sa.select(quality_settings.c.settings).where(quality_settings.c.tenant_id == tenant_id)
    found: dict[str, Any] | None = connection.execute(query).scalar_one_or_none()
    return found


def put(tenant_id: str, connection: Connection, settings: dict[str, Any]) -> None:
    """Replaces the whole."""
    values = {"settings": settings, "updated_at": now()}
    statement = upsert(connection, quality_settings).values(tenant_id=tenant_id, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["tenant_id"], set_=values))
