"""How deliveries are tried: the schedule, dead receivers beside good ones, and a server that ends in the middle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from accounts.webhooks import plan_after
from store import accounts
from store.database import now
from store.deliveries import Attempt
from store.settings import load_settings
from tests.support.events import emit, ended, listed
from tests.support.receiver import Received, Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

QUICK = "0.1,0.1,0.1,0.1,0.1,0.1"
DOCUMENTED_S = [15, 60, 300, 900, 3600, 14400]


@pytest.fixture(scope="module")
def quick_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Six retries, as documented, but at once."""
    running = RunningServer(
        tmp_path_factory.mktemp("quick-server"),
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule=QUICK,
        webhook_timeout_s="4",
        sweep_s="0.3",
        job_poll_s="0.05",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def quick(quick_server: RunningServer) -> Account:
    return quick_server.new_client(f"quick {now().isoformat()}")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


def test_an_event_of_a_job_is_sent_at_once_and_not_by_the_next_sweep(tmp_path: Path, receiver: Receiver) -> None:
    running = RunningServer(tmp_path / "data", allowed_networks="127.0.0.0/8", sweep_s="3600")
    try:
        account = running.start().new_client("client")
        with running.database.write() as connection:
            accounts.update_tenant(account.tenant_id, connection, webhook_url=receiver.url("/hook"))
        document = account.add_document(account.new_space(), b"Doors open at nine.", "doors.txt")
        (told,) = receiver.wait("/hook")
        assert told.json["document_id"] == document["id"]
        assert "could not be started" not in running.log()
    finally:
        running.close()


@pytest.mark.proves("webhooks.delivery.retries", "webhooks.delivery.2xx")
def test_an_answer_that_is_no_2xx_is_tried_six_more_times_under_one_id_and_then_no_more(
    quick: Account, receiver: Receiver
) -> None:
    sent: dict[str, int] = {}
    for status in (400, 404, 410, 500, 503):
        url = receiver.answer(f"/{status}", Reply(status=status, body=b"not now"))
        (delivery_id,) = emit(quick, url)
        sent[delivery_id] = status
    found = ended(quick, list(sent))
    assert {delivery["id"] for delivery in found} == set(sent)
    for delivery in found:
        status = sent[delivery["id"]]
        assert (delivery["status"], delivery["attempts"]) == ("failed", 7)
        assert delivery["next_attempt_at"] is None
        came = receiver.at(f"/{status}")
        assert {each.id for each in came} == {delivery["id"]}
        assert len(came) == 7
        assert len({each.body for each in came}) == 1
        for attempt in delivery["attempt_log"]:
            assert (attempt["status_code"], attempt["answer_head"]) == (status, "not now")
            assert str(status) in attempt["error"]


@pytest.mark.proves("webhooks.delivery.retries")
def test_the_tries_come_at_the_documented_intervals() -> None:
    schedule = load_settings().webhook_retry_schedule
    assert list(schedule) == DOCUMENTED_S
    at = now()
    for tries, wait_s in enumerate(DOCUMENTED_S):
        plan = plan_after(Attempt(at=at, latency_ms=500, error="no"), tries, schedule)
        assert (plan.status, plan.next_attempt_at) == ("pending", at + timedelta(seconds=wait_s + 0.5))
    assert plan_after(Attempt(at=at, latency_ms=1, error="no"), 6, schedule).status == "failed"
    assert plan_after(Attempt(at=at, latency_ms=1), 6, schedule).status == "delivered"


@pytest.mark.proves("webhooks.delivery.retries")
def test_a_failed_first_try_is_followed_by_one_after_15_seconds(account: Account) -> None:
    (delivery_id,) = emit(account, "http://127.0.0.1:9/")
    (delivery,) = _with_attempts(account, 1)
    (attempt,) = delivery["attempt_log"]
    waits = datetime.fromisoformat(delivery["next_attempt_at"]) - datetime.fromisoformat(attempt["at"])
    assert delivery["id"] == delivery_id
    assert timedelta(seconds=14.9) <= waits <= timedelta(seconds=16)


def _with_attempts(account: Account, count: int) -> list[dict[str, object]]:
    return _until(lambda: [each for each in listed(account) if each["attempts"] >= count])


def _until(ask: Callable[[], list[dict[str, object]]]) -> list[dict[str, object]]:
    deadline = time.monotonic() + 60
    while not (said := ask()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return said


@pytest.mark.proves("webhooks.delivery.2xx")
def test_any_2xx_ends_a_delivery(quick: Account, receiver: Receiver) -> None:
    sent: dict[str, int] = {}
    for status in (200, 201, 202, 204, 299):
        url = receiver.answer(f"/{status}", Reply(status=503, body=b""), Reply(status=status, body=b""))
        (delivery_id,) = emit(quick, url)
        sent[delivery_id] = status
    found = ended(quick, list(sent))
    assert {delivery["id"] for delivery in found} == set(sent)
    for delivery in found:
        status = sent[delivery["id"]]
        assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)
        assert delivery["delivered_at"] == delivery["attempt_log"][1]["at"]
        assert [each["status_code"] for each in delivery["attempt_log"]] == [503, status]
        assert [each["error"] is None for each in delivery["attempt_log"]] == [False, True]
        assert len(receiver.at(f"/{status}")) == 2


@pytest.mark.proves("webhooks.delivery.no-redirects")
def test_a_redirect_is_a_failure(quick: Account, receiver: Receiver) -> None:
    moved = receiver.answer("/moved", Reply(status=308, headers={"Location": receiver.url("/elsewhere")}))
    (delivery,) = ended(quick, emit(quick, moved))
    assert (delivery["status"], delivery["attempts"]) == ("failed", 7)
    assert "redirects are not followed" in delivery["attempt_log"][0]["error"]
    assert receiver.at("/elsewhere") == []


@pytest.mark.proves("webhooks.delivery.timeout")
def test_a_receiver_that_does_not_answer_in_time_is_tried_again(quick: Account, receiver: Receiver) -> None:
    assert load_settings().webhook_timeout_s == 15
    url = receiver.answer("/hook", Reply(hangs=True), Reply(drips=True, raw=b"HTTP/1.1 "), Reply())
    (delivery,) = ended(quick, emit(quick, url))
    assert delivery["status"] == "delivered"
    late = delivery["attempt_log"][:2]
    assert [(each["status_code"], each["answer_head"]) for each in late] == [(None, None)] * 2
    assert all(each["latency_ms"] >= 900 for each in late)


def test_one_dead_receiver_holds_up_nobody_else_s_events(tmp_path: Path, receiver: Receiver) -> None:
    """The receiver lets nothing go before the good event came, so the good one cannot have waited for it."""
    running = RunningServer(
        tmp_path / "data", allowed_networks="127.0.0.0/8", webhook_timeout_s="60", sweep_s="0.3", job_poll_s="0.05"
    )
    receiver.answer("/dead", Reply(hangs=True))
    try:
        account = running.start().new_client("client")
        emit(account, receiver.url("/dead"), 200)
        receiver.wait("/dead", 4)
        (good,) = emit(account, receiver.url("/good"))
        assert receiver.wait("/good")[0].id == good
        assert len(receiver.at("/dead")) == 4, "at most four at a time go to one receiver"
    finally:
        running.kill()
        running.close()


def test_a_tenant_with_many_dead_receivers_holds_up_no_other_tenant(tmp_path: Path, receiver: Receiver) -> None:
    """The dead receivers let nothing go before the good event came, so the good one cannot have waited for them."""
    running = RunningServer(
        tmp_path / "data", allowed_networks="127.0.0.0/8", webhook_timeout_s="60", sweep_s="0.3", job_poll_s="0.05"
    )
    with receiving("0.0.0.0") as dead, receiving("0.0.0.0") as other_port:
        dead.answer("/hook", Reply(hangs=True))
        other_port.answer("/hook", Reply(hangs=True))
        try:
            account = running.start().new_client("client")
            neighbour = running.new_client("neighbour")
            for number in range(1, 13):
                for each in (dead, other_port):
                    emit(account, each.url("/hook", f"127.0.0.{number}"), 4)
            _until(lambda: [{}] * (len(dead.at("/hook") + other_port.at("/hook")) == 16))
            (good,) = emit(neighbour, receiver.url("/good"))
            assert receiver.wait("/good")[0].id == good
            taken = len(dead.at("/hook") + other_port.at("/hook"))
            assert taken == 16, "one tenant has at most half of the places"
        finally:
            running.kill()
            running.close()


@pytest.mark.soak
def test_retries_go_on_after_a_restart_and_after_a_kill(tmp_path: Path, receiver: Receiver) -> None:
    running = RunningServer(
        tmp_path / "data", allowed_networks="127.0.0.0/8", webhook_retry_schedule="1,1,1,1", sweep_s="0.3"
    )
    try:
        account = running.start().new_client("client")
        calls: list[int] = []

        def answer(_: Received) -> Reply:
            calls.append(1)
            # The second request is in the middle when the server is killed.
            return Reply(hangs=True) if len(calls) == 2 else Reply(status=503 if len(calls) == 1 else 200)

        url = receiver.answer_by("/hook", answer)
        (delivery_id,) = emit(account, url)
        receiver.wait("/hook", 1)
        running.stop()
        running.start()
        receiver.wait("/hook", 2)
        running.kill()
        running.start()
        (delivery,) = ended(account, [delivery_id])
        assert delivery["status"] == "delivered"
        assert {each.id for each in receiver.at("/hook")} == {delivery_id}
        assert delivery["attempts"] < len(receiver.at("/hook")), "the one that was killed came to no end"
    finally:
        running.close()


@pytest.mark.postgresql
def test_deliveries_and_their_retries_work_on_postgresql(
    tmp_path: Path, receiver: Receiver, postgresql_url: str
) -> None:
    running = RunningServer(
        tmp_path / "data",
        database_url=postgresql_url,
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule="0.1,0.1",
        sweep_s="0.3",
    )
    try:
        account = running.start().new_client("client")
        bad = receiver.answer("/bad", Reply(status=500))
        good = receiver.answer("/good", Reply(status=500), Reply())
        ids = emit(account, bad, 5) + emit(account, good, 5)
        found = ended(account, ids)
        assert sorted(each["status"] for each in found) == ["delivered"] * 5 + ["failed"] * 5
        assert {each["attempts"] for each in found if each["status"] == "failed"} == {3}
        assert {each.id for each in receiver.requests} == set(ids)
    finally:
        running.close()
