"""Falls, by how a body's pose changes: from upright to lying within a moment, and then lying there.

Told are falls from standing or walking, to any side and, where the camera looks level, towards it and away from it.
Who sits down, bends, crouches or kneels does not lie; who lies down slowly, over a seat or a bed, takes longer than a
fall. Not told are: a fall from a chair or out of a bed, one behind furniture that hides the legs, one that was over
before the person came into the picture, sliding down a wall slowly, and falls below a camera that looks straight down,
for which nobody stands upright. Who throws himself onto a bed looks like one who falls.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ingest.vision.scenarios.findings import Finding, Tracked

LIES_FOR_S = 1.5
"""So long a person lies before it is a fall: who only stumbles is up again."""
FALLS_WITHIN_S = 1.0
"""From the last upright pose to the first lying one."""
LEAST_POINT = 0.4
"""Confidence of a key point below which it is not there."""
Posture = Literal["upright", "lying", "other", "unknown"]
Points = npt.NDArray[np.float32]

_SHOULDERS, _HIPS, _KNEES, _ANKLES = slice(5, 7), slice(11, 13), slice(13, 15), slice(15, 17)
_UPRIGHT_DEGREES, _LYING_DEGREES = 35.0, 50.0
_STANDING = 2.2  # from shoulders to feet, in torsos: upright people have about 2.6, those on a chair 2.0
_FLAT = 1.0  # a lying body is lower than its torso is long; who bends has straight legs below it
_FLATTENED = 0.4  # of the height when upright: also lying, with the head or the feet towards the camera
_LEAST_DROP = 0.2  # of the hips, of the height when upright
_UNSEEN_S = 2.0  # so long at most may nobody have seen the pose between both
_STEADY_S = 0.3  # so long upright before a fall: one odd pose is none
_UP_AGAIN_S = 1.0
_MEMORY_S = 3.0
_LYING_SHARE = 0.7
_FORGET_S = 60.0


@dataclass(frozen=True, slots=True)
class Pose:
    """A tracked person's key points in a frame, 17 x 3 in COCO's order: x, y in pixels, confidence 0 to 1."""

    person: Tracked
    points: Points


@dataclass(frozen=True, slots=True)
class Body:
    """What a pose comes to. `degrees`: the torso's angle from upright, 0 to 180; `torso`, `height`: lengths in pixels,
    the latter from the highest to the lowest of shoulders, hips and feet; `hips_y`: in pixels from above;
    `confidence`: the mean of the points that were used."""

    degrees: float
    torso: float
    height: float
    hips_y: float
    confidence: float


@dataclass
class _Person:
    upright: deque[tuple[float, Body]] = field(default_factory=lambda: deque(maxlen=128))
    upright_since_s: float | None = None
    lying: deque[tuple[float, bool, float]] = field(default_factory=lambda: deque(maxlen=256))
    fell_s: float | None = None  # when the lying began that may be a fall
    took_s: float = 0.0
    said: bool = False
    times: int = 0
    seen_s: float = -math.inf  # with a body that could be judged


def body_of(points: Points) -> Body | None:
    """None where shoulders, hips, or both knees and ankles cannot be seen. Feet that are hidden are put where straight
    legs have them."""
    shoulders, hips, knees, ankles = (_middle(points[part]) for part in (_SHOULDERS, _HIPS, _KNEES, _ANKLES))
    if shoulders is None or hips is None:
        return None
    if ankles is None:
        if knees is None:
            return None
        ankles = knees + 0.9 * (knees - hips)
    rise = shoulders - hips
    torso = math.hypot(rise[0], rise[1])
    degrees = math.degrees(math.atan2(abs(rise[0]), -rise[1]))
    heights = [float(point[1]) for point in (shoulders, hips, ankles)]
    used = points[[5, 6, 11, 12, 13, 14, 15, 16], 2]
    confidence = float(used[used >= LEAST_POINT].mean())
    return Body(degrees, torso, max(heights) - min(heights), float(hips[1]), confidence)


def posture_of(body: Body | None, height_upright: float | None = None) -> Posture:
    """`height_upright`: the same person's a moment ago, in pixels, where it is known."""
    if body is None:
        return "unknown"
    if body.degrees <= _UPRIGHT_DEGREES and body.height >= _STANDING * body.torso:
        # Who lies with the head towards the camera is upright by the angle, and far too short.
        return "upright" if height_upright is None or body.height > _FLATTENED * height_upright else "lying"
    is_across = body.degrees >= _LYING_DEGREES and body.height <= _FLAT * body.torso
    is_flattened = height_upright is not None and body.height <= _FLATTENED * height_upright
    return "lying" if is_across or is_flattened else "other"


