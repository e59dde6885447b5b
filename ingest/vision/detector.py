"""One child process that looks at the pictures of all streams of a worker.

Callers, a thread a stream, lay their pictures into shared memory; one thread here hands what waits to the child as one
batch, oldest first, and starts a new child where one died. Everyone has at most one picture in flight, so whoever was
served goes to the end of the line, and no stream can crowd out another.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Self

import structlog

from ingest.vision.detect_messages import (
    Garbled,
    Picture,
    boxes_in,
    parse_description,
    poses_in,
    question,
)
from ingest.vision.detect_poses import Poses
from ingest.vision.detect_process import DetectorProcess, Gone
from ingest.vision.detect_slots import SLOT_BYTES, Slots, letterbox_into
from ingest.vision.network_files import NetworkUnusable
from ingest.vision.network_runtimes import Runtime
from ingest.vision.networks import Description
from ingest.vision.yolo import Boxes, Floats, Pixels
from store import meters

log = structlog.get_logger(__name__)

OPEN_TIMEOUT_S = 60.0
"""For the start of a child, and for a network to be loaded."""
_LEAST_HANG_S = 2.0
"""A caller's impatience does not make a child one that hangs: its next start would take as long."""
_BACKOFF_S = 0.1
_LONGEST_BACKOFF_S = 5.0
_LATENCIES = 256
_CLOSED = "The detector was closed."


class DetectorError(Exception):
    """The picture was not looked at."""


class DetectorDied(DetectorError):
    """The child ended, or hung and was killed, while the caller waited. The next call has a new one."""


class DetectorTimedOut(DetectorError):
    """The caller's time was over first."""


class DetectorFailed(DetectorError):
    """The network could not work on the picture; the child lives on. The log says why."""


class DetectorClosed(DetectorError):
    """The detector was closed."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Since the detector began; `starts` of a child. `working`: pictures that the child looks at now; `waiting`: those
    it was not given yet. `latency_ms`: from call to answer, the mean of the last 256; 0 before the first."""

    pictures: int
    batches: int
    starts: int
    waiting: int
    working: int
    latency_ms: float


@dataclass(slots=True, eq=False)
class _Call:
    model: str
    deadline_s: float
    timeout_s: float
    size: int = 0
    picture: Picture | None = None
    is_over: Event = field(default_factory=Event)
    table: Floats | None = None
    error: Exception | None = None


