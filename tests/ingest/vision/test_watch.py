"""Whether a worker keeps up: told by the pictures that it passed over, not by how few a camera sends. And what
becomes of what was found while the store or a detector fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ingest.vision import watch as watch_module
from ingest.vision import worker as worker_module
from ingest.vision import writer as writer_module
from ingest.vision.capture import Capture, Status
from ingest.vision.detector import DetectorDied
from ingest.vision.frames import Frame
from ingest.vision.motion import MotionGate
from ingest.vision.recorder import Found, LeaseLost, Sums
from ingest.vision.scenarios.findings import Finding
from ingest.vision.scene import Scene
from ingest.vision.watch import Tools, Watch
from ingest.vision.worker import Worker
from store import meters
from store.camera_streams import Health, Stream
from store.camera_visitors import VisitorLooks
from store.errors import Unavailable
from tests.support.calls import wait_until

LOOKS = 50
FPS = 10.0


class Pictures:
    """A capture that gives pictures of these numbers and times, then ends the watch."""

    def __init__(self, watch: Watch, given: Iterator[tuple[int, float]]) -> None:
        self.status: Any = None
        self.hangs = True
        self._watch, self._given = watch, given

    def newest(self, after: int, timeout_s: float) -> Any:
        number, arrived_s = next(self._given, (0, 0.0))
        if not number:
            self._watch.stop()
            return None
        return SimpleNamespace(number=number, undecoded=0, arrived_s=arrived_s)


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
    assert watch.hangs
    watch.measure_anew()
    assert not watch.is_behind


class Overloaded:
    """A worker, without its detectors and database, whose streams are too many above `bears` of them."""

    def __init__(self, streams: int, bears: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bears = bears
        self.now_s = 1000.0
        self.scenarios = ("traffic",)
        monkeypatch.setattr(worker_module, "time", SimpleNamespace(monotonic=lambda: self.now_s))
        self.worker = object.__new__(Worker)
        self.worker._most = self.worker._places = streams
        self.worker._settled_s = self.now_s
        self.worker._waits_s, self.worker._work = {}, set()

    def places_after(self, seconds: float) -> int:
        """It takes as many streams as it has places for, and measures each second."""
        for _ in range(round(seconds)):
            self.now_s += 1
            count = self.worker._places
            watch = SimpleNamespace(
                is_behind=count > self.bears,
                measure_anew=lambda: None,
                stream=SimpleNamespace(scenarios=self.scenarios),
            )
            self.worker._watches = cast(dict[str, Watch], {str(number): watch for number in range(count)})
            self.worker._measure()
        return self.worker._places

    def tries_within(self, seconds: float) -> int:
        """How often more streams were taken."""
        tries, before = 0, self.worker._places
        for _ in range(round(seconds)):
            now = self.places_after(1)
            tries, before = tries + (now > before), now
        return tries


def test_a_worker_takes_fewer_streams_while_it_is_behind_and_more_again_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overloaded = Overloaded(streams=6, bears=4, monkeypatch=monkeypatch)
    assert overloaded.places_after(1) == 6, "one moment proves nothing"
    assert overloaded.places_after(15) == 5
    assert overloaded.places_after(1) == 5
    assert overloaded.places_after(15) == 4
    overloaded.bears = 6
    assert overloaded.places_after(100) == 4
    assert overloaded.places_after(30) == 5, "though as many are watched as there are places"
    assert overloaded.places_after(130) == 6
    assert overloaded.places_after(130) == 6


def test_a_number_of_streams_that_was_too_large_is_tried_again_ever_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overloaded = Overloaded(streams=6, bears=5, monkeypatch=monkeypatch)
    assert overloaded.places_after(20) == 5
    assert overloaded.tries_within(3600) <= 5
    assert overloaded.tries_within(10 * 3600) in (9, 10), "once an hour at least"
    overloaded.bears = 6
    overloaded.places_after(3700)
    overloaded.bears, overloaded.scenarios = 5, ("traffic", "ppe")
    assert overloaded.places_after(20) == 5
    overloaded.bears, overloaded.scenarios = 6, ("barcode",)
    assert overloaded.places_after(70) == 6, "of other work nothing is known"


def test_a_worker_whose_readers_hang_for_good_ends_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    made = object.__new__(Worker)  # without its detectors and database
    ended: list[bool] = []
    monkeypatch.setattr(Worker, "_end", lambda _: ended.append(True))
    monkeypatch.setattr(Worker, "_turn", lambda _: None)
    watch = SimpleNamespace(hangs=True, stream=SimpleNamespace(id="1"))
    made._watches = cast(dict[str, Watch], {"1": watch})
    made._lease_s, made._began_s = 0.5, time.monotonic()
    made._untold, made._on_news = meters.Untold(), lambda _: None
    stop = threading.Event()
    running = threading.Thread(target=made.run, args=(stop,))
    running.start()
    running.join(1.0)
    assert running.is_alive(), "it has only begun"
    made._began_s -= worker_module._LEAST_LIFE_S
    running.join(60)
    assert not running.is_alive()
    assert ended
    assert not stop.is_set()

    watch.hangs = False
    running = threading.Thread(target=made.run, args=(stop,))
    running.start()
    running.join(1.0)
    assert running.is_alive(), "none of its readers hangs"
    stop.set()
    running.join(60)


# What is found while something fails

BEGIN = datetime(2026, 11, 23, 12, 59, 58, tzinfo=UTC)


class Store:
    """A recorder that fails for as long as it is told to."""

    def __init__(self) -> None:
        self.failing: Exception | None = None
        self.events: list[Found] = []
        self.visitors: list[tuple[datetime, int]] = []
        self.looks: list[VisitorLooks] = []
        self.sums: list[tuple[datetime, Sums]] = []
        self.reports: list[tuple[Health, bytes | None]] = []
        self.told: list[bytes | None] = []
        self.answers = threading.Event()
        self.answers.set()

    def _check(self) -> None:
        assert self.answers.wait(60)
        if self.failing is not None:
            raise self.failing

    def record(
        self,
        _: Stream,
        findings: list[Found],
        visitors: list[tuple[datetime, int]],
        looks: list[VisitorLooks],
        progress: bytes | None,
    ) -> list[str]:
        self._check()
        self.events += findings
        self.visitors += visitors
        self.looks += looks
        self.told.append(progress)
        return [found.subject for found in findings]

    def add_sums(self, _: Stream, at: datetime, sums: Sums) -> None:
        self._check()
        self.sums.append((at, sums))

    def report(self, _: Stream, health: Health, progress: bytes | None) -> None:
        self.reports.append((health, progress))

    def replace_picture(self, *_: object) -> None:
        pass


class Finds:
    """A scene that finds one thing in each picture."""

    size = (64, 36)

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.failure: Exception | None = None
        self.has_waits = False
        self.error: Exception | None = None
        self.number = 0
        self.written: list[Found] = []
        self.seen_meanwhile: list[int] = []
        """How many events were stored, when the scene went on after each."""
        self.waits: Callable[[], None] = lambda: None
        """After each."""

    def step(self, frame: Frame, _: bool) -> Iterator[list[Found]]:
        if self.error is not None:
            raise self.error
        self.number += 1
        finding = Finding("person_entered", str(self.number), 0.9)
        yield [Found(finding, str(self.number), frame.image, frame.seen_at, frame.width, frame.height)]
        self.waits()
        self.seen_meanwhile.append(len(self.written))

    def take_visitors(self) -> list[int]:
        return [self.number]

    def take_looks(self) -> list[VisitorLooks]:
        return [VisitorLooks(BEGIN.date(), self.number, self.number, b"looks")] if self.number % 2 else []

    def take_sums(self) -> Sums:
        return Sums({"till": (1, 2.0)}, np.ones((36, 64), np.float32))

    def progress(self, _: datetime) -> bytes:
        return b"progress"


class Watched:
    def __init__(self) -> None:
        self.store, self.scene = Store(), Finds()
        self.scene.written = self.store.events
        eyes = SimpleNamespace(notes=lambda _: ())
        self.stream = SimpleNamespace(
            id="stream", scenarios=("traffic",), zones=[], url=b"1", is_own=False, transport="tcp", name="Door"
        )
        tools = Tools(cast(Any, eyes), cast(Any, self.store), cast(Any, None), lambda *_: True, FPS)
        self.watch = Watch(cast(Stream, self.stream), tools, None)
        self.watch._scene = cast(Scene, self.scene)
        self.watch._stop.set()  # nothing is waited for
        self.scene.waits = self.settle
        self.gate = MotionGate()
        self.number, self.began_s = 0, time.monotonic()

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            self.number += 1
            arrived_s = self.began_s + self.number / FPS
            picture = np.full((36, 64, 3), self.number % 256, np.uint8)
            frame = SimpleNamespace(
                arrived_s=arrived_s,
                seen_at=BEGIN + timedelta(seconds=self.number / FPS),
                image=picture,
                width=64,
                height=36,
                thumbnail=lambda _, picture=picture: picture[..., 1],
            )
            self.watch._look(cast(Frame, frame), self.gate)

    def settle(self) -> None:
        """Until all is written, or the store has failed."""
        writer = self.watch._writer
        wait_until(lambda: writer.has_written_all or writer.failure is not None, 0.001)

    def wait_until_written(self) -> None:
        writer = self.watch._writer
        wait_until(lambda: writer.has_written_all and writer.failure is None, 0.001)

    def report(self) -> tuple[Health, bytes | None]:
        self.settle()
        self.watch._report(Status("online", "", BEGIN, latency_ms=40.0))
        return self.store.reports[-1]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """Its writer runs, and tries again soon."""
    monkeypatch.setattr(writer_module, "_RETRY_S", 0.01)
    made = Watched()
    with made.watch._writer:
        yield made
        made.store.answers.set()


def test_the_latency_is_that_of_the_last_seconds(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [watched.began_s + 5]
    monkeypatch.setattr(watch_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watched.look(2)  # some seconds after they came: the detector had to begin
    assert watched.report()[0].latency_ms > 4000
    now[0] += 9
    watched.look()
    assert watched.report()[0].latency_ms > 4000
    now[0] += 2
    assert watched.report()[0].latency_ms > 10_000, "the first ones are forgotten"
    now[0] += 20
    assert watched.report()[0].latency_ms == 40.0, "nothing moves: that of the camera's pictures"


def test_an_event_is_stored_before_the_rest_of_its_picture_is_looked_at(watched: Watched) -> None:
    watched.look(3)
    assert watched.scene.seen_meanwhile == [1, 2, 3]
    watched.store.failing = Unavailable("The database does not answer.")
    watched.look(1)
    assert watched.scene.seen_meanwhile == [1, 2, 3, 3], "the rest is looked at all the same"
    assert watched.report()[0].status == "error"


def test_what_was_found_while_the_store_failed_is_stored_afterwards(watched: Watched) -> None:
    watched.look()
    watched.store.failing = Unavailable("The database does not answer.")
    watched.look(5)
    health, progress = watched.report()
    assert (health.status, progress) == ("error", None), "what is not written must not count as said"
    assert "does not answer" in health.message
    watched.store.failing = None
    watched.look()
    watched.wait_until_written()
    assert [each.subject for each in watched.store.events] == ["1", "2", "3", "4", "5", "6", "7"]
    assert [visitor for _, visitor in watched.store.visitors] == [1, 2, 3, 4, 5, 6, 7]
    assert [each.visitor for each in watched.store.looks] == [1, 3, 5, 7], "each once"
    # With the pictures and times of then.
    assert watched.store.events[3].seen_at == BEGIN + timedelta(seconds=0.4)
    assert isinstance(watched.store.events[3].image, bytes)
    watched.look(60)
    assert (watched.report()[0].status, watched.report()[1]) == ("online", b"progress")


def test_what_waits_for_the_store_is_written_without_another_picture_too_and_is_bounded(watched: Watched) -> None:
    watched.store.failing = OSError(28, "No space left on device: /srv/secret")
    watched.look(150)
    assert "secret" not in watched.report()[0].message
    watched.store.failing = None
    watched.wait_until_written()
    stored = [int(each.subject) for each in watched.store.events]
    assert stored == list(range(151 - len(stored), 151)), "the oldest are given up"
    assert 100 <= len(stored) <= 110, "those that are tried at the moment besides"
    *before, last = watched.store.told
    assert (set(before), last) == ({None}, b"progress"), "only with the last is all of it told"


def test_pictures_are_looked_at_while_the_store_does_not_answer(watched: Watched) -> None:
    watched.scene.waits = lambda: None
    watched.store.answers.clear()
    watched.look(20)
    assert watched.scene.number == 20
    assert watched.store.events == []
    watched.store.answers.set()
    watched.wait_until_written()
    assert [int(each.subject) for each in watched.store.events] == list(range(1, 21))


def test_sums_that_could_not_be_written_are_added_to_the_next_each_in_its_hour(watched: Watched) -> None:
    watched.store.failing = Unavailable("The database does not answer.")
    for _ in range(4):
        watched.look(10)
        watched.watch._add_sums()
    assert watched.store.sums == []
    watched.store.failing = None
    watched.watch._add_sums()
    said = [(at.hour, sums.waits["till"]) for at, sums in watched.store.sums]
    assert said == [(12, (1, 2.0)), (13, (4, 8.0))]
    assert watched.store.sums[1][1].heat is not None
    assert float(watched.store.sums[1][1].heat.max()) == 4.0
    watched.watch._add_sums()
    assert watched.store.sums[-1][1].waits == {"till": (1, 2.0)}


def test_a_wait_that_is_over_is_counted_before_the_next_worker_is_told_that_it_is(watched: Watched) -> None:
    watched.look()
    watched.report()
    assert watched.store.sums == []
    watched.scene.has_waits = True
    assert watched.report()[1] == b"progress"
    assert len(watched.store.sums) == 1


def test_an_unforeseen_failure_is_said_and_does_not_end_the_watch(watched: Watched) -> None:
    watched.scene.error = KeyError("/srv/secret")
    watched.look(3)
    health, _ = watched.report()
    assert (health.status, health.message) == ("error", "pictures cannot be looked at: KeyError")
    watched.scene.error = None
    watched.scene.failure = DetectorDied("The detector's child died.")
    watched.look(3)
    assert len(watched.store.events) == 3, "what the others found is stored"
    assert "child died" in watched.report()[0].message
    watched.scene.failure = None
    watched.look(60)
    assert watched.report()[0].status == "online"


def test_a_lost_lease_ends_the_watch(watched: Watched) -> None:
    watched.scene.waits = lambda: None
    watched.store.failing = LeaseLost()
    watched.look()
    wait_until(lambda: not watched.watch._writer._thread.is_alive(), 0.001)
    watched.watch._stop.clear()
    with pytest.raises(LeaseLost):
        watched.watch._watch(cast(Capture, Pictures(watched.watch, iter([(1, 1.0)]))))


@pytest.mark.parametrize(
    ("change", "goes_on"),
    [
        ({"name": "Till"}, True),
        ({"webhook_url": "https://example.com"}, True),
        ({"calibration": [{}]}, True),
        ({"zones": [{"name": "vault"}]}, False),
        ({"url": b"2"}, False),
        ({"transport": "udp"}, False),
        ({"scenarios": ("lpr",)}, False),
    ],
)
def test_only_what_is_watched_otherwise_is_watched_anew(
    watched: Watched, change: dict[str, Any], goes_on: bool
) -> None:
    changed = cast(Stream, SimpleNamespace(**{**vars(watched.stream), **change}))
    assert watched.watch.takes(changed) is goes_on
    assert (watched.watch.stream is changed) is goes_on
