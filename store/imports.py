"""Queries of imports: which communications came in as text under a record id, and one import of it at a time."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.communications import Communication, communications

_COLUMNS = [communications.c[name] for name in Communication.__dataclass_fields__]


def wait_for_others(tenant_id: str, connection: Connection, record_id: str) -> None:
    """Until the transaction ends no other one imports under this record id, or makes the conversation of this id: a
    racer must see what this one stores. To be called before anything is locked. On SQLite writers are one at a time
    anyway."""
    if connection.dialect.name == "postgresql":
        digest = hashlib.sha256(f"import {tenant_id} {record_id}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))


def list_of_record(
    tenant_id: str, connection: Connection, record_id: str, *, kind: str, channel_type: str, limit: int = 5
) -> list[Communication]:
    """What was imported under the record id, the newest first."""
    query = (
        sa.select(*_COLUMNS)
        .where(
            communications.c.tenant_id == tenant_id,
            communications.c.request_record_id == record_id,
            communications.c.kind == kind,
            communications.c.channel_type == channel_type,
            communications.c.import_key.is_not(None),
        )
        .order_by(communications.c.created_at.desc(), communications.c.id.desc())
        .limit(limit)
    )
    return [Communication(*row) for row in connection.execute(query)]