class Falls:
    """One camera's. Not for several threads.

    A finding's confidence is how sure the key points were, on average, while the person lay, times the share of those
    frames in which they lay.
    """

    def __init__(self) -> None:
        self._people: dict[int, _Person] = {}

    def step(self, now_s: float, poses: Sequence[Pose], ended: Sequence[int] = ()) -> list[Finding]:
        """What a frame at `now_s` (monotonic) tells. `ended`: tracks that the tracker has given up. ValueError where
        the points are not 17 x 3."""
        for number in ended:
            self._people.pop(number, None)
        for number in [each for each, person in self._people.items() if now_s - person.seen_s > _FORGET_S]:
            del self._people[number]
        findings = []
        for pose in poses:
            if pose.points.shape != (17, 3):
                raise ValueError(f"17 x 3 key points, not {pose.points.shape}")
            person = self._people.setdefault(pose.person.number, _Person())
            body = body_of(pose.points)
            finding = _seen(person, pose.person, body, now_s) if body else None
            if finding:
                findings.append(finding)
            if body:
                person.seen_s = now_s
        return findings


def _seen(person: _Person, seen: Tracked, body: Body, now_s: float) -> Finding | None:
    while person.upright and person.fell_s is None and now_s - person.upright[0][0] > _MEMORY_S:
        person.upright.popleft()
    before = max((each.height for _, each in person.upright), default=None)
    posture = posture_of(body, before)
    if posture == "upright":
        _stands(person, body, now_s)
    elif posture == "lying" and person.fell_s is None:
        _may_have_fallen(person, body, now_s)
    else:
        person.upright_since_s = None
    if person.fell_s is None:
        return None
    person.lying.append((now_s, posture == "lying", body.confidence))
    if person.said or now_s - person.fell_s < LIES_FOR_S:
        return None
    lay = [confidence for _, is_lying, confidence in person.lying if is_lying]
    share = len(lay) / len(person.lying)
    if share < _LYING_SHARE:
        _forget_fall(person)
        return None
    person.said = True
    person.times += 1
    details: dict[str, str | int | float] = {
        "fell_in_s": round(person.took_s, 2),
        "lay_s": round(now_s - person.fell_s, 1),
        "torso_degrees": round(body.degrees),
    }
    confidence = round(share * sum(lay) / len(lay), 3)
    return Finding("fall", f"{seen.number}:{person.times}", confidence, seen.box, seen.number, details=details)


def _stands(person: _Person, body: Body, now_s: float) -> None:
    if person.upright_since_s is None:
        person.upright_since_s = now_s
    if person.fell_s is not None:
        if now_s - person.upright_since_s < _UP_AGAIN_S:
            return
        _forget_fall(person)
    person.upright.append((now_s, body))


def _may_have_fallen(person: _Person, body: Body, now_s: float) -> None:
    """Begins a fall where a person was steadily upright a moment ago, and the hips have come down."""
    person.upright_since_s = None
    if not person.upright:
        return
    last_s = person.upright[-1][0]
    # Between two looks nobody knows when: the change took at least until the look before.
    took_s = max(0.0, person.seen_s - last_s)
    height = max(each.height for _, each in person.upright)
    hips_y = min(each.hips_y for seen_s, each in person.upright if last_s - seen_s <= FALLS_WITHIN_S)
    was_steady = last_s - person.upright[0][0] >= _STEADY_S
    is_quick = took_s <= FALLS_WITHIN_S and now_s - last_s <= _UNSEEN_S
    if was_steady and is_quick and body.hips_y - hips_y >= _LEAST_DROP * height:
        person.fell_s, person.took_s = now_s, now_s - last_s
        person.lying.clear()


def _forget_fall(person: _Person) -> None:
    person.fell_s, person.said = None, False
    person.lying.clear()
    person.upright.clear()


def _middle(points: Points) -> npt.NDArray[np.float32] | None:
    """Of the two sides of the body; of one where the other is hidden."""
    there = points[points[:, 2] >= LEAST_POINT]
    return there[:, :2].mean(axis=0) if len(there) else None
