"""Whether two vectors are one person's voice. Sure or silent: a wrong name is worse than none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingest.speech.diarize import Voice

SAME_VOICE = 0.65
"""Measured over recordings and telephone codecs: different people at most 0.54, one person at least that in 19 of 20
pairs of recordings, 0.9 in the median (0.57 where the same person speaks another language)."""
CLEAR_BY = 0.1
"""How far the best match must be ahead of the second best, among the known voices and among those heard."""
MIN_CLEAN_MS = 5000
"""Less clean speech than this says nothing sure about whose voice it is."""


def similarity(first: Sequence[float], second: Sequence[float]) -> float:
    """The cosine between two vectors, -1 to 1; 0 where one is empty or they are not of one length."""
    import numpy as np

    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != other.shape or not one.size:
        return 0.0
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths > 0 else 0.0


def recognise(heard: Mapping[str, Voice], known: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Which known voice each label is, by label, one to one; a label is left out where that is not sure.

    A pair counts only where it is clearly the best for both of its sides, so no two labels can get the same voice.
    """
    likeness = {
        (label, name): similarity(voice["embedding"], embedding)
        for label, voice in heard.items()
        if voice["clean_ms"] >= MIN_CLEAN_MS
        for name, embedding in known.items()
    }
    found: dict[str, str] = {}
    for (label, name), value in likeness.items():
        rivals = [
            other for pair, other in likeness.items() if pair != (label, name) and (pair[0] == label or pair[1] == name)
        ]
        if value >= SAME_VOICE and value - max(rivals, default=-1.0) >= CLEAR_BY:
            found[label] = name
    return found
