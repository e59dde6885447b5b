"""Table and queries of idempotency keys: the first answer to a request, kept for its repetitions."""

from __future__ import annotations

import sqlalchemy as sa

from store.database import id_column, metadata, time_column

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    id_column("owner_id", primary_key=True),  # a tenant or an integration
    sa.Column("key_hash", sa.String(64), primary_key=True),
    sa.Column("operation", sa.String(200), nullable=False),
    sa.Column("fingerprint", sa.String(64), nullable=True),  # of the body, once it was read
    sa.Column("status", sa.Integer, nullable=True),  # HTTP status; null while the first request is in work
    # Encrypted under the installation's secret key: an answer may hold a key that is shown once.
    sa.Column("answer", sa.LargeBinary, nullable=True),
    time_column("created_at", nullable=False),
    time_column("locked_until", nullable=True),
    sa.Index(None, "created_at"),
)
