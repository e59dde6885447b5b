"""The time that machines with one database have in common: each goes by its own clock, and by the database's where its
own is set wrong. When something is due, what was first, what has ended: what one of them writes down another reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

import structlog

from store import meters

log = structlog.get_logger(__name__)

WRONG_FROM_S, RIGHT_UNTIL_S = 60.0, 30.0
"""More than clocks of machines beside each other differ; and between the two it stays with what it was."""
_LOOKS_EVERY_S = 5.0
_MOST_LATE_S = 1.0
"""An answer that took longer tells too little; the first one tells enough all the same."""
_RUNS = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _running_s() -> float:
    """What nobody sets, and what goes on while the machine sleeps."""
    return time.clock_gettime(_RUNS)


class Clock:
    """Of this process. It goes by the machine's until it was compared. From then on it knows what the database's shows
    without asking, so that the machine's may be set at any moment, wrong or right again, and nothing jumps."""

    def __init__(self) -> None:
        self._base_s: float | None = None
        """The database's time when the running time was 0; None before it was compared."""
        self._is_wrong = False
        self._looks_again_s = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time_s(), UTC)

    def time_s(self) -> float:
        """Seconds since 1970."""
        return self._looked_at()[1]

    @property
    def ahead_s(self) -> float:
        """By how much the machine's clock is ahead of the time that is gone by; 0 where it is trusted."""
        own_s, gone_by_s = self._looked_at()
        return own_s - gone_by_s

    def _looked_at(self) -> tuple[float, float]:
        """The machine's time, and the one that is gone by. Many threads ask at once."""
        own_s, base_s, was_wrong = time.time(), self._base_s, self._is_wrong
        if base_s is None:
            return own_s, own_s
        theirs_s = base_s + _running_s()
        is_wrong = abs(own_s - theirs_s) > (RIGHT_UNTIL_S if was_wrong else WRONG_FROM_S)
        if is_wrong != was_wrong:
            self._is_wrong = is_wrong
            says = "this machine's clock is wrong" if is_wrong else "this machine's clock is right again"
            log.warning(f"{says}: the database's is gone by meanwhile", seconds=round(own_s - theirs_s))
        return own_s, theirs_s if is_wrong else own_s

    def is_due(self) -> bool:
        """Whether it is time to compare."""
        return time.monotonic() >= self._looks_again_s

    def compare(self, ask: Callable[[], datetime]) -> None:
        """`ask`: tells the database's time. Raises what it raises."""
        self._looks_again_s = time.monotonic() + _LOOKS_EVERY_S
        asked_s = _running_s()
        theirs_s = ask().timestamp()
        took_s = _running_s() - asked_s
        if took_s > (_MOST_LATE_S if self._base_s is not None else RIGHT_UNTIL_S):
            return
        base_s = theirs_s - (asked_s + took_s / 2)
        # Within what the answer's way leaves open it is the same time, and time does not go to and fro.
        if self._base_s is None or abs(base_s - self._base_s) > took_s / 2:
            self._base_s = base_s
        meters.CLOCK_AHEAD.set(time.time() - self._base_s - _running_s())


CLOCK = Clock()
