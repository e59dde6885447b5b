"""Whose turn it is to be read: reading takes long, yards are full, and much that looks like a plate is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ingest.vision.scenarios.findings import Box, Tracked, overlap

AT_ONCE = 2
MOST_READINGS, MOST_OF_ONE_PLACE, MOST_BLANK = 20, 5, 2
"""Of one thing; of one that stands still, since the same picture says the same again; and of one that stands still and
on which nothing is written."""
AGAIN_S, STANDING_AGAIN_S = 30.0, 120.0
"""What so many readings did not settle is read once in a while: it may have come nearer, or the light may be better."""
_SAME_PLACE = 0.7

IsTold = Callable[[int], bool]
"""Of a track's number, whether what stands on it is known."""


@dataclass(slots=True)
class _Readings:
    count: int
    here: int
    place: Box
    last_s: float
    is_blank: bool = True

    def pause_s(self, thing: Tracked) -> float:
        """For how long it is not read after the last time."""
        most = MOST_BLANK if self.is_blank else MOST_OF_ONE_PLACE
        if overlap(thing.box, self.place) >= _SAME_PLACE and self.here >= most:
            return STANDING_AGAIN_S
        return AGAIN_S if self.count >= MOST_READINGS else 0.0


class ReadingTurns:
    """Of one camera's things of one kind. Not for several threads."""

    def __init__(self) -> None:
        self._readings: dict[int, _Readings] = {}  # by the number of the track

    def unread(self, things: Sequence[Tracked], is_told: IsTold) -> list[Tracked]:
        """Those of which the next reading may well say more."""
        return [thing for thing in things if not is_told(thing.number) and not self._pause_s(thing)]

    def due(self, things: Sequence[Tracked], now_s: float, is_told: IsTold) -> list[Tracked]:
        """Those that are read at `now_s` (monotonic), which counts as done: those first that were read longest ago, and
        of those that never were the widest."""
        waiting = []
        for thing in things:
            before = self._readings.get(thing.number)
            last_s = before.last_s if before is not None else float("-inf")
            if not is_told(thing.number) and now_s - last_s >= self._pause_s(thing):
                waiting.append((last_s, thing.box[0] - thing.box[2], thing.number, thing))
        chosen = [thing for *_, thing in sorted(waiting)[:AT_ONCE]]
        for thing in chosen:
            self._count(thing, now_s)
        return chosen

    def found(self, numbers: Iterable[int]) -> None:
        """Something was read on these tracks."""
        for number in numbers:
            if number in self._readings:
                self._readings[number].is_blank = False

    def forget(self, ended: Iterable[int]) -> None:
        """Of tracks that the tracker has given up."""
        for number in ended:
            self._readings.pop(number, None)

    def _pause_s(self, thing: Tracked) -> float:
        before = self._readings.get(thing.number)
        return before.pause_s(thing) if before is not None else 0.0

    def _count(self, thing: Tracked, now_s: float) -> None:
        readings = self._readings.setdefault(thing.number, _Readings(0, 0, thing.box, now_s))
        if overlap(thing.box, readings.place) < _SAME_PLACE:
            readings.place, readings.here = thing.box, 0
        readings.count, readings.here, readings.last_s = readings.count + 1, readings.here + 1, now_s
