"""A circuit breaker: a service that lets everybody wait keeps only some of the threads that others need too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from store.errors import Unavailable


class Circuit:
    """Of one service, for all threads of a process.

    A call that ends in Unavailable later than is usual opens it: then one call at a time tries whether the service
    answers again, at most every `open_s`, and the others are refused. One that fails at once costs nobody time, and
    opens nothing. Until there is such an end, no more than `at_once` calls are under way; who comes beside them waits
    for a place, and is refused where one of them is late.
    """

    def __init__(self, refusal: Callable[[], Unavailable], *, at_once: int, late_s: float, open_s: float) -> None:
        self._refusal = refusal
        self._at_once = at_once
        self._late_s = late_s
        self._open_s = open_s
        self._changed = threading.Condition()
        self._late_at: dict[object, float] = {}
        """When each call that is under way will be late, on the clock of `time.monotonic`."""
        self._shut_until: float | None = None
        self._trial: object = None

    @contextmanager
    def call(self, usual_s: float = 0.0) -> Iterator[None]:
        """Around one call. `usual_s`: how long it may well take for what it carries. Raises what `refusal` makes."""
        call = object()
        self._begin(call, usual_s)
        try:
            yield
        except Unavailable:
            self._end(call, is_answered=False)
            raise
        except BaseException:
            self._end(call, is_answered=True)
            raise
        self._end(call, is_answered=True)

    def _begin(self, call: object, usual_s: float) -> None:
        with self._changed:
            while self._shut_until is None and len(self._late_at) >= self._at_once:
                left_s = min(self._late_at.values()) - time.monotonic()
                if left_s <= 0:
                    raise self._refusal()
                self._changed.wait(left_s)
            if self._shut_until is not None:
                if self._trial is not None or time.monotonic() < self._shut_until:
                    raise self._refusal()
                self._trial = call
            self._late_at[call] = time.monotonic() + self._late_s + usual_s

    def _end(self, call: object, *, is_answered: bool) -> None:
        with self._changed:
            is_late = time.monotonic() >= self._late_at.pop(call)
            is_trial = self._trial is call
            if is_trial:
                self._trial = None
            if is_answered:
                self._shut_until = None
            elif is_late or is_trial:
                self._shut_until = time.monotonic() + self._open_s
            self._changed.notify_all()
