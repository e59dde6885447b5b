"""Intrusion: people, and vehicles where they are given, who stand in a zone that is restricted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.vision.scenarios.findings import Finding, Tracked, object_of, overlap
from ingest.vision.zones import Zone, foot_point

STEADY_FRAMES = 3
STEADY_S = 0.5
"""So many frames and so long a thing must be in a zone: boxes tremble."""
AGAIN_AFTER_S = 3.0
"""Who was out of a zone for so long, and comes back, is another event."""
_SAME_OVERLAP = 0.3
_INSIDE = 0.9999  # feet on the picture's lower border are still in a zone that ends there
_MOST_LOST = 64


@dataclass
class _Stay:
    """A thing's being in a zone, or not, steadily. `times` counts its stays."""

    is_in: bool = False
    otherwise_since_s: float | None = None
    frames_otherwise: int = 0
    times: int = 0


@dataclass
class _Thing:
    seen: Tracked
    seen_s: float
    name: str
    stays: dict[str, _Stay] = field(default_factory=dict)
    has_moved: bool = False  # anything in the picture, since it was seen last


class Intrusion:
    """One camera's. Not for several threads.

    Where a track breaks off inside a zone and another begins in the same place within `AGAIN_AFTER_S`, or before
    anything has moved, the stay goes on. A finding's confidence is the detector's, of the thing in the frame that
    settled it.
    """

    def __init__(self, zones: Sequence[Zone], width: int, height: int) -> None:
        """`width`, `height` of the frames in pixels. Zones of other kinds are left out."""
        self._zones = [zone for zone in zones if zone.kind == "restricted"]
        self._size = width, height
        self._things: dict[int, _Thing] = {}
        self._lost: list[_Thing] = []

    def step(
        self, now_s: float, things: Sequence[Tracked], ended: Sequence[int], *, moves: bool = True
    ) -> list[Finding]:
        """What a frame at `now_s` tells, by a monotonic clock that runs while somebody looks. `ended`: tracks that the
        tracker has given up; `moves`: whether anything does in the picture."""
        if moves:
            for known in (*self._things.values(), *self._lost):
                known.has_moved = True
        for number in ended:
            thing = self._things.pop(number, None)
            if thing and any(stay.is_in for stay in thing.stays.values()):
                self._lost.append(thing)
        lost = [thing for thing in self._lost if now_s - thing.seen_s <= AGAIN_AFTER_S or not thing.has_moved]
        self._lost = lost[-_MOST_LOST:]
        findings = []
        for seen in things:
            thing = self._things.get(seen.number) or self._begun(seen, now_s)
            thing.seen, thing.seen_s, thing.has_moved = seen, now_s, False
            x, y = foot_point(seen.box, *self._size)
            place = min(x, _INSIDE), min(y, _INSIDE)
            for zone in self._zones:
                stay = thing.stays.setdefault(zone.name, _Stay())
                if _came_in(stay, place in zone, now_s):
                    subject = f"{zone.name}:{thing.name}:{stay.times}"
                    details = {"object": object_of(seen.number)}
                    findings.append(
                        Finding("zone_intrusion", subject, seen.confidence, seen.box, seen.number, zone.name, details)
                    )
        return findings

    def _begun(self, seen: Tracked, now_s: float) -> _Thing:
        """A new track; it takes over the stay of one that was lost where it begins."""
        before = max(self._lost, key=lambda thing: overlap(thing.seen.box, seen.box), default=None)
        if before and overlap(before.seen.box, seen.box) >= _SAME_OVERLAP:
            self._lost.remove(before)
            thing = _Thing(seen, now_s, before.name, before.stays)
        else:
            thing = _Thing(seen, now_s, str(seen.number))
        self._things[seen.number] = thing
        return thing


def _came_in(stay: _Stay, is_in: bool, now_s: float) -> bool:
    """Whether a thing has this moment become one that steadily is in the zone."""
    if is_in == stay.is_in:
        stay.otherwise_since_s, stay.frames_otherwise = None, 0
        return False
    if stay.otherwise_since_s is None:
        stay.otherwise_since_s = now_s
    stay.frames_otherwise += 1
    needed_s = AGAIN_AFTER_S if stay.is_in else STEADY_S
    if stay.frames_otherwise < STEADY_FRAMES or now_s - stay.otherwise_since_s < needed_s:
        return False
    stay.is_in, stay.otherwise_since_s, stay.frames_otherwise = is_in, None, 0
    stay.times += is_in
    return is_in
