"""The Public layer's money: the balance and its history."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field

from accounts import ledger
from accounts.tariffs import tariff_of
from api.fields import Moment, UtcTime, Uuid
from api.http import Call, NoInput, Operation, Query
from api.paging import PageQuery, Pagination, pagination
from store import billing
from store.billing import Transaction, Usage
from store.database import now
from store.errors import InvalidRequest

MOST_DAYS = 366

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


class SpendingQuery(Query):
    """Days of the account's time zone, both within: left out, the last 30."""

    from_: date | None = Field(None, alias="from", examples=["2026-01-01"])
    to: date | None = Field(None, examples=["2026-01-31"])


class SpendingItem(BaseModel):
    """What one product cost on one day: `quantity` units."""

    day: date
    product: str
    quantity: int
    amount_rub: float


class Spending(BaseModel):
    """`items` are by day and product, and hold no day without charges; the first of `products` cost most."""

    from_: date = Field(serialization_alias="from")
    to: date
    total_rub: float
    products: list[str]
    items: list[SpendingItem]


class Rate(BaseModel):
    """The price of one unit of a product; of one model's work where `llm_model` names it."""

    product: str
    unit: str
    name: str
    rate_rub: float
    llm_model: str | None


class TariffBody(BaseModel):
    """What the account's work is priced by."""

    label: str
    rates: list[Rate]


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


def read_spending(call: Call[SpendingQuery, NoInput]) -> Spending:
    zone = ZoneInfo(call.principal.tenant.time_zone)
    last = call.query.to or now().astimezone(zone).date()
    first = call.query.from_ or last - timedelta(days=29)
    if not 0 <= (last - first).days < MOST_DAYS:
        raise InvalidRequest(f"from: is after to, or more than {MOST_DAYS} days before it", param="from")
    with call.services.database.read() as connection:
        found = billing.list_spending(
            call.tenant_id,
            connection,
            since=_midnight(first, zone),
            before=_midnight(last + timedelta(days=1), zone),
        )
    days: dict[tuple[date, str], tuple[int, int]] = {}
    products: dict[str, int] = {}
    for quarter, product, quantity, amount in found:
        place = datetime.fromtimestamp(quarter * billing.QUARTER_S, zone).date(), product
        before = days.get(place, (0, 0))
        days[place] = before[0] + quantity, before[1] + amount
        products[product] = products.get(product, 0) + amount
    return Spending(
        from_=first,
        to=last,
        total_rub=ledger.as_number(sum(products.values())),
        products=sorted(products, key=lambda name: (-products[name], name)),
        items=[
            SpendingItem(day=day, product=product, quantity=quantity, amount_rub=ledger.as_number(amount))
            for (day, product), (quantity, amount) in sorted(days.items())
        ],
    )


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def read_tariff(call: Call[NoInput, NoInput]) -> TariffBody:
    with call.services.database.read() as connection:
        tariff = tariff_of(connection, call.principal.tenant)
    return TariffBody(
        label=tariff.label,
        rates=[
            Rate(
                product=rate.product,
                unit=rate.unit,
                name=rate.name,
                rate_rub=ledger.as_number(rate.amount_micro),
                llm_model=rate.llm_model,
            )
            for rate in tariff.rates
        ],
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
    Operation(
        "GET",
        "/v1/balance/spending",
        read_spending,
        "What was spent, by day and product",
        response=Spending,
        query=SpendingQuery,
    ),
    Operation("GET", "/v1/tariff", read_tariff, "Read the prices", response=TariffBody, errors=(401,)),
)
