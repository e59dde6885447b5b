"""Watches one stream: takes its newest pictures, has what moves looked at, and records what is found."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

import structlog

from ingest.vision.best_shots import BestShots
from ingest.vision.capture import Capture, Status
from ingest.vision.detector import DetectorError
from ingest.vision.eyes import Eyes
from ingest.vision.frames import Frame
from ingest.vision.motion import WIDTH, MotionGate
from ingest.vision.recorder import LeaseLost, Recorder
from ingest.vision.scenarios.findings import EventType
from ingest.vision.scene import Found, Scene
from store.camera_streams import Health, Stream
from store.errors import ParleyError

log = structlog.get_logger(__name__)

_TAKE_S = 1.0
_REPORT_S = 2.0
_SUMS_S = 10.0
_MEASURED = 50
_RETRY_S = 2.0
_RESOLVE_S = 20.0

_OF_PEOPLE: frozenset[EventType] = frozenset(
    ("person_entered", "no_helmet", "no_vest", "no_mask", "no_gloves", "fall", "zone_intrusion")
)

Opens = Callable[[Stream], str]
"""The address to open, its host judged; raises accounts.outbound.OutboundFailed."""
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


class Watch:
    """One stream in a thread of its own, beside the two of its capture. `progress`: what the worker before left."""

    def __init__(self, stream: Stream, tools: Tools, progress: bytes | None) -> None:
        self.stream = stream
        self._tools = tools
        self._progress = progress
        self._stop = threading.Event()
        self._latencies_ms: deque[float] = deque(maxlen=_MEASURED)
        self._behind: deque[bool] = deque(maxlen=_MEASURED)
        self._paid: date | None = None
        self._scene: Scene | None = None
        self._shots = BestShots(0, 0)
        self._seen_at = datetime.now(UTC)
        self._problem = ""
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns at once; `join` waits until what is under way is written."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def is_behind(self) -> bool:
        """Whether most of the pictures that should have been looked at were passed over: too many for this worker."""
        return len(self._behind) == self._behind.maxlen and sum(self._behind) > len(self._behind) / 2

    def measure_anew(self) -> None:
        """What was passed over up to now is forgotten."""
        self._behind.clear()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                url = self._address()
                if url is None:
                    self._stop.wait(_RESOLVE_S)
                    continue
                with Capture(url, transport=self.stream.transport) as capture:
                    self._watch(capture)
        except LeaseLost:
            log.info("another worker has the stream", stream_id=self.stream.id)
        # A stream's fault must not end the worker, whose others go on; the lease loop starts it anew.
        except Exception:
            log.exception("watching a stream failed", stream_id=self.stream.id)

    def _address(self) -> str | None:
        from accounts.outbound import OutboundFailed

        try:
            return self._tools.opens(self.stream)
        except OutboundFailed as failure:
            self._report(Status("error", failure.message, datetime.now(UTC)))
            return None

    def _watch(self, capture: Capture) -> None:
        gate, number = MotionGate(), 0
        looked, looked_s = 0, float("-inf")
        interval_s = 1 / self._tools.fps
        reported_s = summed_s = time.monotonic()
        while not self._stop.is_set():
            frame = capture.newest(number, _TAKE_S)
            now_s = time.monotonic()
            if frame is not None:
                number = frame.number
                # Half a picture early rather than a whole one late: a camera's pace fits ours seldom.
                if frame.arrived_s - looked_s >= interval_s - 0.02:
                    # A camera that sends few pictures is no fault of this worker's: one must have been passed over.
                    is_late = frame.arrived_s - looked_s > 2 * interval_s
                    self._behind.append(is_late and frame.number > looked + 1 and looked > 0)
                    looked, looked_s = frame.number, frame.arrived_s
                    self._look(frame, gate)
            if now_s - reported_s >= _REPORT_S or frame is None:
                self._report(capture.status)
                reported_s = now_s
            if now_s - summed_s >= _SUMS_S:
                self._add_sums()
                summed_s = now_s
        self._add_sums()
        self._report(capture.status)

    def _look(self, frame: Frame, gate: MotionGate) -> None:
        self._seen_at = frame.seen_at
        if not self._is_paid(frame.seen_at.date()):
            return
        moves = gate.moves(frame.thumbnail(WIDTH), frame.arrived_s)
        scene = self._scene_of(frame)
        try:
            self._record(scene.step(frame, moves), frame)
            for event_id in self._shots.better(scene.people, frame) if scene.people else []:
                self._tools.recorder.replace_picture(self.stream, event_id, frame.image)
            for visitor in scene.take_visitors():
                self._tools.recorder.add_visitor(self.stream, frame.seen_at, visitor)
            self._problem = ""
        except (DetectorError, ParleyError) as error:
            # Pictures go on coming; what could not be looked at or kept is said in the stream's status.
            self._problem = f"pictures cannot be looked at: {error}"[:300]
            log.warning("a picture was not looked at", stream_id=self.stream.id, kind=type(error).__name__)
            self._stop.wait(_RETRY_S)
            return
        if moves:
            self._latencies_ms.append((time.monotonic() - frame.arrived_s) * 1000)

    def _record(self, everything: Sequence[Found], frame: Frame) -> None:
        for found in everything:
            finding, image = found.finding, found.image
            event_id = self._tools.recorder.record(self.stream, frame, image, finding, found.subject)
            if event_id is not None and finding.box is not None and finding.type in _OF_PEOPLE and finding.number:
                self._shots.begin(event_id, finding.number, finding.box, image, frame.arrived_s)

    def _scene_of(self, frame: Frame) -> Scene:
        if self._scene is None or self._scene.size != (frame.width, frame.height):
            self._add_sums()
            progress = self._progress if self._scene is None else self._scene.progress(frame.seen_at)
            eyes = self._tools.eyes
            self._shots = BestShots(frame.width, frame.height)
            self._scene = Scene(self.stream, frame.width, frame.height, eyes, progress, frame.seen_at)
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
        if self._scene is not None and (sums := self._scene.take_sums()) is not None:
            self._tools.recorder.add_sums(self.stream, self._seen_at, sums)

    def _report(self, status: Status) -> None:
        latencies = list(self._latencies_ms)
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
        progress = None if self._scene is None else self._scene.progress(datetime.now(UTC))
        try:
            self._tools.recorder.report(self.stream, health, progress)
        except ParleyError:
            log.warning("a stream's status was not written", stream_id=self.stream.id)
