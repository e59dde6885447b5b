"""What must hold of the books at any moment. Each is a single statement: it sees one moment of a running system."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.billing import balances, holds, ledger_entries, ledger_transactions, usage_records
from store.scope import across_tenants

_MOST_SHOWN = 100
_CASH_KINDS = ("credit", "debit")


def _sum(column: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    # A sum of BIGINT is NUMERIC on PostgreSQL.
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger)


@across_tenants("the books are checked as a whole")
def find_unbalanced_transactions(connection: Connection) -> list[str]:
    """A transaction's entries sum to zero, and it has some."""
    table, entries = ledger_transactions, ledger_entries
    total = _sum(entries.c.amount_micro)
    rows = connection.execute(
        sa.select(table.c.id, total)
        .select_from(table.outerjoin(entries, entries.c.transaction_id == table.c.id))
        .group_by(table.c.id)
        .having(sa.or_(total != 0, sa.func.count(entries.c.account) < 2))
        .limit(_MOST_SHOWN)
    )
    return [f"transaction {row[0]}: its entries sum to {row[1]}" for row in rows]


@across_tenants("the books are checked as a whole")
def find_wrong_balances(connection: Connection) -> list[str]:
    """A balance is the sum of its entries, and what it holds the sum of the open holds."""

    def of_account(name: str) -> sa.ScalarSelect[int]:
        query = sa.select(_sum(ledger_entries.c.amount_micro)).where(
            ledger_entries.c.tenant_id == balances.c.tenant_id, ledger_entries.c.account == name
        )
        return query.correlate(balances).scalar_subquery()

    open_holds = (
        sa.select(_sum(holds.c.amount_micro))
        .where(holds.c.tenant_id == balances.c.tenant_id, holds.c.status == "open")
        .correlate(balances)
        .scalar_subquery()
    )
    history = (
        sa.select(_sum(ledger_transactions.c.amount_micro))
        .where(ledger_transactions.c.tenant_id == balances.c.tenant_id, ledger_transactions.c.kind.in_(_CASH_KINDS))
        .correlate(balances)
        .scalar_subquery()
    )
    found: list[str] = []
    for what, cached, exact in (
        ("available", balances.c.available_micro, of_account("available")),
        ("held", balances.c.held_micro, of_account("held")),
        ("held by open holds", balances.c.held_micro, open_holds),
        ("balance by the history", balances.c.available_micro + balances.c.held_micro, history),
    ):
        query = sa.select(balances.c.tenant_id, cached, exact).where(cached != exact).limit(_MOST_SHOWN)
        found += [f"tenant {row[0]}: {what} is {row[1]}, its entries say {row[2]}" for row in connection.execute(query)]
    return found


@across_tenants("the books are checked as a whole")
def find_entries_without_balance(connection: Connection) -> list[str]:
    """Who has entries has a balance."""
    rows = connection.execute(
        sa.select(ledger_entries.c.tenant_id)
        .distinct()
        .select_from(ledger_entries.outerjoin(balances, balances.c.tenant_id == ledger_entries.c.tenant_id))
        .where(balances.c.tenant_id.is_(None))
        .limit(_MOST_SHOWN)
    )
    return [f"tenant {row[0]}: has entries and no balance" for row in rows]


@across_tenants("the books are checked as a whole")
def find_wrong_holds(connection: Connection) -> list[str]:
    """A hold is open and unsettled, or charged by its debit, or released, and never two of these."""

    def settled_by(kind: str) -> sa.ScalarSelect[int]:
        query = (
            sa.select(sa.func.count())
            .select_from(ledger_transactions)
            .where(
                ledger_transactions.c.tenant_id == holds.c.tenant_id,
                ledger_transactions.c.key == sa.literal(f"{kind}:") + holds.c.key,
            )
        )
        return query.correlate(holds).scalar_subquery()

    debits, releases = settled_by("debit"), settled_by("release")
    is_right = sa.or_(
        sa.and_(holds.c.status == "open", debits == 0, releases == 0),
        sa.and_(holds.c.status == "charged", debits == 1, releases == 0),
        sa.and_(
            holds.c.status == "released",
            debits == 0,
            releases == sa.case((holds.c.amount_micro > 0, 1), else_=0),
        ),
    )
    query = sa.select(holds.c.id, holds.c.status, debits, releases).where(sa.not_(is_right)).limit(_MOST_SHOWN)
    return [f"hold {row[0]}: {row[1]}, with {row[2]} debits and {row[3]} releases" for row in connection.execute(query)]


@across_tenants("the books are checked as a whole")
def find_wrong_debits(connection: Connection) -> list[str]:
    """A debit for work is the sum of the usage that it charged."""
    table = ledger_transactions
    charged = _sum(usage_records.c.amount_micro)
    rows = connection.execute(
        sa.select(table.c.id, table.c.amount_micro, charged)
        .select_from(table.outerjoin(usage_records, usage_records.c.transaction_id == table.c.id))
        .where(table.c.key.startswith("debit:", autoescape=True))
        .group_by(table.c.id, table.c.amount_micro)
        .having(table.c.amount_micro != -charged)
        .limit(_MOST_SHOWN)
    )
    return [f"debit {row[0]}: is {row[1]}, its usage says {row[2]}" for row in rows]


CHECKS: tuple[Callable[[Connection], list[str]], ...] = (
    find_unbalanced_transactions,
    find_wrong_balances,
    find_entries_without_balance,
    find_wrong_holds,
    find_wrong_debits,
)
