"""Stretches of speech: found in speech, not in noise, bounded in length, the same across window edges."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ingest.speech.decode import decode, samples_of
from ingest.speech.voice_activity import MAX_STRETCH_S, stretches
from tests.ingest.speech.sounds import Signal, noise, shared_speech, tone


def as_int16(signal: Signal) -> np.ndarray:
    return (np.clip(signal, -1, 1) * 32767).astype(np.int16)


@pytest.mark.parametrize(
    "signal",
    [np.zeros(0), np.zeros(160_000), noise(20), tone(20, 425, 0.2), noise(20, 0.001)],
    ids=["nothing", "silence", "noise", "tone", "faint noise"],
)
def test_what_is_no_speech_has_hardly_a_stretch(signal: Signal) -> None:
    assert sum(end - start for start, end in stretches(as_int16(signal))) < 800


def test_speech_is_found_and_cut_at_its_pauses(tmp_path: Path) -> None:
    samples = samples_of(decode(shared_speech("ru_0024.wav"), tmp_path).files[0])
    silence = np.zeros(16_000 * 3, np.int16)
    found = stretches(np.concatenate([silence, samples, silence, samples, silence]))
    voiced = sum(end - start for start, end in found)
    assert 11_000 < voiced < 15_500
    assert all(first[1] <= second[0] for first, second in pairwise(found))
    assert found[0][0] > 3000


def test_long_speech_is_cut_and_loses_nothing_at_the_edge_of_a_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = np.tile(samples_of(decode(shared_speech("jfk.flac"), tmp_path).files[0]), 6)
    whole = stretches(samples)
    monkeypatch.setattr("ingest.speech.voice_activity._WINDOW", 20 * 16_000)
    windowed = stretches(samples)
    assert all(0 < end - start <= MAX_STRETCH_S * 1000 + 1000 for start, end in whole + windowed)
    voiced = [sum(end - start for start, end in found) for found in (whole, windowed)]
    assert voiced[1] == pytest.approx(voiced[0], rel=0.05)


def test_quiet_speech_is_found_too(tmp_path: Path) -> None:
    samples = samples_of(decode(shared_speech("ru_0024.wav"), tmp_path).files[0])
    quiet = (samples // 40).astype(np.int16)
    assert sum(end - start for start, end in stretches(quiet)) > 4500
