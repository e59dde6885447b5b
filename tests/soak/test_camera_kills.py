"""kill -9 of workers that watch cameras, again and again: the others go on, and nothing is told twice."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

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
from tests.support.clips import write_codes
from tests.support.rtsp import RtspServer, need_server, running_server
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak

STREAMS, EVENTS = "/vision/v1/streams", "/vision/v1/events"
CODES = ("4006381333931", "PALLET-000417")
COUNT = 6
WAIT_S = 120.0
LEASE_S = 4


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[RtspServer]:
    need_server()
    with running_server(width=640, height=360, fps=5, clip=write_codes(tmp_path / "codes.mp4", CODES)) as running:
        yield running


@pytest.fixture
def shared_server(camera: RtspServer, tmp_path: Path, postgresql_url: str) -> Iterator[RunningServer]:
    with server_with_cameras(tmp_path / "data", postgresql_url, places=COUNT, lease_s=LEASE_S) as running:
        yield running


def test_workers_that_are_killed_lose_no_stream_and_tell_nothing_twice(
    shared_server: RunningServer, camera: RtspServer, size: Size, chance: random.Random
) -> None:
    account = shared_server.new_client("watched")
    with shared_server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, camera_limit=COUNT)
    body = {"rtsp_url": camera.url(), "scenarios": ["barcode"]}
    ids = [account.post(STREAMS, json={**body, "name": f"Belt {number}"}).json()["id"] for number in range(COUNT)]
    once = Counter({(stream_id, code): 1 for stream_id in ids for code in CODES})

    def said() -> Counter[tuple[str, str]]:
        found = account.get(EVENTS, params={"limit": 100}).json()["items"]
        return Counter((event["stream_id"], event["metadata"]["text"]) for event in found)

    def all_are_watched() -> bool:
        live = live_workers(shared_server)
        states = {stream["status"] for stream in account.get(STREAMS).json()["items"]}
        return set(owners(shared_server)) <= live and len(live) == 2 and states == {"online"}

    def wait_for(what: Callable[[], bool]) -> None:
        end_s = time.monotonic() + WAIT_S
        while not what():
            assert time.monotonic() < end_s, (owners(shared_server), shared_server.log()[-4000:])
            time.sleep(0.2)

    with ExitStack() as others:
        other: CameraWorker = others.enter_context(camera_worker(shared_server))
        wait_for(lambda: said() == once and all_are_watched())
        for _ in range(size.kills):
            time.sleep(3 * chance.random())
            if chance.random() < 0.5:
                os.kill(own_worker(shared_server), signal.SIGKILL)
            else:
                other.kill()
                other = others.enter_context(camera_worker(shared_server))
            time.sleep(LEASE_S)
            wait_for(all_are_watched)
            assert said() == once
    assert len(account.debits()) == COUNT
