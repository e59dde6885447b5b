"""Whether a worker keeps up: told by the pictures that it passed over, not by how few a camera sends."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ingest.vision import worker as worker_module
from ingest.vision.capture import Capture
from ingest.vision.watch import Tools, Watch
from ingest.vision.worker import Worker

LOOKS = 50
FPS = 10.0


class Pictures:
    """A capture that gives pictures of these numbers and times, then ends the watch."""

    def __init__(self, watch: Watch, given: Iterator[tuple[int, float]]) -> None:
        self.status: Any = None
        self._watch, self._given = watch, given

    def newest(self, after: int, timeout_s: float) -> Any:
        number, arrived_s = next(self._given, (0, 0.0))
        if not number:
            self._watch.stop()
            return None
        return SimpleNamespace(number=number, arrived_s=arrived_s)


@pytest.mark.parametrize(
    ("camera_fps", "looked_at_each", "is_behind"),
    [(25, 1, False), (10, 1, False), (4, 1, False), (1, 1, False), (25, 10, True), (4, 2, True)],
)
def test_a_slow_camera_is_no_slow_worker(
    monkeypatch: pytest.MonkeyPatch, camera_fps: int, looked_at_each: int, is_behind: bool
) -> None:
    monkeypatch.setattr(Watch, "_look", lambda *_: None)
    monkeypatch.setattr(Watch, "_report", lambda *_: None)
    tools = Tools(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None), FPS)
    watch = Watch(cast(Any, None), tools, None)
    step_s = looked_at_each / camera_fps
    # Only a look each tenth of a second counts, so more pictures are needed of a quick camera.
    given = ((1 + turn * looked_at_each, 100 + turn * step_s) for turn in range(LOOKS * 4))
    watch._watch(cast(Capture, Pictures(watch, given)))
    assert watch.is_behind is is_behind
    watch.measure_anew()
    assert not watch.is_behind


def test_a_worker_takes_fewer_streams_while_it_is_behind_and_more_again_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(worker_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    class Stub:
        is_behind = True

        def measure_anew(self) -> None:
            pass

    made = object.__new__(Worker)  # without its detectors and database
    made._most = made._places = 6
    made._settled_s = now[0]
    watches = {str(number): Stub() for number in range(6)}
    made._watches = cast(dict[str, Watch], watches)

    def places_after(seconds: float) -> int:
        now[0] += seconds
        made._measure()
        return made._places

    assert places_after(1) == 6, "one moment proves nothing"
    assert places_after(20) == 5
    assert places_after(1) == 5
    del watches["5"]
    assert places_after(20) == 4
    del watches["4"]
    for stub in watches.values():
        stub.is_behind = False
    assert places_after(20) == 4
    assert places_after(60) == 5, "though as many are watched as there are places"
    assert places_after(61) == 6
    assert places_after(61) == 6
