"""How far the reading of a camera is behind what it sends, and what is not decoded so that it catches up.

Packets wait in sockets while a machine decodes the ones before, so the time at which one is read says little of when it
came. The camera's own time stamps do: beside the smallest difference between the clock and the stamps that was seen, a
larger one is time that packets waited. Stamps alone are not believed. Cameras set their clocks, send in bursts, and
stamp badly; but whoever waits for the next packet has read all that came before.
"""

from __future__ import annotations

LIMIT_S = 1.0
"""Pictures older than this are passed over, up to a key frame that is younger."""
_PATIENCE_S = 1.0
"""What came late and all at once, after a line that hung, is decoded within so long, and nothing of it is lost."""
_WAITED_SHARE = 0.3
"""Who waits so much of the time for packets is not behind, whatever the stamps say."""
_MOST_S = 10.0
"""So long all is passed over; then what comes is decoded again, as the camera may send no key frames."""
_BACK_S, _AHEAD_S = 1.0, 5.0
"""Steps of the stamps, back or ahead of the clock, that mean that they begin anew. Reordered pictures step less."""
_DRIFT = 0.001
"""So much slower than ours a camera's clock may run without what it sends seeming older and older."""


class Backlog:
    """One connection's. `tick_s`: the unit of the stamps."""

    def __init__(self, tick_s: float) -> None:
        self.lag_s = 0.0
        """How long what was read last had waited."""
        self._tick_s = tick_s
        self._offset_s: float | None = None  # of the clock to the stamps, where nothing waits
        self._stamp: int | None = None
        self._read_s = self._arrived_s = 0.0
        self._late: tuple[float, float] | None = None  # since when, and how long packets had been waited for by then
        self._passing_since_s: float | None = None

    @property
    def is_passing(self) -> bool:
        """Whether pictures are passed over."""
        return self._passing_since_s is not None

    def arrived_s(self, stamp: int | None, read_s: float) -> float:
        """When a packet came that was read at `read_s` (monotonic). Where its stamp says nothing, it had waited as long
        as the one before."""
        # The packets of a picture have one stamp, and a large picture takes its time to come.
        if stamp is not None and stamp != self._stamp:
            self._follow(stamp, read_s)
            self._stamp, self._read_s = stamp, read_s
        # Whoever looks at pictures relies on times that never go back.
        self._arrived_s = max(self._arrived_s, read_s - self.lag_s)
        return self._arrived_s

    def _follow(self, stamp: int, read_s: float) -> None:
        offset_s = read_s - stamp * self._tick_s
        passed_s = read_s - self._read_s
        step_s = 0.0 if self._stamp is None else (stamp - self._stamp) * self._tick_s
        if self._offset_s is None or not -_BACK_S <= step_s <= passed_s + _AHEAD_S:
            self._offset_s = offset_s - self.lag_s
            return
        self._offset_s = min(self._offset_s + passed_s * _DRIFT, offset_s)
        self.lag_s = offset_s - self._offset_s

    def passes_over(self, is_key: bool, now_s: float, waited_s: float) -> bool:
        """Whether the picture just read is not to be decoded. `waited_s`: how long packets have been waited for, ever
        since the connection began."""
        is_late = self.lag_s > LIMIT_S
        if self._passing_since_s is not None:
            if now_s - self._passing_since_s < _MOST_S and (is_late or not is_key):
                return True
            self._passing_since_s = self._late = None
            if is_late:  # reading alone would have caught up
                self._forgive()
            return False
        if not is_late:
            self._late = None
            return False
        since_s, waited_before_s = self._late = self._late or (now_s, waited_s)
        if now_s - since_s < _PATIENCE_S:
            return False
        self._late = None
        if waited_s - waited_before_s > _WAITED_SHARE * (now_s - since_s):
            self._forgive()
            return False
        self._passing_since_s = now_s
        return True

    def _forgive(self) -> None:
        """What is read now is taken for what came just now."""
        assert self._offset_s is not None, "nothing lags before the first stamp"
        self._offset_s += self.lag_s
        self.lag_s = 0.0
