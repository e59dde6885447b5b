"""Which pictures of a camera are looked at: all in which something moves or is unsettled, and few of the others."""

from __future__ import annotations

ATTENTIVE_S = 3.0
"""So long after something was seen that wants a series of looks, every picture is looked at."""
SEARCHING_S = 1.0
"""So long each picture is looked at for somebody who was there a moment ago: who left is told of at once."""
WATCHFUL_S = 1.0
"""Between looks at a still picture with somebody in it; else it is looked at seldom."""
SELDOM_S = 10.0
CONFIRMING_S = 1.2
"""So long each picture is looked at for what was seen for the first time: it counts when it is seen twice."""
UNSEEN_S = 2.0
"""A longer pause between two pictures counts as so long: models were loaded, or none came."""
OTHERS_AFTER_S = 60.0
"""After so long without anybody who looked, who and what is there is another."""
LOOK_S = 0.5
"""Where some looks must be taken within a time, each takes no more of it: a camera may send few pictures, and looks at
others may come first."""


class Attention:
    """One camera's. Not for several threads.

    Whoever asks for more must have a limit of its own: what is told, or cannot be told, is no reason to look.
    """

    def __init__(self) -> None:
        self.clock_s = 0.0
        """Counts the seconds in which somebody looked. Between two looks at a still picture nothing came or went, and
        while no pictures came nobody knows: what was missed once was not away for all of that."""
        self.somebody_there = False
        self._before_s: float | None = None
        self._looked_s = self._until_s = self._confirmed_s = float("-inf")

    def looks(self, now_s: float, moves: bool) -> bool:
        """Whether the picture of `now_s` (monotonic) is looked at. `moves`: whether anything does in it."""
        before_s, self._before_s = self._before_s, now_s
        if before_s is not None and self._until_s > before_s:
            self._until_s += max(0.0, now_s - before_s - LOOK_S)
        is_due = now_s - self._looked_s >= (WATCHFUL_S if self.somebody_there else SELDOM_S)
        if not (moves or now_s < self._until_s or is_due):
            return False
        self._looked_s = now_s
        self.clock_s += min(UNSEEN_S, now_s - before_s) if before_s is not None else 0.0
        return True

    def stay(self, now_s: float, seconds: float = ATTENTIVE_S) -> None:
        """Every picture is looked at for so long."""
        self._until_s = max(self._until_s, now_s + seconds)

    def confirm(self, now_s: float) -> None:
        """Soon there is another look, but not again and again for what is seen now and then, and never twice."""
        if now_s - self._confirmed_s >= SELDOM_S:
            self._confirmed_s = now_s
            self.stay(now_s, CONFIRMING_S)
