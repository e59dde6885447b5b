"""Silent channels and the same sound on two channels make no second speaker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.speech.channels import correlation, level_dbfs, voices
from ingest.speech.crosstalk import within
from ingest.speech.decode import decode, samples_of
from ingest.speech.voice_activity import stretches
from tests.ingest.speech.sounds import RATE, Signal, by_ffmpeg, call_sides, noise, shared_speech, write_wav


def speakers(tmp_path: Path, *channels: Signal, keep_apart: bool = True) -> list[str]:
    decoded = decode(write_wav(tmp_path / "a.wav", *channels), tmp_path / "work")
    return [channel.speaker for channel in voices(decoded.files, keep_apart=keep_apart)]


def echo(signal: Signal, level_db: float) -> Signal:
    """The signal as it leaks into another line: later, with a short ring."""
    ring = np.random.default_rng(3).normal(size=1600) * 0.06 * np.exp(-np.arange(1600) / 500)
    ring[0] = 1
    late = np.concatenate([np.zeros(320), np.convolve(signal, ring)])
    return late[: len(signal)] * 10 ** (level_db / 20)


def found(tmp_path: Path, *channels: Signal) -> list[np.ndarray]:
    """Whether there is speech of its own in each millisecond of each channel."""
    decoded = decode(write_wav(tmp_path / "a.wav", *channels), tmp_path / "work")
    masks = []
    for channel in voices(decoded.files, keep_apart=True):
        mask = np.zeros(decoded.duration_ms + 1000, np.bool_)
        for start, end in within(stretches(samples_of(channel.file)), channel.own):
            mask[start:end] = True
        masks.append(mask)
    return masks


def test_two_voices_are_two_speakers(tmp_path: Path) -> None:
    assert speakers(tmp_path, noise(5, seed=1), noise(5, seed=2)) == ["SPEAKER_00", "SPEAKER_01"]


def test_the_same_sound_twice_is_one_speaker(tmp_path: Path) -> None:
    one = noise(5)
    assert speakers(tmp_path, one, one * 0.4) == ["SPEAKER_00"]


def test_a_delayed_inverted_and_slightly_noisy_copy_is_the_same_sound(tmp_path: Path) -> None:
    one = noise(5)
    copy = -np.roll(one, 80) + noise(5, level=0.01, seed=3)
    assert speakers(tmp_path, one, copy) == ["SPEAKER_00"]


def test_voices_that_leak_into_each_other_stay_two(tmp_path: Path) -> None:
    one, other = noise(5, seed=1), noise(5, seed=2)
    assert len(speakers(tmp_path, one + other / 2, other + one / 2)) == 2


@pytest.mark.parametrize("silent", [0, 1])
def test_a_silent_channel_is_left_out_and_the_other_keeps_its_label(tmp_path: Path, silent: int) -> None:
    channels = [noise(3), noise(3, level=1e-5, seed=9)]
    if silent == 0:
        channels.reverse()
    assert speakers(tmp_path, *channels) == [f"SPEAKER_0{1 - silent}"]


def test_a_channel_that_speaks_once_is_not_silent(tmp_path: Path) -> None:
    short = np.concatenate([np.zeros(16000 * 20), noise(1, seed=5), np.zeros(16000 * 9)])
    assert len(speakers(tmp_path, noise(30), short)) == 2


def test_silence_has_no_speakers(tmp_path: Path) -> None:
    assert speakers(tmp_path, np.zeros(16000), np.zeros(16000)) == []


def test_channels_are_mixed_when_they_are_not_to_be_kept_apart(tmp_path: Path) -> None:
    one, other = noise(5, seed=1), noise(5, seed=2)
    decoded = decode(write_wav(tmp_path / "a.wav", one, other, one), tmp_path / "work")
    [mixed] = voices(decoded.files, keep_apart=False)
    assert mixed.speaker == "SPEAKER_00"
    expected = (samples_of(decoded.files[0])[:].astype(int) + samples_of(decoded.files[1])[:]) // 2
    np.testing.assert_array_equal(samples_of(mixed.file)[:], expected)


def test_level_and_correlation_have_known_values() -> None:
    square = np.tile(np.array([16384, -16384], np.int16).repeat(16), 1000)
    assert level_dbfs(square) == pytest.approx(-6.02, abs=0.01)
    assert level_dbfs((square + 8000).astype(np.int16)) == pytest.approx(-6.02, abs=0.01)
    assert level_dbfs(np.zeros(10, np.int16)) == -float("inf")
    assert level_dbfs(np.zeros(0, np.int16)) == -float("inf")
    assert correlation(square, np.zeros(32000, np.int16)) == 0.0
    assert correlation(square, (square // 4).astype(np.int16)) == pytest.approx(1, abs=0.01)


def test_a_mono_speech_stored_in_stereo_is_one_speaker_and_a_real_dialogue_two(tmp_path: Path) -> None:
    mono = decode(shared_speech("jfk.flac"), tmp_path / "one")
    assert len(voices(mono.files, keep_apart=True)) == 1
    dialogue = decode(shared_speech("stereo_diarization.wav"), tmp_path / "two")
    assert len(voices(dialogue.files, keep_apart=True)) == 2


def test_a_copy_is_found_half_a_second_late_and_under_the_noise_of_a_line(tmp_path: Path) -> None:
    call, _ = call_sides()
    late = np.concatenate([np.zeros(7600), call[:-7600]]) * 0.4
    assert speakers(tmp_path, call, late) == ["SPEAKER_00"]
    assert speakers(tmp_path, call, call + noise(len(call) / RATE, level=0.02)) == ["SPEAKER_00"]


@pytest.mark.parametrize("options", ["-c:a libmp3lame -b:a 24k", "-c:a libopus -b:a 16k", "-c:a aac -b:a 32k"])
def test_mono_stored_in_stereo_is_one_speaker_after_a_lossy_codec(tmp_path: Path, options: str) -> None:
    call, _ = call_sides()
    path = by_ffmpeg(write_wav(tmp_path / "a.wav", call, call), tmp_path / "b.mka", options)
    decoded = decode(path, tmp_path / "work")
    assert len(decoded.files) == 2
    assert len(voices(decoded.files, keep_apart=True)) == 1


@pytest.mark.parametrize(
    "other",
    [noise(60, level=0.005), np.full(60 * RATE, 0.1), 0.03 * np.sin(2 * np.pi * 50 * np.arange(60 * RATE) / RATE)],
    ids=["noise", "offset", "hum"],
)
def test_a_line_without_a_voice_is_silent(tmp_path: Path, other: Signal) -> None:
    call, _ = call_sides()
    assert speakers(tmp_path, other, call) == ["SPEAKER_01"]
    assert speakers(tmp_path, call, other) == ["SPEAKER_00"]


@pytest.mark.parametrize("leak_db", [-12, -20, -30, -40])
def test_a_channel_with_only_the_echo_of_the_other_side_is_no_speaker(tmp_path: Path, leak_db: int) -> None:
    call, _ = call_sides()
    leak = echo(call, leak_db) + noise(60, level=5e-4)
    assert speakers(tmp_path, call, leak) == ["SPEAKER_00"]
    assert speakers(tmp_path, leak, call) == ["SPEAKER_01"]
    assert speakers(tmp_path, call, leak, keep_apart=False) == ["SPEAKER_00"]


@pytest.mark.parametrize("leak_db", [-12, -20, -30])
def test_where_each_side_hears_the_other_nobody_speaks_twice(tmp_path: Path, leak_db: int) -> None:
    left, right = call_sides()
    clean = found(tmp_path, left, right)
    leaking = found(tmp_path, left + echo(right, leak_db), right + echo(left, leak_db))
    for before, after in zip(clean, leaking, strict=True):
        assert (before & after).sum() > 0.94 * before.sum()
        assert (after & ~before).sum() < 0.05 * before.sum()


def test_a_single_word_of_its_own_keeps_a_leaking_channel(tmp_path: Path) -> None:
    left, right = call_sides()
    quiet = echo(left, -20)
    start = int(np.flatnonzero(np.abs(right) > 0.02)[0])
    place = 30 * RATE
    quiet[place : place + RATE] += right[start : start + RATE]
    decoded = decode(write_wav(tmp_path / "a.wav", left, quiet), tmp_path / "work")
    _, kept = voices(decoded.files, keep_apart=True)
    assert kept.own is not None
    assert sum(end - start for start, end in kept.own) < 4000
    assert any(start <= 30_400 <= end for start, end in kept.own)


def test_stretches_are_cut_to_what_is_allowed() -> None:
    spoken = [(0, 10), (20, 30), (40, 50)]
    assert within(spoken, None) == spoken
    assert within(spoken, []) == []
    assert within(spoken, [(5, 22), (24, 26), (29, 60)]) == [(5, 10), (20, 22), (24, 26), (29, 30), (40, 50)]
    assert within([(0, 100), (100, 200)], [(10, 20), (30, 120), (150, 160)]) == [
        (10, 20),
        (30, 100),
        (100, 120),
        (150, 160),
    ]


def test_stretches_of_a_day_are_cut_by_looking_at_each_but_once() -> None:
    class Counted(list[tuple[int, int]]):
        looked_at = 0

        def __getitem__(self, place: Any) -> Any:
            Counted.looked_at += len(range(*place.indices(len(self)))) if isinstance(place, slice) else 1
            return super().__getitem__(place)

    spoken = [(10 * number, 10 * number + 6) for number in range(20_000)]
    allowed = Counted((start + 2, start + 9) for start, _ in spoken)
    assert within(spoken, allowed) == [(start + 2, start + 6) for start, _ in spoken]
    assert Counted.looked_at < 5 * len(spoken)
