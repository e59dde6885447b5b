"""Cameras end to end over a real RTSP server on loopback: `python -m bench.vision [SECONDS]`.

How long it takes from the arrival of the picture that decides to the stored event, and in which stages; what a still
scene costs; how many streams of 1280 x 720 one machine watches. Detectors and clips of ../shared where they are, else
codes alone.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from PIL import Image

from bench.bounds import said
from bench.vision_stages import stages
from ingest.vision.demo_camera import DemoCamera
from ingest.vision.demo_pictures import FPS, belt, code_picture
from ingest.vision.yolo import Pixels
from store import accounts
from store.camera_events import camera_events
from tests.support.rtsp import is_installed, running_server
from tests.support.server import Account, RunningServer

SHARED = Path(__file__).parents[1].parent / "shared"
CAR = SHARED / "data/vision/car.jpg"
PEOPLE = SHARED / "data/vision/one-by-one-person-detection.mp4"
MODELS: dict[str, Any] = {"models_dir": str(SHARED / "models")} if (SHARED / "models").is_dir() else {}
SECONDS = 60.0
MOST_MS, MOST_STILL = 100.0, 0.15
_WARM_S = 15.0
_LOOK_S = 0.003


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder), camera_networks="127.0.0.0/8", **MODELS)
        try:
            account = server.start().new_client("bench")
            account.add_money("100000")
            with server.database.write() as connection:
                accounts.update_tenant(account.tenant_id, connection, camera_limit=100)
            held = [latency(account, seconds), still(account, seconds)]
            several(account, seconds)
        finally:
            server.close()
    return 0 if all(held) else 1


def latency(account: Account, seconds: float) -> bool:
    print(f"From the picture that decides to the stored event, 1280 x 720, {FPS} looks a second")
    print(f"{'':<32}{'events':>8}{'p50 ms':>9}{'p95 ms':>9}{'most':>9}")
    print_row("codes on a belt, 10 fps", *measured(account, ["barcode"], seconds, lambda: DemoCamera(belt, FPS)))
    if not (is_installed() and PEOPLE.is_file()):
        print("people: skipped, ../shared or GStreamer's RTSP server is not there")
        return True
    camera = lambda: running_server(width=1280, height=720, fps=25, bitrate=4000, clip=PEOPLE)  # noqa: E731
    ms = measured(account, ["traffic"], 2 * seconds, camera)
    print_row("people, H.264 at 25 fps", *ms)
    print_stages(camera, seconds / 2)
    return said(f"p95 at most {MOST_MS:.0f} ms", bool(ms) and float(np.percentile(ms, 95)) <= MOST_MS)


def print_stages(opened: Callable[[], Any], seconds: float) -> None:
    print("\nWhere the time goes, one stream and nothing beside it")
    print(f"{'':<32}{'times':>8}{'p50 ms':>9}{'p95 ms':>9}{'most':>9}")
    with (
        tempfile.TemporaryDirectory() as folder,
        opened() as camera,
        closing(RunningServer(Path(folder), **MODELS)) as server,
    ):
        for stage, ms in stages(server, camera.url(), FPS, seconds).items():
            print_row(stage, *ms)


def print_row(name: str, *ms: float) -> None:
    shown = np.percentile(ms, [50, 95, 100]) if ms else [float("nan")] * 3
    print(f"{name:<32}{len(ms):>8}" + "".join(f"{value:>9.1f}" for value in shown))


def measured(account: Account, scenarios: list[str], seconds: float, opened: Callable[[], Any]) -> list[float]:
    """Milliseconds until each event can be read, its transaction ended, without those of the first moments, in which
    models are loaded."""
    found: list[float] = []
    query = sa.select(camera_events.c.id, camera_events.c.occurred_at)
    with opened() as camera, watched(account, camera, scenarios) as stream_id:
        query = query.where(camera_events.c.stream_id == stream_id)
        time.sleep(_WARM_S)
        known = set(_rows(account, query))
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            fresh = {id_: at for id_, at in _rows(account, query).items() if id_ not in known}
            seen = time.time()
            found += [(seen - at.timestamp()) * 1000 for at in fresh.values()]
            known.update(fresh)
            time.sleep(_LOOK_S)
    return found


def _rows(account: Account, query: sa.Select[Any]) -> dict[str, datetime]:
    with account.server.database.read() as connection:
        return {row.id: row.occurred_at for row in connection.execute(query)}


def still(account: Account, seconds: float) -> bool:
    print("\nA still scene of 1280 x 720 at 25 fps")
    with DemoCamera(quiet, 25) as camera, watched(account, camera, ["traffic", "safety", "lpr", "barcode"]):
        time.sleep(_WARM_S)
        before = cpu_s(account.server)
        time.sleep(seconds)
        share = (cpu_s(account.server) - before) / seconds
    print(f"worker and detector: {share:.3f} of a core, decoding included")
    return said(f"at most {MOST_STILL:.2f}", share <= MOST_STILL)


def several(account: Account, seconds: float) -> None:
    """Prints how many pictures a second are looked at of each of ever more streams."""
    if not (is_installed() and PEOPLE.is_file()):
        return
    print("\nStreams of people, 1280 x 720 at 25 fps, all moving; the camera server runs on the same cores")
    print(f"{'streams':>8}{'latency ms':>12}{'cores':>8}")
    with running_server(width=1280, height=720, fps=25, bitrate=4000, clip=PEOPLE) as camera, ExitStack() as opened:
        for count in (1, 2, 4):
            while len(account.get("/vision/v1/streams").json()["items"]) < count:
                opened.enter_context(watched(account, camera, ["traffic"]))
            time.sleep(_WARM_S)
            before = cpu_s(account.server)
            time.sleep(seconds / 2)
            streams = account.get("/vision/v1/streams").json()["items"]
            mean_ms = sum(each["latency_ms"] for each in streams) / len(streams)
            print(f"{count:>8}{mean_ms:>12.0f}{(cpu_s(account.server) - before) / (seconds / 2):>8.2f}")


@contextmanager
def watched(account: Account, camera: Any, scenarios: list[str]) -> Iterator[str]:
    url = camera.url if isinstance(camera.url, str) else camera.url()
    answer = account.post("/vision/v1/streams", json={"name": "bench", "rtsp_url": url, "scenarios": scenarios})
    assert answer.status_code == 201, answer.text
    stream_id: str = answer.json()["id"]
    try:
        yield stream_id
    finally:
        account.request("DELETE", f"/vision/v1/streams/{stream_id}")


def quiet() -> Iterator[Pixels]:
    """The same picture again and again, with a camera's noise: a label that can be read, and a parked car where
    ../shared has one. What was told of once is no reason to look."""
    noise = np.random.default_rng(1)
    scene = np.asarray(noise.integers(60, 190, (9, 16, 3), np.uint8)).repeat(80, 0).repeat(80, 1)
    drawn = [(code_picture("PALLET-000417", "QRCode", 6), (60, 60))]
    if CAR.is_file():
        drawn.append((Image.open(CAR).convert("RGB"), (440, 240)))
    for picture, (left, top) in drawn:
        shown = np.asarray(picture)[: scene.shape[0] - top, : scene.shape[1] - left]
        scene[top : top + shown.shape[0], left : left + shown.shape[1]] = np.minimum(shown, 249)
    grains = [noise.integers(0, 6, scene.shape, np.uint8) for _ in range(10)]
    for number in itertools.count():
        yield scene + grains[number % len(grains)]


def cpu_s(server: RunningServer) -> float:
    """Seconds of CPU that the worker and its detector have used."""
    used = 0.0
    waiting = list(server.child_ids())
    while waiting:
        child = waiting.pop()
        try:
            line = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"ingest.vision" not in line:
                continue
            fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
            used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            for path in Path(f"/proc/{child}/task").glob("*/children"):
                waiting += map(int, path.read_text().split())
        except OSError:
            continue
    return used


if __name__ == "__main__":
    sys.exit(main())
