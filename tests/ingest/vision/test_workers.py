"""Several workers on one PostgreSQL: they share the streams, and one that is killed is missed by nobody."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.camera_workers import camera_worker, owners
from tests.support.clips import write_codes
from tests.support.rtsp import RtspServer, need_server, running_server
from tests.support.server import Account, RunningServer

STREAMS, EVENTS = "/vision/v1/streams", "/vision/v1/events"
WAIT_S = 120.0
CODES = ("4006381333931", "PALLET-000417")
COUNT = 4


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[RtspServer]:
    """Shows two codes, all the time."""
    need_server()
    clip = write_codes(tmp_path / "codes.mp4", CODES)
    with running_server(width=640, height=360, fps=10, clip=clip) as running:
        yield running


@pytest.fixture
def shared_server(camera: RtspServer, tmp_path: Path, postgresql_url: str) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path / "data",
        database_url=postgresql_url,
        camera_networks="127.0.0.0/8",
        camera_lease_s="4",
        camera_places=str(COUNT),
    )
    try:
        yield running.start()
    finally:
        running.close()


def wait_for(what: Callable[[], Any], server: RunningServer) -> None:
    deadline = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < deadline, (owners(server), server.log()[-4000:])
        time.sleep(0.1)


def said(account: Account) -> Counter[tuple[str, str]]:
    """How often each stream told of each code."""
    found = account.get(EVENTS, params={"limit": 100}).json()["items"]
    return Counter((event["stream_id"], event["metadata"]["text"]) for event in found)


def test_streams_are_shared_and_go_on_when_a_worker_is_killed(shared_server: RunningServer, camera: RtspServer) -> None:
    account = shared_server.new_client("shared", balance_rub="10000")
    body = {"rtsp_url": camera.url(), "scenarios": ["barcode"]}
    ids = [account.post(STREAMS, json={**body, "name": f"Belt {number}"}).json()["id"] for number in range(COUNT)]
    once = Counter({(stream_id, code): 1 for stream_id in ids for code in CODES})

    def all_online() -> bool:
        return all(stream["status"] == "online" for stream in account.get(STREAMS).json()["items"])

    wait_for(lambda: said(account) == once and all_online(), shared_server)
    (first,) = owners(shared_server)
    with camera_worker(shared_server) as other:
        wait_for(lambda: sorted(owners(shared_server).values()) == [COUNT // 2] * 2, shared_server)
        assert first in owners(shared_server)
        # Each looks at its own: a change that only the worker of a stream can carry out.
        for stream_id in ids:
            assert account.request("PATCH", f"{STREAMS}/{stream_id}", json={"name": "Seen"}).status_code == 200
        time.sleep(5)
        assert said(account) == once
        other.kill()
        wait_for(lambda: owners(shared_server) == Counter({first: COUNT}), shared_server)
    time.sleep(5)  # what the killed one had said is said no second time
    wait_for(all_online, shared_server)
    assert said(account) == once
    assert len(account.debits()) == COUNT, "a day of a stream is paid once, whoever watches it"
