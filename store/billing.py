"""Tables and queries of money: the double-entry ledger, holds, usage. Amounts are millionths of a rouble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import tenants
from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

# What a tenant has, kept beside the entries so that a hold is one conditional update.
balances = sa.Table(
    "balances",
    metadata,
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("available_micro", sa.BigInteger, nullable=False),
    sa.Column("held_micro", sa.BigInteger, nullable=False),
    time_column("updated_at", nullable=False),
)

ledger_transactions = sa.Table(
    "ledger_transactions",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.String(200), nullable=False),
    sa.Column("kind", sa.String(8), nullable=False),  # credit, debit, hold or release
    sa.Column("amount_micro", sa.BigInteger, nullable=False),  # as the client sees it: negative for a debit
    sa.Column("description", sa.String(300), nullable=True),
    sa.Column("product", sa.String(32), nullable=True),
    sa.Column("source", sa.String(32), nullable=True),
    id_column("source_ref", nullable=True),
    time_column("created_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "key"),
    sa.Index(None, "tenant_id", "kind", "created_at", "id"),
)

ledger_entries = sa.Table(
    "ledger_entries",
    metadata,
    id_column("transaction_id", sa.ForeignKey("ledger_transactions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("account", sa.String(32), primary_key=True),  # available, held; revenue, cash, grants
    id_column("tenant_id", nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Index(None, "tenant_id", "account"),
)

holds = sa.Table(
    "holds",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.String(200), nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Column("status", sa.String(8), nullable=False),  # open, charged or released
    id_column("tariff_version_id", nullable=False),
    sa.Column("source", sa.String(32), nullable=False),
    id_column("source_ref", nullable=True),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=True),
    time_column("ended_at", nullable=True),
    sa.UniqueConstraint("tenant_id", "key"),
    sa.Index(None, "status", "expires_at"),
)

usage_records = sa.Table(
    "usage_records",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.String(200), nullable=False),
    sa.Column("product", sa.String(32), nullable=False),
    sa.Column("unit", sa.String(16), nullable=False),
    sa.Column("quantity", sa.BigInteger, nullable=False),
    sa.Column("rate_micro", sa.BigInteger, nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Column("llm_model", sa.String(200), nullable=True),
    sa.Column("source", sa.String(32), nullable=False),
    id_column("source_ref", nullable=True),
    id_column("hold_id", nullable=False),  # what it was done under
    id_column("transaction_id", nullable=True),  # the debit that charged it
    time_column("created_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "key"),
    sa.Index(None, "tenant_id", "source_ref"),
    sa.Index(None, "hold_id"),
    sa.Index(None, "transaction_id"),
)


@dataclass(frozen=True, slots=True)
class Balance:
    """What a tenant has free and what is held for work that has begun."""

    available_micro: int
    held_micro: int

    @property
    def settled_micro(self) -> int:
        """The sum of the history: what was paid in less what was charged."""
        return self.available_micro + self.held_micro


@dataclass(frozen=True, slots=True)
class Hold:
    """`status` is open, charged or released."""

    id: str
    tenant_id: str
    key: str
    amount_micro: int
    status: str
    tariff_version_id: str
    source: str
    source_ref: str | None
    created_at: datetime
    expires_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Transaction:
    """One movement of money; `amount_micro` is what it changed for the client."""

    id: str
    tenant_id: str
    key: str
    kind: str
    amount_micro: int
    description: str | None
    product: str | None
    source: str | None
    source_ref: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """One paid operation that was done."""

    id: str
    key: str
    product: str
    unit: str
    quantity: int
    rate_micro: int
    amount_micro: int
    llm_model: str | None
    source: str
    source_ref: str | None
    hold_id: str
    transaction_id: str | None
    created_at: datetime


_USAGE_COLUMNS = [usage_records.c[name] for name in Usage.__dataclass_fields__]


def add_balance(tenant_id: str, connection: Connection) -> bool:
    """A balance of nothing. False where there is one."""
    values = {"tenant_id": tenant_id, "available_micro": 0, "held_micro": 0, "updated_at": now()}
    return insert_ignoring(connection, balances, values)


def get_balance(tenant_id: str, connection: Connection) -> Balance:
    query = sa.select(balances.c.available_micro, balances.c.held_micro).where(balances.c.tenant_id == tenant_id)
    row = connection.execute(query).first()
    return Balance(*row) if row else Balance(0, 0)


def move(
    tenant_id: str,
    connection: Connection,
    *,
    key: str,
    kind: str,
    amount_micro: int,
    entries: Mapping[str, int],
    least_available_micro: int | None = None,
    description: str | None = None,
    product: str | None = None,
    source: str | None = None,
    source_ref: str | None = None,
) -> str | None:
    """Writes a transaction with its entries and moves the balance by them; its id. None, and nothing is done, where
    less than `least_available_micro` is available or the key is taken. The caller holds the tenant's row."""
    assert sum(entries.values()) == 0, entries
    moved = (
        sa.update(balances)
        .where(balances.c.tenant_id == tenant_id)
        .values(
            available_micro=balances.c.available_micro + entries.get("available", 0),
            held_micro=balances.c.held_micro + entries.get("held", 0),
            updated_at=now(),
        )
    )
    if least_available_micro is not None:
        moved = moved.where(balances.c.available_micro >= least_available_micro)
    if find_transaction(tenant_id, connection, key) is not None:
        return None
    if connection.execute(moved).rowcount == 0 and not (
        add_balance(tenant_id, connection) and connection.execute(moved).rowcount
    ):
        return None
    transaction_id = new_id()
    connection.execute(
        sa.insert(ledger_transactions).values(
            id=transaction_id,
            tenant_id=tenant_id,
            key=key,
            kind=kind,
            amount_micro=amount_micro,
            description=description,
            product=product,
            source=source,
            source_ref=source_ref,
            created_at=now(),
        )
    )
    rows = [
        {"transaction_id": transaction_id, "account": account, "tenant_id": tenant_id, "amount_micro": amount}
        for account, amount in entries.items()
        if amount
    ]
    connection.execute(sa.insert(ledger_entries), rows)
    return transaction_id


