"""Known voices: recognised where it is sure, else nothing is said."""

from __future__ import annotations

import math

import pytest

from ingest.speech.diarize import Voice
from ingest.speech.voices import CLEAR_BY, MIN_CLEAN_MS, SAME_VOICE, recognise, similarity


def at(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def voice(degrees: float, clean_ms: int = 20_000) -> Voice:
    return {"clean_ms": clean_ms, "embedding": at(degrees)}


def test_similarity_is_the_cosine() -> None:
    assert similarity(at(10), at(70)) == pytest.approx(0.5)
    assert similarity(at(10), [value * 3 for value in at(10)]) == pytest.approx(1.0)
    assert similarity([], at(10)) == similarity(at(10), [0.0, 0.0]) == similarity(at(1), [1.0, 0.0, 0.0]) == 0.0


def test_each_voice_gets_the_name_it_clearly_has() -> None:
    found = recognise({"SPEAKER_00": voice(2), "SPEAKER_01": voice(88)}, {"anna": at(90), "boris": at(0)})
    assert found == {"SPEAKER_00": "boris", "SPEAKER_01": "anna"}


def test_what_is_not_like_enough_stays_without_a_name() -> None:
    limit = math.degrees(math.acos(SAME_VOICE))
    assert recognise({"SPEAKER_00": voice(limit + 1)}, {"anna": at(0)}) == {}
    assert recognise({"SPEAKER_00": voice(limit - 1)}, {"anna": at(0)}) == {"SPEAKER_00": "anna"}


def test_two_that_are_about_as_like_are_not_chosen_between() -> None:
    assert recognise({"SPEAKER_00": voice(0)}, {"anna": at(5), "boris": at(-8)}) == {}
    assert recognise({"SPEAKER_00": voice(5), "SPEAKER_01": voice(-8)}, {"anna": at(0)}) == {}
    apart = math.degrees(math.acos(1 - CLEAR_BY)) + 1
    assert recognise({"SPEAKER_00": voice(0)}, {"anna": at(0), "boris": at(apart)}) == {"SPEAKER_00": "anna"}


def test_too_little_clean_speech_is_no_evidence() -> None:
    assert recognise({"SPEAKER_00": voice(0, MIN_CLEAN_MS - 1)}, {"anna": at(0)}) == {}
    assert recognise({"SPEAKER_00": {"clean_ms": 0, "embedding": []}}, {"anna": at(0)}) == {}
    assert recognise({}, {"anna": at(0)}) == recognise({"SPEAKER_00": voice(0)}, {}) == {}
