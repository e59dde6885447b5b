"""Clients of one account that ask, pay and write notes, each request again until it is answered; and that each was done
once."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

import httpx2

from accounts import ledger
from store import accounts
from tests.support.receiver import Receiver
from tests.support.server import Account

MESSAGE_RUB = Decimal("1.5")
TOP_UP_RUB = 100
SETTLE_S = 120.0
HOOK = "/notes"


class Load:
    """Clients that repeat each request, under its own Idempotency-Key, until it is answered."""

    def __init__(
        self,
        account: Account,
        receiver: Receiver,
        chance: random.Random,
        *,
        pause_s: float = 0.0,
        may_expire: bool = False,
    ) -> None:
        """`receiver` is told of the documents; `pause_s`: how long each client rests between two requests;
        `may_expire`: a clock is set forward, and with it a link's time may be over."""
        with account.server.database.write() as connection:
            accounts.update_tenant(account.tenant_id, connection, webhook_url=receiver.url(HOOK))
        self._account = account
        self._receiver = receiver
        self._pause_s = pause_s
        self._may_expire = may_expire
        self._had_rub = Decimal(account.balance()["balance_rub"])
        self._space_id = account.new_space()
        self._chance = random.Random(chance.random())
        self._stop = threading.Event()
        self._numbers = iter(range(1, 1_000_000))
        self._lock = threading.Lock()
        self.messages: list[str] = []
        self.paid: list[str] = []
        self.documents: list[str] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the block is; then each client brings its request to an end. Raises what a client raised."""
        self._stop.clear()
        works = (self._message, self._message, self._payment, self._document)
        with ThreadPoolExecutor(len(works)) as threads:
            begun = [threads.submit(self._again_and_again, work) for work in works]
            try:
                yield
            finally:
                self._stop.set()
            for each in begun:
                each.result()

    def _again_and_again(self, work: Callable[[int], None]) -> None:
        while not self._stop.wait(self._pause_s):
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
        while (status := self._status(link["id"])) == "pending":
            with suppress(httpx2.HTTPError):
                httpx2.post(link["payment_url"], data={"outcome": outcome}, timeout=10)
        assert status == outcome or (self._may_expire and status == "expired")
        if status == "paid":
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

    def assert_each_was_done_once(self) -> None:
        assert self.messages
        assert self.paid
        assert self.documents
        self._wait_until_settled()
        account = self._account
        charged = Counter(item["source_ref"] for item in account.debits())
        assert charged == Counter(self.messages), "each answered message is charged once, and nothing else"
        credited = [item for item in account.movements("credit") if item["source"] == "payment"]
        assert Counter(item["source_ref"] for item in credited) == Counter(self.paid)
        expected = self._had_rub + TOP_UP_RUB * len(self.paid) - MESSAGE_RUB * len(self.messages)
        assert Decimal(account.balance()["balance_rub"]) == expected
        assert ledger.verify(account.server.database) == []
        ids = defaultdict(set)
        for received in self._receiver.at(HOOK):
            ids[received.json["document_id"]].add(received.id)
            assert received.json["event"] == "kb.completed"
        assert ids.keys() == set(self.documents)
        assert all(len(found) == 1 for found in ids.values())

    def _wait_until_settled(self) -> None:
        """Documents are indexed and their events delivered."""
        for document_id in self.documents:
            assert self._account.finished_document(document_id)["status"] == "success"
        deadline = time.monotonic() + SETTLE_S
        while {received.json["document_id"] for received in self._receiver.at(HOOK)} < set(self.documents):
            assert time.monotonic() < deadline, "events are missing"
            time.sleep(0.1)
