"""What there is to hear in a piece of a recording: local voices, clean stretches, and vectors of these. Kept in a file.

The work of the two networks is done here and nowhere else; what follows only compares vectors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.speech.decode import SAMPLE_RATE
from ingest.speech.embedding import DIMENSIONS, Embedding
from ingest.speech.local_voices import (
    CHUNK_STEP,
    Grid,
    Stretch,
    clean_stretches,
    frames_in,
    pack,
    samples_between,
)
from ingest.speech.segmentation import CHUNK, FRAME_STEP, Segmentation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ingest.speech.decode import Signal

    Array = npt.NDArray[np.float32]

STEP_FRAMES = 30
"""From one window of a stretch to the next, about half a second."""

_CHANGED = 0.47
_LONG_SHARE_FRAMES = 450
_WINDOW_FRAMES = 90
_LOUD, _MOST_GAIN = 0.05, 100.0
_BATCH = 16
_CONTEXT_CHUNKS = CHUNK // CHUNK_STEP
_SAMPLES_PER_MS = SAMPLE_RATE // 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """What was heard in a piece: local voices, clean stretches, and unit vectors of these.

    `parts` (n, dimensions) with their `seconds` share the stretches out among them, for clustering; `steps` holds for
    each stretch vectors (m, dimensions) of windows that overlap, one every STEP_FRAMES.
    """

    grid: Grid
    stretches: list[Stretch]
    parts: Array
    seconds: Array
    steps: list[Array]


def examine(signal: Signal, piece: Sequence[int], segmentation: Segmentation, embedding: Embedding) -> Finding:
    """Hears a piece [start_ms, end_ms] of a channel, a few seconds in memory at a time."""
    import numpy as np

    grid = _hear(signal, piece, segmentation)
    start, end = (piece[0] * _SAMPLES_PER_MS // FRAME_STEP, -(-piece[1] * _SAMPLES_PER_MS // FRAME_STEP))
    stretches = clean_stretches(grid, start, end)
    parts, steps = [np.zeros((0, DIMENSIONS), np.float32)], []
    seconds: list[float] = []
    for stretch in stretches:
        count = frames_in(stretch)
        frames = embedding.frames(_sound(signal, stretch))
        steps.append(embedding.pooled(frames, _in_samples(_windows(count))))
        shares = _shares(count, steps[-1])
        parts.append(embedding.pooled(frames, _in_samples(shares)))
        seconds += [(last - first) * FRAME_STEP / SAMPLE_RATE for first, last in shares]
    return Finding(grid, stretches, np.concatenate(parts), np.array(seconds, np.float32), steps)


def write(finding: Finding, target: Path) -> None:
    """Leaves a finding in a file; there is never half of one."""
    import numpy as np

    runs = [(number, *run) for number, stretch in enumerate(finding.stretches) for run in stretch]
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".part", delete=False) as output:
        np.savez(
            output,
            first=np.int64(finding.grid.first),
            bits=finding.grid.bits,
            runs=np.array(runs, np.int64).reshape(-1, 3),
            parts=finding.parts,
            seconds=finding.seconds,
            steps=np.concatenate([np.zeros((0, DIMENSIONS), np.float32), *finding.steps]),
            counts=np.array([len(some) for some in finding.steps], np.int64),
        )
    Path(output.name).replace(target)


def read(source: Path) -> Finding:
    """A finding that was written."""
    import numpy as np

    with np.load(source, allow_pickle=False) as arrays:
        counts = arrays["counts"]
        stretches: list[Stretch] = [[] for _ in counts]
        for number, start, end in arrays["runs"].tolist():
            stretches[number].append((start, end))
        steps = np.split(arrays["steps"], np.cumsum(counts)[:-1]) if len(counts) else []
        grid = Grid(int(arrays["first"]), arrays["bits"])
        return Finding(grid, stretches, arrays["parts"], arrays["seconds"], steps)


def _hear(signal: Signal, piece: Sequence[int], network: Segmentation) -> Grid:
    """The chunks that hear anything of the piece. The last one is filled up with silence."""
    import numpy as np

    last_chunk = max(0, -(-(len(signal) - CHUNK) // CHUNK_STEP))
    start, end = (edge * _SAMPLES_PER_MS for edge in piece)
    first = min(max(0, start // CHUNK_STEP - _CONTEXT_CHUNKS), last_chunk)
    last = min(last_chunk, (end - 1) // CHUNK_STEP)
    gain = _gain(signal, start, end)
    bits = []
    for number in range(first, last + 1, _BATCH):
        count = min(_BATCH, last + 1 - number)
        sound = np.zeros((count - 1) * CHUNK_STEP + CHUNK, np.float32)
        part = signal[number * CHUNK_STEP : number * CHUNK_STEP + len(sound)]
        sound[: len(part)] = np.clip(part.astype(np.float32) * gain, -1, 1)
        chunks = np.lib.stride_tricks.sliding_window_view(sound, CHUNK)[::CHUNK_STEP]
        bits.append(pack(network.activity(np.ascontiguousarray(chunks))))
    return Grid(first, np.concatenate(bits))


def _gain(signal: Signal, start: int, end: int) -> np.float32:
    """What brings samples to -1..1, and a quiet recording to the loudness at which the network hears well."""
    import numpy as np

    loudest = 0.0
    for second in range(start, min(end, len(signal)), SAMPLE_RATE):
        samples = signal[second : min(second + SAMPLE_RATE, end)].astype(np.float32)
        loudest = max(loudest, float(np.sqrt(np.mean(samples * samples))) / 32768)
    return np.float32(min(max(1.0, _LOUD / max(loudest, 1e-9)), _MOST_GAIN) / 32768)


def _sound(signal: Signal, stretch: Stretch) -> Array:
    """The sound of a stretch without its pauses."""
    import numpy as np

    parts = [signal[slice(*samples_between(*run))] for run in stretch]
    sound: Array = np.concatenate(parts).astype(np.float32) / np.float32(32768)
    return sound


def _shares(frames: int, steps: Array) -> list[tuple[int, int]]:
    """A stretch of that many frames cut where its sound changes most, if it changes; else in halves if it is long.

    Voices that are alike can pass for one in the segmentation. Of stretches of one voice this cuts one in twenty.
    """
    import numpy as np

    changes: list[tuple[float, int]] = []
    for step in range(2, len(steps) - 1):
        # Windows that do not reach over the cut, some seconds to either side.
        before, after = (side.mean(0) for side in (steps[max(0, step - 5) : step - 1], steps[step + 1 : step + 5]))
        likeness = float(before @ after / (np.linalg.norm(before) * np.linalg.norm(after)))
        changes.append((likeness, step * STEP_FRAMES))
    likeness, cut = min(changes, default=(1.0, 0))
    if likeness >= _CHANGED:
        cut = frames // 2 if frames > _LONG_SHARE_FRAMES else 0
    return [(0, cut), (cut, frames)] if cut else [(0, frames)]


def _in_samples(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(first * FRAME_STEP, last * FRAME_STEP) for first, last in parts]


def _windows(frames: int) -> list[tuple[int, int]]:
    """Windows around every step of a stretch."""
    middles = range(STEP_FRAMES // 2, max(frames - STEP_FRAMES // 2, STEP_FRAMES // 2 + 1), STEP_FRAMES)
    reach = min(_WINDOW_FRAMES, frames)
    starts = [min(max(0, middle - reach // 2), frames - reach) for middle in middles]
    return [(start, start + reach) for start in starts]
