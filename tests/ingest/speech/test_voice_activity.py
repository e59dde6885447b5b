"""Stretches of speech: found in speech, not in noise, bounded in length, the same across window edges."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ingest.speech.decode import decode, samples_of
from ingest.speech.voice_activity import MAX_STRETCH_S, _joined, stretches
from tests.ingest.speech.sounds import RATE, Signal, by_ffmpeg, call_sides, noise, shared_speech, tone, write_wav


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
    samples = samples_of(decode(shared_speech("ru_0024.wav"), tmp_path).files[0])[:]
    silence = np.zeros(16_000 * 3, np.int16)
    found = stretches(np.concatenate([silence, samples, silence, samples, silence]))
    voiced = sum(end - start for start, end in found)
    assert 11_000 < voiced < 15_500
    assert all(first[1] <= second[0] for first, second in pairwise(found))
    assert found[0][0] > 3000


def test_long_speech_is_cut_and_loses_nothing_at_the_edge_of_a_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = np.tile(samples_of(decode(shared_speech("jfk.flac"), tmp_path).files[0])[:], 6)
    whole = stretches(samples)
    monkeypatch.setattr("ingest.speech.voice_activity._WINDOW", 20 * 16_000)
    windowed = stretches(samples)
    assert all(0 < end - start <= MAX_STRETCH_S * 1000 + 1000 for start, end in whole + windowed)
    voiced = [sum(end - start for start, end in found) for found in (whole, windowed)]
    assert voiced[1] == pytest.approx(voiced[0], rel=0.05)


def test_quiet_speech_is_found_too(tmp_path: Path) -> None:
    samples = samples_of(decode(shared_speech("ru_0024.wav"), tmp_path).files[0])[:]
    quiet = (samples // 40).astype(np.int16)
    assert sum(end - start for start, end in stretches(quiet)) > 4500


def voiced_s(signal: np.ndarray) -> float:
    return sum(end - start for start, end in stretches(signal)) / 1000


@pytest.mark.parametrize("quieter_db", [-30, -40])
def test_a_slammed_door_does_not_hide_faint_speech(tmp_path: Path, quieter_db: int) -> None:
    speech = samples_of(decode(shared_speech("ru_0024.wav"), tmp_path).files[0])[:].astype(np.float64)
    faint = np.tile(speech, 4) * 10 ** (quieter_db / 20)
    faint[100_000:108_000] += noise(0.5, level=0.25) * 32768
    expected_s = voiced_s(np.tile(speech, 4).astype(np.int16))
    assert voiced_s(np.clip(np.rint(faint), -32768, 32767).astype(np.int16)) > 0.9 * expected_s


@pytest.mark.parametrize(
    "options", ["-c:a pcm_alaw", "-c:a libgsm", "-af highpass=f=300,lowpass=f=3400 -c:a pcm_mulaw"]
)
def test_speech_is_found_on_a_telephone_line(tmp_path: Path, options: str) -> None:
    clear, _ = call_sides()
    sent = write_wav(tmp_path / "a.wav", clear)
    line = by_ffmpeg(sent, tmp_path / f"b.{'gsm' if 'gsm' in options else 'wav'}", f"-ar 8000 {options}")
    heard = samples_of(decode(line, tmp_path / "work").files[0])[:]
    assert voiced_s(heard) == pytest.approx(voiced_s(as_int16(clear)), rel=0.04)


@pytest.mark.parametrize("meeting", ["dev00", "trn02", "trn03"])
def test_most_of_what_is_said_far_from_the_microphone_is_found(tmp_path: Path, meeting: str) -> None:
    decoded = decode(shared_speech(f"meeting-{meeting}.wav"), tmp_path)
    said = np.zeros(decoded.duration_ms, np.bool_)
    for line in shared_speech("meetings.rttm").read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if fields and fields[1].endswith(meeting):
            start, length = float(fields[3]), float(fields[4])
            said[round(start * 1000) : round((start + length) * 1000)] = True
    heard = np.zeros_like(said)
    for first, last in stretches(samples_of(decoded.files[0])):
        heard[first:last] = True
    assert (said & heard).sum() > 0.85 * said.sum()
    assert (heard & ~said).sum() < 1000


def test_minutes_of_loud_chords_and_hiss_hold_no_speech() -> None:
    chords = np.concatenate([sum(tone(1, hz * (1 + n % 5 / 8), 0.1) for hz in (220, 277, 330)) for n in range(120)])
    fading = np.tile(np.exp(-np.arange(RATE) / 6000), 120)
    assert voiced_s(as_int16(chords * fading)) < 1
    assert voiced_s(as_int16(noise(120, 0.1))) < 3


def test_what_is_found_at_another_loudness_is_added_beside_what_was_found() -> None:
    assert _joined([(10_000, 20_000)], [(0, 30_000)]) == [(0, 10_000), (10_000, 20_000), (20_000, 30_000)]
    assert _joined([(10_000, 20_000)], [(9_000, 21_000), (50_000, 60_000)]) == [(10_000, 20_000), (50_000, 60_000)]
    assert _joined([], [(0, 9_000)]) == [(0, 9_000)]
