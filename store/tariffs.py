"""Tables and queries of tariffs: versions of the prices, which never change once made. Millionths of a rouble."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import tenants
from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

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


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of one unit of a product; of one model's where `llm_model` names it."""

    option_id: str
    product: str
    unit: str
    name: str
    amount_micro: int
    llm_model: str | None


@dataclass(frozen=True, slots=True)
class Tariff:
    """One version of the prices. A version never changes."""

    version_id: str
    label: str
    is_current: bool
    created_at: datetime
    rates: tuple[Rate, ...]

    def rate(self, product: str, llm_model: str | None = None) -> Rate:
        """The rate of that model, else that of every model. Raises LookupError where the product has no price."""
        fitting = [rate for rate in self.rates if rate.product == product and rate.llm_model in (llm_model, None)]
        if not fitting:
            raise LookupError(f"tariff {self.version_id} has no rate of {product}")
        return max(fitting, key=lambda rate: rate.llm_model is not None)


_WAITERS = 100
_RATE_COLUMNS = [tariff_rates.c[name] for name in Rate.__dataclass_fields__]


@across_tenants("tariffs are the installation's")
def get(connection: Connection, version_id: str | None = None) -> Tariff | None:
    """A version with its rates; without an id the one that new clients get."""
    condition = tariff_versions.c.is_current if version_id is None else tariff_versions.c.id == version_id
    found = _versions(connection, sa.select(tariff_versions).where(condition))
    return found[0] if found else None


@across_tenants("tariffs are the installation's")
def list_all(connection: Connection) -> list[Tariff]:
    """Newest first."""
    query = sa.select(tariff_versions)
    return _versions(connection, query.order_by(tariff_versions.c.created_at.desc(), tariff_versions.c.id.desc()))


def _versions(connection: Connection, query: sa.Select[tuple[str, str, bool, datetime]]) -> list[Tariff]:
    rows = connection.execute(query).all()
    rates: dict[str, list[Rate]] = {row.id: [] for row in rows}
    of_versions = sa.select(tariff_rates.c.version_id, *_RATE_COLUMNS).where(tariff_rates.c.version_id.in_(rates))
    for version_id, *values in connection.execute(of_versions.order_by(tariff_rates.c.position)):
        rates[version_id].append(Rate(*values))
    return [Tariff(row.id, row.label, row.is_current, row.created_at, tuple(rates[row.id])) for row in rows]


@across_tenants("tariffs are the installation's")
def lock_current(connection: Connection) -> Tariff:
    """The current version; who else would replace it waits for the end of this transaction."""
    query = sa.select(tariff_versions.c.id).where(tariff_versions.c.is_current).with_for_update()
    for _ in range(_WAITERS):
        # Who waited here finds the row no longer current, and looks again for the one that took its place.
        version_id = connection.execute(query).scalar()
        if version_id is not None:
            found = get(connection, version_id)
            assert found is not None
            return found
    raise LookupError("no tariff is current")


@across_tenants("tariffs are the installation's")
def add(connection: Connection, *, label: str, rates: Iterable[Rate]) -> str:
    """A new version that nobody has yet; its id."""
    version_id = new_id()
    connection.execute(
        sa.insert(tariff_versions).values(id=version_id, label=label, is_current=False, created_at=now())
    )
    rows = [{"version_id": version_id, "position": number, **asdict(rate)} for number, rate in enumerate(rates)]
    connection.execute(sa.insert(tariff_rates), rows)
    return version_id


@across_tenants("clients who follow the current version keep what they have when another becomes current")
def make_current(connection: Connection, version_id: str, *, before: str) -> None:
    """New clients get `version_id`; those that had the current one, `before`, keep it."""
    keep = sa.update(tenants).where(tenants.c.tariff_version_id.is_(None))
    connection.execute(keep.values(tariff_version_id=before))
    for changed_id, is_current in ((before, False), (version_id, True)):
        changed = sa.update(tariff_versions).where(tariff_versions.c.id == changed_id)
        connection.execute(changed.values(is_current=is_current))


@across_tenants("a price change for everyone")
def give_to_all(connection: Connection, version_id: str) -> list[str]:
    """The ids of all clients, who have that version now."""
    given = sa.update(tenants).values(tariff_version_id=version_id).returning(tenants.c.id)
    return list(connection.execute(given).scalars())


@across_tenants("how many clients a price change concerns")
def count_clients(connection: Connection) -> dict[str | None, int]:
    """Clients by version id; under None those that follow the current one."""
    query = sa.select(tenants.c.tariff_version_id, sa.func.count()).group_by(tenants.c.tariff_version_id)
    return {row[0]: row[1] for row in connection.execute(query)}
