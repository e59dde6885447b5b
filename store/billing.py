"""Tables and queries of money: tariffs, the double-entry ledger, holds, usage. Amounts are millionths of a rouble."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

tariff_versions = sa.Table(
    "tariff_versions",
    metadata,
    id_column("id", primary_key=True),
    sa.Column("label", sa.String(200), nullable=False),
    sa.Column("is_current", sa.Boolean, nullable=False),  # what new clients get
    time_column("created_at", nullable=False),
)

tariff_rates = sa.Table(
    "tariff_rates",
    metadata,
    id_column("version_id", sa.ForeignKey("tariff_versions.id", ondelete="CASCADE"), primary_key=True),
    id_column("option_id", primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("product", sa.String(32), nullable=False),
    sa.Column("unit", sa.String(16), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Column("llm_model", sa.String(200), nullable=True),
)

# What a tenant has, kept beside the entries so that a hold is one conditional update.
balances = sa.Table(
    "balances",
    metadata,
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("available_micro", sa.BigInteger, nullable=False),
    sa.Column("held_micro", sa.BigInteger, nullable=False),
    time_column("updated_at", nullable=False),
)

ledger_transactions = sa.Table(
    "ledger_transactions",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.String(200), nullable=False),
    sa.Column("kind", sa.String(8), nullable=False),  # credit, debit, hold or release
    sa.Column("amount_micro", sa.BigInteger, nullable=False),  # as the client sees it: negative for a debit
    sa.Column("description", sa.String(300), nullable=True),
    sa.Column("product", sa.String(32), nullable=True),
    sa.Column("source", sa.String(32), nullable=True),
    id_column("source_ref", nullable=True),
    time_column("created_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "key"),
    sa.Index(None, "tenant_id", "kind", "created_at", "id"),
)

ledger_entries = sa.Table(
    "ledger_entries",
    metadata,
    id_column("transaction_id", sa.ForeignKey("ledger_transactions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("account", sa.String(32), primary_key=True),  # available, held; revenue, cash, grants
    id_column("tenant_id", nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Index(None, "tenant_id", "account"),
)

holds = sa.Table(
    "holds",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.String(200), nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Column("status", sa.String(8), nullable=False),  # open, charged or released
    id_column("tariff_version_id", nullable=False),
    sa.Column("source", sa.String(32), nullable=False),
    id_column("source_ref", nullable=True),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=True),
    time_column("ended_at", nullable=True),
    sa.UniqueConstraint("tenant_id", "key"),
    sa.Index(None, "status", "expires_at"),
)

usage_records = sa.Table(
    "usage_records",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.String(200), nullable=False),
    sa.Column("product", sa.String(32), nullable=False),
    sa.Column("unit", sa.String(16), nullable=False),
    sa.Column("quantity", sa.BigInteger, nullable=False),
    sa.Column("rate_micro", sa.BigInteger, nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Column("llm_model", sa.String(200), nullable=True),
    sa.Column("source", sa.String(32), nullable=False),
    id_column("source_ref", nullable=True),
    id_column("transaction_id", nullable=True),  # the debit that charged it
    time_column("created_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "key"),
    sa.Index(None, "tenant_id", "source_ref"),
    sa.Index(None, "transaction_id"),
)
