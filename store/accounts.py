"""Tables and queries of tenants, their API keys, and the integrations that provision them."""

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

integrations = sa.Table(
    "integrations",
    metadata,
    id_column("id", primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("secret_prefix", sa.String(24), nullable=False),
    sa.Column("secret_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("allowed_networks", sa.JSON, nullable=False),
    sa.Column("features", sa.JSON, nullable=False),
    sa.Column("is_enabled", sa.Boolean, nullable=False),
    time_column("created_at", nullable=False),
)

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


@dataclass(frozen=True, slots=True)
class Integration:
    id: str
    name: str
    secret_prefix: str
    allowed_networks: tuple[str, ...]
    features: tuple[str, ...]
    is_enabled: bool
    created_at: datetime


def _tenant(row: Row[Any]) -> Tenant:
    lists = {"features": tuple(row.features), "widget_origins": tuple(row.widget_origins)}
    return Tenant(**{**row._mapping, **lists})


_KEY_COLUMNS = [api_keys.c[name] for name in ApiKey.__dataclass_fields__]
_INTEGRATION_COLUMNS = [integrations.c[name] for name in Integration.__dataclass_fields__]


def _integration(row: Row[Any]) -> Integration:
    return Integration(
        **{**row._mapping, "allowed_networks": tuple(row.allowed_networks), "features": tuple(row.features)}
    )


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
) -> Tenant | None:
    """The new tenant, or None where its e-mail or external id is taken."""
    made_at = now()
    values: dict[str, Any] = {
        "id": new_id(),
        "client_id": new_id(),
        "integration_id": integration_id,
        "external_id": external_id,
        "name": name,
        "email": email,
        "is_active": True,
        "features": list(features),
        "language": language,
        "time_zone": time_zone,
        "widget_origins": [],
        "pause_reason": None,
        "allow_credit": False,
        "tariff_version_id": None,
        "webhook_url": None,
        "retention_days": None,
        "memory_enabled": True,
        "qc_enabled": True,
        "voices_enabled": False,
        "created_at": made_at,
        "updated_at": made_at,
    }
    if not insert_ignoring(connection, tenants, values):
        return None
    made = get_tenant(values["id"], connection)
    assert made is not None
    return made


def get_tenant(tenant_id: str, connection: Connection) -> Tenant | None:
    row = connection.execute(sa.select(tenants).where(tenants.c.id == tenant_id)).first()
    return _tenant(row) if row else None


def update_tenant(tenant_id: str, connection: Connection, **values: Any) -> None:
    """Sets the given columns."""
    for name in {"features", "widget_origins"} & values.keys():
        values[name] = list(values[name])
    connection.execute(sa.update(tenants).where(tenants.c.id == tenant_id).values(**values, updated_at=now()))


@across_tenants("the operator's command line and integrations look clients up")
def find_tenant(
    connection: Connection,
    *,
    external_id: str | None = None,
    email: str | None = None,
    integration_id: str | None = None,
) -> Tenant | None:
    query = sa.select(tenants)
    if external_id is not None:
        query = query.where(tenants.c.external_id == external_id)
    if email is not None:
        query = query.where(tenants.c.email == email)
    if integration_id is not None:
        query = query.where(tenants.c.integration_id == integration_id)
    row = connection.execute(query.order_by(tenants.c.created_at)).first()
    return _tenant(row) if row else None


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


def list_keys(tenant_id: str, connection: Connection) -> list[ApiKey]:
    query = sa.select(*_KEY_COLUMNS).where(api_keys.c.tenant_id == tenant_id).order_by(api_keys.c.created_at)
    return [ApiKey(**row._mapping) for row in connection.execute(query)]


def revoke_key(tenant_id: str, connection: Connection, key_id: str) -> bool:
    """True when there was such a key; revoking twice keeps the first time."""
    result = connection.execute(
        sa.update(api_keys)
        .where(api_keys.c.tenant_id == tenant_id, api_keys.c.id == key_id)
        .values(revoked_at=sa.func.coalesce(api_keys.c.revoked_at, now()))
    )
    return result.rowcount == 1


@across_tenants("the key is what tells the tenant")
def find_by_key_hash(connection: Connection, key_hash: str) -> tuple[ApiKey, Tenant] | None:
    """The key that is not revoked and its tenant."""
    row = connection.execute(
        sa.select(*_KEY_COLUMNS).where(api_keys.c.key_hash == key_hash, api_keys.c.revoked_at.is_(None))
    ).first()
    if row is None:
        return None
    key = ApiKey(**row._mapping)
    tenant = get_tenant(key.tenant_id, connection)
    assert tenant is not None, "a key has a tenant"
    return key, tenant


@across_tenants("integrations stand above tenants")
def create_integration(
    connection: Connection, *, name: str, secret_prefix: str, secret_hash: str, allowed_networks: Sequence[str]
) -> Integration | None:
    """The new integration, or None where the name is taken."""
    values: dict[str, Any] = {
        "id": new_id(),
        "name": name,
        "secret_prefix": secret_prefix,
        "allowed_networks": list(allowed_networks),
        "features": list(FEATURES),
        "is_enabled": True,
        "created_at": now(),
    }
    if not insert_ignoring(connection, integrations, {**values, "secret_hash": secret_hash}):
        return None
    return get_integration(connection, values["id"])


@across_tenants("integrations stand above tenants")
def get_integration(connection: Connection, id_or_name: str) -> Integration | None:
    from store.ids import parse_id

    found_id = parse_id(id_or_name)
    condition = integrations.c.id == found_id if found_id else integrations.c.name == id_or_name
    row = connection.execute(sa.select(*_INTEGRATION_COLUMNS).where(condition)).first()
    return _integration(row) if row else None


@across_tenants("integrations stand above tenants")
def list_integrations(connection: Connection) -> list[Integration]:
    rows = connection.execute(sa.select(*_INTEGRATION_COLUMNS).order_by(integrations.c.created_at))
    return [_integration(row) for row in rows]


@across_tenants("integrations stand above tenants")
def update_integration(connection: Connection, integration_id: str, **values: Any) -> None:
    """Sets the given columns: allowed_networks or is_enabled."""
    connection.execute(sa.update(integrations).where(integrations.c.id == integration_id).values(**values))


@across_tenants("integrations stand above tenants")
def set_integration_secret(connection: Connection, integration_id: str, secret_prefix: str, secret_hash: str) -> None:
    connection.execute(
        sa.update(integrations)
        .where(integrations.c.id == integration_id)
        .values(secret_prefix=secret_prefix, secret_hash=secret_hash)
    )
