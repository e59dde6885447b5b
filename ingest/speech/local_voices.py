"""From the local voices of overlapping chunks to stretches of clean speech of one voice each.

Chunks overlap tenfold, so that every frame is heard by up to ten of them; what most of them say holds. Nothing here
knows whose voice it is, only that a stretch has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.speech.decode import SAMPLE_RATE
from ingest.speech.segmentation import FIRST_FRAME, FRAME_STEP, FRAMES, LOCAL_VOICES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Bits = npt.NDArray[np.uint8]

CHUNK_STEP_FRAMES = 30
CHUNK_STEP = CHUNK_STEP_FRAMES * FRAME_STEP
"""Samples from one chunk to the next: a whole number of frames, so that all chunks share one grid."""
ONSET = 0.5
"""A local voice speaks in the frames where the network is surer than this."""

_SECOND = SAMPLE_RATE / FRAME_STEP  # frames
_SHORTEST = round(0.4 * _SECOND)
_LONGEST = round(5 * _SECOND)
_PAUSE = round(0.5 * _SECOND)
_AROUND = 6  # frames to either side between which a change of voice is looked for
_SINGLE = (-1, 0, 1, -2, 2, -2, -2, -2)  # the local voice that speaks alone; -1 for none, -2 for several

Stretch = list[tuple[int, int]]
"""Runs of frames [start, end) of one voice, clean, with at most short pauses between them."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Chunks over a common grid of frames. `bits` (chunks, FRAMES) has bit v set where local voice v speaks; chunk c
    starts at frame `(first + c) * CHUNK_STEP_FRAMES` of the recording."""

    first: int
    bits: Bits

    @property
    def start(self) -> int:
        return self.first * CHUNK_STEP_FRAMES

    @property
    def length(self) -> int:
        return (len(self.bits) - 1) * CHUNK_STEP_FRAMES + FRAMES

    def voices_at_once(self) -> npt.NDArray[np.int64]:
        """How many voices speak in each frame of the grid: the rounded mean of what the chunks say."""
        import numpy as np

        counts = np.array([bits.bit_count() for bits in range(1 << LOCAL_VOICES)])[self.bits]
        total = np.zeros(self.length)
        cover = np.zeros(self.length)
        for number, chunk in enumerate(counts):
            place = slice(number * CHUNK_STEP_FRAMES, number * CHUNK_STEP_FRAMES + FRAMES)
            total[place] += chunk
            cover[place] += 1
        return np.rint(total / cover).astype(np.int64)


def pack(activity: npt.NDArray[np.float32]) -> Bits:
    """What the network said (chunks, FRAMES, LOCAL_VOICES) as bits."""
    import numpy as np

    bits: Bits = ((activity > ONSET) << np.arange(LOCAL_VOICES)).sum(2).astype(np.uint8)
    return bits


def samples_between(start: int, end: int) -> tuple[int, int]:
    """The samples that frames [start, end) of the recording stand for."""
    shift = FIRST_FRAME - FRAME_STEP // 2
    return shift + start * FRAME_STEP, shift + end * FRAME_STEP


def clean_stretches(grid: Grid, start: int, end: int) -> list[Stretch]:
    """The stretches within the recording's frames [start, end), in order of time. None is longer than some seconds."""
    alone = _alone(grid)
    at_once = grid.voices_at_once()
    clean = (at_once == 1) & _steady(alone)
    found: list[Stretch] = []
    for first, last in _runs(clean, start - grid.start, end - grid.start):
        before = found[-1] if found else []
        if before and _continues(alone, at_once, before, first, last):
            before.append((first, last))
            continue
        while last - first > _LONGEST * 3 // 2:
            found.append([(first, first + _LONGEST)])
            first += _LONGEST
        found.append([(first, last)])
    shift = grid.start
    return [
        [(first + shift, last + shift) for first, last in stretch]
        for stretch in found
        if frames_in(stretch) >= _SHORTEST
    ]


def frames_in(stretch: Stretch) -> int:
    return sum(last - first for first, last in stretch)


def _alone(grid: Grid) -> npt.NDArray[np.int8]:
    """The local voice that speaks alone in each frame of each chunk; below 0 where there is none."""
    import numpy as np

    alone: npt.NDArray[np.int8] = np.array(_SINGLE, np.int8)[grid.bits]
    return alone


def _steady(alone: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Whether most chunks hear the same voice shortly before and after each frame."""
    import numpy as np

    votes = np.zeros((len(alone) - 1) * CHUNK_STEP_FRAMES + FRAMES, np.int64)
    before, after = alone[:, : -2 * _AROUND], alone[:, 2 * _AROUND :]
    both = (before >= 0) & (after >= 0)
    signs = np.where(both, np.where(before == after, 1, -1), 0)
    for number, chunk in enumerate(signs):
        place = number * CHUNK_STEP_FRAMES + _AROUND
        votes[place : place + len(chunk)] += chunk
    return votes >= 0


def _runs(where: npt.NDArray[np.bool_], low: int, high: int) -> list[tuple[int, int]]:
    """Where it is true, within [low, high)."""
    import numpy as np

    inside = np.zeros(len(where) + 2, np.int8)
    low, high = max(low, 0), min(high, len(where))
    inside[low + 1 : high + 1] = where[low:high]
    edges = np.diff(inside)
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def _continues(
    alone: npt.NDArray[np.int8],
    at_once: npt.NDArray[np.int64],
    before: Sequence[tuple[int, int]],
    first: int,
    last: int,
) -> bool:
    """Whether a run is the same voice after a short pause, as chunks have it that hear both."""
    pause = before[-1][1]
    if first - pause > _PAUSE or at_once[pause:first].any() or frames_in([*before, (first, last)]) > _LONGEST:
        return False
    left, right = pause - 3, first + 2
    votes = 0
    for number in range(max(0, -(-(right - FRAMES + 1) // CHUNK_STEP_FRAMES)), left // CHUNK_STEP_FRAMES + 1):
        if number >= len(alone):
            break
        one, other = (alone[number, frame - number * CHUNK_STEP_FRAMES] for frame in (left, right))
        if one >= 0 and other >= 0:
            votes += 1 if one == other else -2
    return votes > 0
