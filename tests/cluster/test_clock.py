"""Machines that share a database, and of which one has a clock that is wrong: what is put off comes when it is due,
whoever put it off and whoever lets it begin; and where a bucket refuses what it signs, others work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import httpx2
import pytest

from store import deliveries
from tests.support import postgresql
from tests.support.calls import wait_until
from tests.support.clock import WallClock, clock_of_all
from tests.support.cluster import RULES, Cluster, running_cluster_of_processes
from tests.support.cluster import cluster as cluster
from tests.support.events import emit
from tests.support.metrics import counted
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account

pytestmark = pytest.mark.postgresql

SIGNED_S, HOUR_S = 540, 3600
"""With a clock that is so wrong S3 still takes what is signed; with one that is an hour wrong no more."""
LOOKS_S = 4.0
"""By then, whoever lets delayed jobs begin has looked some times."""


def attempted(account: Account, delivery_id: str) -> list[datetime]:
    """When each attempt was made."""
    with account.server.database.read() as connection:
        found = deliveries.attempts_of(account.tenant_id, connection, [delivery_id], newest=10)
    return [each.at for each in found[delivery_id]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def clock(tmp_path: Path) -> WallClock:
    return WallClock(tmp_path)


def tries(account: Account, delivery_id: str) -> int:
    with account.server.database.read() as connection:
        found = deliveries.get(account.tenant_id, connection, delivery_id)
    assert found is not None
    return found.tries


@pytest.mark.parametrize("moved_s", [SIGNED_S, -SIGNED_S])
def test_where_the_clock_of_one_machine_is_set_nobody_s_webhooks_come_early_or_late(
    cluster: Cluster, clock: WallClock, receiver: Receiver, moved_s: int
) -> None:
    """Of the one that was started first: it is whose turn it is to look what is due, for all."""
    api = cluster.start("api", clock=clock)
    cluster.start("worker", worker_takes="errands", webhook_retry_schedule="8,300")
    account = api.new_client("told")
    (delivery_id,) = emit(account, receiver.answer("/busy", Reply(status=503)))
    wait_until(lambda: tries(account, delivery_id) == 1)
    clock.set(moved_s)
    wait_until(lambda: tries(account, delivery_id) == 2)
    first, second = attempted(account, delivery_id)
    assert (second - first).total_seconds() > 7, "it came early"
    time.sleep(LOOKS_S)
    assert tries(account, delivery_id) == 2
    account.get("/public/v1/balance")
    assert counted(api, "parley_clock_ahead_seconds") == pytest.approx(moved_s, abs=60)
    clock.set(0)
    time.sleep(LOOKS_S)
    assert tries(account, delivery_id) == 2, "it came as the clock was put right"


@pytest.mark.parametrize("moved_s", [SIGNED_S, -SIGNED_S])
def test_what_a_machine_whose_clock_is_wrong_put_off_is_done_by_others_when_it_is_due(
    cluster: Cluster, clock: WallClock, receiver: Receiver, moved_s: int
) -> None:
    api = cluster.start("api")
    settings = {"worker_takes": "errands", "webhook_retry_schedule": "10,1,1"}
    clock.set(moved_s)
    moved = cluster.start("worker", clock=clock, **settings)
    account = api.new_client("told")
    (delivery_id,) = emit(account, receiver.answer("/soon", Reply(status=503), Reply()))
    wait_until(lambda: tries(account, delivery_id) == 1)
    moved.kill()
    cluster.start("worker", **settings)
    wait_until(lambda: tries(account, delivery_id) == 2)
    first, second = attempted(account, delivery_id)
    assert (second - first).total_seconds() > 9, "it came early"


@pytest.mark.parametrize("moved_s", [HOUR_S, -HOUR_S])
def test_where_a_bucket_refuses_what_a_machine_signs_others_do_its_work(
    cluster: Cluster, clock: WallClock, moved_s: int
) -> None:
    """Else each of its jobs would fail for want of its files, although the others could do it."""
    api = cluster.start("api")
    moved = cluster.start("worker", clock=clock, worker_takes="documents")
    account = api.new_client("reader")
    space = account.new_space()
    clock.set(moved_s)
    wait_until(lambda: httpx2.get(f"{moved.url}/readyz").status_code == 503)
    wait_until(lambda: counted(api, "parley_workers", work="documents") == 0)
    document = account.upload_document(space, RULES, "parking.md").json()["id"]
    time.sleep(LOOKS_S)
    assert account.get(f"/public/v1/kb/documents/{document}").json()["status"] == "pending", "it waits for who can"
    right = cluster.start("worker", worker_takes="documents")
    assert account.finished_document(document)["status"] == "success"
    clock.set(0)
    wait_until(moved.is_ready)
    right.kill()
    later = account.upload_document(space, RULES + b"\nAnd not at night.\n", "night.md").json()["id"]
    assert account.finished_document(later)["status"] == "success"


@pytest.mark.parametrize("moved_s", [HOUR_S, -HOUR_S])
def test_where_only_the_clock_of_postgresql_is_wrong_all_work_on(tmp_path: Path, moved_s: int) -> None:
    with (
        clock_of_all() as clock,
        postgresql.running_postgresql(environment=clock.environment) as server,
        running_cluster_of_processes(tmp_path, postgresql.new_database(server.url)) as cluster,
    ):
        api = cluster.start("api")
        worker = cluster.start("worker", worker_takes="documents")
        account = api.new_client("reader")
        clock.set(moved_s)
        wait_until(lambda: counted(worker, "parley_clock_ahead_seconds") == pytest.approx(-moved_s, abs=60))
        account.add_document(account.new_space(), RULES, "parking.md")
        time.sleep(LOOKS_S)
        assert api.is_ready()
        assert worker.is_ready()
