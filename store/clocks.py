"""The time that machines with one database have in common: each goes by its own clock, and by the database's where its
own is set wrong. When something is due, what was first, what has ended: what one of them writes down another reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog

from store import meters

log = structlog.get_logger(__name__)

MOST_APART_S = 60.0
"""More than clocks of machines beside each other differ."""
_LOOKS_EVERY_S = 5.0
_MOST_LATE_S = 5.0
"""An answer that took longer tells too little."""


class Clock:
    """Of this process. It goes by the machine's alone until it is compared."""

    def __init__(self) -> None:
        self._ahead_s = 0.0
        self._looks_again_s = 0.0

    @property
    def ahead_s(self) -> float:
        """By how much the machine's clock is ahead of the time that is gone by; 0 where it is trusted."""
        return self._ahead_s

    def now(self) -> datetime:
        return datetime.now(UTC) - timedelta(seconds=self._ahead_s)

    def time_s(self) -> float:
        """Seconds since 1970."""
        return time.time() - self._ahead_s

    def is_due(self) -> bool:
        """Whether it is time to compare."""
        return time.monotonic() >= self._looks_again_s

    def compare(self, ask: Callable[[], datetime]) -> None:
        """`ask`: tells the database's time. Raises what it raises."""
        asked_s = time.monotonic()
        self._looks_again_s = asked_s + _LOOKS_EVERY_S
        theirs, own = ask(), datetime.now(UTC)
        took_s = time.monotonic() - asked_s
        if took_s > _MOST_LATE_S:
            return
        ahead_s = (own - theirs).total_seconds() - took_s / 2
        meters.CLOCK_AHEAD.set(ahead_s)
        wrong_by_s = ahead_s if abs(ahead_s) > MOST_APART_S else 0.0
        if bool(wrong_by_s) != bool(self._ahead_s):
            says = "this machine's clock is wrong" if wrong_by_s else "this machine's clock is right again"
            log.warning(f"{says}: the database's is gone by where they differ", seconds=round(ahead_s))
        self._ahead_s = wrong_by_s


CLOCK = Clock()
