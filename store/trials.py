"""Tables and queries of trial uploads: what visitors of the site page had transcribed, and how often an address did.

They belong to a house tenant of their own, whose work costs nothing and which no key, chat or session opens.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store import accounts, billing, tariffs
from store.billing import holds, ledger_transactions, usage_records
from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

HOUSE_ID = str(uuid.uuid5(uuid.UUID("5f6ad8f3-3a6e-4d9f-8c62-93f39a4b27f1"), "parley trial"))
"""The same in every installation, so that all processes find it."""

trials = sa.Table(
    "trials",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    id_column("task_id", nullable=False),
    id_column("communication_id", nullable=False),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=False),
    sa.Index(None, "expires_at"),
)

trial_addresses = sa.Table(
    "trial_addresses",
    metadata,
    sa.Column("address_hash", sa.String(64), primary_key=True),
    sa.Column("uploads", sa.JSON, nullable=False),  # when, in seconds of Unix time
    time_column("changed_at", nullable=False),
    sa.Index(None, "changed_at"),
)


@dataclass(frozen=True, slots=True)
class Trial:
    id: str
    tenant_id: str
    token_hash: str
    task_id: str
    communication_id: str
    created_at: datetime
    expires_at: datetime


@across_tenants("makes the house tenant")
def open_house(connection: Connection) -> None:
    """The tenant that trials belong to, made at the first one. Its tariff has every product for nothing."""
    if accounts.get_tenant(HOUSE_ID, connection) is not None:
        return
    made = accounts.create_tenant(connection, name="Parley trial", features=(), tenant_id=HOUSE_ID)
    if made is None:  # another process was faster
        return
    free = [replace(rate, option_id=new_id(), amount_micro=0) for rate in tariffs.lock_current(connection).rates]
    version_id = tariffs.add(connection, label="Trial uploads", rates=free)
    accounts.update_tenant(HOUSE_ID, connection, tariff_version_id=version_id, qc_enabled=False, memory_enabled=False)
    billing.add_balance(HOUSE_ID, connection)


def add(
    tenant_id: str,
    connection: Connection,
    *,
    token_hash: str,
    task_id: str,
    communication_id: str,
    expires_at: datetime,
) -> Trial:
    trial = Trial(new_id(), tenant_id, token_hash, task_id, communication_id, now(), expires_at)
    values = {name: getattr(trial, name) for name in Trial.__dataclass_fields__}
    connection.execute(sa.insert(trials).values(**values))
    return trial


def find(tenant_id: str, connection: Connection, token_hash: str) -> Trial | None:
    """One that has not expired."""
    query = sa.select(trials).where(
        trials.c.tenant_id == tenant_id, trials.c.token_hash == token_hash, trials.c.expires_at > now()
    )
    row = connection.execute(query).first()
    return Trial(**row._mapping) if row else None


def list_expired(tenant_id: str, connection: Connection, *, limit: int) -> list[Trial]:
    query = (
        sa.select(trials)
        .where(trials.c.tenant_id == tenant_id, trials.c.expires_at <= now())
        .order_by(trials.c.expires_at)
        .limit(limit)
    )
    return [Trial(**row._mapping) for row in connection.execute(query)]


def remove(tenant_id: str, connection: Connection, trial: Trial) -> None:
    """Takes the trial away with what the books noted of it, which are entries of nothing."""
    refs = (trial.communication_id,)
    for table in (usage_records, holds, ledger_transactions):
        connection.execute(sa.delete(table).where(table.c.tenant_id == tenant_id, table.c.source_ref.in_(refs)))
    connection.execute(sa.delete(trials).where(trials.c.tenant_id == tenant_id, trials.c.id == trial.id))


@across_tenants("visitors have no account")
def take_place(connection: Connection, address_hash: str, *, most: int, window_s: int) -> float | None:
    """Counts an upload of an address against `most` in any `window_s` seconds: None where it has a place, else the
    seconds until there is one."""
    clock = now()
    fresh = {"address_hash": address_hash, "uploads": [], "changed_at": clock}
    insert_ignoring(connection, trial_addresses, fresh)
    mine = trial_addresses.c.address_hash == address_hash
    made = connection.execute(sa.select(trial_addresses.c.uploads).where(mine).with_for_update()).scalar_one()
    since = clock.timestamp() - window_s
    uploads = sorted(at for at in made if at > since)
    if len(uploads) >= most:
        return float(uploads[-most] - since)
    values = {"uploads": [*uploads, clock.timestamp()], "changed_at": clock}
    connection.execute(sa.update(trial_addresses).where(mine).values(**values))
    return None


@across_tenants("visitors have no account")
def give_back_place(connection: Connection, address_hash: str) -> None:
    """The newest upload of an address came to nothing."""
    mine = trial_addresses.c.address_hash == address_hash
    made = connection.execute(sa.select(trial_addresses.c.uploads).where(mine).with_for_update()).scalar_one_or_none()
    if made:
        connection.execute(sa.update(trial_addresses).where(mine).values(uploads=sorted(made)[:-1]))


@across_tenants("housekeeping")
def forget_addresses(connection: Connection, *, before: datetime) -> None:
    connection.execute(sa.delete(trial_addresses).where(trial_addresses.c.changed_at < before))
