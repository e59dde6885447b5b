"""Tables and queries of one-time codes that open the cabinet, and of the cabinet's sessions."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

session_codes = sa.Table(
    "session_codes",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("code_hash", sa.String(64), nullable=False, unique=True),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=False),
    time_column("used_at", nullable=True),
    sa.Index(None, "tenant_id"),
    sa.Index(None, "expires_at"),
)

cabinet_sessions = sa.Table(
    "cabinet_sessions",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=False),
    time_column("ended_at", nullable=True),
    sa.Index(None, "tenant_id"),
    sa.Index(None, "expires_at"),
)
