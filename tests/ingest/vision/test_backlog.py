"""Pictures that come faster than they can be decoded: their age is told and bounded, whatever a camera's clock says."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ingest.vision.access_units import AccessUnit
from ingest.vision.backlog import LIMIT_S, Backlog
from ingest.vision.capture import Capture
from ingest.vision.sources import H264Decoder, Picture
from ingest.vision.watch import Tools, Watch
from tests.support.camera_history import WAIT_S, wait_for_frame
from tests.support.rtsp import read_stamp, running_server

FPS = 25
TICK_S = 1 / 90000
SLOW_S = 0.12
MOST_S = 6.0
"""What is decoded may be as old as the limit and what it takes to be sure; this is more, since test machines halt."""


@pytest.fixture
def slow_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    decode = H264Decoder.decode

    def slow(decoder: H264Decoder, unit: AccessUnit) -> list[Picture]:
        time.sleep(SLOW_S)
        return decode(decoder, unit)

    monkeypatch.setattr(H264Decoder, "decode", slow)


@pytest.mark.parametrize(("transport", "key_every"), [("tcp", 25), ("udp", 25), ("tcp", 150)])
def test_what_comes_faster_than_it_is_decoded_is_passed_over_and_its_age_is_told(
    slow_decoder: None, transport: Any, key_every: int
) -> None:
    with (
        running_server(width=320, height=240, key_every=key_every, bitrate=300) as own,
        Capture(own.url(), transport=transport) as capture,
    ):
        number = undecoded = times_passed_over = 0
        latencies_ms = []
        while times_passed_over < 3:
            frame = wait_for_frame(capture, number)
            stamp = read_stamp(frame.image)
            assert stamp is not None
            assert time.monotonic() - stamp.clock_s < MOST_S
            assert -0.001 <= frame.arrived_s - stamp.clock_s < LIMIT_S, "its time is that of the camera"
            if frame.undecoded > undecoded:
                times_passed_over += 1
                assert frame.number - number > frame.undecoded - undecoded
                latencies_ms.append(capture.status.latency_ms)
            number, undecoded = frame.number, frame.undecoded
        assert max(latencies_ms) > SLOW_S * 2 * 1000, "that of a picture which waited is more than its decoding"
        assert capture.status.damaged == 0


def test_a_worker_that_cannot_decode_all_pictures_is_behind(
    slow_decoder: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "_look", lambda *_: None)
    monkeypatch.setattr(Watch, "_report", lambda *_: None)
    tools = Tools(cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, None), 10.0)
    with running_server(width=320, height=240, bitrate=300) as own, Capture(own.url()) as capture:
        watch = Watch(cast(Any, SimpleNamespace(id="stream")), tools, None)
        watching = threading.Thread(target=watch._watch, args=(capture,))
        watching.start()
        try:
            deadline = time.monotonic() + WAIT_S
            while not watch.is_behind:
                assert time.monotonic() < deadline, capture.status
                time.sleep(0.05)
            first = capture.newest()
            assert first is not None
            later = wait_for_frame(capture, first.number + 10 * FPS)
            assert later.undecoded > first.undecoded
            assert watch.is_behind, "and so it stays"
        finally:
            watch.stop()
            watching.join()


class Reader:
    """Reads the pictures of a camera, and takes `decoding_s` for each that is not passed over."""

    def __init__(self, decoding_s: float, key_every: int = FPS) -> None:
        self.backlog = Backlog(TICK_S)
        self.now_s, self.waited_s = 1000.0, 0.0
        self.passed_over: list[bool] = []
        self.lags_s: list[float] = []
        self._decoding_s, self._key_every = decoding_s, key_every

    def read(self, pictures: Iterator[tuple[float, float | None]]) -> None:
        """Of each, when it can be read, and its stamp in seconds."""
        before_s = 0.0
        for number, (there_s, stamp_s) in enumerate(pictures):
            if there_s > self.now_s:
                self.waited_s += there_s - self.now_s
                self.now_s = there_s
            stamp = None if stamp_s is None else round(stamp_s / TICK_S)
            arrived_s = self.backlog.arrived_s(stamp, self.now_s)
            assert before_s <= arrived_s <= self.now_s
            before_s = arrived_s
            passes = self.backlog.passes_over(number % self._key_every == 0, self.now_s, self.waited_s)
            self.passed_over.append(passes)
            self.lags_s.append(self.now_s - arrived_s)
            self.now_s += 0.0005 if passes else self._decoding_s


def sent(seconds: float, begin_s: float = 1000.0) -> Iterator[float]:
    return (begin_s + number / FPS for number in range(round(seconds * FPS)))


@pytest.mark.parametrize(
    "stamped",
    [
        pytest.param(lambda _: None, id="none"),
        pytest.param(lambda _: 7.0, id="all the same"),
        pytest.param(lambda at_s: 2 * at_s, id="twice as quick"),
        pytest.param(lambda at_s: at_s / 2, id="half as quick"),
        pytest.param(lambda at_s: at_s * 0.9995, id="a clock that drifts"),
        pytest.param(lambda at_s: at_s + 50_000 * (at_s > 1010), id="ahead"),
        pytest.param(lambda at_s: at_s - 900 * (at_s > 1010), id="back"),
        pytest.param(lambda at_s: at_s - 3 * (at_s > 1010), id="a little back"),
        pytest.param(lambda at_s: at_s + 3 * (1010 < at_s < 1010.05), id="one of them ahead"),
        pytest.param(lambda at_s: at_s + (round(at_s * FPS) % 3) * 0.08, id="reordered"),
        pytest.param(lambda at_s: hash(round(at_s * FPS)) * 7919 % 1000, id="any"),
    ],
)
def test_nothing_is_passed_over_for_stamps_that_say_nonsense(stamped: Any) -> None:
    reader = Reader(decoding_s=0.01)
    reader.read((at_s, stamped(at_s)) for at_s in sent(600))
    assert not any(reader.passed_over)
    assert max(reader.lags_s) < 3 * LIMIT_S


def test_nothing_is_passed_over_of_a_camera_that_sends_in_bursts() -> None:
    reader = Reader(decoding_s=0.01)
    reader.read((1000 + 3 * ((at_s - 1000) // 3 + 1), at_s) for at_s in sent(120))
    assert not any(reader.passed_over)


def test_nothing_is_passed_over_after_a_line_that_hung_and_times_are_those_of_the_camera() -> None:
    reader = Reader(decoding_s=0.01)
    reader.read((max(at_s, 1013.0) if at_s > 1010 else at_s, at_s) for at_s in sent(30))
    assert not any(reader.passed_over)
    assert max(reader.lags_s) == pytest.approx(3.0, abs=0.1)
    assert reader.lags_s[-1] < 0.05


@pytest.mark.parametrize("key_every", [1, FPS, 20 * FPS, 10**9])
@pytest.mark.parametrize("decoding_s", [0.05, 0.5])
def test_who_is_too_slow_is_never_far_behind_and_goes_on(decoding_s: float, key_every: int) -> None:
    reader = Reader(decoding_s, key_every)
    reader.read((at_s, at_s) for at_s in sent(300))
    assert max(reader.lags_s) < 3 * LIMIT_S
    decoded = [number for number, passes in enumerate(reader.passed_over) if not passes]
    assert 0 < len(decoded) < len(reader.passed_over)
    gaps = [later - before for before, later in pairwise(decoded)]
    assert max(gaps) <= 15 * FPS, "pictures go on coming, though key frames may not"


def test_who_is_behind_is_so_by_the_true_time_though_the_clocks_drift_apart() -> None:
    reader = Reader(decoding_s=0.05)
    reader.read((at_s, at_s * 1.0001) for at_s in sent(3600))
    assert max(reader.lags_s) < 3 * LIMIT_S
    assert sum(reader.passed_over) > 0.1 * len(reader.passed_over)
