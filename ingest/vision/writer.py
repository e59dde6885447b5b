"""Writes what a stream's watch found, in a thread of its own: a store that is away, or slow, must not close the eyes of
who looks."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

import numpy as np
import numpy.typing as npt
import structlog

from ingest.vision.recorder import Found, LeaseLost, Recorder, as_jpeg, newest_as_jpeg
from store.camera_streams import Stream
from store.camera_visitors import VisitorLooks
from store.errors import ParleyError

log = structlog.get_logger(__name__)

_RETRY_S = 2.0
_NEWEST_S = 5.0
_WRITTEN_AT_ONCE = 10
_MOST_UNWRITTEN, _MOST_VISITORS, _MOST_BETTER = 100, 1000, 20
"""So much waits for a store that does not answer, pictures as files; then the oldest is given up."""
_STORE_FAILED = (ParleyError, OSError)

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Batch:
    """What is written together. With `progress` it is the last of what waits, and has the visitors."""

    found: list[Found]
    visitors: list[tuple[datetime, int]]
    looks: dict[int, VisitorLooks]
    progress: bytes | None


class Writer:
    """One watch's. Findings are written in their order, better pictures of them afterwards, and the camera's newest
    picture where nothing else waits. Who hands something over waits for no store. What was written in truth, though the
    store failed, is known by its subject.

    A context: its thread begins with it, and has ended after it. Where it ends by LeaseLost nothing more is written.
    """

    def __init__(self, stream: Callable[[], Stream], recorder: Recorder) -> None:
        """`stream`: as it is known now."""
        self.failure: Exception | None = None
        """What the last try failed by; None once one went well, or nothing waits."""
        self._stream, self._recorder = stream, recorder
        self._changed = threading.Condition()
        self._unwritten: deque[Found] = deque()
        self._visitors: deque[tuple[datetime, int]] = deque(maxlen=_MOST_VISITORS)
        self._looks: dict[int, VisitorLooks] = {}  # what is new of visitors, by their number
        self._progress: bytes | None = None
        self._better: dict[str, bytes] = {}  # by the event
        self._newest: bytes | None = None
        self._newest_due_s = float("-inf")
        self._is_writing = self._is_ending = self._lost_lease = False
        self._thread = threading.Thread(target=self._run, name="watch's writer", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, LeaseLost):
            with self._changed:
                self._lost_lease = True
        self.finish()

    def finish(self) -> None:
        """Returns once all that waits is written, or the store has failed once more."""
        with self._changed:
            self._is_ending = True
            self._changed.notify()
        self._thread.join()

    # What the watch's thread calls

    def add(self, found: Sequence[Found], progress: bytes) -> None:
        """`progress` tells of all findings up to these. Raises what a picture is refused by that is none."""
        files = {id(each.image): each.image for each in found}
        made = {key: image if isinstance(image, bytes) else as_jpeg(image) for key, image in files.items()}
        with self._changed:
            self._unwritten += [replace(each, image=made[id(each.image)]) for each in found]
            self._progress = progress
            self._bound()
            self._changed.notify()

    def add_people(
        self, visitors: Sequence[tuple[datetime, int]], looks: Sequence[VisitorLooks], progress: bytes
    ) -> None:
        """Who was met, and what is new of their looks."""
        with self._changed:
            self._visitors += visitors
            self._looks |= {each.visitor: each for each in looks}
            self._progress = progress
            self._changed.notify()

    def replace_picture(self, event_id: str, image: Image) -> None:
        """A better one of an event, whether that is written yet or not."""
        picture = as_jpeg(image)
        with self._changed:
            for place, found in enumerate(self._unwritten):
                if found.event_id == event_id:
                    self._unwritten[place] = replace(found, image=picture)
                    return
            self._better[event_id] = picture
            if len(self._better) > _MOST_BETTER:
                del self._better[next(iter(self._better))]
            self._changed.notify()

    def keep_newest(self, image: Image) -> None:
        """The picture that people see of the camera, in place of one that waits still."""
        picture = newest_as_jpeg(image)
        with self._changed:
            self._newest = picture
            self._changed.notify()

    def check(self) -> None:
        """Raises LeaseLost where another worker has the stream, and RuntimeError where nothing is written any more."""
        if self._lost_lease:
            raise LeaseLost
        if self._thread.ident is not None and not self._thread.is_alive():
            raise RuntimeError("the watch's writer has ended")

    @property
    def has_written_all(self) -> bool:
        """Whether every event and every visitor is in the store."""
        with self._changed:
            return not (self._unwritten or self._visitors or self._is_writing or self._lost_lease)

    # The writer's thread

    def _run(self) -> None:
        while self._wait():
            is_last_try = self._is_ending
            try:
                self._write_next()
            except LeaseLost:
                self._lost_lease = True
                return
            # Whatever it was, it is told in the stream's status, and the next is tried.
            except Exception as error:
                self.failure = error
                if is_last_try and isinstance(error, _STORE_FAILED):
                    log.error("what was found last could not be stored", **self._left())
                    return
                self._pause()
            else:
                self.failure = None

    def _wait(self) -> bool:
        """Until there is something to write; False where there will be nothing more."""
        with self._changed:
            while not self._lost_lease:
                if self._has_findings or self._better:
                    return True
                if self._is_ending:
                    return False
                due_s = None if self._newest is None else self._newest_due_s - time.monotonic()
                if due_s is not None and due_s <= 0:
                    return True
                self._changed.wait(due_s)
            return False

    def _pause(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_ending, _RETRY_S)
            if not self._has_findings and not self._better:
                self.failure = None

    @property
    def _has_findings(self) -> bool:
        return bool(self._unwritten or self._visitors or self._looks)

    def _write_next(self) -> None:
        """Raises LeaseLost, and what the recorder raises."""
        if (batch := self._take()) is not None:
            self._write_together(batch)
        elif self._better:
            self._write_better()
        else:
            self._write_newest()

    def _take(self) -> _Batch | None:
        with self._changed:
            if not self._has_findings:
                return None
            found = [self._unwritten.popleft() for _ in range(min(_WRITTEN_AT_ONCE, len(self._unwritten)))]
            if self._unwritten:
                batch = _Batch(found, [], {}, None)
            else:
                batch = _Batch(found, list(self._visitors), self._looks, self._progress)
                self._visitors.clear()
                self._looks = {}
            self._is_writing = bool(found or batch.visitors)
            return batch

    def _write_together(self, batch: _Batch) -> None:
        try:
            self._recorder.record(
                self._stream(), batch.found, batch.visitors, list(batch.looks.values()), batch.progress
            )
        except LeaseLost:
            raise
        except _STORE_FAILED:
            self._put_back(batch)
            raise
        # One that cannot be written, whatever it fails by, must not keep all others back.
        except Exception:
            if batch.found:
                self._put_back(replace(batch, found=batch.found[1:]))
                self._give_up(batch.found[0])
            raise
        finally:
            with self._changed:
                self._is_writing = False

    def _put_back(self, batch: _Batch) -> None:
        """Before what came meanwhile."""
        with self._changed:
            self._unwritten.extendleft(reversed(batch.found))
            self._visitors = deque([*batch.visitors, *self._visitors], maxlen=_MOST_VISITORS)
            self._looks = batch.looks | self._looks
            self._bound()

    def _bound(self) -> None:
        while len(self._unwritten) > _MOST_UNWRITTEN:
            self._give_up(self._unwritten.popleft())

    def _give_up(self, found: Found) -> None:
        log.error("an event could not be stored", stream_id=self._stream().id, kind=found.finding.type)

    def _left(self) -> dict[str, object]:
        return {"stream_id": self._stream().id, "events": len(self._unwritten), "visitors": len(self._visitors)}

    def _write_better(self) -> None:
        with self._changed:
            event_id = next(iter(self._better))
            picture = self._better.pop(event_id)
        try:
            self._recorder.replace_picture(self._stream(), event_id, picture)
        except _STORE_FAILED:
            with self._changed:
                self._better = {event_id: picture} | self._better  # a better one still stays
            raise

    def _write_newest(self) -> None:
        """Raises LeaseLost."""
        with self._changed:
            picture, self._newest = self._newest, None
        if picture is None:
            return
        try:
            self._recorder.keep_newest(self._stream(), picture)
        except LeaseLost:
            raise
        # Another comes in a moment.
        except Exception as error:
            log.warning(
                "a stream's newest picture was not kept", stream_id=self._stream().id, error=type(error).__name__
            )
        # From its end on: where a store hangs for longer than that, events must find a pause.
        self._newest_due_s = time.monotonic() + _NEWEST_S
