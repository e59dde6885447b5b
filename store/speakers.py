"""Tables and queries of speakers: the people of an account's communications, and who spoke in which."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

speakers = sa.Table(
    "speakers",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("external_id", sa.String(64), nullable=True),
    sa.Column("name", sa.String(200), nullable=True),
    # The name as it is compared: SQLite's own lower() knows Latin letters only.
    sa.Column("name_key", sa.String(400), nullable=True),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("department", sa.String(200), nullable=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "external_id"),
    sa.Index(None, "tenant_id", "name_key", "updated_at"),
)

communication_speakers = sa.Table(
    "communication_speakers",
    metadata,
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), primary_key=True),
    id_column("tenant_id", nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("role", sa.String(16), nullable=False),  # in this communication
    sa.Column("label", sa.String(64), nullable=True),  # joins content_items.label; null while unbound
    sa.Index(None, "tenant_id", "speaker_id"),
)
