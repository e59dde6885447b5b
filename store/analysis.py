"""Tables and queries of what analysis found in a communication: stages, summary, items, quality control."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

stages = sa.Table(
    "analysis_stages",
    metadata,
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("stage", sa.String(10), primary_key=True),  # summary, qc or memory
    id_column("tenant_id", nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("error_message", sa.Text, nullable=True),
    time_column("updated_at", nullable=False),
)

summaries = sa.Table(
    "summaries",
    metadata,
    id_column("id", primary_key=True),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=False, unique=True),
    id_column("tenant_id", nullable=False),
    sa.Column("text", sa.Text, nullable=True),
    sa.Column("user_summary", sa.Text, nullable=True),
    sa.Column("category", sa.String(16), nullable=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
)

summary_items = sa.Table(
    "summary_items",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=True),
    id_column("summary_id", sa.ForeignKey("summaries.id", ondelete="CASCADE"), nullable=True),
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), nullable=True),
    sa.Column("item_type", sa.String(12), nullable=False),  # criteria, commitment or memory
    sa.Column("subtype", sa.String(64), nullable=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("meta", sa.JSON(none_as_null=True), nullable=True),
    time_column("created_at", nullable=False),
    sa.Index(None, "tenant_id", "communication_id"),
    sa.Index(None, "tenant_id", "speaker_id", "created_at"),
    sa.Index(None, "summary_id"),
)

qc_evaluations = sa.Table(
    "qc_evaluations",
    metadata,
    id_column("id", primary_key=True),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=False, unique=True),
    id_column("tenant_id", nullable=False),
    sa.Column("scenario_code", sa.String(32), nullable=False),
    sa.Column("score_pct", sa.Float, nullable=True),
    sa.Column("comment", sa.Text, nullable=True),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("criteria", sa.JSON, nullable=False),
    time_column("created_at", nullable=False),
)