def find_transaction(tenant_id: str, connection: Connection, key: str) -> Transaction | None:
    row = connection.execute(
        sa.select(ledger_transactions).where(
            ledger_transactions.c.tenant_id == tenant_id, ledger_transactions.c.key == key
        )
    ).first()
    return Transaction(**row._mapping) if row else None


def add_hold(
    tenant_id: str,
    connection: Connection,
    *,
    key: str,
    amount_micro: int,
    tariff_version_id: str,
    source: str,
    source_ref: str | None,
    expires_at: datetime | None,
) -> None:
    connection.execute(
        sa.insert(holds).values(
            id=new_id(),
            tenant_id=tenant_id,
            key=key,
            amount_micro=amount_micro,
            status="open",
            tariff_version_id=tariff_version_id,
            source=source,
            source_ref=source_ref,
            created_at=now(),
            expires_at=expires_at,
            ended_at=None,
        )
    )


def find_hold(tenant_id: str, connection: Connection, key: str) -> Hold | None:
    row = connection.execute(sa.select(holds).where(holds.c.tenant_id == tenant_id, holds.c.key == key)).first()
    return Hold(**row._mapping) if row else None


def set_hold_amount(tenant_id: str, connection: Connection, hold_id: str, amount_micro: int) -> None:
    connection.execute(
        sa.update(holds).where(holds.c.tenant_id == tenant_id, holds.c.id == hold_id).values(amount_micro=amount_micro)
    )


def end_hold(tenant_id: str, connection: Connection, hold_id: str, status: str) -> bool:
    """True when it was open."""
    ended = (
        sa.update(holds)
        .where(holds.c.tenant_id == tenant_id, holds.c.id == hold_id, holds.c.status == "open")
        .values(status=status, ended_at=now())
    )
    return connection.execute(ended).rowcount == 1


@across_tenants("the sweeper ends what a process that died left held")
def list_expired_holds(connection: Connection, *, limit: int = 1000) -> list[tuple[str, str]]:
    """(tenant id, key) of open holds past their time."""
    rows = connection.execute(
        sa.select(holds.c.tenant_id, holds.c.key)
        .where(holds.c.status == "open", holds.c.expires_at < now())
        .order_by(holds.c.expires_at)
        .limit(limit)
    )
    return [(row[0], row[1]) for row in rows]


def add_usage(tenant_id: str, connection: Connection, usage: Usage) -> bool:
    """False, and nothing is done, where the key is taken."""
    values = {name: getattr(usage, name) for name in Usage.__dataclass_fields__}
    return insert_ignoring(connection, usage_records, {**values, "tenant_id": tenant_id})


def has_usage(tenant_id: str, connection: Connection, key: str) -> bool:
    """Whether the operation of that key was recorded."""
    query = sa.select(usage_records.c.id).where(usage_records.c.tenant_id == tenant_id, usage_records.c.key == key)
    return connection.execute(query.limit(1)).first() is not None


