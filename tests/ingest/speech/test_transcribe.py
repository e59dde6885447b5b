"""Real recordings to transcripts, by the model that is installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest

from ingest.speech.decode import decode, samples_of
from ingest.speech.recognise import TimedWord
from ingest.speech.transcribe import (
    Part,
    _whole_words,
    detect_language,
    is_prepared,
    merge,
    prepare,
    recognise_part,
    transcribe,
)
from tests.ingest.speech.sounds import ROOT, engine, noise, shared_speech, tone, write_wav

pytestmark = pytest.mark.models


def likeness(first: str, second: str) -> float:
    """Share of words in common and in order, 0 to 1."""
    words = [re.sub(r"[^\w ]", " ", text.lower().replace("ё", "е")).split() for text in (first, second)]
    return SequenceMatcher(None, words[0], words[1], autojunk=False).ratio()


def test_english_speech_is_recognised_with_its_times(tmp_path: Path) -> None:
    result = transcribe(shared_speech("jfk.flac"), tmp_path, engine(), words=True)
    assert result["language"] == "en"
    assert result["audio_duration_ms"] == 11_000
    assert {segment["speaker"] for segment in result["segments"]} == {"SPEAKER_00"}, "mono stored in stereo"
    expected = (
        "and so my fellow americans ask not what your country can do for you ask what you can do for your country"
    )
    assert likeness(result["text"], expected) > 0.9
    times = [word["start"] for segment in result["segments"] for word in segment["words"]]
    assert times == sorted(times)
    assert 0.0 <= times[0] < 1.0
    assert 9.0 < result["segments"][-1]["end"] <= 11.0


def test_russian_speech_is_recognised(tmp_path: Path) -> None:
    path = shared_speech("ru_0030.wav")
    result = transcribe(path, tmp_path, engine())
    assert result["language"] == "ru"
    assert likeness(result["text"], path.with_suffix(".txt").read_text(encoding="utf-8")) > 0.7


def test_a_telephone_call_on_two_channels_becomes_one_timeline_of_two_speakers(tmp_path: Path) -> None:
    russian = samples_of(decode(shared_speech("ru_0022.wav"), tmp_path / "a").files[0])[:] / 32768
    english = samples_of(decode(shared_speech("ru_0027.wav"), tmp_path / "b").files[0])[:] / 32768
    gap = np.zeros(len(english))
    left = np.concatenate([russian, gap, russian])
    right = np.concatenate([np.zeros(len(russian)), english, np.zeros(len(russian))])
    path = write_wav(tmp_path / "call.wav", left[::2], right[::2], rate=8000)
    result = transcribe(path, tmp_path / "work", engine(), language="ru")
    speakers = [segment["speaker"] for segment in result["segments"]]
    turns = [speaker for n, speaker in enumerate(speakers) if n == 0 or speakers[n - 1] != speaker]
    assert turns == ["SPEAKER_00", "SPEAKER_01", "SPEAKER_00"]


def test_a_job_can_do_the_parts_one_by_one_and_each_again(tmp_path: Path) -> None:
    used = engine()
    prepared = prepare(shared_speech("stereo_diarization.wav"), tmp_path)
    assert prepared["speakers"] == ["SPEAKER_00", "SPEAKER_01"]
    assert len(prepared["parts"]) == 2
    assert is_prepared(tmp_path, prepared)
    language = detect_language(tmp_path, prepared, used)
    assert language == "en"
    results = [recognise_part(tmp_path, part, used, language=language) for part in prepared["parts"]]
    assert recognise_part(tmp_path, prepared["parts"][0], used, language=language) == results[0]
    transcript = merge(prepared, json.loads(json.dumps(results)), language)
    by_speaker = {segment["speaker"]: segment["text"].lower() for segment in transcript["segments"]}
    assert "wizard" in by_speaker["SPEAKER_00"]
    assert "horizon" in by_speaker["SPEAKER_01"]
    mixed = prepare(shared_speech("stereo_diarization.wav"), tmp_path, channel_speakers=False)
    assert mixed["speakers"] == ["SPEAKER_00"]


def test_silence_and_noise_give_an_empty_transcript(tmp_path: Path) -> None:
    ring = tone(12, 425, 0.2) * (np.arange(12 * 16_000) % 80_000 < 16_000)
    for number, sound in enumerate([np.zeros(16_000 * 5), noise(20), ring]):
        result = transcribe(write_wav(tmp_path / f"{number}.wav", sound), tmp_path / "work", engine())
        assert result["segments"] == []
        assert result["text"] == ""


def test_a_demo_call_is_understood_for_the_most_part(tmp_path: Path) -> None:
    truths = sorted((ROOT / "demo" / "calls").glob("*.truth.json"))
    if not truths:
        pytest.skip("the demo calls are not here")
    truth = json.loads(truths[0].read_text(encoding="utf-8"))
    prepared = prepare(truths[0].with_name(truth["audio"]), tmp_path)
    assert prepared["speakers"] == ["SPEAKER_00", "SPEAKER_01"]
    part = prepared["parts"][0]
    part["windows"] = part["windows"][:2]
    found = recognise_part(tmp_path, part, engine(), language=truth["language"])
    until_ms = part["windows"][-1][-1][1]
    spoken = [
        turn["text"] for turn in truth["turns"] if turn["label"] == "SPEAKER_00" and turn["end_ms"] <= until_ms + 500
    ]
    assert likeness(" ".join(segment["text"] for segment in found), " ".join(spoken)) > 0.6


def test_recognition_never_loads_torch() -> None:
    script = (
        "import sys, ingest.speech.transcribe\n"
        "assert not {'faster_whisper', 'av', 'numpy'} & set(sys.modules)\n"
        f"from ingest.speech.recognise import load, Engine; load(Engine({engine().model_path!r}, 1))\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_samples_that_a_kill_left_half_written_count_as_gone(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", noise(3.0), noise(3.0, seed=1))
    work = tmp_path / "work"
    prepared = prepare(path, work)
    part: Part = {"file": "channel-1.s16", "speaker": "SPEAKER_01", "windows": [], "speech_ms": 0}
    prepared["parts"] = [part]
    assert is_prepared(work, prepared)
    file = work / "channel-1.s16"
    whole = file.read_bytes()
    file.write_bytes(whole[:-2000])
    assert not is_prepared(work, prepared)
    file.write_bytes(whole)
    assert is_prepared(work, prepared)
    file.unlink()
    assert not is_prepared(work, prepared)


def test_of_a_recording_in_two_languages_one_of_them_is_heard(tmp_path: Path) -> None:
    english = samples_of(decode(shared_speech("jfk.flac"), tmp_path / "en").files[0])
    russian = samples_of(decode(shared_speech("ru_0022.wav"), tmp_path / "ru").files[0])
    both = np.concatenate([english[: len(english)], np.zeros(30 * 16_000, np.int16), russian[: len(russian)]]) / 32768
    prepared = prepare(write_wav(tmp_path / "both.wav", both), tmp_path / "work")
    assert detect_language(tmp_path / "work", prepared, engine()) in ("ru", "en")


def test_a_word_that_the_engine_cut_at_a_sign_is_one_word() -> None:
    parts = (" It's", " five", " o", "'clock,", " 8", "%", " off", ".")
    found = [TimedWord(text, float(place), place + 0.5, 1.0) for place, text in enumerate(parts)]
    whole = list(_whole_words(found))
    assert [(word.text, word.start, word.end) for word in whole] == [
        (" It's", 0.0, 0.5),
        (" five", 1.0, 1.5),
        (" o'clock,", 2.0, 3.5),
        (" 8%", 4.0, 5.5),
        (" off.", 6.0, 7.5),
    ]
    assert list(_whole_words([])) == []
    assert [word.text for word in _whole_words([TimedWord("First", 0.0, 1.0, 1.0)])] == ["First"]
