"""The Public layer's money: the balance and its history."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from accounts import ledger
from api.fields import Moment, UtcTime, Uuid
from api.http import Call, NoInput, Operation
from api.paging import PageQuery, Pagination, pagination
from store import billing
from store.billing import Transaction, Usage

_KINDS: tuple[Literal["credit", "debit"], ...] = ("credit", "debit")


class HistoryQuery(PageQuery):
    kind: Literal["credit", "debit"] | None = None
    from_: Moment | None = Field(None, alias="from")
    to: Moment | None = None


class Balance(BaseModel):
    """Decimal strings in roubles with two digits after the point. `balance_rub` is what was paid in less what was
    charged; `held_rub` is the part of it that is set aside for work in progress."""

    balance_rub: str
    held_rub: str
    is_active: bool
    allow_credit: bool


class UsageLine(BaseModel):
    """One operation that a charge is for: `quantity` units at `rate_rub`."""

    product: str
    unit: str
    quantity: int
    rate_rub: float
    amount_rub: float
    llm_model: str | None


class BalanceHistoryItem(BaseModel):
    """A top-up or a charge; `lines` say what a charge is for."""

    model_config = ConfigDict(extra="forbid")

    id: Uuid
    amount_rub: float
    kind: Literal["credit", "debit", "usage"]
    description: str | None
    product: str | None
    source: str | None
    source_ref: Uuid | None
    lines: list[UsageLine] | None
    created_at: UtcTime


class BalanceHistory(BaseModel):
    items: list[BalanceHistoryItem]
    pagination: Pagination


def read_balance(call: Call[NoInput, NoInput]) -> Balance:
    tenant = call.principal.tenant
    with call.services.database.read() as connection:
        balance = ledger.balance(tenant.id, connection)
    return Balance(
        balance_rub=ledger.shown(balance.settled_micro),
        held_rub=ledger.shown(balance.held_micro),
        is_active=tenant.is_active,
        allow_credit=tenant.allow_credit,
    )


def read_history(call: Call[HistoryQuery, NoInput]) -> BalanceHistory:
    query = call.query
    before = None
    if query.to is not None:
        # Items show milliseconds: one that shows the bound itself is within it.
        whole_ms = query.to.replace(microsecond=query.to.microsecond // 1000 * 1000)
        before = whole_ms + timedelta(milliseconds=1)
    with call.services.database.read() as connection:
        rows, total = billing.list_history(
            call.tenant_id,
            connection,
            kinds=_KINDS if query.kind is None else (query.kind,),
            since=query.from_,
            before=before,
            limit=query.limit,
            offset=query.offset,
        )
        debits = [row.id for row in rows if row.kind == "debit"]
        usage = billing.list_usage_of_transactions(call.tenant_id, connection, debits)
    return BalanceHistory(
        items=[_item(row, usage.get(row.id, [])) for row in rows],
        pagination=pagination(query, len(rows), total),
    )


def _item(row: Transaction, usage: list[Usage]) -> BalanceHistoryItem:
    return BalanceHistoryItem(
        id=row.id,
        amount_rub=ledger.as_number(row.amount_micro),
        kind=row.kind,  # type: ignore[arg-type]
        description=row.description,
        product=row.product,
        source=row.source,
        source_ref=row.source_ref,
        lines=[_line(each) for each in usage] or None,
        created_at=row.created_at,
    )


def _line(usage: Usage) -> UsageLine:
    return UsageLine(
        product=usage.product,
        unit=usage.unit,
        quantity=usage.quantity,
        rate_rub=ledger.as_number(usage.rate_micro),
        amount_rub=ledger.as_number(usage.amount_micro),
        llm_model=usage.llm_model,
    )


OPERATIONS = (
    Operation("GET", "/v1/balance", read_balance, "Read the balance", response=Balance, errors=(401,)),
    Operation(
        "GET",
        "/v1/balance/history",
        read_history,
        "List top-ups and charges",
        response=BalanceHistory,
        query=HistoryQuery,
        errors=(400, 401),
    ),
)
