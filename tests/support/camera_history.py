"""What a capture told of its camera, in order, to be waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ingest.vision.capture import Capture, State, Status
from ingest.vision.frames import Frame

WAIT_S = 120.0


class History:
    """The `on_change` of a capture."""

    def __init__(self) -> None:
        self.told: list[Status] = []
        self._changed = threading.Condition()

    def __call__(self, status: Status) -> None:
        with self._changed:
            self.told.append(status)
            self._changed.notify_all()

    @property
    def states(self) -> list[State]:
        return [status.state for status in self.told]

    def wait(self, is_it: Callable[[Status], bool], after: int = 0) -> Status:
        """The first status told, from the one numbered `after` on, that is it."""
        with self._changed:
            assert self._changed.wait_for(lambda: any(map(is_it, self.told[after:])), WAIT_S), self.told
            return next(filter(is_it, self.told[after:]))

    def state(self, state: State, after: int = 0) -> Status:
        return self.wait(lambda status: status.state == state, after)


def wait_for_frame(capture: Capture, after: int = 0) -> Frame:
    frame = capture.newest(after, WAIT_S)
    assert frame is not None, capture.status
    return frame
