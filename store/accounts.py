"""Tables and queries of tenants and their API keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

FEATURES = ("chat", "qc", "memory", "vision", "kb")

tenants = sa.Table(
    "tenants",
    metadata,
    id_column("id", primary_key=True),
    id_column("client_id", nullable=False, unique=True),
    id_column("integration_id", sa.ForeignKey("integrations.id"), nullable=True),
    sa.Column("external_id", sa.String(128), nullable=True),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("email", sa.String(320), nullable=True, unique=True),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("features", sa.JSON, nullable=False),
    sa.Column("language", sa.String(2), nullable=False),
    sa.Column("time_zone", sa.String(64), nullable=False),
    sa.Column("widget_origins", sa.JSON, nullable=False),
    # Why the client is paused: partner, operator, or balance (lifted by a top-up). Null while active.
    sa.Column("pause_reason", sa.String(10), nullable=True),
    sa.Column("allow_credit", sa.Boolean, nullable=False, server_default=sa.false()),
    id_column("tariff_version_id", nullable=True),  # null: the current tariff
    sa.Column("webhook_url", sa.String(4096), nullable=True),
    sa.Column("retention_days", sa.Integer, nullable=True),  # null: kept for good
    sa.Column("memory_enabled", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("qc_enabled", sa.Boolean, nullable=False, server_default=sa.true()),
    # Voices are biometric data: remembered only where the account says so.
    sa.Column("voices_enabled", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("camera_limit", sa.Integer, nullable=False, server_default="4"),
    sa.Column("camera_days", sa.Integer, nullable=False, server_default="30"),  # how long their events are kept
    sa.Column("audio_days", sa.Integer, nullable=True),  # null: recordings stay as long as their texts
    time_column("paused_since", nullable=True),  # without a break; null while active
    time_column("deleting_since", nullable=True),  # all of it goes, and nobody enters any more
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("integration_id", "external_id"),
    # Clients without an integration: a NULL is no equal of another in the constraint above.
    sa.Index(
        "uq_tenants_own_external_id",
        "external_id",
        unique=True,
        sqlite_where=sa.text("integration_id IS NULL"),
        postgresql_where=sa.text("integration_id IS NULL"),
    ),
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("prefix", sa.String(24), nullable=False),
    sa.Column("key_hash", sa.String(64), nullable=False, unique=True),
    # hex(SHA-256(key)) signs webhooks, so it is a secret: encrypted under the installation's secret key.
    sa.Column("signing_secret", sa.LargeBinary, nullable=False),
    sa.Column("issuer", sa.String(16), nullable=False),  # account or integration
    time_column("created_at", nullable=False),
    time_column("revoked_at", nullable=True),
    sa.Index(None, "tenant_id"),
)


@dataclass(frozen=True, slots=True)
class Tenant:
    id: str
    client_id: str
    integration_id: str | None
    external_id: str | None
    name: str
    email: str | None
    is_active: bool
    features: tuple[str, ...]
    language: str
    time_zone: str
    widget_origins: tuple[str, ...]
    pause_reason: str | None
    allow_credit: bool
    tariff_version_id: str | None
    webhook_url: str | None
    retention_days: int | None
    memory_enabled: bool
    qc_enabled: bool
    voices_enabled: bool
    camera_limit: int
    camera_days: int
    audio_days: int | None
    paused_since: datetime | None
    deleting_since: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: str
    tenant_id: str
    name: str
    prefix: str
    issuer: str
    created_at: datetime
    revoked_at: datetime | None


def _tenant(row: Row[Any]) -> Tenant:
    lists = {"features": tuple(row.features), "widget_origins": tuple(row.widget_origins)}
    return Tenant(**{**row._mapping, **lists})


_KEY_COLUMNS = [api_keys.c[name] for name in ApiKey.__dataclass_fields__]


@across_tenants("makes the tenant")
def create_tenant(
    connection: Connection,
    *,
    name: str,
    external_id: str | None = None,
    integration_id: str | None = None,
    email: str | None = None,
    features: Sequence[str] = FEATURES,
    language: str = "ru",
    time_zone: str = "Europe/Moscow",
    widget_origins: Sequence[str] = (),
    tenant_id: str | None = None,
) -> Tenant | None:
    """The new tenant, or None where its e-mail, external id or `tenant_id` is taken."""
    made_at = now()
    values: dict[str, Any] = {
        "id": tenant_id or new_id(),
        "client_id": new_id(),
        "integration_id": integration_id,
        "external_id": external_id,
        "name": name,
        "email": email,
        "is_active": True,
        "features": list(features),
        "language": language,
        "time_zone": time_zone,
        "widget_origins": list(widget_origins),
        "pause_reason": None,
        "allow_credit": False,
        "tariff_version_id": None,
        "webhook_url": None,
        "retention_days": None,
        "memory_enabled": True,
        "qc_enabled": True,
        "voices_enabled": False,
        "camera_limit": 4,
        "camera_days": 30,
        "audio_days": None,
        "paused_since": None,
        "deleting_since": None,
        "created_at": made_at,
        "updated_at": made_at,
    }
    if not insert_ignoring(connection, tenants, values):
        return None
    made = get_tenant(values["id"], connection)
    assert made is not None
    return made


def get_tenant(tenant_id: str, connection: Connection, *, lock: bool = False) -> Tenant | None:
    """`lock` keeps others from changing it until the transaction ends; rows that point at it may still be written."""
    query = sa.select(tenants).where(tenants.c.id == tenant_id)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).first()
    return _tenant(row) if row else None


def update_tenant(tenant_id: str, connection: Connection, **values: Any) -> bool:
    """Sets the given columns, and since when it is paused. False, and nothing changed, where the e-mail belongs to
    another tenant."""
    for name in {"features", "widget_origins"} & values.keys():
        values[name] = list(values[name])
    if "is_active" in values:
        at = sa.literal(now(), tenants.c.paused_since.type)
        since = sa.case((tenants.c.is_active, at), else_=sa.func.coalesce(tenants.c.paused_since, at))
        values["paused_since"] = None if values["is_active"] else since
    statement = sa.update(tenants).where(tenants.c.id == tenant_id).values(**values, updated_at=now())
    if values.get("email") is None:
        connection.execute(statement)
        return True
    try:
        with connection.begin_nested():
            connection.execute(statement)
    except sa.exc.IntegrityError:
        return False
    return True


@across_tenants("an integration names its clients by their external ids")
def find_client(
    connection: Connection, integration_id: str | None, external_id: str, *, lock: bool = False
) -> Tenant | None:
    """The client of that integration; with None, the one that belongs to no integration."""
    query = sa.select(tenants).where(tenants.c.integration_id == integration_id, tenants.c.external_id == external_id)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).first()
    return _tenant(row) if row else None


@across_tenants("the operator's command line")
def list_by_external_id(connection: Connection, external_id: str) -> list[Tenant]:
    """Oldest first: each integration may have one."""
    query = sa.select(tenants).where(tenants.c.external_id == external_id)
    return [_tenant(row) for row in connection.execute(query.order_by(tenants.c.created_at, tenants.c.id))]


@across_tenants("the operator's command line")
def list_tenants(connection: Connection) -> list[Tenant]:
    return [_tenant(row) for row in connection.execute(sa.select(tenants).order_by(tenants.c.created_at, tenants.c.id))]


def add_key(
    tenant_id: str, connection: Connection, *, name: str, prefix: str, key_hash: str, signing_secret: bytes, issuer: str
) -> ApiKey:
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "name": name,
        "prefix": prefix,
        "issuer": issuer,
        "created_at": now(),
        "revoked_at": None,
    }
    connection.execute(sa.insert(api_keys).values(**values, key_hash=key_hash, signing_secret=signing_secret))
    return ApiKey(**values)


def signing_secret(tenant_id: str, connection: Connection, *, preferred_key_id: str | None) -> bytes | None:
    """Encrypted, of the preferred key if it is active, else of the newest active one; None without any."""
    is_preferred = sa.case((api_keys.c.id == preferred_key_id, 1), else_=0)
    return connection.execute(
        sa.select(api_keys.c.signing_secret)
        .where(api_keys.c.tenant_id == tenant_id, api_keys.c.revoked_at.is_(None))
        .order_by(is_preferred.desc(), api_keys.c.created_at.desc(), api_keys.c.id.desc())
        .limit(1)
    ).scalar_one_or_none()


def list_keys(tenant_id: str, connection: Connection) -> list[ApiKey]:
    """Oldest first, revoked ones among them."""
    query = sa.select(*_KEY_COLUMNS).where(api_keys.c.tenant_id == tenant_id)
    rows = connection.execute(query.order_by(api_keys.c.created_at, api_keys.c.id))
    return [ApiKey(**row._mapping) for row in rows]


def list_keys_page(tenant_id: str, connection: Connection, *, limit: int, offset: int = 0) -> tuple[list[ApiKey], int]:
    """(keys newest first, revoked ones among them; how many there are in all)."""
    query = sa.select(*_KEY_COLUMNS).where(api_keys.c.tenant_id == tenant_id)
    rows = connection.execute(
        query.order_by(api_keys.c.created_at.desc(), api_keys.c.id.desc()).limit(limit).offset(offset)
    )
    total = sa.select(sa.func.count()).where(api_keys.c.tenant_id == tenant_id)
    return [ApiKey(**row._mapping) for row in rows], connection.execute(total).scalar_one()


def get_key(tenant_id: str, connection: Connection, key_id: str) -> ApiKey | None:
    query = sa.select(*_KEY_COLUMNS).where(api_keys.c.tenant_id == tenant_id, api_keys.c.id == key_id)
    row = connection.execute(query).first()
    return ApiKey(**row._mapping) if row else None


def count_live_keys(tenant_id: str, connection: Connection) -> int:
    query = sa.select(sa.func.count()).where(api_keys.c.tenant_id == tenant_id, api_keys.c.revoked_at.is_(None))
    return connection.execute(query).scalar_one()


def newest_key(tenant_id: str, connection: Connection, issuer: str) -> ApiKey | None:
    """The last key of that issuer, revoked or not."""
    query = (
        sa.select(*_KEY_COLUMNS)
        .where(api_keys.c.tenant_id == tenant_id, api_keys.c.issuer == issuer)
        .order_by(api_keys.c.created_at.desc(), api_keys.c.id.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return ApiKey(**row._mapping) if row else None


def revoke_key(tenant_id: str, connection: Connection, key_id: str) -> bool:
    """True when it was live until now; a revoked key keeps the time it was revoked at."""
    result = connection.execute(
        sa.update(api_keys)
        .where(api_keys.c.tenant_id == tenant_id, api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=now())
    )
    return result.rowcount == 1


def revoke_issued_keys(tenant_id: str, connection: Connection, issuer: str) -> None:
    """Ends every live key of that issuer."""
    connection.execute(
        sa.update(api_keys)
        .where(api_keys.c.tenant_id == tenant_id, api_keys.c.issuer == issuer, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=now())
    )


# Asked at every request: one statement, made once.
_TENANT_COLUMNS = [tenants.c[name] for name in Tenant.__dataclass_fields__]
LIVE_KEY = (
    sa.select(*_KEY_COLUMNS, *_TENANT_COLUMNS)
    .join_from(api_keys, tenants, tenants.c.id == api_keys.c.tenant_id)
    .where(api_keys.c.key_hash == sa.bindparam("key_hash"), api_keys.c.revoked_at.is_(None))
)


@across_tenants("the key is what tells the tenant")
def find_by_key_hash(connection: Connection, key_hash: str) -> tuple[ApiKey, Tenant] | None:
    """The key that is not revoked and its tenant."""
    row = connection.execute(LIVE_KEY, {"key_hash": key_hash}).first()
    return None if row is None else key_and_tenant(row)


def key_and_tenant(row: Sequence[Any]) -> tuple[ApiKey, Tenant]:
    """Of a row that begins with the columns of `LIVE_KEY`."""
    of_key = len(_KEY_COLUMNS)
    values = dict(zip(Tenant.__dataclass_fields__, row[of_key:], strict=False))  # more may stand behind them
    for name in ("features", "widget_origins"):
        values[name] = tuple(values[name])
    return ApiKey(*row[:of_key]), Tenant(**values)
