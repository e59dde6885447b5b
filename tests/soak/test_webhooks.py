"""kill -9 at random moments while webhooks are emitted and sent: each event comes, under its own id."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.soak.conftest import Size
from tests.support.events import emit, ended
from tests.support.receiver import Received, Reply, receiving
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak

EVENTS_A_KILL = 40


def test_every_event_is_delivered_however_often_the_server_is_killed(
    tmp_path: Path, size: Size, chance: random.Random
) -> None:
    running = RunningServer(
        tmp_path / "data",
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule="0.2,0.5,1,1,1,1,1,1",
        webhook_timeout_s="2",
        sweep_s="0.5",
    )

    def answer(received: Received) -> Reply:
        lot = chance.random()
        return Reply(status=503) if lot < 0.2 else Reply(hangs=True) if lot < 0.22 else Reply()

    with receiving() as receiver:
        receiver.answer_by("/hook", answer)
        try:
            account = running.start().new_client("client")
            ids: list[str] = []
            for _ in range(size.kills):
                ids += emit(account, receiver.url("/hook"), EVENTS_A_KILL)
                time.sleep(chance.uniform(0.05, 3.0))
                # One is sent again in the middle of it all.
                account.post(f"/public/v1/webhook-deliveries/{chance.choice(ids)}/resend")
                running.kill()
                running.start()
            found = ended(account, ids, wait_s=300)
        finally:
            running.close()
        came: dict[str, set[bytes]] = {}
        for received in receiver.at("/hook"):
            assert received.is_signed_by(account.made.api_key)
            came.setdefault(received.id, set()).add(received.body)
    assert [each["id"] for each in found if each["status"] != "delivered"] == []
    assert sorted(came) == sorted(ids), "each event came, and nothing else"
    assert all(len(bodies) == 1 for bodies in came.values())
