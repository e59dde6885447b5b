"""Unique visitors of a stream on a day: which tracks are the same person again.

A track's best pictures make one vector, their mean weighted by quality. It is compared with every visitor of the day
by cosine; a visitor keeps several vectors, since front and back of a person look different. Two tracks that were in
the picture together are never one visitor. The vectors tell people apart, so they end with the day.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
import numpy.typing as npt

from ingest.vision.scenarios.findings import Box

Floats = npt.NDArray[np.float32]

SAME_FROM = 0.7
"""Cosine of two tracks' vectors from which they are one person; how it was chosen: `bench.vision_scenarios`."""
MARGIN = 0.06
"""So near below it more pictures are awaited, while the track lasts."""
LEAST_PICTURES = 4
MOST_PICTURES = 8
"""Of a track: so many are needed before it is compared, unless it ends, and so many of the best are kept."""
MOST_LOOKS = 4
"""Vectors of a visitor."""
MOST_TRACKS = 256
MOST_VISITORS = 10_000
LEAST_QUALITY = 0.15
_EVERY_S = 0.2
_TOGETHER_S = 0.5
_VERSION = 1


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
    """One stream's, for one day. Not for several threads."""

    def __init__(self, day: date, same_from: float = SAME_FROM) -> None:
        self.day = day
        self._same_from = same_from
        self._tracks: dict[int, _Track] = {}
        self._looks: dict[int, list[tuple[float, Floats]]] = {}  # weight, unit vector; by visitor
        self._count = 0

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
        seen.kept_s = now_s
        seen.pictures.append((quality, _unit(embedding)))
        seen.pictures.sort(key=lambda each: -each[0])
        del seen.pictures[MOST_PICTURES:]

    def visitor_of(self, track: int, *, is_over: bool = False) -> Visit | None:
        """Who a track is; None while that is open. Once told it stays, until the track `is_over`, which also forgets
        it. A track that is over without a single good picture is nobody."""
        seen = self._tracks.get(track)
        if seen is None:
            return None
        if seen.visit is None and seen.pictures and (is_over or len(seen.pictures) >= LEAST_PICTURES):
            seen.visit = self._decide(track, seen, is_over)
        if is_over:
            if seen.visit:
                self._learn(seen.visit.visitor, seen)
            del self._tracks[track]
        return seen.visit

    def _decide(self, track: int, seen: _Track, is_over: bool) -> Visit | None:
        vector = _mean(seen.pictures)
        apart = self._seen_together(track, seen)
        nearest, similarity = 0, -1.0
        for visitor, looks in self._looks.items():
            if visitor not in apart:
                best = max(float(vector @ look) for _, look in looks)
                if best > similarity:
                    nearest, similarity = visitor, best
        if similarity >= self._same_from:
            self._learn(nearest, seen)
            return Visit(nearest, False, similarity)
        if similarity >= self._same_from - MARGIN and not is_over and len(seen.pictures) < MOST_PICTURES:
            return None
        self._count += 1
        if len(self._looks) >= MOST_VISITORS:
            del self._looks[next(iter(self._looks))]
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
        looks = self._looks.pop(visitor, [])
        alike = max(range(len(looks)), key=lambda place: float(looks[place][1] @ vector), default=None)
        if alike is not None and float(looks[alike][1] @ vector) >= (1 + self._same_from) / 2:
            before, look = looks[alike]
            looks[alike] = (min(before + weight, 20.0), _unit(before * look + weight * vector))
        else:
            looks = [*looks, (weight, vector)][-MOST_LOOKS:]
        # Put last: those who have not come for longest are forgotten first.
        self._looks[visitor] = looks

    def exported(self) -> bytes:
        """The day's visitors, for another worker to go on: numpy's npz, 16-bit vectors. Tracks are not in it."""
        rows = [(visitor, weight, look) for visitor, looks in self._looks.items() for weight, look in looks]
        head = {
            "version": _VERSION,
            "day": self.day.isoformat(),
            "count": self._count,
            "same_from": self._same_from,
        }
        file = io.BytesIO()
        np.savez(
            file,
            head=np.frombuffer(json.dumps(head).encode(), np.uint8),
            visitors=np.array([row[0] for row in rows], np.int64),
            weights=np.array([row[1] for row in rows], np.float32),
            looks=np.array([row[2] for row in rows], np.float16),
        )
        return file.getvalue()

    @classmethod
    def imported(cls, state: bytes) -> Visitors:
        """What `exported` gave. ValueError where it is something else."""
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as file:
                head = json.loads(bytes(file["head"]))
                visitors, weights, looks = file["visitors"], file["weights"], file["looks"].astype(np.float32)
            made = cls(date.fromisoformat(head["day"]), float(head["same_from"]))
            made._count = int(head["count"])
            is_known = head["version"] == _VERSION
        except (OSError, ValueError, KeyError, TypeError, EOFError) as failed:
            raise ValueError("this is no state of visitors") from failed
        if not is_known or not len(visitors) == len(weights) == len(looks):
            raise ValueError("this is no state of visitors of this version")
        for visitor, weight, look in zip(visitors.tolist(), weights.tolist(), looks, strict=True):
            made._looks.setdefault(visitor, []).append((weight, _unit(look)))
        return made


def _mean(pictures: Sequence[tuple[float, Floats]]) -> Floats:
    return _unit(np.sum([quality * vector for quality, vector in pictures], axis=0))


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not np.isfinite(length) or length == 0:
        raise ValueError("an embedding is one vector, finite and not 0")
    return np.asarray(vector / length, np.float32)


def _covered(box: Box, other: Box) -> float:
    """How much of a box another covers."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(0.0, width) * max(0.0, height) / ((box[2] - box[0]) * (box[3] - box[1]))
