"""kill -9 of workers that watch cameras, again and again: the others go on, and nothing is told twice; who waited in a
queue waits on."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store import accounts
from tests.soak.conftest import Size
from tests.support.camera_workers import (
    CameraWorker,
    camera_worker,
    live_workers,
    own_worker,
    owners,
    server_with_cameras,
)
from tests.support.clips import GREY, letterboxed, write_codes, write_pictures
from tests.support.rtsp import need_server, running_server
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak

SHARED = Path(__file__).parents[2].parent / "shared"
MODELS, PHOTO = SHARED / "models", SHARED / "data/vision/bus.jpg"
STREAMS, EVENTS, TRAFFIC = "/vision/v1/streams", "/vision/v1/events", "/vision/v1/analytics/traffic"
CODES = ("4006381333931", "PALLET-000417")
COUNT = 6
TILLS = 3
WAIT_S = 120.0
LEASE_S = 4


@pytest.fixture
def shared_server(tmp_path: Path, postgresql_url: str) -> Iterator[RunningServer]:
    need_server()
    models = {"models_dir": str(MODELS)} if MODELS.is_dir() else {}
    with server_with_cameras(tmp_path / "data", postgresql_url, places=COUNT, lease_s=LEASE_S, **models) as running:
        yield running


class Watched:
    """An account's cameras, watched by the server's own worker and by another."""

    def __init__(self, server: RunningServer, chance: random.Random, workers: ExitStack) -> None:
        self._server, self._chance, self._workers = server, chance, workers
        self._other: CameraWorker = workers.enter_context(camera_worker(server))
        self.account = server.new_client("watched")
        with server.database.write() as connection:
            accounts.update_tenant(self.account.tenant_id, connection, camera_limit=COUNT)

    def add(self, name: str, **fields: object) -> str:
        answer = self.account.post(STREAMS, json={"name": name, **fields})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.account.get(EVENTS, params={"limit": 100}).json()["items"]
        return found

    def queue_left(self, stream_id: str) -> tuple[int, float]:
        """How many people left its queue, and how many seconds they had been in it on average."""
        day = datetime.now(UTC).date()
        query = {"stream_id": stream_id, "granularity": "day", "from": str(day - timedelta(days=1)), "to": str(day)}
        days = self.account.get(TRAFFIC, params=query).json()["series"]
        return next(((each["people"], each["avg_queue_sec"]) for day in days for each in day["queues"]), (0, 0.0))

    def all_are_online(self) -> bool:
        live = live_workers(self._server)
        states = {stream["status"] for stream in self.account.get(STREAMS).json()["items"]}
        return set(owners(self._server)) <= live and len(live) == 2 and states == {"online"}

    def wait_for(self, what: Callable[[], bool]) -> None:
        end_s = time.monotonic() + WAIT_S
        while not what():
            assert time.monotonic() < end_s, (owners(self._server), self.events(), self._server.log()[-4000:])
            time.sleep(0.2)

    def kill_one(self) -> None:
        """After a moment; and waits until all are watched again."""
        time.sleep(3 * self._chance.random())
        if self._chance.random() < 0.5:
            self.wait_for(lambda: own_worker(self._server) > 0)
            os.kill(own_worker(self._server), signal.SIGKILL)
        else:
            self._other.kill()
            self._other = self._workers.enter_context(camera_worker(self._server))
        time.sleep(LEASE_S)
        self.wait_for(self.all_are_online)


@pytest.fixture
def watched(shared_server: RunningServer, chance: random.Random) -> Iterator[Watched]:
    with ExitStack() as workers:
        yield Watched(shared_server, chance, workers)


def test_workers_that_are_killed_lose_no_stream_and_tell_nothing_twice(
    watched: Watched, size: Size, tmp_path: Path
) -> None:
    with running_server(width=640, height=360, fps=5, clip=write_codes(tmp_path / "codes.mp4", CODES)) as camera:
        ids = [watched.add(f"Belt {number}", rtsp_url=camera.url(), scenarios=["barcode"]) for number in range(COUNT)]
        once = Counter({(stream_id, code): 1 for stream_id in ids for code in CODES})

        def said() -> Counter[tuple[str, str]]:
            return Counter((event["stream_id"], event["metadata"]["text"]) for event in watched.events())

        watched.wait_for(lambda: said() == once and watched.all_are_online())
        for _ in range(size.kills):
            watched.kill_one()
            assert said() == once
    assert len(watched.account.debits()) == COUNT


@pytest.mark.skipif(not MODELS.is_dir(), reason="needs ../shared: people who wait, a detector")
def test_a_queue_is_told_once_and_who_waits_in_it_waits_on_whoever_watches(
    watched: Watched, size: Size, tmp_path: Path
) -> None:
    waiting = letterboxed(PHOTO, (640, 480))
    clip = write_pictures(tmp_path / "queue.mp4", [waiting, np.full_like(waiting, GREY)], fps=5)
    till = {"name": "till", "kind": "queue", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}
    door = {"name": "door", "kind": "entrance", "polygon": [[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01]]}
    with running_server(width=640, height=480, fps=5, clip=clip, on_cue=True) as camera:
        ids = [
            watched.add(f"Till {number}", rtsp_url=camera.url(), scenarios=["traffic"], zones=[till, door])
            for number in range(TILLS)
        ]

        def said() -> Counter[tuple[str, str]]:
            return Counter((event["stream_id"], event["type"]) for event in watched.events())

        formed = Counter({(stream_id, "queue_formed"): 1 for stream_id in ids})
        watched.wait_for(lambda: said() == formed and watched.all_are_online())
        formed_s = time.monotonic()
        for _ in range(size.kills):
            watched.kill_one()
            assert said() == formed
        waited_s = time.monotonic() - formed_s
        camera.show(1, 1)
        cleared = Counter({(stream_id, "queue_cleared"): 1 for stream_id in ids})
        watched.wait_for(lambda: said() == formed + cleared)
        watched.wait_for(lambda: all(watched.queue_left(stream_id)[0] for stream_id in ids))
    for people, average_s in map(watched.queue_left, ids):
        assert people >= 3
        # Of each of those who were there when it was told, whoever was taken for another meanwhile.
        assert people * average_s >= 3 * waited_s