def list_usage(tenant_id: str, connection: Connection, hold_id: str | None = None) -> list[Usage]:
    """What was done, oldest first; with an id, under that hold."""
    query = sa.select(*_USAGE_COLUMNS).where(usage_records.c.tenant_id == tenant_id)
    if hold_id is not None:
        query = query.where(usage_records.c.hold_id == hold_id)
    rows = connection.execute(query.order_by(usage_records.c.created_at, usage_records.c.id))
    return [Usage(**row._mapping) for row in rows]


def list_usage_of_transactions(
    tenant_id: str, connection: Connection, transaction_ids: Sequence[str]
) -> dict[str, list[Usage]]:
    """The usage that each debit charged."""
    found: dict[str, list[Usage]] = {}
    rows = connection.execute(
        sa.select(*_USAGE_COLUMNS)
        .where(usage_records.c.tenant_id == tenant_id, usage_records.c.transaction_id.in_(transaction_ids))
        .order_by(usage_records.c.created_at, usage_records.c.id)
    )
    for row in rows:
        found.setdefault(row.transaction_id, []).append(Usage(**row._mapping))
    return found


def mark_charged(tenant_id: str, connection: Connection, hold_id: str, transaction_id: str) -> None:
    """Ties the usage of a hold to the debit that charged it."""
    connection.execute(
        sa.update(usage_records)
        .where(usage_records.c.tenant_id == tenant_id, usage_records.c.hold_id == hold_id)
        .values(transaction_id=transaction_id)
    )


def list_history(
    tenant_id: str,
    connection: Connection,
    *,
    kinds: Sequence[str],
    since: datetime | None,
    before: datetime | None,
    limit: int,
    offset: int,
) -> tuple[list[Transaction], int]:
    """A page of transactions with `since` <= created_at < `before`, newest first, and how many there are in all."""
    table = ledger_transactions
    conditions: list[Any] = [table.c.tenant_id == tenant_id, table.c.kind.in_(kinds)]
    if since is not None:
        conditions.append(table.c.created_at >= since)
    if before is not None:
        conditions.append(table.c.created_at < before)
    rows = connection.execute(
        sa.select(table)
        .where(*conditions)
        .order_by(table.c.created_at.desc(), table.c.id.desc())
        .limit(limit)
        .offset(offset)
    )
    total = connection.execute(sa.select(sa.func.count()).select_from(table).where(*conditions)).scalar_one()
    return [Transaction(**row._mapping) for row in rows], total


QUARTER_S = 900


def list_spending(
    tenant_id: str, connection: Connection, *, since: datetime, before: datetime
) -> list[tuple[int, str, int, int]]:
    """What was charged with `since` <= created_at < `before`: (quarter of an hour of Unix time, product, quantity,
    millionths of a rouble). Days of any time zone are made of whole quarters."""
    at = ledger_transactions.c.created_at
    quarter: sa.ColumnElement[int]
    if connection.dialect.name == "postgresql":
        quarter = sa.cast(sa.func.floor(sa.extract("epoch", at) / QUARTER_S), sa.BigInteger)
    else:
        quarter = sa.cast(sa.func.strftime("%s", at), sa.BigInteger).op("/", is_comparison=False)(QUARTER_S)
    spent = (
        sa.select(
            quarter.label("quarter"),
            usage_records.c.product,
            sa.cast(sa.func.sum(usage_records.c.quantity), sa.BigInteger),
            sa.cast(sa.func.sum(usage_records.c.amount_micro), sa.BigInteger),
        )
        .join(usage_records, usage_records.c.transaction_id == ledger_transactions.c.id)
        .where(ledger_transactions.c.tenant_id == tenant_id, ledger_transactions.c.kind == "debit")
        .where(at >= since, at < before, usage_records.c.tenant_id == tenant_id)
        .group_by(sa.text("quarter"), usage_records.c.product)
    )
    return [(int(row[0]), row[1], int(row[2]), int(row[3])) for row in connection.execute(spent)]


def pause_for_balance(tenant_id: str, connection: Connection) -> bool:
    """True when the client was active: a pause of the partner or the operator keeps its reason."""
    paused = (
        sa.update(tenants)
        .where(tenants.c.id == tenant_id, tenants.c.is_active)
        .values(is_active=False, pause_reason="balance", paused_since=now(), updated_at=now())
    )
    return connection.execute(paused).rowcount == 1


def lift_balance_pause(tenant_id: str, connection: Connection) -> bool:
    """True when the client was paused for its balance and is active now."""
    lifted = (
        sa.update(tenants)
        .where(tenants.c.id == tenant_id, tenants.c.is_active.is_(False), tenants.c.pause_reason == "balance")
        .values(is_active=True, pause_reason=None, paused_since=None, updated_at=now())
    )
    return connection.execute(lifted).rowcount == 1
