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


class Bulkhead:
    """Of one service, for all threads of a process.

    `at_once` calls have a place. Who finds none waits for one, for `late_s` at most, and is refused at once where all
    that have one are late themselves. A call that ends in Unavailable that late, and no other was answered since it
    began, puts the service in doubt: one call at a time tries then, a new one after some seconds, until one is
    answered. A failure that comes at once costs nobody time and is no reason to doubt.
    """

    def __init__(self, refusal: Callable[[], Unavailable], *, at_once: int, late_s: float) -> None:
        self._refusal = refusal
        self._at_once = at_once
        self._late_s = late_s
        self._changed = threading.Condition()
        self._began_s: dict[object, float] = {}
        """Of each call that has a place, on the clock of `time.monotonic`; the first that began is the first."""
        self._answered_s = float("-inf")
        self._is_in_doubt = False

    @contextmanager
    def call(self, *, needs_place: bool = True) -> Iterator[None]:
        """Around one call. Without `needs_place` it waits for none, and is refused as others are once the service is
        known to let everybody wait. Raises what `refusal` makes."""
        call = object()
        self._begin(call, needs_place=needs_place)
        try:
            yield
        except Unavailable:
            self._end(call, is_answered=False)
            raise
        except BaseException:
            self._end(call, is_answered=True)
            raise
        self._end(call, is_answered=True)

    def _begin(self, call: object, *, needs_place: bool) -> None:
        until_s = time.monotonic() + self._late_s
        with self._changed:
            while not self._may_begin(needs_place):
                left_s = min(until_s, self._all_late_s) - time.monotonic()
                if left_s <= 0:
                    raise self._refusal()
                self._changed.wait(left_s)
            self._began_s[call] = time.monotonic()

    def _may_begin(self, needs_place: bool) -> bool:
        is_full = len(self._began_s) >= self._at_once
        if self._is_in_doubt:
            newest_s = max(self._began_s.values(), default=float("-inf"))
            return not is_full and time.monotonic() >= newest_s + _TRIAL_EVERY_S
        return not is_full or (not needs_place and time.monotonic() < self._all_late_s)

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
