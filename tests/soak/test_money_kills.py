"""kill -9 at random moments under a load of charges, payments and webhooks: nothing is charged twice, nothing is lost,
and every event is delivered under one id."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.soak.conftest import Size
from tests.support.money_load import Load
from tests.support.receiver import Receiver, receiving
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak


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
    account = money_server.new_client("payer", email="payer@example.com")
    load = Load(account, receiver, chance)
    with load.running():
        for _ in range(size.kills):
            time.sleep(chance.uniform(0.05, 4.0))
            money_server.kill()
            money_server.start()
        time.sleep(1)
    load.assert_each_was_done_once()
