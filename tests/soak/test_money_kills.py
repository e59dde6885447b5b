"""kill -9 at random moments under a load of charges, payments and webhooks: nothing is charged twice, nothing is lost,
and every event is delivered under one id."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from accounts import ledger
from store import accounts
from tests.soak.conftest import Size
from tests.support.receiver import Receiver, receiving
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.soak

MESSAGE_RUB = Decimal("1.5")
TOP_UP_RUB = 100
BALANCE_RUB = 10_000
SETTLE_S = 120.0
HOOK = "/hook"


class Load:
    """Clients that repeat each request, under its own Idempotency-Key, until it is answered."""

    def __init__(self, account: Account, chance: random.Random) -> None:
        self._account = account
        self._space_id = account.new_space()
        self._chance = random.Random(chance.random())
        self._stop = threading.Event()
        self._numbers = iter(range(1, 1_000_000))
        self._lock = threading.Lock()
        self.messages: list[str] = []
        self.paid: list[str] = []
        self.documents: list[str] = []

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def run(self) -> list[threading.Thread]:
        threads = [
            threading.Thread(target=self._again_and_again, args=(work,))
            for work in (self._message, self._message, self._payment, self._document)
        ]
        for thread in threads:
            thread.start()
        return threads

    def stop(self) -> None:
        self._stop.set()

    def _again_and_again(self, work: Callable[[int], None]) -> None:
        while not self.stopped:
            with self._lock:
                number = next(self._numbers)
            work(number)

    def _message(self, number: int) -> None:
        path = f"/public/v1/chats/{self._account.chat_id}/messages"
        answer = self._until_answered("POST", path, number, json={"text": f"Question {number}: what does it cost?"})
        self.messages.append(answer["request_id"])

    def _payment(self, number: int) -> None:
        link = self._until_answered("POST", "/public/v1/payment-link", number, json={"amount_rub": TOP_UP_RUB})
        outcome = self._chance.choice(["paid", "paid", "failed"])
        # A payer who presses the button again and again, also when nothing answers.
        while self._status(link["id"]) == "pending":
            with suppress(httpx2.HTTPError):
                httpx2.post(link["payment_url"], data={"outcome": outcome}, timeout=10)
        if outcome == "paid":
            self.paid.append(link["id"])

    def _status(self, link_id: str) -> str:
        status: str = self._until_answered("GET", f"/public/v1/payment-link/{link_id}", None)["status"]
        return status

    def _document(self, number: int) -> None:
        path = f"/public/v1/kb/spaces/{self._space_id}/documents"
        body = {"title": f"Note {number}", "text": f"Note {number} says that the price is {number} roubles."}
        self.documents.append(self._until_answered("POST", path, number, json=body)["id"])
        time.sleep(0.1)

    def _until_answered(self, method: str, path: str, number: int | None, **options: Any) -> dict[str, Any]:
        headers = {} if number is None else {"Idempotency-Key": f"{path} {number}"}
        while True:
            with suppress(httpx2.HTTPError):
                answer = self._account.request(method, path, headers=headers, timeout=20, **options)
                if answer.status_code in (200, 201, 202):
                    found: dict[str, Any] = answer.json()
                    return found
                # In work at the server that was killed: free again when its lease ran out.
                assert answer.status_code in (409, 503), answer.text
            time.sleep(0.2)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def money_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningServer]:
    more = {}
    if request.param == "postgresql":
        more = {"database_url": request.getfixturevalue("postgresql_url")}
    else:
        request.getfixturevalue("at_full_size")
    running = RunningServer(
        tmp_path / "data",
        payment_provider="sandbox",
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule=",".join(["1"] * 30),
        chat_requests_per_minute="1000000",
        sweep_s="1",
        **more,
    )
    try:
        yield running.start()
    finally:
        running.close()


def test_money_and_events_survive_kills_at_random_moments(
    money_server: RunningServer, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    account = money_server.new_client("payer", balance_rub=str(BALANCE_RUB), email="payer@example.com")
    with money_server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, webhook_url=receiver.url(HOOK))
    load = Load(account, chance)
    threads = load.run()
    for _ in range(size.kills):
        time.sleep(chance.uniform(0.05, 4.0))
        money_server.kill()
        money_server.start()
    time.sleep(1)
    load.stop()
    for thread in threads:
        thread.join()
    assert load.messages
    assert load.paid
    assert load.documents
    wait_until_settled(account, receiver, load)

    charged = Counter(item["source_ref"] for item in account.debits())
    assert charged == Counter(load.messages), "each answered message is charged once, and nothing else"
    credited = [item for item in account.movements("credit") if item["source"] == "payment"]
    assert Counter(item["source_ref"] for item in credited) == Counter(load.paid)
    expected = BALANCE_RUB + TOP_UP_RUB * len(load.paid) - MESSAGE_RUB * len(load.messages)
    assert Decimal(account.balance()["balance_rub"]) == expected
    assert ledger.verify(money_server.database) == []

    ids = defaultdict(set)
    for received in receiver.at(HOOK):
        ids[received.json["document_id"]].add(received.id)
        assert received.json["event"] == "kb.completed"
    assert ids.keys() == set(load.documents)
    assert all(len(found) == 1 for found in ids.values())


def wait_until_settled(account: Account, receiver: Receiver, load: Load) -> None:
    """Documents are indexed and their events delivered."""
    deadline = time.monotonic() + SETTLE_S
    for document_id in load.documents:
        assert account.finished_document(document_id)["status"] == "success"
    while {received.json["document_id"] for received in receiver.at(HOOK)} < set(load.documents):
        assert time.monotonic() < deadline, "events are missing"
        time.sleep(0.1)
