"""Table and queries of payment links."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

payment_links = sa.Table(
    "payment_links",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Column("status", sa.String(10), nullable=False),  # pending, paid, expired, cancelled or failed
    sa.Column("customer_email", sa.String(320), nullable=False),
    sa.Column("purpose", sa.String(300), nullable=False),
    sa.Column("provider", sa.String(16), nullable=False),
    sa.Column("provider_payment_id", sa.String(100), nullable=True),
    sa.Column("payment_url", sa.Text, nullable=True),
    sa.Column("redirect_url", sa.Text, nullable=True),
    sa.Column("fail_redirect_url", sa.Text, nullable=True),
    time_column("expires_at", nullable=False),
    time_column("paid_at", nullable=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("provider", "provider_payment_id"),
    sa.Index(None, "tenant_id", "created_at"),
    sa.Index(None, "status", "expires_at"),
)