class Detector:
    """Looks at pictures with the `models` (paths by name), in one child process that starts with the first call.

    `threads`: of the child; `slots`: so many pictures at once, those that wait included; `runtime`: see
    `open_network`; `nice` is added to the server's own priority number. May be called from any thread.
    """

    def __init__(
        self,
        models: Mapping[str, Path],
        threads: int = 2,
        slots: int = 8,
        *,
        runtime: Runtime | None = None,
        nice: int = 0,
    ) -> None:
        if threads < 1:
            raise ValueError("a detector needs a thread")
        self._models = dict(models)
        self._settings = {
            "models": {name: str(path.absolute()) for name, path in models.items()},
            "threads": threads,
            "runtime": runtime,
            "nice": nice,
        }
        self._slots = Slots(slots)
        self._changed = threading.Condition()
        self._waiting: deque[_Call] = deque()
        self._taken: list[_Call] = []  # out of the line, by the serving thread
        self._descriptions: dict[str, Description] = {}
        self._child: DetectorProcess | None = None
        self._server: threading.Thread | None = None
        self._closed = False
        self._failures = 0
        self._not_before_s = 0.0
        self._pictures = self._batches = self._starts = 0
        self._latencies_ms: deque[float] = deque(maxlen=_LATENCIES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def child_pid(self) -> int | None:
        """Of the child that lives now."""
        with self._changed:
            return self._child.pid if self._child is not None and not self._child.has_ended else None

    @property
    def figures(self) -> Figures:
        with self._changed:
            mean = sum(self._latencies_ms) / len(self._latencies_ms) if self._latencies_ms else 0.0
            return Figures(self._pictures, self._batches, self._starts, len(self._waiting), len(self._taken), mean)

    def about(self, model: str, timeout_s: float = OPEN_TIMEOUT_S) -> Description:
        """What the network is, loaded for it if need be: call it once, so that the first picture waits less.

        Raises NetworkUnusable, DetectorError, and KeyError for a model that was not given.
        """
        if model not in self._models:
            raise KeyError(model)
        known = self._descriptions.get(model)
        if known is None:
            self._wait(_Call(model, time.monotonic() + timeout_s, timeout_s))
            known = self._descriptions[model]
        return known

    def detect(
        self,
        model: str,
        image: Pixels,
        *,
        confidence: float = 0.25,
        classes: Collection[int] | None = None,
        timeout_s: float = 10.0,
    ) -> Boxes:
        """What is in a picture (height x width x 3, RGB), in its pixels. `classes`: only these, all if None.

        The time of a model's first call has to do for its loading, too. A caller whose time is over harms nobody; a
        child that did not answer within it, and 2 s at least, is killed. Raises what `about` raises, and ValueError
        for what is no picture.
        """
        return boxes_in(self._look(model, image, confidence, classes, timeout_s))

    def poses(self, model: str, image: Pixels, *, confidence: float = 0.25, timeout_s: float = 10.0) -> Poses:
        """The people in a picture with their key points. Raises what `detect` raises; ValueError also for a model that
        finds none."""
        if self.about(model, timeout_s).task != "pose":
            raise ValueError(f"the model {model} does not find key points")
        return poses_in(self._look(model, image, confidence, None, timeout_s))

    def close(self) -> None:
        """Ends the child. Those who wait get DetectorClosed."""
        with self._changed:
            self._closed = True
            if self._child is not None:
                self._child.kill()
            self._changed.notify_all()
        if self._server is not None:
            self._server.join()
        self._slots.close()

    # The callers' threads

    def _look(
        self, model: str, image: Pixels, confidence: float, classes: Collection[int] | None, timeout_s: float
    ) -> Floats:
        if image.dtype != "uint8" or image.ndim != 3 or image.shape[2] != 3 or not image.size:
            raise ValueError(f"a picture is height x width x 3 of uint8, not {image.shape} of {image.dtype}")
        begin_s = time.monotonic()
        about = self.about(model, timeout_s)
        is_whole = about.runtime == "ultralytics"
        if is_whole and image.nbytes > SLOT_BYTES:
            raise ValueError(f"a picture of {image.shape[1]} x {image.shape[0]} is too large for ultralytics")
        call = _Call(model, begin_s + timeout_s, timeout_s, about.size)
        try:
            slot = self._slots.take(call.deadline_s)
        except TimeoutError:
            raise _timed_out(call) from None
        if slot is None:
            raise DetectorClosed(_CLOSED)
        try:
            height, width = image.shape[:2]
            if is_whole:
                self._slots.picture(slot, width, height)[:] = image
            else:
                letterbox_into(image, self._slots.square(slot, about.size))
            wanted = None if classes is None else tuple(map(int, classes))
            call.picture = Picture(slot, width, height, float(confidence), wanted)
        # Nobody else knows of the slot yet.
        except BaseException:
            self._slots.give_back(slot)
            raise
        self._wait(call)
        assert call.table is not None
        with self._changed:
            self._latencies_ms.append((time.monotonic() - begin_s) * 1000)
        return call.table

    def _wait(self, call: _Call) -> None:
        """From here on the slot is given back by whoever takes the call out of the line."""
        try:
            with self._changed:
                if not self._closed:
                    self._waiting.append(call)
                    self._start_serving()
                    self._changed.notify_all()
                else:
                    self._end([call], DetectorClosed(_CLOSED))
            call.is_over.wait(max(0.0, call.deadline_s - time.monotonic()))
        finally:
            with self._changed:
                if call in self._waiting:
                    self._waiting.remove(call)
                    self._end([call], _timed_out(call))
        if not call.is_over.is_set():
            raise _timed_out(call)
        if call.error is not None:
            raise call.error

    # The serving thread

    def _start_serving(self) -> None:
        if self._server is None:
            self._server = threading.Thread(target=self._serve, name="detector", daemon=True)
            self._server.start()

    def _serve(self) -> None:
        while self._wait_for_calls():
            try:
                child = self._ready_child()
                calls = self._next_batch()
                if calls:
                    self._work(child, calls)
            except (Gone, Garbled, OSError) as error:
                why = error.strerror if isinstance(error, OSError) else error  # without the file's name
                self._lost(f"The detector's child died before it answered ({why}).")
            # The streams must not hang for a mistake of ours.
            except Exception as error:
                log.exception("the detector failed")
                self._lost(f"The detector failed ({type(error).__name__}).")
        self._lost(_CLOSED)

    def _wait_for_calls(self) -> bool:
        """Until someone waits, and a new child may start where there is none. False once the detector is closed."""
        with self._changed:
            while not self._closed:
                left_s = self._not_before_s - time.monotonic()
                if self._waiting and left_s <= 0:
                    return True
                self._changed.wait(left_s if self._waiting else None)
            return False

    def _ready_child(self) -> DetectorProcess:
        """Raises OSError."""
        child = self._child
        if child is not None and child.has_ended:
            child.stop()
            child = None
        if child is None:
            child = DetectorProcess(self._settings, self._slots.number)
            with self._changed:
                self._starts += 1
                self._child = child
                if self._closed:
                    child.kill()
        return child

    def _next_batch(self) -> list[_Call]:
        """Of the model that is waited for longest, all that wait for it. Empty where nobody waits any more."""
        with self._changed:
            self._taken = [call for call in self._waiting if call.model == self._waiting[0].model]
            for call in self._taken:
                self._waiting.remove(call)
            return self._taken

    def _work(self, child: DetectorProcess, calls: list[_Call]) -> None:
        """Raises Gone or Garbled: the child is of no use any more then."""
        model = calls[0].model
        if model not in child.opened:
            header, _ = child.ask(question(model), OPEN_TIMEOUT_S)
            if "error" in header:
                return self._finish(_error_in(header))
            self._descriptions[model] = parse_description(header)
            child.opened.add(model)
        size = self._descriptions[model].size
        if any(call.size not in (0, size) for call in calls):
            return self._finish(DetectorFailed(f"The model {model} has another size now."))
        pictured = [(call, call.picture) for call in calls if call.picture is not None]
        if not pictured:
            return self._finish()
        timeout_s = max(_LEAST_HANG_S, *(call.timeout_s for call in calls))
        header, tables = child.ask(question(model, size, [picture for _, picture in pictured]), timeout_s)
        if "error" in header:
            return self._finish(_error_in(header))
        if len(tables) != len(pictured):
            raise Garbled(f"{len(tables)} answers to {len(pictured)} pictures")
        for (call, _), table in zip(pictured, tables, strict=True):
            call.table = table
        with self._changed:
            self._pictures += len(pictured)
            self._batches += 1
            self._failures = 0
        return self._finish()

    def _finish(self, error: Exception | None = None) -> None:
        with self._changed:
            calls, self._taken = self._taken, []
            self._end(calls, error)

    def _lost(self, message: str) -> None:
        """The child is of no use. Pictures that wait would be old before the next one has started."""
        with self._changed:
            child, self._child = self._child, None
            calls = [*self._taken, *self._waiting]
            self._waiting.clear()
        # It must not read from slots that are given to others.
        if child is not None:
            child.stop()
        with self._changed:
            self._taken = []
            self._not_before_s = time.monotonic() + min(_BACKOFF_S * 2**self._failures, _LONGEST_BACKOFF_S)
            self._failures = min(self._failures + 1, 10)
            self._end(calls, DetectorClosed(_CLOSED) if self._closed else DetectorDied(message))
        if not self._closed:
            log.warning("a detector's child was lost", reason=message, calls=len(calls))
            meters.DETECTOR.inc()

    def _end(self, calls: list[_Call], error: Exception | None) -> None:
        """Needs the lock."""
        for call in calls:
            if call.picture is not None:
                self._slots.give_back(call.picture.slot)
            # Each thread raises one of its own: an error keeps where it was raised.
            call.error = type(error)(*error.args) if error is not None else None
            call.is_over.set()


def _timed_out(call: _Call) -> DetectorTimedOut:
    return DetectorTimedOut(f"The detector had no answer within {call.timeout_s:g} s.")


def _error_in(header: Mapping[str, object]) -> Exception:
    if header["error"] == "unusable":
        return NetworkUnusable(str(header.get("text")))
    log.error("a network failed in the detector's child", trace=header.get("trace"))
    return DetectorFailed(str(header.get("text")))
