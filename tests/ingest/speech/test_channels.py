"""Silent channels and the same sound on two channels make no second speaker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ingest.speech.channels import correlation, level_dbfs, voices
from ingest.speech.decode import decode, samples_of
from tests.ingest.speech.sounds import Signal, noise, shared_speech, write_wav


def speakers(tmp_path: Path, *channels: Signal, keep_apart: bool = True) -> list[str]:
    decoded = decode(write_wav(tmp_path / "a.wav", *channels), tmp_path / "work")
    return [channel.speaker for channel in voices(decoded.files, keep_apart=keep_apart)]


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
    expected = (samples_of(decoded.files[0]).astype(int) + samples_of(decoded.files[1])) // 2
    np.testing.assert_array_equal(samples_of(mixed.file), expected)


def test_level_and_correlation_have_known_values() -> None:
    square = np.full(32000, 16384, np.int16)
    assert level_dbfs(square) == pytest.approx(-6.02, abs=0.01)
    assert level_dbfs(np.zeros(10, np.int16)) == -float("inf")
    assert level_dbfs(np.zeros(0, np.int16)) == -float("inf")
    assert correlation(square, np.zeros(32000, np.int16)) == 0.0


def test_a_mono_speech_stored_in_stereo_is_one_speaker_and_a_real_dialogue_two(tmp_path: Path) -> None:
    mono = decode(shared_speech("jfk.flac"), tmp_path / "one")
    assert len(voices(mono.files, keep_apart=True)) == 1
    dialogue = decode(shared_speech("stereo_diarization.wav"), tmp_path / "two")
    assert len(voices(dialogue.files, keep_apart=True)) == 2
