"""Tables and queries of webhook deliveries: events to be sent, and each attempt to send them."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    id_column("id", primary_key=True),  # the event's id, the same in every attempt
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("event_key", sa.String(200), nullable=False),  # makes an event that is emitted twice one delivery
    sa.Column("event", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),  # the JSON text as it is signed and sent
    sa.Column("url", sa.Text, nullable=False),
    id_column("key_id", nullable=True),  # of the request that the event belongs to
    sa.Column("status", sa.String(10), nullable=False),  # pending, delivered or failed
    sa.Column("attempts", sa.Integer, nullable=False),
    time_column("next_attempt_at", nullable=True),
    time_column("delivered_at", nullable=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "event_key"),
    sa.Index(None, "status", "next_attempt_at"),
    sa.Index(None, "tenant_id", "created_at", "id"),
)

attempts = sa.Table(
    "webhook_attempts",
    metadata,
    id_column("delivery_id", sa.ForeignKey("webhook_deliveries.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    id_column("tenant_id", nullable=False),
    time_column("at", nullable=False),
    sa.Column("latency_ms", sa.Integer, nullable=False),
    sa.Column("status_code", sa.Integer, nullable=True),
    sa.Column("error", sa.String(300), nullable=True),
    sa.Column("answer_head", sa.Text, nullable=True),  # the first bytes of the receiver's answer
)
