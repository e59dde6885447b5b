"""Table and queries of the audit log: what was done in an account, by whom."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

audit_entries = sa.Table(
    "audit_entries",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    time_column("at", nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),  # "key sk_live_AbCdEf", "integration NAME", "operator", …
    sa.Column("action", sa.String(64), nullable=False),
    sa.Column("subject", sa.String(200), nullable=True),
    sa.Column("details", sa.JSON, nullable=False),
    sa.Index(None, "tenant_id", "at", "id"),
)
