"""Who speaks when in a recording, with the number of voices unknown.

    pieces -> listen, a piece at a time -> settle

`listen` runs the networks over some minutes and leaves what it found in the work folder; `settle` compares the voices
of all pieces and puts the turns together. Both are run in child processes and may run twice. Memory is bounded by the
piece in the first and by the number of pieces in the second.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ingest.speech import clustering
from ingest.speech.decode import SAMPLE_RATE, samples_of
from ingest.speech.findings import Finding, examine, read, write
from ingest.speech.local_voices import (
    pack,
    samples_between,
)
from ingest.speech.segmentation import CHUNK, FRAME_STEP, LOCAL_VOICES
from ingest.speech.turns_of_voices import sums_by_voice, turns_of
from ingest.speech.voices import MIN_CLEAN_MS
from store import weights
from store.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ingest.speech.embedding import Embedding
    from ingest.speech.segmentation import Segmentation

    Array = npt.NDArray[np.float32]

SEGMENTATION = "pyannote-segmentation"
EMBEDDING = "ecapa-voxceleb"

PIECE_MS = 303_750
"""A whole number of chunk steps and of milliseconds."""

_REFINED_TIMES = 2
_SAMPLED_CHUNKS = 12
_ONE_VOICE_SHARE = 0.85
_SAMPLES_PER_MS = SAMPLE_RATE // 1000


@dataclass(frozen=True, slots=True)
class Models:
    """Where the networks are and how to run them; plain data, so that it can be handed to a child process."""

    segmentation: str
    embedding: str
    threads: int


class Turn(TypedDict):
    """`voice` counts voices in order of first appearance. Turns of different voices may overlap."""

    start_ms: int
    end_ms: int
    voice: int


class Voice(TypedDict):
    """`embedding` has unit length; it is empty where `clean_ms`, the clean speech that it is made from, is 0."""

    clean_ms: int
    embedding: list[float]


class Diarized(TypedDict):
    turns: list[Turn]
    voices: list[Voice]


def choose_models(settings: Settings) -> Models:
    """The networks that are installed. Raises weights.ModelMissing."""
    return Models(
        str(weights.require(settings, SEGMENTATION) / "pytorch_model.bin"),
        str(weights.require(settings, EMBEDDING) / "embedding_model.ckpt"),
        settings.asr_threads or os.cpu_count() or 1,
    )


def pieces(samples: int) -> list[list[int]]:
    """The pieces [start_ms, end_ms] of a channel of that many samples."""
    length_ms = -(-samples // _SAMPLES_PER_MS)
    return [[start, min(start + PIECE_MS, length_ms)] for start in range(0, length_ms, PIECE_MS)]


def listen(work_folder: Path, file: str, piece: Sequence[int], models: Models) -> None:
    """Finds the local voices of a piece and the vectors of its clean stretches, and leaves them in the work folder."""
    signal = samples_of(work_folder / file)
    finding = examine(
        signal,
        piece,
        _segmentation(models.segmentation, models.threads),
        _embedding(models.embedding, models.threads),
    )
    write(finding, _found(work_folder, file, piece))


def heard(work_folder: Path, file: str, all_pieces: Sequence[Sequence[int]]) -> bool:
    """Whether every piece was listened to."""
    return all(_found(work_folder, file, piece).exists() for piece in all_pieces)


def settle(
    work_folder: Path, file: str, all_pieces: Sequence[Sequence[int]], *, expected: int | None = None
) -> Diarized:
    """The turns and voices of the whole recording. `expected` is the number of voices that the caller believes in."""
    return settle_at(work_folder, file, all_pieces, expected=expected, threshold=clustering.SAME)


def settle_at(
    work_folder: Path, file: str, all_pieces: Sequence[Sequence[int]], *, expected: int | None, threshold: float
) -> Diarized:
    """`settle` with another threshold than the usual one, for measuring."""

    def findings() -> Iterator[Finding]:
        return (read(_found(work_folder, file, piece)) for piece in all_pieces)

    length_ms = all_pieces[-1][1] if all_pieces else 0
    centroids = _voices(findings(), threshold, expected).centroids
    frames = [0] * len(centroids)
    for _ in range(_REFINED_TIMES):
        centroids, frames = _refined(findings(), centroids)
    spans: list[tuple[int, int, int]] = []
    for piece, finding in zip(all_pieces, findings(), strict=True):
        spans += turns_of(finding, centroids, piece)
    return _numbered(_joined(spans, length_ms), centroids, frames)


def sample_voice(work_folder: Path, file: str, stretches: Sequence[Sequence[int]], models: Models) -> Voice | None:
    """The voice of a channel that is not diarized, from about a minute of its stretches of speech [start_ms, end_ms].

    None where it is not one voice alone, or too little of it.
    """
    import numpy as np

    signal = samples_of(work_folder / file)
    segmentation = _segmentation(models.segmentation, models.threads)
    network = _embedding(models.embedding, models.threads)
    vectors: list[Array] = []
    seconds: list[float] = []
    for start in _sampled(stretches, len(signal)):
        sound = np.zeros(CHUNK, np.float32)
        part = signal[start : start + CHUNK]
        sound[: len(part)] = part.astype(np.float32) / np.float32(32768)
        bits = pack(segmentation.activity(sound[None]))[0]
        for local in range(LOCAL_VOICES):
            runs = [samples_between(frame, frame + 1) for frame in np.flatnonzero(bits == 1 << local).tolist()]
            if len(runs) * FRAME_STEP >= SAMPLE_RATE:
                vectors.append(network.of(np.concatenate([sound[slice(*run)] for run in runs])))
                seconds.append(len(runs) * FRAME_STEP / SAMPLE_RATE)
    if not vectors:
        return None
    clusters = clustering.merged(clustering.single(np.stack(vectors), np.array(seconds, np.float32)), clustering.SAME)
    largest = int(clusters.weight.argmax())
    clean_ms = round(1000 * float(clusters.weight[largest]))
    if clean_ms < MIN_CLEAN_MS or clusters.weight[largest] < _ONE_VOICE_SHARE * clusters.weight.sum():
        return None
    return {"clean_ms": clean_ms, "embedding": [float(value) for value in clusters.centroids[largest]]}


def _sampled(stretches: Sequence[Sequence[int]], samples: int) -> list[int]:
    """Where chunks start, in samples, that hold most of the speech: a dozen at most, spread over all of it."""
    starts: list[int] = []
    for first_ms, last_ms in stretches:
        first, last = (max(0, min(edge * _SAMPLES_PER_MS, samples)) for edge in (first_ms, last_ms))
        first = max(first, starts[-1] + CHUNK) if starts else first
        starts += range(first, last - SAMPLE_RATE, CHUNK)
    step = max(1.0, len(starts) / _SAMPLED_CHUNKS)
    return [starts[int(number * step)] for number in range(min(len(starts), _SAMPLED_CHUNKS))]


def _voices(found: Iterable[Finding], threshold: float, expected: int | None) -> clustering.Clusters:
    """The voices of all pieces: of each piece first, where what is surely the same is joined, then of those.

    What a recording of a day has too much of is left out on the way, the shortest first: it has a part in the voices
    once they are refined.
    """
    compared = clustering.together([])
    for finding in found:
        part = clustering.merged(clustering.single(finding.parts, finding.seconds), clustering.SURELY_SAME)
        compared = clustering.largest(clustering.together([compared, part]), clustering.MOST_COMPARED)
    return clustering.voices(compared, threshold=threshold, expected=expected)


def _joined(spans: Sequence[tuple[int, int, int]], length_ms: int) -> list[Turn]:
    """Turns in order, those joined that meet at the edge of two pieces."""
    turns: list[Turn] = []
    last: dict[int, Turn] = {}
    for start_ms, end_ms, voice in sorted(spans):
        end_ms = min(end_ms, length_ms)
        before = last.get(voice)
        if before is not None and start_ms <= before["end_ms"] + 1:
            before["end_ms"] = max(before["end_ms"], end_ms)
        elif end_ms > start_ms:
            last[voice] = {"start_ms": start_ms, "end_ms": end_ms, "voice": voice}
            turns.append(last[voice])
    return turns


def _refined(found: Iterable[Finding], centroids: Array) -> tuple[Array, list[int]]:
    """The voices once more, from every step that is like them, and the frames of clean speech of each."""
    import numpy as np

    total, frames = np.zeros_like(centroids), np.zeros(len(centroids), np.int64)
    for finding in found:
        sums, counts = sums_by_voice(finding, centroids)
        total += sums
        frames += counts
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(lengths > 0, total / np.maximum(lengths, 1e-9), centroids), frames.tolist()


def _numbered(turns: list[Turn], centroids: Array, frames: Sequence[int]) -> Diarized:
    """Voices in order of first appearance; one that has no turn is left out."""
    order = list(dict.fromkeys(turn["voice"] for turn in turns))
    numbers = {voice: number for number, voice in enumerate(order)}
    for turn in turns:
        turn["voice"] = numbers[turn["voice"]]
    described: list[Voice] = []
    for voice in order:
        clean_ms = frames[voice] * FRAME_STEP // _SAMPLES_PER_MS if voice < len(frames) else 0
        embedding = [float(value) for value in centroids[voice]] if clean_ms else []
        described.append({"clean_ms": clean_ms, "embedding": embedding})
    return {"turns": turns, "voices": described}


def _found(work_folder: Path, file: str, piece: Sequence[int]) -> Path:
    return work_folder / f"{file}.voices-{piece[0]}.npz"


@lru_cache(maxsize=1)
def _segmentation(path: str, threads: int) -> Segmentation:
    from ingest.speech.segmentation import Segmentation

    return Segmentation(Path(path), threads)


@lru_cache(maxsize=1)
def _embedding(path: str, threads: int) -> Embedding:
    from ingest.speech.embedding import Embedding

    return Embedding(Path(path), threads)
