"""Watches one stream: takes its newest pictures, has what moves looked at, and hands what is found to its writer."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

import structlog

from ingest.vision.best_shots import BestShots
from ingest.vision.capture import Capture, Status
from ingest.vision.detector import DetectorError
from ingest.vision.eyes import Eyes
from ingest.vision.frames import Frame
from ingest.vision.motion import WIDTH, MotionGate
from ingest.vision.recorder import Found, LeaseLost, Recorder, Sums, hour_of
from ingest.vision.scenarios.findings import EventType
from ingest.vision.scene import Scene
from ingest.vision.sources import Broken
from ingest.vision.writer import Writer
from store.camera_streams import Health, Stream
from store.database import now
from store.errors import ParleyError

log = structlog.get_logger(__name__)

_TAKE_S = 1.0
_REPORT_S = 2.0
_SUMS_S = 10.0
_NEWEST_S = 5.0
_MEASURED, _LEAST_MEASURED = 50, 10
_MOST_UNDECODED = 0.1
_LATENCY_S = 10.0
_RETRY_S = 2.0
_WELL_AFTER_S = 5.0
_MOST_HOURS = 48
"""Of so many, what was counted waits for a database that does not answer; then the oldest is given up."""
_NOT_LOOKED_AT, _NOT_STORED = "pictures cannot be looked at", "what is found cannot be stored"
_WATCHED = ("url", "is_own", "transport", "scenarios", "zones")
"""Of a stream: what is opened, and what the scene was made with. All else is read when it is needed."""

_BETTERED: frozenset[EventType] = frozenset(
    ("person_entered", "no_helmet", "no_vest", "no_mask", "no_gloves", "fall", "zone_intrusion")
)

Opens = Callable[[Stream, int], str]
"""The address to open, its host resolved and judged anew; told how many connections before gave no picture. Raises
accounts.outbound.OutboundFailed."""
Pays = Callable[[Stream, date], bool]
"""Whether the day (UTC) of a stream is paid for."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the watches of a worker share. `fps`: pictures a second that are looked at."""

    eyes: Eyes
    recorder: Recorder
    opens: Opens
    pays: Pays
    fps: float


@dataclass(frozen=True, slots=True)
class _Looked:
    """That a picture was looked at: its number, how many had not been decoded by then, and whether pictures before it
    should have been looked at."""

    number: int
    undecoded: int
    is_late: bool


