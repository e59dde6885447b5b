"""The picture of a recording's loudness: its peaks in equal parts, made in one pass without samples on disk."""

from __future__ import annotations

from pathlib import Path

from ingest.speech.decode import SAMPLE_RATE, Undecodable, blocks_of

PARTS = 1200
"""As many as the widest screen shows lines."""
_STEP = SAMPLE_RATE // 50  # samples of a peak before they are joined to parts: 20 ms
_LONGEST_STEPS = 24 * 3600 * 50


def peaks_of(path: Path) -> tuple[int, bytes]:
    """(duration in ms, a byte for each part of the recording: 0 for silence, 255 for its loudest). Shorter recordings
    have fewer parts. Raises Undecodable. For a child process."""
    import numpy as np

    steps: list[np.ndarray] = []
    rest = np.zeros(0, np.int16)
    samples = count = 0
    for block in blocks_of(path):
        loudest = np.abs(block.astype(np.int32)).max(axis=0).clip(max=32767).astype(np.int16)
        samples += loudest.size
        sound = np.concatenate([rest, loudest])
        whole = sound.size // _STEP
        if whole:
            steps.append(sound[: whole * _STEP].reshape(whole, _STEP).max(axis=1))
            count += whole
        rest = sound[whole * _STEP :]
        if count > _LONGEST_STEPS:
            break
    if rest.size:
        steps.append(rest.max(keepdims=True))
    if not steps:
        raise Undecodable("no sound in the file can be decoded")
    heard = np.concatenate(steps)
    edges = np.linspace(0, heard.size, min(PARTS, heard.size) + 1).astype(int)[:-1]
    parts = np.maximum.reduceat(heard, edges).astype(np.float64)
    # Quiet speech stays visible beside a loud cough.
    shown = np.sqrt(parts / max(parts.max(), 1.0))
    return samples * 1000 // SAMPLE_RATE, (shown * 255).round().astype(np.uint8).tobytes()
