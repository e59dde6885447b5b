"""Table and queries of integrations: the partners that provision clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id, parse_id
from store.scope import across_tenants

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


@dataclass(frozen=True, slots=True)
class Integration:
    id: str
    name: str
    secret_prefix: str
    allowed_networks: tuple[str, ...]
    features: tuple[str, ...]
    is_enabled: bool
    created_at: datetime


_COLUMNS = [integrations.c[name] for name in Integration.__dataclass_fields__]


def _integration(row: Row[Any]) -> Integration:
    lists = {"allowed_networks": tuple(row.allowed_networks), "features": tuple(row.features)}
    return Integration(**{**row._mapping, **lists})


@across_tenants("integrations stand above tenants")
def create(
    connection: Connection,
    *,
    name: str,
    secret_prefix: str,
    secret_hash: str,
    allowed_networks: Sequence[str],
    features: Sequence[str],
) -> Integration | None:
    """The new integration, or None where the name is taken."""
    values: dict[str, Any] = {
        "id": new_id(),
        "name": name,
        "secret_prefix": secret_prefix,
        "allowed_networks": list(allowed_networks),
        "features": list(features),
        "is_enabled": True,
        "created_at": now(),
    }
    if not insert_ignoring(connection, integrations, {**values, "secret_hash": secret_hash}):
        return None
    return get(connection, values["id"])


@across_tenants("integrations stand above tenants")
def get(connection: Connection, id_or_name: str, *, lock: bool = False) -> Integration | None:
    """`lock` keeps others from changing it until the transaction ends."""
    found_id = parse_id(id_or_name)
    condition = integrations.c.id == found_id if found_id else integrations.c.name == id_or_name
    query = sa.select(*_COLUMNS).where(condition)
    row = connection.execute(query.with_for_update() if lock else query).first()
    return _integration(row) if row else None


@across_tenants("the secret is what tells the integration")
def find_by_secret_hash(connection: Connection, secret_hash: str) -> Integration | None:
    row = connection.execute(sa.select(*_COLUMNS).where(integrations.c.secret_hash == secret_hash)).first()
    return _integration(row) if row else None


@across_tenants("integrations stand above tenants")
def list_all(connection: Connection) -> list[Integration]:
    rows = connection.execute(sa.select(*_COLUMNS).order_by(integrations.c.created_at, integrations.c.id))
    return [_integration(row) for row in rows]


@across_tenants("integrations stand above tenants")
def update(connection: Connection, integration_id: str, **values: Any) -> None:
    """Sets the given columns: allowed_networks, features or is_enabled."""
    for name in {"allowed_networks", "features"} & values.keys():
        values[name] = list(values[name])
    connection.execute(sa.update(integrations).where(integrations.c.id == integration_id).values(**values))


@across_tenants("integrations stand above tenants")
def set_secret(connection: Connection, integration_id: str, *, secret_prefix: str, secret_hash: str) -> None:
    """Puts a new secret in place of the one there was, which is dead with the commit."""
    connection.execute(
        sa.update(integrations)
        .where(integrations.c.id == integration_id)
        .values(secret_prefix=secret_prefix, secret_hash=secret_hash)
    )
