"""Gives the local voices of every chunk to the voices of the recording, and counts the chunks' votes into turns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from ingest.speech.decode import SAMPLE_RATE
from ingest.speech.findings import STEP_FRAMES, Finding
from ingest.speech.local_voices import CHUNK_STEP_FRAMES, frames_in, samples_between
from ingest.speech.segmentation import FRAMES, LOCAL_VOICES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

CHANGE_COST = 0.3
"""What a change of voice within a stretch must gain: the network that found the stretch heard none there."""

_ALL_VOTES = 100.0
_SHORTEST_MS = 100
_CANDIDATES = 4
"""Voices considered for each local one: more than those are never the right ones together."""


def turns_of(finding: Finding, centroids: Array, piece: Sequence[int]) -> list[tuple[int, int, int]]:
    """The turns (start_ms, end_ms, voice) within the piece; the voice is a row of `centroids`.

    Without any centroid all speech is one voice's.
    """
    import numpy as np

    grid = finding.grid
    count = max(1, len(centroids))
    votes = np.zeros((grid.length, count), np.float32)
    if count == 1:
        votes[:] = 1
    else:
        labels, scores = _labelled(finding, centroids)
        for number, bits in enumerate(grid.bits):
            chunk = (bits[:, None] >> np.arange(LOCAL_VOICES)) & 1
            place = slice(number * CHUNK_STEP_FRAMES, number * CHUNK_STEP_FRAMES + FRAMES)
            for local, voice in _assigned(chunk, scores[place]):
                votes[place, voice] += chunk[:, local]
        known = np.flatnonzero(labels >= 0)
        votes[known, labels[known]] += _ALL_VOTES
    rank = np.argsort(np.argsort(-votes, axis=1, kind="stable"), axis=1, kind="stable")
    active = (rank < grid.voices_at_once()[:, None]) & (votes > 0)
    low, high = (edge * SAMPLE_RATE // 1000 for edge in piece)
    found: list[tuple[int, int, int]] = []
    for voice in range(count):
        edges = np.diff(np.concatenate([[0], active[:, voice].astype(np.int8), [0]]))
        for start, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
            first, last = samples_between(grid.start + int(start), grid.start + int(end))
            first, last = max(first, low), min(last, high)
            if (last - first) * 1000 >= _SHORTEST_MS * SAMPLE_RATE:
                found.append((first * 1000 // SAMPLE_RATE, last * 1000 // SAMPLE_RATE, voice))
    return found


def sums_by_voice(finding: Finding, centroids: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """For each voice the sum of the vectors of its steps (voices, dimensions), and the frames it speaks cleanly."""
    import numpy as np

    total = np.zeros_like(centroids)
    frames = np.zeros(len(centroids), np.int64)
    for stretch, steps in zip(finding.stretches, finding.steps, strict=True):
        path = _likeliest(_likeness(steps, centroids))
        np.add.at(total, path, steps)
        for voice, count in zip(*np.unique(path, return_counts=True), strict=True):
            frames[voice] += round(frames_in(stretch) * int(count) / len(path))
    return total, frames


def _likeness(steps: Array, centroids: Array) -> Array:
    """How like each voice each step is (steps, voices), above what it is on average."""
    likeness = steps @ centroids.T
    above: Array = likeness - likeness.mean(1, keepdims=True)
    return above


def _labelled(finding: Finding, centroids: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """For each frame of the grid its voice by sound, -1 outside of clean stretches, and how like each voice it is."""
    import numpy as np

    grid = finding.grid
    labels = np.full(grid.length, -1)
    scores = np.zeros((grid.length, len(centroids)), np.float32)
    for stretch, steps in zip(finding.stretches, finding.steps, strict=True):
        likeness = _likeness(steps, centroids)
        frames = np.concatenate([np.arange(start, end) for start, end in stretch]) - grid.start
        step_of_frame = np.minimum(np.arange(len(frames)) // STEP_FRAMES, len(steps) - 1)
        joints = np.cumsum([end - start for start, end in stretch])[:-1]
        path = _likeliest(likeness)
        voice = path[step_of_frame]
        for change in np.flatnonzero(np.diff(path)):
            _move_to_pause(voice, (int(change) + 1) * STEP_FRAMES, joints)
        labels[frames] = voice
        scores[frames] = likeness[step_of_frame]
    return labels, scores


def _likeliest(likeness: Array) -> npt.NDArray[np.int64]:
    """The path (steps,) through voices of the greatest likeness, each change of voice costing something (Viterbi)."""
    import numpy as np

    best = likeness[0].astype(np.float64)
    came_from = np.zeros(likeness.shape, np.int64)
    for number, row in enumerate(likeness[1:], 1):
        leader = int(best.argmax())
        stays = best >= best[leader] - CHANGE_COST
        came_from[number] = np.where(stays, np.arange(len(row)), leader)
        best = np.where(stays, best, best[leader] - CHANGE_COST) + row
    path = np.zeros(len(likeness), np.int64)
    path[-1] = best.argmax()
    for number in range(len(likeness) - 1, 0, -1):
        path[number - 1] = came_from[number, path[number]]
    return path


def _move_to_pause(voice: npt.NDArray[np.int64], change: int, joints: npt.NDArray[np.int64]) -> None:
    """Moves a change of voice to the pause beside it, where there is one."""
    near = [int(joint) for joint in joints if abs(int(joint) - change) <= STEP_FRAMES]
    if near and 0 < change < len(voice):
        joint = min(near, key=lambda joint: abs(joint - change))
        before, after = voice[change - 1], voice[change]
        voice[min(joint, change) : max(joint, change)] = after if joint < change else before


def _assigned(chunk: npt.NDArray[np.int64], scores: Array) -> list[tuple[int, int]]:
    """Which voice each local voice of a chunk is, all different, so that together they fit best."""
    import numpy as np

    speaking = [local for local in range(LOCAL_VOICES) if chunk[:, local].any()]
    if not speaking:
        return []
    alone = (chunk.sum(1) == 1)[:, None]
    fit = (chunk * alone).T.astype(np.float32) @ scores
    best = [np.argsort(-fit[local])[:_CANDIDATES] for local in speaking]
    ways = [way for way in product(*best) if len(set(way)) == len(way)] or [tuple(some[0] for some in best)]
    way = max(ways, key=lambda way: sum(fit[local, voice] for local, voice in zip(speaking, way, strict=True)))
    return [(local, int(voice)) for local, voice in zip(speaking, way, strict=True)]
