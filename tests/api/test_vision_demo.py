"""`parley vision demo`: a camera that is there without one, seen by a running server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ingest.vision.capture import Capture
from ingest.vision.demo_camera import DemoCamera, payloads, units
from ingest.vision.demo_pictures import HEIGHT, WIDTH, belt
from store import camera_streams
from store.ids import new_id
from tests.support.clips import write_clip
from tests.support.mjpeg import mjpeg_camera
from tests.support.server import Account, RunningServer

WAIT_S = 240.0  # a machine that has much else to do looks seldom


def started(running: RunningServer, account: Account, *options: str) -> subprocess.Popen[str]:
    """The command; `options` may begin with the address of a camera that is there."""
    command = [sys.executable, "-m", "api.command_line", "vision", "demo", *options]
    return subprocess.Popen(
        [*command, "--tenant", account.tenant_id, "--json"],
        env=running.environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )


def hear_signals() -> None:
    """Whoever runs the tests, as a shell in the background, may not be told of interrupts and hangups."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def test_parcels_on_a_belt_are_read_by_the_server(tmp_path: Path) -> None:
    running = RunningServer(tmp_path / "data")
    try:
        account = running.start().new_client(f"belt {new_id()}")
        account.add_money("1000")
        with started(running, account, "--port", "0", "--seconds", str(WAIT_S)) as demo:
            try:
                deadline = time.monotonic() + WAIT_S
                texts: list[str] = []
                while len(set(texts)) < 2 or not any(text.startswith("PARCEL-") for text in texts):
                    assert time.monotonic() < deadline, running.log()[-4000:]
                    assert demo.poll() is None
                    time.sleep(0.3)
                    items = account.get("/vision/v1/events").json()["items"]
                    texts = [each["metadata"]["text"] for each in items]
                # Its status is written beside its events, so it may come after the first of them.
                (stream,) = account.get("/vision/v1/streams").json()["items"]
                assert stream["name"] == "Demo camera"
                while stream["status"] != "online":
                    assert time.monotonic() < deadline, stream
                    time.sleep(0.3)
                    (stream,) = account.get("/vision/v1/streams").json()["items"]
            finally:
                demo.send_signal(signal.SIGINT)
                said = demo.communicate(timeout=60)[0]
        assert json.loads(said)["stream_id"] == stream["id"]
        assert len(texts) == len(set(texts)), "each code of each parcel once"
        assert account.get("/vision/v1/streams").json()["items"] == []
    finally:
        running.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whatever_ends_it_takes_the_camera_back(tmp_path: Path, number: signal.Signals) -> None:
    running = RunningServer(tmp_path / "data")
    try:
        account = running.new_client("ended")
        with started(running, account, "--port", "0") as demo:
            try:
                assert demo.stdout is not None
                assert demo.stdout.readline(), "it says what it registered"
                with running.database.read() as connection:
                    assert camera_streams.count(account.tenant_id, connection) == 1
                demo.send_signal(number)
                demo.send_signal(number)
                demo.communicate(timeout=60)
            finally:
                demo.kill()
        assert demo.returncode == 0
        with running.database.read() as connection:
            assert camera_streams.count(account.tenant_id, connection) == 0
    finally:
        running.close()


def test_an_account_that_is_not_there_is_named(tmp_path: Path) -> None:
    running = RunningServer(tmp_path)
    try:
        command = [sys.executable, "-m", "api.command_line", "vision", "demo", "--port", "0"]
        run = subprocess.run(command, env=running.environment, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 1
        assert "no demo account" in run.stderr
        run = subprocess.run(
            [*command, "--tenant", "nobody"],
            env=running.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "nobody" in run.stderr
    finally:
        running.close()


def test_a_camera_that_speaks_mjpeg_is_watched_and_its_password_is_not_shown(tmp_path: Path) -> None:
    running = RunningServer(tmp_path / "data")
    try:
        account = running.start().new_client("mjpeg")
        account.add_money("1000")
        with mjpeg_camera() as url:
            address = url.replace("//", "//viewer:s3cret@") + "/mjpeg?token=s3cret"
            with started(running, account, address) as demo:
                try:
                    deadline = time.monotonic() + WAIT_S
                    while not (seen := account.get("/vision/v1/streams").json()["items"]) or not seen[0]["width"]:
                        assert time.monotonic() < deadline, running.log()[-4000:]
                        assert demo.poll() is None
                        time.sleep(0.3)
                finally:
                    demo.send_signal(signal.SIGINT)
                    said = demo.communicate(timeout=60)[0]
        assert (seen[0]["width"], seen[0]["height"]) == (160, 120)
        assert seen[0]["rtsp_url"] == json.loads(said)["rtsp_url"] == f"{url}/mjpeg"
    finally:
        running.close()


@pytest.mark.parametrize(
    ("clip", "said"),
    [
        ("missing.mp4", "missing.mp4: there is no such file"),
        ("text.mp4", "text.mp4: what is sent cannot be read as video"),
        ("http://viewer:s3cret@127.0.0.1:9/", "http://127.0.0.1:9/: the connection is refused"),
        ("ftp://127.0.0.1/clip.mp4", "that is no http:// or https:// address"),
    ],
)
def test_a_clip_that_cannot_be_shown_is_said_before_anything_is_registered(
    tmp_path: Path, clip: str, said: str
) -> None:
    (tmp_path / "text.mp4").write_text("no video at all")
    running = RunningServer(tmp_path / "data")
    try:
        account = running.new_client("clips")
        command = [sys.executable, "-m", "api.command_line", "vision", "demo", clip, "--tenant", account.tenant_id]
        run = subprocess.run(
            [*command, "--port", "0", "--seconds", "1"],
            env={**running.environment, "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (run.returncode, run.stdout) == (1, "")
        assert said in " ".join(run.stderr.split())
        assert "s3cret" not in run.stderr
    finally:
        running.close()


def test_two_viewers_see_the_same_whole_pictures(tmp_path: Path) -> None:
    from ingest.vision.sources import pictures_of

    clip = write_clip(tmp_path / "clip.mp4", width=640, height=360, frames=40)
    with (
        DemoCamera(lambda: pictures_of(clip, 10), 10) as camera,
        Capture(camera.url) as one,
        Capture(camera.url) as two,
    ):
        for capture in (one, two):
            deadline = time.monotonic() + WAIT_S
            while (frame := capture.newest(20)) is None:
                assert time.monotonic() < deadline, capture.status
            assert frame.image.shape == (360, 640, 3)
            assert int(np.ptp(frame.image)) < 12, "each picture of the clip has one shade"
            assert capture.status.damaged == 0


def test_large_units_travel_in_fragments() -> None:
    large, small = bytes([0x65]) + bytes(range(1, 251)) * 20, bytes([0x67, 1, 2])
    made = list(payloads(units(b"\0\0\0\1" + small + b"\0\0\1" + large)))
    assert made[0] == (small, False)
    parts = [payload for payload, _ in made[1:]]
    assert [part[0] & 31 for part in parts] == [28] * len(parts)
    assert (parts[0][1], parts[-1][1]) == (0x80 | 5, 0x40 | 5)
    assert bytes([0x60 | 5]) + b"".join(part[2:] for part in parts) == large
    assert [is_last for _, is_last in made] == [False] * (len(made) - 1) + [True]


@pytest.mark.parametrize("number", [1, 60])
def test_the_belt_s_pictures(number: int) -> None:
    pictures = belt()
    for _ in range(number):
        picture = next(pictures)
    assert picture.shape == (HEIGHT, WIDTH, 3)
