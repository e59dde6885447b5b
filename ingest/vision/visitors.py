"""Unique visitors of a stream on a day: which tracks are the same person again.

A track's best pictures make one vector, their mean weighted by quality. It is compared with every visitor of the day
by cosine; a visitor keeps several vectors, since front and back of a person look different. All pictures of a camera
have its light and its background in common, which makes strangers alike: so the mean of the day's visitors is taken
off before. Two tracks that were in the picture together are never one visitor. The vectors tell people apart, so they
end with the day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from ingest.vision.gallery import Floats, Gallery, packed, unit, unpacked
from ingest.vision.scenarios.findings import Box
from store.camera_visitors import VisitorLooks

SAME_FROM = 0.82
"""Cosine from which two tracks are one person. Chosen on six people of one video, each again mirrored, darker and
brighter: at .78 two men in black became one, up to .89 nobody who came back became two."""
MARGIN = 0.03
"""So much nearer than the second must the nearest visitor be, while the track still gives pictures."""
LEAST_PICTURES, NEW_AFTER_PICTURES = 4, 12
"""Of a track that lasts: so many are needed before it is compared, and so many before it is somebody new, since people
come into the picture piece by piece."""
MOST_PICTURES = 8
"""So many of a track's, the best, are kept."""
MOST_LOOKS = 4
"""Vectors of a visitor."""
MOST_TRACKS = 256
MOST_VISITORS = 2000
"""Remembered; those who have not come for longest are forgotten, and counted again when they come."""
UNKNOWN_FROM = 1_000_000
"""Numbers from here on are of people whom no model tells apart: the two are never mixed up, should one be installed
during a day."""
LEAST_QUALITY = 0.15
NEW_QUALITY = 1.0
"""Of all pictures of a track together, for somebody new: half an arm at the border is nobody."""
_EVERY_S = 0.2
_TOGETHER_S = 0.5
_ALIKE = 0.95  # cosine of two vectors of one visitor that become one
_MOST_WEIGHT = 20.0


@dataclass(frozen=True, slots=True)
class Visit:
    """Who a track is. `visitor` counts from 1 on each day; `similarity`: the cosine to the nearest other visitor that
    was compared, -1 where there was none."""

    visitor: int
    is_new: bool
    similarity: float


@dataclass
class _Track:
    first_s: float
    last_s: float
    pictures: list[tuple[float, Floats]] = field(default_factory=list)  # quality, vector; best first
    taken: int = 0
    compared: int = 0  # how many were taken when it was compared last
    kept_s: float = float("-inf")
    visit: Visit | None = None


def quality_of(box: Box, confidence: float, width: int, height: int, others: Sequence[Box] = ()) -> float:
    """How well a picture of a person tells who it is, 0 to 1: large, whole, upright, alone. `box` and those of the
    `others` in pixels of a frame of `width` x `height`."""
    left, top, right, bottom = box
    wide, tall = right - left, bottom - top
    if wide <= 0 or tall <= 0:
        return 0.0
    size = min(1.0, tall / 160)
    shape = min(1.0, tall / wide / 1.6)
    border = 3
    is_whole = left >= border and top >= border and right <= width - border and bottom <= height - border
    hidden = max((_covered(box, other) for other in others), default=0.0)
    return max(0.0, min(1.0, confidence)) * size * shape * (1.0 if is_whole else 0.4) * max(0.0, 1 - 2 * hidden)


