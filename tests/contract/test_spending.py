"""What was spent by day and product, and the prices: GET /public/v1/balance/spending and /tariff."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from accounts import ledger
from store import accounts
from store.billing import ledger_transactions
from store.ids import new_id
from tests.contract.described import get_described
from tests.support.server import Account

SPENDING = "/public/v1/balance/spending"


def spend(account: Account, at: datetime, *lines: ledger.Line) -> None:
    key = new_id()
    with account.server.database.write() as connection:
        assert ledger.hold(account.tenant_id, connection, key=key, lines=lines, source="test", source_ref=None)
        for number, line in enumerate(lines):
            ledger.use(account.tenant_id, connection, hold_key=key, key=f"{key} {number}", line=line)
        ledger.charge(account.tenant_id, connection, hold_key=key, description="For the test")
        newest = sa.select(ledger_transactions.c.id).where(
            ledger_transactions.c.tenant_id == account.tenant_id, ledger_transactions.c.kind == "debit"
        )
        (debit,) = connection.execute(newest.order_by(ledger_transactions.c.id.desc()).limit(1)).one()
        connection.execute(
            sa.update(ledger_transactions).where(ledger_transactions.c.id == debit).values(created_at=at)
        )


@pytest.mark.parametrize(("zone", "day"), [("UTC", "2026-03-01"), ("Asia/Kathmandu", "2026-03-02")])
def test_spending_is_counted_by_the_accounts_days(account: Account, zone: str, day: str) -> None:
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, time_zone=zone)
    # A quarter past midnight in Kathmandu, which is 5:45 ahead.
    at = datetime(2026, 3, 1, 18, 30, tzinfo=UTC)
    spend(account, at, ledger.Line("transcription", 100), ledger.Line("summary", 1))
    spend(account, at + timedelta(minutes=1), ledger.Line("transcription", 50))
    spend(account, at - timedelta(days=40), ledger.Line("summary", 5))
    found = get_described(account, SPENDING, **{"from": "2026-02-25", "to": "2026-03-05"})
    assert found["items"] == [
        {"day": day, "product": "summary", "quantity": 1, "amount_rub": 1.0},
        {"day": day, "product": "transcription", "quantity": 150, "amount_rub": 3.0},
    ]
    assert (found["products"], found["total_rub"]) == (["transcription", "summary"], 4.0)


def test_left_out_it_is_the_last_thirty_days(account: Account) -> None:
    found = get_described(account, SPENDING)
    assert (datetime.fromisoformat(found["to"]) - datetime.fromisoformat(found["from"])).days == 29
    assert found["items"] == []


@pytest.mark.parametrize(("first", "last"), [("2026-03-02", "2026-03-01"), ("2020-01-01", "2026-01-01"), ("x", "y")])
def test_a_period_that_is_none_is_refused(account: Account, first: str, last: str) -> None:
    answer = account.get(SPENDING, params={"from": first, "to": last})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "from")


def test_the_prices_are_those_of_the_account(account: Account) -> None:
    rates = {rate["product"]: rate for rate in get_described(account, "/public/v1/tariff")["rates"]}
    assert rates["transcription"]["unit"] == "second"
    assert rates["transcription"]["rate_rub"] == 0.02
