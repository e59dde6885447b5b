"""Several workers on one PostgreSQL: they share the streams, and one that is killed is missed by nobody."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from ingest.vision.demo_camera import DemoCamera
from ingest.vision.demo_pictures import FPS, belt
from ingest.vision.supervisor import CameraSupervisor
from store import camera_streams
from store.camera_events import EVENT_PICTURES
from store.errors import Unavailable
from tests.support.camera_workers import assert_paid_once, camera_worker, own_worker, owners, server_with_cameras
from tests.support.clips import write_codes
from tests.support.metrics import counted
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
    with server_with_cameras(tmp_path / "data", postgresql_url, places=COUNT, lease_s=4) as running:
        yield running


def wait_for(what: Callable[[], Any], server: RunningServer) -> None:
    deadline = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < deadline, (owners(server), server.log()[-4000:])
        time.sleep(0.1)


@pytest.fixture
def demo_camera() -> Iterator[DemoCamera]:
    with DemoCamera(belt, FPS) as running:
        yield running


def watched(running: RunningServer, camera: DemoCamera) -> Callable[[], dict[str, Any]]:
    """How it goes with a stream, which is online once this returns."""
    account = running.start().new_client("watched", balance_rub="10000")
    body = {"name": "Belt", "rtsp_url": camera.url, "scenarios": ["barcode"]}
    stream_id = account.post(STREAMS, json=body).json()["id"]

    def state() -> dict[str, Any]:
        return dict(account.get(f"{STREAMS}/{stream_id}").json())

    wait_for(lambda: state()["status"] == "online", running)
    return state


@pytest.mark.soak
def test_a_worker_that_hangs_is_replaced_and_its_streams_are_said_to_wait(
    tmp_path: Path, demo_camera: DemoCamera
) -> None:
    running = RunningServer(tmp_path / "data", camera_networks="127.0.0.0/8", camera_lease_s="4")
    try:
        state = watched(running, demo_camera)
        hung, (worker_id,) = own_worker(running), owners(running)
        assert hung
        os.kill(hung, signal.SIGSTOP)
        wait_for(lambda: state()["status"] == "reconnecting", running)
        assert (state()["fps"], state()["latency_ms"]) == (0, 0)
        wait_for(lambda: own_worker(running) not in (hung, 0) and state()["status"] == "online", running)
        assert worker_id not in owners(running)
        assert not Path(f"/proc/{hung}").exists()
    finally:
        running.close()


def test_a_killed_worker_s_streams_are_free_long_before_their_leases_end(
    tmp_path: Path, demo_camera: DemoCamera
) -> None:
    running = RunningServer(tmp_path / "data", camera_networks="127.0.0.0/8", camera_lease_s="300")
    try:
        state = watched(running, demo_camera)
        killed, (worker_id,) = own_worker(running), owners(running)
        assert killed
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: worker_id not in owners(running), running)
        wait_for(lambda: "nobody" not in owners(running) and state()["status"] == "online", running)
        running.stop()
        assert owners(running) == {"nobody": 1}
        with running.database.read() as connection:
            assert camera_streams.count_by_status(connection) == {"reconnecting": 1}
    finally:
        running.close()


def test_what_a_worker_counts_its_server_tells_of(tmp_path: Path, demo_camera: DemoCamera) -> None:
    running = RunningServer(tmp_path / "data", camera_networks="127.0.0.0/8")
    try:
        in_the_way = running.data_dir / "blobs" / EVENT_PICTURES
        in_the_way.parent.mkdir(parents=True)
        in_the_way.write_bytes(b"no folder")
        body = {"name": "Belt", "rtsp_url": demo_camera.url, "scenarios": ["barcode"]}
        assert running.start().new_client("watched", balance_rub="10000").post(STREAMS, json=body).status_code == 201
        wait_for(lambda: counted(running, "parley_blobs_failed_total", reason="away") > 0, running)
        assert counted(running, "parley_children_failed_total", pool="cameras") == 0
        worker = own_worker(running)
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: own_worker(running) not in (worker, 0), running)
        assert counted(running, "parley_children_failed_total", pool="cameras") == 1
    finally:
        running.close()


def test_a_database_that_does_not_answer_is_no_sign_that_the_worker_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down() -> NoReturn:
        raise Unavailable("The database does not answer.")

    running = RunningServer(tmp_path)
    try:
        supervisor = CameraSupervisor(running.settings, running.database)
        assert supervisor._is_silent()
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(running.database, "read", down)
            assert not supervisor._is_silent()
        assert not supervisor._is_silent(), "it has its time to say so again"
    finally:
        running.close()


def test_a_supervisor_that_stood_still_itself_gives_the_worker_its_time_and_takes_none_of_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = time.monotonic()
    running = RunningServer(tmp_path)
    try:
        supervisor = CameraSupervisor(running.settings, running.database)
        monkeypatch.setattr("ingest.vision.supervisor.time", SimpleNamespace(monotonic=lambda: now_s))
        assert supervisor._is_silent()
        now_s += 3600
        assert not supervisor._is_silent(), "an hour in which nothing ran"
        now_s += 5
        assert not supervisor._is_silent()
        for _ in range(10):
            now_s += 5
            silent = supervisor._is_silent()
        assert silent
        supervisor._silent_after_s = now_s + 180  # it begins
        now_s += 20
        assert not supervisor._is_silent()
        for _ in range(10):
            now_s += 5
            assert not supervisor._is_silent(), "a start takes longer than that"
    finally:
        running.close()


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
    assert_paid_once(account, ids)
