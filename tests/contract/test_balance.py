"""The balance and its history, over HTTP."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from accounts import ledger
from accounts.ledger import Line
from store import accounts
from store.ids import new_id
from tests.support.server import Account

BALANCE = "/public/v1/balance"
HISTORY = "/public/v1/balance/history"
ITEM_FIELDS = {"id", "amount_rub", "kind", "description", "product", "source", "source_ref", "lines", "created_at"}


@pytest.fixture
def poor(new_account: Callable[..., Account]) -> Account:
    """An account without any money and without history."""
    return new_account(balance_rub="0")


def credit(account: Account, roubles: str, *, source: str = "payment", source_ref: str | None = None) -> None:
    with account.server.database.write() as connection:
        assert ledger.credit(
            account.tenant_id,
            connection,
            key=new_id(),
            amount_micro=ledger.micro_of(Decimal(roubles)),
            source=source,
            source_ref=source_ref,
            description="Payment",
        )


def work(account: Account, lines: Sequence[Line], *, charged: bool = True) -> str:
    """Paid work as a server does it; the id of what it was for."""
    key = new_id()
    with account.server.database.write() as connection:
        assert ledger.hold(account.tenant_id, connection, key=key, lines=lines, source="communication", source_ref=key)
        for number, line in enumerate(lines):
            ledger.use(account.tenant_id, connection, hold_key=key, key=f"{key}:{number}", line=line)
        if charged:
            ledger.charge(account.tenant_id, connection, hold_key=key, description="A call")
    return key


def history(account: Account, **params: Any) -> dict[str, Any]:
    answer = account.get(HISTORY, params=params)
    assert answer.status_code == 200, answer.text
    # Numbers as they are written.
    found: dict[str, Any] = json.loads(answer.text, parse_float=Decimal)
    return found


@pytest.mark.proves("balance.get.200", "balance.get.balance-rub", "balance.get.two-digits")
@pytest.mark.parametrize(
    ("amounts", "text"),
    [
        ((), "0.00"),
        (("12.3",), "12.30"),
        (("1234567.89",), "1234567.89"),
        (("0.1", "0.2"), "0.30"),
        (("1", "-1.004"), "0.00"),
        (("-3.5",), "-3.50"),
        (("0.015001",), "0.02"),
    ],
)
def test_the_balance_is_a_string_of_roubles_with_two_digits(poor: Account, amounts: tuple[str, ...], text: str) -> None:
    for amount in amounts:
        credit(poor, amount)
    answer = poor.get(BALANCE)
    assert answer.status_code == 200
    assert answer.json() == {"balance_rub": text, "held_rub": "0.00", "is_active": True, "allow_credit": False}


def test_what_is_held_is_part_of_the_balance_until_it_is_charged(poor: Account) -> None:
    credit(poor, "10")
    work(poor, [Line("chat", 2)], charged=False)
    assert poor.get(BALANCE).json() | {"balance_rub": "10.00", "held_rub": "3.00"} == poor.get(BALANCE).json()
    work(poor, [Line("chat", 1)])
    assert poor.get(BALANCE).json() | {"balance_rub": "8.50", "held_rub": "3.00"} == poor.get(BALANCE).json()


@pytest.mark.proves("balance.get.is-active", "balance.get.paused", "balance.history.paused")
def test_a_paused_client_reads_that_it_is_and_its_history(account: Account, pause: Callable[..., None]) -> None:
    assert account.get(BALANCE).json()["is_active"] is True
    pause(account)
    paused = account.get(BALANCE)
    assert (paused.status_code, paused.json()["is_active"]) == (200, False)
    assert history(account)["pagination"]["total"] == 1


@pytest.mark.proves("balance.get.allow-credit", "money.credit.negative-stays-active")
def test_a_client_with_credit_stays_active_below_zero(poor: Account) -> None:
    with poor.server.database.write() as connection:
        accounts.update_tenant(poor.tenant_id, connection, allow_credit=True)
    work(poor, [Line("chat", 1)])
    balance = poor.get(BALANCE).json()
    assert balance == {"balance_rub": "-1.50", "held_rub": "0.00", "is_active": True, "allow_credit": True}


@pytest.mark.proves("balance.get.401", "balance.history.401")
@pytest.mark.parametrize("path", [BALANCE, HISTORY])
@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "missing_api_key"),
        ({"Authorization": "Basic abc"}, "malformed_bearer"),
        ({"Authorization": "Bearer sk_live_unknown"}, "invalid_api_key"),
        ({"x-api-key": "sk_live_unknown"}, "invalid_api_key"),
    ],
)
def test_without_a_valid_key_it_is_401(account: Account, path: str, headers: dict[str, str], code: str) -> None:
    answer = httpx2.get(account.server.url + path, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, code)


@pytest.mark.proves(
    "balance.item.id",
    "balance.item.amount",
    "balance.item.kind",
    "balance.item.optional",
    "balance.item.created-at",
    "balance.item.no-extra-properties",
    "money.exact",
    "money.debit.one",
)
def test_an_item_has_the_documented_fields_and_exact_amounts(poor: Account) -> None:
    payment_id = new_id()
    credit(poor, "100.10", source_ref=payment_id)
    call_id = work(poor, [Line("transcription", 42)])
    other_id = work(poor, [Line("transcription", 7), Line("summary", 1, "some/model")])
    other, call, payment = history(poor)["items"]
    for item in (other, call, payment):
        assert item.keys() == ITEM_FIELDS
        assert str(uuid.UUID(item["id"])) == item["id"]
        moment = datetime.fromisoformat(item["created_at"])
        assert abs(moment - datetime.now(moment.tzinfo)) < timedelta(minutes=10)
    assert (
        payment
        | {
            "kind": "credit",
            "amount_rub": Decimal("100.1"),
            "description": "Payment",
            "product": None,
            "source": "payment",
            "source_ref": payment_id,
            "lines": None,
        }
        == payment
    )
    line = {"product": "transcription", "unit": "second", "rate_rub": Decimal("0.02"), "llm_model": None}
    assert (
        call
        | {
            "kind": "debit",
            "amount_rub": Decimal("-0.84"),
            "description": "A call",
            "product": "transcription",
            "source": "communication",
            "source_ref": call_id,
            "lines": [{**line, "quantity": 42, "amount_rub": Decimal("0.84")}],
        }
        == call
    )
    summary = {"product": "summary", "unit": "generation", "llm_model": "some/model", "quantity": 1}
    # Work of several products is of none of them.
    assert (other["source_ref"], other["amount_rub"], other["product"]) == (other_id, Decimal("-1.14"), None)
    assert other["lines"] == [
        {**line, "quantity": 7, "amount_rub": Decimal("0.14")},
        {**summary, "rate_rub": 1, "amount_rub": 1},
    ]


@pytest.mark.proves("balance.item.optional")
def test_a_credit_may_have_neither_source_ref_nor_lines(poor: Account) -> None:
    credit(poor, "0.000001", source="operator")
    (item,) = history(poor)["items"]
    assert (item["source_ref"], item["lines"], item["product"]) == (None, None, None)
    assert item["amount_rub"] == Decimal("0.000001")


def test_a_correction_downwards_is_a_debit_without_lines(poor: Account) -> None:
    credit(poor, "-5", source="operator")
    (item,) = history(poor, kind="debit")["items"]
    assert (item["amount_rub"], item["lines"], item["source"]) == (-5, None, "operator")


@pytest.mark.proves(
    "balance.history.no-usage", "balance.history.newest-first", "balance.history.kind", "money.usage.recorded"
)
def test_the_history_has_top_ups_and_charges_alone_newest_first(poor: Account) -> None:
    credit(poor, "100")
    first = work(poor, [Line("chat", 1), Line("memory", 1)])
    credit(poor, "5")
    work(poor, [Line("chat", 1)], charged=False)
    released = work(poor, [Line("chat", 1)], charged=False)
    with poor.server.database.write() as connection:
        ledger.release(poor.tenant_id, connection, hold_key=released)
    second = work(poor, [Line("chat", 2)])
    both = history(poor)["items"]
    assert [(item["kind"], item["amount_rub"]) for item in both] == [
        ("debit", -3),
        ("credit", 5),
        ("debit", -2),
        ("credit", 100),
    ]
    times = [item["created_at"] for item in both]
    assert times == sorted(times, reverse=True)
    assert history(poor, kind="credit")["items"] == [both[1], both[3]]
    assert [item["source_ref"] for item in history(poor, kind="debit")["items"]] == [second, first]
    shown = Decimal(poor.get(BALANCE).json()["balance_rub"])
    assert sum(item["amount_rub"] for item in both) == shown


@pytest.mark.proves("balance.history.limit", "balance.history.offset", "balance.history.kind", "balance.history.period")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "-1"),
        ("limit", "ten"),
        ("limit", "1.5"),
        ("limit", ""),
        ("offset", "-1"),
        ("offset", "x"),
        ("offset", "9" * 30),
        ("kind", "usage"),
        ("kind", "hold"),
        ("kind", "CREDIT"),
        ("kind", ""),
        ("from", "yesterday"),
        ("from", "2026-13-01T00:00:00Z"),
        ("to", "1700000000"),
        ("to", "2026-01-01"),
        ("to", "\x00"),
    ],
)
def test_a_parameter_out_of_bounds_is_400(account: Account, name: str, value: str) -> None:
    answer = account.get(HISTORY, params={name: value})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", name)


@pytest.mark.proves("balance.history.pagination", "balance.history.limit", "balance.history.offset")
def test_the_history_is_read_page_by_page(poor: Account) -> None:
    for number in range(1, 24):
        credit(poor, str(number))
    page = history(poor)
    assert page["pagination"] == {"limit": 20, "offset": 0, "count": 20, "total": 23}
    rest = history(poor, offset=20)
    assert rest["pagination"] == {"limit": 20, "offset": 20, "count": 3, "total": 23}
    assert [item["amount_rub"] for item in page["items"] + rest["items"]] == list(range(23, 0, -1))
    assert history(poor, limit=1, offset=22)["items"] == rest["items"][-1:]
    assert history(poor, limit=100)["pagination"]["count"] == 23
    beyond = history(poor, offset=2**31 - 1)
    assert (beyond["items"], beyond["pagination"]["total"]) == ([], 23)
    assert history(poor, kind="debit")["pagination"]["total"] == 0


@pytest.mark.proves("balance.history.period")
def test_both_bounds_of_the_period_are_within_it(poor: Account) -> None:
    for number in range(1, 6):
        credit(poor, str(number))
    items = history(poor)["items"][::-1]
    times = [item["created_at"] for item in items]

    def within(**params: str) -> list[Any]:
        return [item["amount_rub"] for item in history(poor, **params)["items"]][::-1]

    # What is written in the same millisecond is in the same period.
    first, last = times.index(times[1]), len(times) - times[::-1].index(times[3])
    assert within(**{"from": times[1], "to": times[3]}) == [1, 2, 3, 4, 5][first:last]
    assert within(to=times[3]) == [1, 2, 3, 4, 5][:last]
    assert within(**{"from": times[1]}) == [1, 2, 3, 4, 5][first:]
    assert within(**{"from": times[0], "to": times[0]})[0] == 1
    moment = datetime.fromisoformat(times[4])
    for other_zone in (moment.astimezone(), moment + timedelta(seconds=1)):
        assert within(to=other_zone.isoformat()) == [1, 2, 3, 4, 5]
    assert within(**{"from": (moment + timedelta(milliseconds=1)).isoformat()}) == []
    assert within(**{"from": times[4], "to": times[0]}) == [] or times[0] == times[4]


def test_two_accounts_have_nothing_of_each_others(poor: Account, new_account: Callable[..., Account]) -> None:
    other = new_account(balance_rub="0")
    credit(other, "77")
    work(other, [Line("chat", 1)])
    assert history(poor)["pagination"]["total"] == 0
    assert poor.get(BALANCE).json()["balance_rub"] == "0.00"


def test_an_address_that_is_only_nearly_right_is_not_there(account: Account) -> None:
    assert account.get(HISTORY + "/").status_code == 404
    assert account.post(BALANCE).status_code == 405
