"""What money must hold everywhere: prices are the client's tariff, and the books are right."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from accounts import ledger, tariffs
from accounts.tariffs import Change
from store import accounts
from tests.support.server import Account, RunningServer


def ask(account: Account) -> None:
    answer = account.post(f"/public/v1/chats/{account.chat_id}/messages", json={"text": "What does it cost?"})
    assert answer.status_code == 200, answer.text


def set_price(account: Account, roubles: str) -> None:
    """Gives the client a price of its own for a message."""
    with account.server.database.write() as connection:
        tenant = accounts.get_tenant(account.tenant_id, connection)
        change = Change("chat", ledger.micro_of(Decimal(roubles)))
        tariffs.new_version(connection, [change], "Special", tenant=tenant)


@pytest.mark.proves("money.rates.are-tariff-items", "money.exact")
def test_a_message_costs_what_the_clients_own_tariff_says(new_account: Callable[..., Account]) -> None:
    special, other = new_account(balance_rub="10"), new_account(balance_rub="10")
    set_price(special, "0.333333")
    for account in (special, other):
        ask(account)
    set_price(special, "0")
    ask(special)
    (item,) = special.debits()
    assert Decimal(str(item["amount_rub"])) == Decimal("-0.333333")
    assert item["lines"] == [
        {
            "product": "chat",
            "unit": "message",
            "quantity": 1,
            "rate_rub": 0.333333,
            "amount_rub": 0.333333,
            "llm_model": item["lines"][0]["llm_model"],
        }
    ]
    assert (special.balance()["balance_rub"], other.balance()["balance_rub"]) == ("9.67", "8.50")


@pytest.mark.proves("money.ledger-balances")
def test_the_books_of_a_server_that_was_used_are_right(server: RunningServer, account: Account) -> None:
    ask(account)
    assert account.debits()
    assert ledger.verify(server.database) == []
