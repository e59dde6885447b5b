"""A bulkhead: a service that lets everybody wait keeps only some of the threads that others need too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from store.errors import Unavailable

_DOUBT_S = 0.5
"""So late a call is while it is in doubt whether the service answers at all."""
_TRIAL_EVERY_S = 5.0
_LOOKING = 2


class Bulkhead:
    """Of one service, for all threads of a process.

    `at_once` calls have a place. `waiting` more wait for one, for `late_s` at most; who comes beside them is refused,
    and so are they where all that have a place are late. A call that ends in Unavailable that late, and no other was
    answered since it began, puts the service in doubt: one call at a time tries then, a new one after some seconds,
    until one is answered. A failure that comes at once costs nobody time and is no reason to doubt.
    """

    def __init__(self, refusal: Callable[[], Unavailable], *, at_once: int, waiting: int, late_s: float) -> None:
        self._refusal = refusal
        self._at_once = at_once
        self._most_waiting = waiting
        self._late_s = late_s
        self._changed = threading.Condition()
        self._began_s: dict[object, float] = {}
        """Of each call that has a place, on the clock of `time.monotonic`."""
        self._waiting = self._beside = 0
        self._answered_s = float("-inf")
        self._is_in_doubt = False

    @contextmanager
    def call(self) -> Iterator[None]:
        """Around one call. Raises what `refusal` makes."""
        call = object()
        self._begin(call)
        try:
            yield
        except Unavailable:
            self._end(call, is_answered=False)
            raise
        except BaseException:
            self._end(call, is_answered=True)
            raise
        self._end(call, is_answered=True)

    @contextmanager
    def look(self) -> Iterator[None]:
        """Around a call that looks whether the service answers: it needs no place and waits for none, and is refused
        where the service is known to let everybody wait, or two look already."""
        with self._changed:
            if self._is_in_doubt:
                needs_place = True
            elif self._beside >= _LOOKING or (self._is_full and time.monotonic() >= self._all_late_s):
                raise self._refusal()
            else:
                needs_place = False
                self._beside += 1
        if needs_place:  # it may well be the one that ends the doubt
            with self.call():
                yield
            return
        try:
            yield
        finally:
            with self._changed:
                self._beside -= 1

    def _begin(self, call: object) -> None:
        until_s = time.monotonic() + self._late_s
        with self._changed:
            if not self._has_place and self._waiting >= self._most_waiting:
                raise self._refusal()
            self._waiting += 1
            try:
                while not self._has_place:
                    left_s = min(until_s, self._all_late_s) - time.monotonic()
                    if left_s <= 0:
                        raise self._refusal()
                    self._changed.wait(left_s)
            finally:
                self._waiting -= 1
            self._began_s[call] = time.monotonic()

    @property
    def _is_full(self) -> bool:
        return len(self._began_s) >= self._at_once

    @property
    def _has_place(self) -> bool:
        if self._is_in_doubt:
            newest_s = max(self._began_s.values(), default=float("-inf"))
            return not self._is_full and time.monotonic() >= newest_s + _TRIAL_EVERY_S
        return not self._is_full

    @property
    def _all_late_s(self) -> float:
        """When all that are under way are late."""
        return max(self._began_s.values()) + (_DOUBT_S if self._is_in_doubt else self._late_s)

    def _end(self, call: object, *, is_answered: bool) -> None:
        with self._changed:
            now_s, began_s = time.monotonic(), self._began_s.pop(call)
            if is_answered:
                self._answered_s, self._is_in_doubt = now_s, False
            elif now_s - began_s >= self._late_s and self._answered_s < began_s:
                self._is_in_doubt = True
            self._changed.notify_all()
