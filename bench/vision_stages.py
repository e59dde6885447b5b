"""Where the time goes between a picture's arrival and its stored event: each stage of a watch in this process.

The watch is the worker's own, over a real camera, detector and database; around its stages a clock is put.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import wraps
from typing import Any

import sqlalchemy as sa

from ingest.vision.capture import Capture
from ingest.vision.detector import Detector
from ingest.vision.eyes import Eyes
from ingest.vision.frames import Frame
from ingest.vision.models import find_models
from ingest.vision.motion import MotionGate
from ingest.vision.recorder import Recorder
from ingest.vision.scenarios.traffic import Traffic
from ingest.vision.sources import Picture
from ingest.vision.tracking import Tracker
from ingest.vision.watch import Tools, Watch
from store import camera_streams
from store.blobs import Blobs
from store.camera_streams import Stream
from store.database import now
from tests.support.server import RunningServer

Times = defaultdict[str, list[float]]
"""Milliseconds of each stage, in the order in which a picture goes through them."""

_WORKER = "bench of stages"
_WARM_LOOKS, _WARM_S = 10, 120.0


def stages(server: RunningServer, url: str, fps: float, seconds: float) -> Times:
    """Of pictures of people at `url`; those of the first moments, in which models are loaded, left out. `server` is one
    that does not run: its workers would take the stream."""
    times: Times = defaultdict(list, decoding=[])
    models = find_models(server.settings)
    recorder = Recorder(server.database, Blobs(server.settings), _WORKER, on_delivery=lambda _: None)
    with ExitStack() as opened:
        for name, owner, method in (
            ("gate", MotionGate, "moves"),
            ("detector", Eyes, "people_and_vehicles"),
            ("tracking", Tracker, "step"),
            ("counting", Traffic, "step"),
            ("telling apart", Eyes, "embed"),
            ("storing an event", Recorder, "record"),
        ):
            opened.enter_context(_timed(owner, method, name, times))
        opened.enter_context(_since_arrival(times))
        detector = Detector({str(role): path for role, path in models.items()}, os.cpu_count() or 1)
        opened.callback(detector.close)
        tools = Tools(Eyes(detector, models), recorder, lambda *_: url, lambda *_: True, fps)
        watch = Watch(_stream(server), tools, None)
        watch.start()
        ends_s = time.monotonic() + _WARM_S
        while len(times["detector"]) < _WARM_LOOKS and time.monotonic() < ends_s:
            time.sleep(0.1)
        for known in list(times.values()):
            known.clear()
        time.sleep(seconds)
        watch.stop()
        watch.join(_WARM_S)
    return times


def _stream(server: RunningServer) -> Stream:
    table = camera_streams.camera_streams
    account = server.new_client("bench of stages")
    mine = {"worker_id": _WORKER, "leased_until": now() + timedelta(days=1)}
    with server.database.write() as connection:
        made = camera_streams.add(
            account.tenant_id,
            connection,
            name="bench",
            url=b"",
            shown_url="",
            is_own=True,
            transport="tcp",
            scenarios=["traffic"],
            site_id=None,
            geo=None,
            webhook_url=None,
            key_id=None,
        )
        connection.execute(sa.update(table).where(table.c.id == made.id).values(**mine))
    return made


@contextmanager
def _timed(owner: type, method: str, name: str, times: Times) -> Iterator[None]:
    real = getattr(owner, method)
    times[name]  # in its place, though the first time of it comes later

    @wraps(real)
    def timed(*arguments: Any, **options: Any) -> Any:
        began_s = time.monotonic()
        try:
            return real(*arguments, **options)
        finally:
            times[name].append((time.monotonic() - began_s) * 1000)

    setattr(owner, method, timed)
    try:
        yield
    finally:
        setattr(owner, method, real)


@contextmanager
def _since_arrival(times: Times) -> Iterator[None]:
    """From the last packet of a picture to the decoded picture, and of those looked at to the end of the look."""
    take, look = Capture._take, Watch._look

    def taken(capture: Capture, reader: Any, picture: Picture) -> None:
        times["decoding"].append((time.monotonic() - picture.arrived_s) * 1000)
        take(capture, reader, picture)

    def looked(watch: Watch, frame: Frame, gate: MotionGate) -> None:
        look(watch, frame, gate)
        times["all, from the arrival"].append((time.monotonic() - frame.arrived_s) * 1000)

    Capture._take, Watch._look = taken, looked  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Capture._take, Watch._look = take, look  # type: ignore[method-assign]