class Visitors:
    """One stream's, for one day. Not for several threads. `known`: those whom a worker before knew; `count`: how many
    there were at least, those forgotten included."""

    def __init__(
        self, day: date, same_from: float = SAME_FROM, known: Sequence[VisitorLooks] = (), count: int = 0
    ) -> None:
        self.day = day
        self._same_from = same_from
        self._tracks: dict[int, _Track] = {}
        self._gallery = Gallery()
        self._changed: dict[int, int] = {}  # who, and as the how many-th they came
        self._comings = max((each.came for each in known), default=0)
        self._count = max((count, *(each.visitor for each in known)))
        for each in known:
            try:
                self._gallery.put(each.visitor, unpacked(each.looks))
            except ValueError:
                continue  # of another release

    @property
    def count(self) -> int:
        """Unique visitors of the day so far."""
        return self._count

    def see(self, track: int, embedding: Floats, quality: float, now_s: float) -> None:
        """Notes a picture of a track at `now_s` (monotonic). `embedding`: 512, of any length but 0 (ValueError);
        `quality`: 0 to 1, as of `quality_of`; poor ones are left out."""
        seen = self._tracks.get(track)
        if seen is None:
            if len(self._tracks) >= MOST_TRACKS:
                del self._tracks[min(self._tracks, key=lambda each: self._tracks[each].last_s)]
            seen = self._tracks[track] = _Track(now_s, now_s)
        seen.last_s = now_s
        if quality < LEAST_QUALITY or now_s - seen.kept_s < _EVERY_S:
            return
        seen.kept_s, seen.taken = now_s, seen.taken + 1
        seen.pictures.append((quality, unit(embedding)))
        seen.pictures.sort(key=lambda each: -each[0])
        del seen.pictures[MOST_PICTURES:]

    def visitor_of(self, track: int, *, is_over: bool = False) -> Visit | None:
        """Who a track is; None while that is open. Once told it stays, until the track `is_over`, which also forgets
        it. A track that is over without good pictures is nobody, unless it is somebody known."""
        seen = self._tracks.get(track)
        if seen is None:
            return None
        is_shown_anew = seen.taken > seen.compared and len(seen.pictures) >= LEAST_PICTURES
        if seen.visit is None and seen.pictures and (is_over or is_shown_anew):
            seen.compared = seen.taken
            seen.visit = self._decide(track, seen, is_over)
        if is_over:
            if seen.visit:
                self._learn(seen.visit.visitor, seen)
            del self._tracks[track]
        return seen.visit

    def _decide(self, track: int, seen: _Track, is_over: bool) -> Visit | None:
        vector = _mean(seen.pictures)
        apart = self._seen_together(track, seen)
        nearest, similarity, second = self._gallery.nearest(vector, apart)
        is_open = seen.taken < NEW_AFTER_PICTURES and not is_over
        if similarity >= self._same_from and (similarity - second >= MARGIN or not is_open):
            self._learn(nearest, seen)
            return Visit(nearest, False, similarity)
        if is_open or sum(quality for quality, _ in seen.pictures) < NEW_QUALITY:
            return None
        self._count += 1
        self._learn(self._count, seen)
        return Visit(self._count, True, similarity)

    def _seen_together(self, track: int, seen: _Track) -> set[int]:
        """Visitors whose tracks were in the picture at the same time as this one."""
        return {
            other.visit.visitor
            for number, other in self._tracks.items()
            if number != track
            and other.visit
            and min(seen.last_s, other.last_s) - max(seen.first_s, other.first_s) >= _TOGETHER_S
        }

    def _learn(self, visitor: int, seen: _Track) -> None:
        """Adds a track's vector to a visitor's: to one that is alike, else as one more, the oldest leaving."""
        vector, weight = _mean(seen.pictures), sum(quality for quality, _ in seen.pictures)
        looks = self._gallery.looks(visitor)
        alike = max(range(len(looks)), key=lambda place: float(looks[place][1] @ vector), default=None)
        if alike is not None and float(looks[alike][1] @ vector) >= _ALIKE:
            before, look = looks[alike]
            looks[alike] = (min(before + weight, _MOST_WEIGHT), unit(before * look + weight * vector))
        else:
            looks = [*looks, (weight, vector)][-MOST_LOOKS:]
        self._gallery.put(visitor, looks)
        self._comings += 1
        self._changed[visitor] = self._comings
        if len(self._gallery) > MOST_VISITORS:
            forgotten = self._gallery.first
            self._gallery.remove(forgotten)
            self._changed[forgotten] = 0

    def take_changed(self) -> list[VisitorLooks]:
        """Those of whom more is known, or nothing any more, since it was last asked: for another worker to go on."""
        changed, self._changed = self._changed, {}
        return [
            VisitorLooks(self.day, visitor, came, packed(self._gallery.looks(visitor)))
            for visitor, came in changed.items()
        ]

    def forget_tracks(self) -> None:
        """Whoever follows people begins anew, and with its numbers."""
        self._tracks.clear()

    def next_day(self, day: date) -> Visitors:
        """Nobody is known on it yet. Who came just before midnight and is not told apart yet will be on it."""
        made = Visitors(day, self._same_from)
        made._tracks = {number: seen for number, seen in self._tracks.items() if seen.visit is None}
        return made


def _mean(pictures: Sequence[tuple[float, Floats]]) -> Floats:
    return unit(np.sum([quality * vector for quality, vector in pictures], axis=0))


def _covered(box: Box, other: Box) -> float:
    """How much of a box another covers."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(0.0, width) * max(0.0, height) / ((box[2] - box[0]) * (box[3] - box[1]))