class Watch:
    """One stream in a thread of its own, beside that of its writer and the two of its capture. `progress`: what the
    worker before left."""

    def __init__(self, stream: Stream, tools: Tools, progress: bytes | None) -> None:
        self.stream = stream
        self.hangs = False
        self._tools = tools
        self._progress = progress
        self._stop = threading.Event()
        self._latencies_ms: deque[tuple[float, float]] = deque(maxlen=_MEASURED)  # when, how much
        self._looked: deque[_Looked] = deque(maxlen=_MEASURED)
        self._paid: date | None = None
        self._scene: Scene | None = None
        self._shots = BestShots(0, 0)
        self._seen_at = now()
        self._problem = ""
        self._failed_s = float("-inf")
        self._writer = Writer(lambda: self.stream, tools.recorder)
        self._sums: dict[datetime, Sums] = {}  # by the hour
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns at once; `join` waits until what was found is written."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def takes(self, stream: Stream) -> bool:
        """Goes on with the stream as it is now; False where it must be watched anew for that. A new name or webhook
        must not cost the tracks of who is in the picture."""
        if any(getattr(stream, name) != getattr(self.stream, name) for name in _WATCHED):
            return False
        self.stream = stream
        return True

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def is_behind(self) -> bool:
        """Whether most of the pictures that should have been looked at were passed over, or too many were not even
        decoded: too many streams for this worker."""
        looked = list(self._looked)
        if len(looked) < _LEAST_MEASURED:
            return False
        first, last = looked[0], looked[-1]
        # Where decoding takes too long, looks are few: no full measure of them is waited for.
        if last.undecoded - first.undecoded > _MOST_UNDECODED * (last.number - first.number):
            return True
        return len(looked) == _MEASURED and sum(each.is_late for each in looked) > len(looked) / 2

    def measure_anew(self) -> None:
        """What was passed over up to now is forgotten."""
        self._looked.clear()

    def _run(self) -> None:
        try:
            with self._writer:
                # The camera is left first: it may bear few who look, and a store may take its time.
                with Capture(self._address, transport=self.stream.transport) as capture:
                    status = self._watch(capture)
                self._writer.finish()
                self._report(status)
        except LeaseLost:
            log.info("another worker has the stream", stream_id=self.stream.id)
        # A stream's fault must not end the worker, whose others go on; the lease loop starts it anew.
        except Exception:
            log.exception("watching a stream failed", stream_id=self.stream.id)

    def _address(self, tried: int) -> str:
        """For the capture, which asks in its own threads. Raises Broken."""
        from accounts.outbound import AddressRefused, OutboundFailed

        try:
            return self._tools.opens(self.stream, tried)
        except OutboundFailed as failure:
            raise Broken(failure.message, lasting=isinstance(failure, AddressRefused)) from None

    def _watch(self, capture: Capture) -> Status:
        """Until it is stopped; how it went with the camera then. Raises LeaseLost."""
        gate, number = MotionGate(), 0
        looked, looked_s = 0, float("-inf")
        interval_s = 1 / self._tools.fps
        reported_s = summed_s = time.monotonic()
        kept_s = float("-inf")
        while not self._stop.is_set():
            self._writer.check()
            frame = capture.newest(number, _TAKE_S)
            now_s = time.monotonic()
            if frame is not None:
                number = frame.number
                # Half a picture early rather than a whole one late: a camera's pace fits ours seldom.
                if frame.arrived_s - looked_s >= interval_s - 0.02:
                    # A camera that sends few pictures is no fault of this worker's: one must have been passed over.
                    is_late = frame.arrived_s - looked_s > 2 * interval_s
                    is_late = is_late and frame.number > looked + 1 and looked > 0
                    self._looked.append(_Looked(frame.number, frame.undecoded, is_late))
                    looked, looked_s = frame.number, frame.arrived_s
                    self._look(frame, gate)
            if frame is not None and now_s - kept_s >= _NEWEST_S and self._paid is not None:
                self._writer.keep_newest(frame.image)
                kept_s = now_s
            if now_s - reported_s >= _REPORT_S or frame is None:
                self._report(capture.status)
                self.hangs = capture.hangs
                reported_s = now_s
            if now_s - summed_s >= _SUMS_S:
                self._add_sums()
                summed_s = now_s
        self._add_sums()
        return capture.status

    def _look(self, frame: Frame, gate: MotionGate) -> None:
        self._seen_at = frame.seen_at
        try:
            if not self._is_paid(frame.seen_at.date()):
                return
            moves = gate.moves(frame.thumbnail(WIDTH), frame.arrived_s)
            scene = self._scene_of(frame)
            failure: Exception | None = None
            for found in scene.step(frame, moves):
                refused = self._try_to_hand_over(found, scene, frame.arrived_s)
                failure = failure or refused
            visitors = [(frame.seen_at, visitor) for visitor in scene.take_visitors()]
            looks = scene.take_looks()
            if visitors or looks:
                self._writer.add_people(visitors, looks, scene.progress(now()))
            if failure is not None:
                raise failure
            for event_id in self._shots.better(scene.seen, frame) if scene.seen else []:
                self._writer.replace_picture(event_id, frame.image)
        except LeaseLost:
            raise
        # Pictures go on coming, and one that nobody was prepared for must not end the watch.
        except Exception as error:
            self._failed(error, frame.arrived_s)
            self._stop.wait(_RETRY_S)
            return
        if scene.failure is not None:
            self._failed(scene.failure, frame.arrived_s)
        elif (unwritten := self._writer.failure) is not None:
            self._failed(unwritten, frame.arrived_s, what=_NOT_STORED)
        elif frame.arrived_s - self._failed_s > _WELL_AFTER_S:
            self._problem = ""  # not each part looks at each picture
        if moves:
            now_s = time.monotonic()
            self._latencies_ms.append((now_s, (now_s - frame.arrived_s) * 1000))

    def _failed(self, error: Exception, now_s: float, *, what: str = _NOT_LOOKED_AT) -> None:
        """What could not be looked at or kept is said in the stream's status."""
        is_foreseen = isinstance(error, DetectorError | ParleyError)
        # Of others the text may name files of the server, and those who read the status may be its clients.
        problem = f"{what}: {error if is_foreseen else type(error).__name__}"[:300]
        if problem != self._problem:
            trace = None if is_foreseen else error
            log.warning("a stream cannot be watched well", stream_id=self.stream.id, problem=problem, exc_info=trace)
        self._problem, self._failed_s = problem, now_s

    def _try_to_hand_over(self, news: list[Found], scene: Scene, now_s: float) -> Exception | None:
        """What it failed by: the rest of the picture is looked at all the same. That it was told is written with it,
        should this worker die."""
        try:
            self._writer.add(news, scene.progress(now()))
            for found in news:
                finding, image = found.finding, found.image
                if isinstance(image, bytes) or finding.box is None:
                    continue
                if finding.type in _BETTERED and finding.number:
                    self._shots.begin(found.event_id, finding.number, finding.box, image, now_s)
        except Exception as error:
            return error
        return None

    def _scene_of(self, frame: Frame) -> Scene:
        if self._scene is None or self._scene.size != (frame.width, frame.height):
            self._add_sums()
            if self._scene is None:
                progress, visitors = (
                    self._progress,
                    self._tools.recorder.known_visitors(self.stream, frame.seen_at.date()),
                )
            else:
                progress, visitors = self._scene.progress(frame.seen_at), self._scene.visitors
                visitors.forget_tracks()
            size = frame.width, frame.height
            self._shots = BestShots(*size)
            self._scene = Scene(self.stream, *size, self._tools.eyes, progress, visitors, frame.seen_at)
        return self._scene

    def _is_paid(self, day: date) -> bool:
        if self._paid != day:
            if not self._tools.pays(self.stream, day):
                self._problem = "the balance does not bear another day of this camera"
                self._stop.wait(_RETRY_S)
                return False
            self._paid, self._problem = day, ""
        return True

    def _add_sums(self) -> None:
        """What cannot be written now is with the next ones. Raises LeaseLost."""
        if self._scene is not None and (sums := self._scene.take_sums()) is not None:
            hour = hour_of(self._seen_at)
            self._sums[hour] = self._sums.get(hour, Sums()) + sums
        try:
            for hour, sums in list(self._sums.items()):
                self._tools.recorder.add_sums(self.stream, hour, sums)
                del self._sums[hour]
        except ParleyError:
            log.warning("a stream's sums were not written", stream_id=self.stream.id)
        for hour in list(self._sums)[:-_MOST_HOURS]:
            del self._sums[hour]

    def _report(self, status: Status) -> None:
        if (unwritten := self._writer.failure) is not None:
            self._failed(unwritten, time.monotonic(), what=_NOT_STORED)
        # Where nothing moves, what was measured long ago says nothing of now.
        begin_s = time.monotonic() - _LATENCY_S
        latencies = [latency_ms for at_s, latency_ms in self._latencies_ms if at_s >= begin_s]
        is_well = status.state == "online" and not self._problem
        health = Health(
            status="error" if status.state == "online" and self._problem else status.state,
            message="" if is_well else (self._problem or status.message),
            notes=self._tools.eyes.notes(self.stream.scenarios),
            fps=status.fps,
            latency_ms=sum(latencies) / len(latencies) if latencies else status.latency_ms,
            width=status.width,
            height=status.height,
        )
        if self._scene is not None and self._scene.has_waits:
            self._add_sums()
        # What counts as said must have been written, should this worker die.
        is_written = self._scene is not None and self._writer.has_written_all
        progress = self._scene.progress(now()) if self._scene is not None and is_written else None
        try:
            self._tools.recorder.report(self.stream, health, progress)
        except ParleyError:
            log.warning("a stream's status was not written", stream_id=self.stream.id)
