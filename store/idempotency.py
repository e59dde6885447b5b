"""Table and queries of idempotency keys: the first answer to a request, kept for its repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.scope import across_tenants

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    id_column("owner_id", primary_key=True),  # a tenant or an integration
    sa.Column("key_hash", sa.String(64), primary_key=True),
    id_column("claim_id", nullable=False),  # the request that works on it, or did
    sa.Column("operation", sa.String(200), nullable=False),
    sa.Column("fingerprint", sa.String(64), nullable=True),  # of the body, once it was read
    sa.Column("status", sa.Integer, nullable=True),  # HTTP status; null while the first request is in work
    # Encrypted under the installation's secret key: an answer may hold a key that is shown once.
    sa.Column("answer", sa.LargeBinary, nullable=True),
    time_column("created_at", nullable=False),
    time_column("locked_until", nullable=True),
    sa.Index(None, "created_at"),
)
_keys = idempotency_keys.c


@dataclass(frozen=True, slots=True)
class Entry:
    """A key's row. `status` and `answer` are there once the first request was answered."""

    claim_id: str
    operation: str
    fingerprint: str | None
    status: int | None
    answer: bytes | None
    locked_until: datetime | None


_COLUMNS = [_keys[name] for name in Entry.__dataclass_fields__]


@across_tenants("the owner is a tenant or an integration")
def claim(
    connection: Connection,
    owner_id: str,
    key_hash: str,
    *,
    claim_id: str,
    operation: str,
    fingerprint: str | None,
    lease: timedelta,
    kept_for: timedelta,
) -> Entry | None:
    """The key's row, which is the caller's own where its `claim_id` is. A claim whose lease ran out is taken over.

    None where the row changed meanwhile: try again.
    """
    at = now()
    mine = (_keys.owner_id == owner_id, _keys.key_hash == key_hash)
    # A claim in work is left alone however old it is.
    is_unlocked = sa.or_(_keys.status.is_not(None), _keys.locked_until < at)
    connection.execute(sa.delete(idempotency_keys).where(*mine, _keys.created_at < at - kept_for, is_unlocked))
    values = {
        "claim_id": claim_id,
        "operation": operation,
        "fingerprint": fingerprint,
        "created_at": at,
        "locked_until": at + lease,
    }
    made = insert_ignoring(connection, idempotency_keys, {"owner_id": owner_id, "key_hash": key_hash, **values})
    if not made:
        is_dead = sa.and_(_keys.status.is_(None), _keys.locked_until < at)
        connection.execute(sa.update(idempotency_keys).where(*mine, is_dead).values(**values))
    row = connection.execute(sa.select(*_COLUMNS).where(*mine)).first()
    return Entry(**row._mapping) if row else None


@across_tenants("the owner is a tenant or an integration")
def extend(connection: Connection, owner_id: str, claim_id: str, *, lease: timedelta) -> bool:
    """False where the claim is no more: answered, released or taken over."""
    return _update(connection, owner_id, claim_id, locked_until=now() + lease)


@across_tenants("the owner is a tenant or an integration")
def identify(connection: Connection, owner_id: str, claim_id: str, *, fingerprint: str) -> bool:
    """Says what the body was. False where the claim is no more."""
    return _update(connection, owner_id, claim_id, fingerprint=fingerprint)


@across_tenants("the owner is a tenant or an integration")
def keep(connection: Connection, owner_id: str, claim_id: str, *, status: int, answer: bytes) -> bool:
    """Stores the answer; the claim's own later answer replaces it. False where another took the key over."""
    result = connection.execute(
        sa.update(idempotency_keys)
        .where(_keys.owner_id == owner_id, _keys.claim_id == claim_id)
        .values(status=status, answer=answer, locked_until=None)
    )
    return result.rowcount == 1


@across_tenants("the owner is a tenant or an integration")
def release(connection: Connection, owner_id: str, claim_id: str) -> None:
    """Frees the key of a claim that came to nothing; one that was answered stays."""
    connection.execute(
        sa.delete(idempotency_keys).where(
            _keys.owner_id == owner_id, _keys.claim_id == claim_id, _keys.status.is_(None)
        )
    )


def _update(connection: Connection, owner_id: str, claim_id: str, **values: object) -> bool:
    result = connection.execute(
        sa.update(idempotency_keys)
        .where(_keys.owner_id == owner_id, _keys.claim_id == claim_id, _keys.status.is_(None))
        .values(**values)
    )
    return result.rowcount == 1


@across_tenants("housekeeping")
def forget_before(connection: Connection, moment: datetime) -> int:
    """Deletes keys first seen before `moment` that no request works on; how many there were."""
    is_unlocked = sa.or_(_keys.status.is_not(None), _keys.locked_until < now())
    return connection.execute(sa.delete(idempotency_keys).where(_keys.created_at < moment, is_unlocked)).rowcount
