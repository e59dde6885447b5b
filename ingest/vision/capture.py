"""Reads one camera for as long as it is wanted: connects, tries again, keeps the newest picture, says how it goes.

Two threads a camera. One reads a connection from its opening to its end; the other watches it, and begins anew after
it. FFmpeg's calls cannot be broken off from outside: a reader that hangs, in the resolution of a name or in a decoder,
is left behind, hands on nothing any more, and ends by its own time-outs. So closing never waits for a camera.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, Self

import structlog

from ingest.vision.frames import Frame
from ingest.vision.sources import Broken, Picture, Pulse, Source, Transport, pictures
from store.database import now

State = Literal["connecting", "online", "reconnecting", "offline", "error"]

log = structlog.get_logger(__name__)

Address = Callable[[int], str]
"""What to open now; told how many connections before gave no picture. Raises Broken where there is nothing to open."""

BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)

_WATCH_S = 0.5
_LEAVE_S = 0.25
_MOST_HANGING = 3
_MEASURED_S = 5.0
_MEASURED_PICTURES = 300


@dataclass(frozen=True, slots=True)
class Status:
    """How it goes with a camera. `since` (UTC) is when `state` began; `message` says why, empty where all is well.

    `fps` is counted and `latency_ms`, from a picture's last packet to the decoded picture, averaged over the last
    seconds; both are 0 without pictures. `damaged`: how many pictures were thrown away since the capture began.
    """

    state: State
    message: str
    since: datetime
    fps: float = 0.0
    latency_ms: float = 0.0
    codec: str = ""
    width: int = 0
    height: int = 0
    damaged: int = 0


class Capture:
    """Keeps the newest picture of the camera at `address`: rtsp(s)://, http(s):// for MJPEG, or a path for a looped
    file. A camera with a host name moves: where a function is given, it is asked before each connection.

    `offline_after_s`: so long without a picture, and a camera that is being tried again counts as offline. The waits of
    `backoff_s` follow each other until a picture comes; what no retry mends soon is tried again after the longest.
    `on_change` is called in the capture's own thread, for changes of state, message, codec and size, each once and in
    order; reading goes on meanwhile.
    """

    def __init__(
        self,
        address: str | Address,
        *,
        transport: Transport = "tcp",
        open_timeout_s: float = 10.0,
        read_timeout_s: float = 5.0,
        picture_timeout_s: float = 20.0,
        offline_after_s: float = 30.0,
        backoff_s: tuple[float, ...] = BACKOFF_S,
        on_change: Callable[[Status], None] | None = None,
    ) -> None:
        assert backoff_s, "how long to wait before the next try"
        self._address: Address = (lambda _: address) if isinstance(address, str) else address
        self._tried = 0
        self._source = Source("", transport, open_timeout_s, read_timeout_s, picture_timeout_s)
        self._offline_after_s = offline_after_s
        self._backoff_s = backoff_s
        self._on_change = on_change
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._keeper: threading.Thread | None = None
        self._reader: _Reader | None = None
        self._left: list[_Reader] = []
        self._frame: Frame | None = None
        self._count = 0
        self._damaged = self._undecoded = 0
        self._seen_s = time.monotonic()
        self._was_online = False
        self._measures: deque[tuple[float, float]] = deque(maxlen=_MEASURED_PICTURES)
        self._status = Status("connecting", "", now())
        self._untold: deque[Status] = deque()

    def __repr__(self) -> str:
        return f"<Capture {self._status.state}>"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Self:
        assert self._keeper is None, "a capture is started once"
        self._seen_s = time.monotonic()
        self._keeper = threading.Thread(target=self._keep, name="camera", daemon=True)
        self._keeper.start()
        return self

    def close(self) -> None:
        """Ends the capture within a moment, whatever the camera does. Waiting callers of `newest` get None."""
        with self._changed:
            self._closing.set()
            self._frame = None
            self._changed.notify_all()
        if self._keeper is not None and self._keeper is not threading.current_thread():
            self._keeper.join(2 * _LEAVE_S)

    def newest(self, after: int = 0, timeout_s: float = 1.0) -> Frame | None:
        """The newest frame, as soon as there is one of a number above `after`; None when none came in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing.is_set() or self._newer(after) is not None, timeout_s)
            return self._newer(after)

    @property
    def status(self) -> Status:
        with self._changed:
            begin_s = time.monotonic() - _MEASURED_S
            recent = [measure for measure in self._measures if measure[0] >= begin_s]
            damaged = self._damaged + (self._reader.pulse.damaged if self._reader else 0)
            if len(recent) < 2:
                return replace(self._status, damaged=damaged)
            # Over the time up to now, not up to the last picture: a camera that falls silent is seen to do so.
            span_s = max(time.monotonic() - recent[0][0], 1e-3)
            latency_ms = sum(latency_s for _, latency_s in recent) / len(recent) * 1000
            return replace(self._status, fps=(len(recent) - 1) / span_s, latency_ms=latency_ms, damaged=damaged)

    @property
    def hangs(self) -> bool:
        """Whether so many readers of the camera hang that it is read no more, until a new process does."""
        return sum(reader.is_alive() for reader in self._left) >= _MOST_HANGING

    def _newer(self, after: int) -> Frame | None:
        return self._frame if self._frame is not None and self._frame.number > after else None

    # What readers call

    def _take(self, reader: _Reader, picture: Picture) -> None:
        """Makes a reader's picture the newest; nothing of a reader that was left behind."""
        now_s = time.monotonic()
        latency_s = now_s - picture.arrived_s
        decoded = picture.decoded
        with self._changed:
            if self._closing.is_set() or reader is not self._reader:
                reader.pulse.stop.set()
                return
            reader.pictures += 1
            self._count += 1
            self._seen_s = now_s
            self._was_online = True
            self._measures.append((now_s, latency_s))
            seen_at = now() - timedelta(seconds=latency_s)
            size = (decoded.width, decoded.height)
            undecoded = self._undecoded + reader.pulse.undecoded
            number = self._count + undecoded
            self._frame = Frame(number, undecoded, seen_at, picture.arrived_s, picture.is_key, *size, decoded)
            self._set("online", "", codec=reader.pulse.codec, size=size)
            self._changed.notify_all()

    def _ended(self, reader: _Reader) -> None:
        with self._changed:
            self._changed.notify_all()

    # The keeper's thread

    def _keep(self) -> None:
        failures = 0
        while not self._closing.is_set():
            reader = self._read_once()
            if self._closing.is_set():
                break
            failures = 0 if reader.pictures else failures
            # Where pictures came from is tried first again; where none came from, the host's next address is.
            self._tried += not reader.pictures
            broken = reader.broken or Broken("the reading of the camera hangs")
            with self._changed:
                self._set_broken(broken)
            wait_s = self._backoff_s[-1] if broken.lasting else self._backoff_s[min(failures, len(self._backoff_s) - 1)]
            failures += 1
            self._watch_until(lambda: False, time.monotonic() + wait_s)

    def _read_once(self) -> _Reader:
        """One connection, from its opening to its end, or to the moment in which it is left behind."""
        self._left = [reader for reader in self._left if reader.is_alive()]
        if len(self._left) >= _MOST_HANGING:
            reader = self._new_reader()
            reader.broken = Broken("readers of the camera hang: the worker has to be restarted", lasting=True)
            return reader
        reader = self._new_reader()
        with self._changed:
            self._reader = reader
        reader.start()
        self._watch_until(lambda: reader.has_ended or reader.pulse.is_lost, None)
        with self._changed:
            self._reader = None
            self._damaged += reader.pulse.damaged
            self._undecoded += reader.pulse.undecoded
        reader.pulse.stop.set()
        reader.join(_LEAVE_S)
        if reader.is_alive():
            self._left.append(reader)
        return reader

    def _new_reader(self) -> _Reader:
        return _Reader(self, self._source, partial(self._address, self._tried))

    def _watch_until(self, is_over: Callable[[], bool], end_s: float | None) -> None:
        """Waits, tells of changes, and sees when a camera has been away for long."""
        while True:
            with self._changed:
                if self._status.state in ("connecting", "reconnecting"):
                    self._set_broken(Broken(self._status.message))
                left_s = _WATCH_S if end_s is None else min(_WATCH_S, end_s - time.monotonic())
                if not self._untold and not self._closing.is_set() and not is_over() and left_s > 0:
                    self._changed.wait(left_s)
                untold = list(self._untold)
                self._untold.clear()
                over = self._closing.is_set() or is_over() or (end_s is not None and time.monotonic() >= end_s)
            for status in untold:
                self._tell(status)
            if over:
                return

    def _tell(self, status: Status) -> None:
        if self._on_change is None:
            return
        try:
            self._on_change(status)
        except Exception:
            # The camera goes on, whatever became of those who listen.
            log.exception("a listener to a camera's status failed")

    def _set_broken(self, broken: Broken) -> None:
        state: State = "reconnecting" if self._was_online else "connecting"
        if broken.lasting:
            state = "error"
        elif time.monotonic() - self._seen_s >= self._offline_after_s:
            state = "offline"
        message = broken.message
        if state == "offline" and not message:
            message = f"no picture came for {self._offline_after_s:g} s"
        self._set(state, message)

    def _set(self, state: State, message: str, codec: str | None = None, size: tuple[int, int] | None = None) -> None:
        old = self._status
        width, height = size or (old.width, old.height)
        since = old.since if state == old.state else now()
        new = replace(
            old, state=state, message=message, since=since, codec=codec or old.codec, width=width, height=height
        )
        if new != old:
            self._status = new
            self._untold.append(new)
            self._changed.notify_all()


class _Reader(threading.Thread):
    """Reads one connection to its end."""

    def __init__(self, capture: Capture, source: Source, address: Callable[[], str]) -> None:
        super().__init__(name="camera reader", daemon=True)
        self.pulse = Pulse()
        self.pulse.beat(2 * source.open_timeout_s)
        self.pictures = 0
        self.broken: Broken | None = None
        self.has_ended = False
        self._capture = capture
        self._source, self._address = source, address

    def run(self) -> None:
        try:
            for picture in pictures(replace(self._source, url=self._address()), self.pulse):
                self._capture._take(self, picture)
        except Broken as broken:
            # Without traceback and context, which would hold the connection and the decoder up to a collection.
            self.broken = Broken(broken.message, broken.lasting)
        except Exception as error:
            # By its kind alone: its text may hold the address, and with it a password.
            log.error("reading a camera failed", kind=type(error).__name__)
            self.broken = Broken("the reading of the camera failed")
        finally:
            self.has_ended = True
            self._capture._ended(self)
