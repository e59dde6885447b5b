"""Fire and smoke: what a detector takes for them is believed where it stays in one place and lives.

A detector of single pictures takes lamps, sunsets, posters and steam-grey walls for fire and smoke. Flames and smoke
change their form all the time; a still picture does not, and a lamp that blinks, a poster on a trembling wall or a
camera that shakes changes in one or two ways only. So the small grey pictures of the last seconds are cut out where
the detector points, and what is left of their change without its two strongest ways (principal components) must be
more than noise. What burns far away, a few pixels of the small picture, is not told from a lamp and not said.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ingest.vision.attention import LOOK_S, OTHERS_AFTER_S, UNSEEN_S
from ingest.vision.scenarios.findings import Box, Finding

Grey = npt.NDArray[np.uint8]
Kind = Literal["fire", "smoke"]

LEAST_CONFIDENCE, SURE_CONFIDENCE = 0.1, 0.25
"""A detection counts from the first on; one of a place's must reach the second. On the shared pictures the first gives
the best F1 for both kinds, and the second halves what is said of pictures without either."""
WINDOW_S = 2.5
SEEN_FOR_S = 1.8
SEEN_SHARE = 0.5
LEAST_LOOKS = 5
"""In so many of the looks at a place, over so long, must it be seen there; looks at least so many, however long they
take."""
GONE_AFTER_S = 30.0
"""What was said of a place is not said again until nothing was seen there for so long."""
LIVELY: dict[Kind, float] = {"fire": 3.0, "smoke": 1.5}
"""Least change, in grey levels (root mean square over the liveliest quarter of a place)."""
JUDGED_FOR_S, JUDGED_AGAIN_S = 3.0, 60.0
"""So long a place wants to be looked at, and again after so long: a lamp that was no fire may be one later."""
MOST_PLACES = 16
_PATCH_EVERY_S = 0.09
_MOST_PICTURES = 24
_LEAST_PIXELS = 12
_SAME = 0.3


@dataclass(frozen=True, slots=True)
class Burning:
    """What a detector found in a frame. `box` in pixels of the frame; `confidence` 0 to 1."""

    kind: Kind
    box: Box
    confidence: float


@dataclass
class _Place:
    kind: Kind
    box: Box
    began_clock_s: float
    seen_clock_s: float
    number: int
    unseen_s: float = 0.0  # of the time in which somebody looked
    looks: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=128))  # time, score or 0
    judged_s: float = float("-inf")  # since when
    judged_clock_s: float = float("-inf")
    said: bool = False


class Fire:
    """One camera's. Not for several threads.

    A finding's confidence is the share of the looks of the last seconds in which it was seen there, times the
    detector's mean score in those.
    """

    def __init__(self, width: int, height: int) -> None:
        """`width`, `height` of the frames in pixels."""
        self._size = width, height
        self._pictures: deque[tuple[float, Grey]] = deque(maxlen=_MOST_PICTURES)
        self._places: list[_Place] = []
        self._number = 0
        self._now_s: float | None = None
        self._clock_s = 0.0  # a look adds no more than `LOOK_S`, so that few are enough where few are taken

    def step(self, now_s: float, boxes: Sequence[Burning], grey: Grey) -> list[Finding]:
        """What a frame at `now_s` (monotonic) tells; a frame that no detector looked at is not given. `grey`: the frame
        made small, like `Frame.thumbnail`: h x w; a change of its size begins anew."""
        if self._pictures and self._pictures[-1][1].shape != grey.shape:
            self._pictures.clear()
        pause_s = 0.0 if self._now_s is None else now_s - self._now_s
        self._now_s = now_s
        if pause_s > OTHERS_AFTER_S:
            self._places.clear()
            self._pictures.clear()
        self._clock_s = clock_s = self._clock_s + min(LOOK_S, pause_s)
        if not self._pictures or clock_s - self._pictures[-1][0] >= _PATCH_EVERY_S:
            self._pictures.append((clock_s, grey))
        while clock_s - self._pictures[0][0] > WINDOW_S:
            self._pictures.popleft()
        self._look(now_s, pause_s, boxes)
        findings = []
        for place in self._places:
            scores = _scores(place, clock_s)
            share = len(scores) / max(1, len(place.looks))
            lasted_s = clock_s - place.began_clock_s
            is_steady = len(place.looks) >= LEAST_LOOKS and lasted_s >= SEEN_FOR_S and share >= SEEN_SHARE
            if place.said or not is_steady or max(scores) < SURE_CONFIDENCE:
                continue
            change = self._change(place.box)
            if change < LIVELY[place.kind]:
                continue
            score = sum(scores) / len(scores)
            place.said = True
            details: dict[str, str | int | float] = {"seen_share": round(share, 2), "change": round(change, 1)}
            confidence = round(share * score, 3)
            findings.append(Finding(place.kind, _subject(place), confidence, place.box, details=details))
        return findings

    def rest(self, now_s: float) -> None:
        """Nothing has moved up to then, so nobody looked: what is judged lives, and is not left over from before."""
        if self._now_s is not None:
            self._clock_s += now_s - self._now_s
        self._now_s = now_s

    @property
    def wants_looks(self) -> bool:
        """Whether a place is being judged, or one that was told was not seen in the last frame."""
        return any(
            place.seen_clock_s < self._clock_s if place.said else self._clock_s - place.judged_clock_s <= JUDGED_FOR_S
            for place in self._places
        )

    @property
    def present(self) -> list[str]:
        """The subjects of what was told and was seen in the last frame."""
        return [_subject(place) for place in self._places if place.said and place.seen_clock_s == self._clock_s]

    def _look(self, now_s: float, pause_s: float, boxes: Sequence[Burning]) -> None:
        """Notes at each place whether something was seen there; makes new places and forgets old ones."""
        scores: dict[int, float] = {}
        for each in sorted(boxes, key=lambda each: -each.confidence):
            if each.confidence < LEAST_CONFIDENCE:
                continue
            place = next((p for p in self._places if p.kind == each.kind and _touch(p.box, each.box)), None)
            if place is None:
                if len(self._places) >= MOST_PLACES:
                    continue
                self._number += 1
                place = _Place(each.kind, each.box, self._clock_s, self._clock_s, self._number)
                self._places.append(place)
            if place.number not in scores:
                scores[place.number] = each.confidence
                place.box, place.seen_clock_s = _towards(place.box, each.box), self._clock_s
                if each.confidence >= SURE_CONFIDENCE and now_s - place.judged_s > JUDGED_AGAIN_S:
                    place.judged_s, place.judged_clock_s = now_s, self._clock_s
        for place in self._places:
            place.looks.append((self._clock_s, scores.get(place.number, 0.0)))
            place.unseen_s = 0.0 if place.number in scores else place.unseen_s + min(UNSEEN_S, pause_s)
        self._places = [place for place in self._places if not self._is_gone(place)]

    def _is_gone(self, place: _Place) -> bool:
        return place.unseen_s > GONE_AFTER_S if place.said else self._clock_s - place.seen_clock_s > WINDOW_S

    def _change(self, box: Box) -> float:
        """How lively a place is in the last pictures, in grey levels; 0 where it cannot be told."""
        if len(self._pictures) < LEAST_LOOKS:
            return 0.0
        height, width = self._pictures[-1][1].shape
        across, down = width / self._size[0], height / self._size[1]
        left, right = max(0, int(box[0] * across)), min(width, int(np.ceil(box[2] * across)))
        top, bottom = max(0, int(box[1] * down)), min(height, int(np.ceil(box[3] * down)))
        if (right - left) * (bottom - top) < _LEAST_PIXELS:
            return 0.0
        patches = np.stack([picture[top:bottom, left:right].ravel() for _, picture in self._pictures])
        return liveliness(patches)


def liveliness(patches: npt.NDArray[np.uint8]) -> float:
    """How much a place changes beyond its two strongest ways, in grey levels. `patches`: pictures x pixels, at least 4
    of each (ValueError)."""
    if patches.ndim != 2 or min(patches.shape) < 4:
        raise ValueError(f"at least 4 pictures x 4 pixels, not {patches.shape}")
    changes = patches.astype(np.float64)
    changes -= changes.mean(axis=0)
    times, sizes, ways = np.linalg.svd(changes, full_matrices=False)
    left = (times[:, 2:] * sizes[2:]) @ ways[2:]
    by_pixel = np.sort((left**2).mean(axis=0))[::-1]
    return float(np.sqrt(by_pixel[: max(1, len(by_pixel) // 4)].mean()))


def _scores(place: _Place, clock_s: float) -> list[float]:
    """Of the looks of the window in which something was seen there; forgets earlier ones."""
    while place.looks and clock_s - place.looks[0][0] > WINDOW_S:
        place.looks.popleft()
    return [score for _, score in place.looks if score > 0]


def _subject(place: _Place) -> str:
    return f"{place.kind}:{place.number}"


def _touch(first: Box, second: Box) -> bool:
    """Whether two boxes are of one place: much of the smaller one is in the other."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (first, second))
    return smaller > 0 and max(0.0, width) * max(0.0, height) >= _SAME * smaller


def _towards(old: Box, new: Box) -> Box:
    """Flames leap: the place follows them slowly."""
    left, top, right, bottom = (0.7 * before + 0.3 * now for before, now in zip(old, new, strict=True))
    return left, top, right, bottom
