"""kill -9 of the server, or of those of several that are at it, at each moment of an exchange with somebody else's:
of a payment with its provider, of a webhook with its receiver. Each payment is made and credited once, each event
comes, under one id."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import get_args

import httpx2
import pytest

from accounts import ledger
from store import deliveries
from tests.soak.conftest import Size, chosen
from tests.support.calls import wait_until
from tests.support.cluster import Cluster
from tests.support.cluster import cluster as cluster
from tests.support.events import emit, ended
from tests.support.receiver import Received, Reply, receiving
from tests.support.server import Account, RunningServer
from tests.support.yookassa import Moment, StandIn, serve_yookassa

pytestmark = pytest.mark.soak

WAIT_S = 60.0
SWEEP_S = 0.5
WORKED_ON_S = 0.02
"""About how long an answer is worked on, by who got it."""
AT_ONCE = 6
"""So many payments may be in work when the server is killed: among more, the unlucky would never come to an end."""
TOP_UP_RUB = 450
PAYMENT_MOMENTS: tuple[Moment, ...] = get_args(Moment)
WEBHOOK_MOMENTS = ("noted", "sent", "answered", "put off", "sent again")


class Halt:
    """Where the next request stops, until it goes on."""

    def __init__(self) -> None:
        self._at: str | None = None
        self._lock = threading.Lock()
        self._reached = threading.Event()
        self._goes_on = threading.Event()

    def at(self, moment: str) -> None:
        self._reached.clear()
        self._goes_on.clear()
        self._at = moment

    def reach(self, moment: str) -> None:
        with self._lock:
            if moment != self._at:
                return
            self._at = None
        self._reached.set()
        self._goes_on.wait(WAIT_S)

    def wait(self) -> None:
        assert self._reached.wait(WAIT_S), f"nobody came to {self._at!r}"

    def go_on(self) -> None:
        self._goes_on.set()


@pytest.fixture
def halt() -> Iterator[Halt]:
    made = Halt()
    yield made
    made.go_on()


@pytest.fixture
def provider(halt: Halt) -> Iterator[StandIn]:
    with serve_yookassa() as stand_in:
        stand_in.reach = halt.reach
        yield stand_in


@dataclass(frozen=True)
class Installation:
    """One server that does everything, or one that answers and one that sends; either may ask the provider."""

    server: RunningServer
    sender: RunningServer

    def kill(self, halt: Halt) -> None:
        """All of it."""
        _kill([self.sender] if self.sender is self.server else [self.server, self.sender], halt)

    def kill_sender(self, halt: Halt) -> None:
        _kill([self.sender], halt)


def _kill(processes: Sequence[RunningServer], halt: Halt) -> None:
    for process in processes:
        process.kill()
    halt.go_on()
    for process in processes:
        process.start()


@pytest.fixture(params=["sqlite", "postgresql", "several processes"])
def installation(request: pytest.FixtureRequest, tmp_path: Path, provider: StandIn) -> Iterator[Installation]:
    more = {
        "allowed_networks": "127.0.0.0/8",
        "webhook_retry_schedule": "0.2," + ",".join(["1"] * 30),
        "sweep_s": str(SWEEP_S),
        **provider.settings,
    }
    if request.param == "several processes":
        cluster: Cluster = request.getfixturevalue("cluster")
        yield Installation(cluster.start("api", **more), cluster.start("worker", worker_takes="errands", **more))
        return
    if request.param == "postgresql":
        more |= {"database_url": request.getfixturevalue("postgresql_url")}
    running = RunningServer(tmp_path / "data", **more)
    try:
        running.start()
        yield Installation(running, running)
    finally:
        running.close()


def pay(account: Account, provider: StandIn) -> str:
    """A link that a careful client asks for, pays, and of which its provider tells until it is heard."""
    link_id = str(account.post_at_last("/public/v1/payment-link", json={"amount_rub": TOP_UP_RUB}).json()["id"])
    payment = provider.pays(provider.payment_of(link_id)["id"])  # there is one payment of the link

    def is_heard() -> bool:
        with suppress(httpx2.HTTPError):
            return provider.notify(account.server.url, payment).status_code == 200
        return False

    wait_until(is_heard)
    return link_id


def test_a_payment_is_made_and_credited_once_wherever_the_server_is_killed(
    installation: Installation, provider: StandIn, halt: Halt, size: Size, chance: random.Random
) -> None:
    server = installation.server
    account = server.new_client("payer", balance_rub="0", email="payer@example.com")
    moments = chosen(PAYMENT_MOMENTS, size, chance)
    begun: list[Future[str]] = []
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for moment in moments:
            while len(in_work := [each for each in begun if not each.done()]) >= AT_ONCE:
                wait(in_work, return_when=FIRST_COMPLETED)
            halt.at(moment)
            begun.append(threads.submit(pay, account, provider))
            halt.wait()
            time.sleep(chance.uniform(0, WORKED_ON_S))
            installation.kill(halt)
        paid = [each.result() for each in begun]
    credited = [item["source_ref"] for item in account.movements("credit") if item["source"] == "payment"]
    assert sorted(credited) == sorted(paid)
    assert len(provider.payments) == len(paid)
    assert Decimal(account.balance()["balance_rub"]) == TOP_UP_RUB * len(paid)
    assert ledger.verify(server.database) == []


def answer(halt: Halt, moment: str, received: list[Received], request: Received) -> Reply:
    """What the receiver of an event says whose sender is to be killed at the moment."""
    received.append(request)
    is_first = len(received) == 1
    if moment == "sent" or (moment == "sent again" and not is_first):
        halt.reach(moment)
    if moment == "answered":
        threading.Thread(target=halt.reach, args=(moment,)).start()
    return Reply(status=503) if is_first and moment in ("put off", "sent again") else Reply()


def test_an_event_comes_under_one_id_wherever_its_sender_is_killed(
    installation: Installation, halt: Halt, size: Size, chance: random.Random
) -> None:
    server = installation.server
    account = server.new_client("client")

    def tries(delivery_id: str) -> int:
        with server.database.read() as connection:
            row = deliveries.get(account.tenant_id, connection, delivery_id)
        return 0 if row is None else row.tries

    ids: list[str] = []
    came: list[list[Received]] = []
    with receiving() as receiver:
        for number, moment in enumerate(chosen(WEBHOOK_MOMENTS, size, chance)):
            came.append([])
            url = receiver.answer_by(f"/{number}", partial(answer, halt, moment, came[-1]))
            halt.at(moment)
            (delivery_id,) = emit(account, url)
            ids.append(delivery_id)
            if moment == "noted":
                time.sleep(chance.uniform(0, 2 * SWEEP_S))
            elif moment == "put off":
                wait_until(lambda delivery_id=delivery_id: tries(delivery_id) > 0)
            else:
                halt.wait()
            time.sleep(chance.uniform(0, WORKED_ON_S))
            installation.kill_sender(halt)
        found = ended(account, ids)
    assert {each["id"]: each["status"] for each in found} == dict.fromkeys(ids, "delivered")
    for delivery_id, requests in zip(ids, came, strict=True):
        assert {each.id for each in requests} == {delivery_id}
        assert len({each.body for each in requests}) == 1
