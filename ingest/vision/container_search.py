"""Which vehicles are read for the number of a container: reading takes long, and a yard is full of vehicles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ingest.vision.scenarios.findings import Tracked

AT_ONCE = 2
MOST_READINGS = 20
AGAIN_S = 30.0
"""A vehicle that so many readings found no container on is read once in a while: it may have come nearer, or be
loaded."""


class ContainerSearch:
    """One camera's. Not for several threads."""

    def __init__(self) -> None:
        self._readings: dict[int, tuple[int, float]] = {}  # of each track: how many, and when last

    def due(self, vehicles: Sequence[Tracked], now_s: float, is_told: Callable[[int], bool]) -> list[Tracked]:
        """Those that are read at `now_s` (monotonic), which counts as done: those first that were read longest ago, and
        of those that never were the widest. `is_told`: of a track's number, whether its container is known."""
        waiting = []
        for vehicle in vehicles:
            readings, last_s = self._readings.get(vehicle.number, (0, float("-inf")))
            if not is_told(vehicle.number) and (readings < MOST_READINGS or now_s - last_s >= AGAIN_S):
                waiting.append((last_s, vehicle.box[0] - vehicle.box[2], vehicle.number, vehicle))
        chosen = [vehicle for *_, vehicle in sorted(waiting)[:AT_ONCE]]
        for vehicle in chosen:
            readings, _ = self._readings.get(vehicle.number, (0, 0.0))
            self._readings[vehicle.number] = readings + 1, now_s
        return chosen

    def forget(self, ended: Iterable[int]) -> None:
        """Of tracks that the tracker has given up."""
        for number in ended:
            self._readings.pop(number, None)
