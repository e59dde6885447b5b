"""What a real model hears in real recordings, and in which form it is told."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.contract.conftest import ENGLISH_S, RUSSIAN_S, HeardCalls

pytestmark = pytest.mark.models


def results(heard: HeardCalls) -> list[dict[str, Any]]:
    return [*(upload.result for upload in heard.asynchronous), heard.sync.json()]


@pytest.mark.proves(
    "speech.sync.returns-result",
    "speech.result.language",
    "speech.result.text",
    "speech.result.audio-duration-ms",
    "speech.upload.multipart",
)
def test_a_sync_request_is_answered_with_the_result(heard: HeardCalls) -> None:
    assert heard.sync.status_code == 200, heard.sync.text
    result = heard.sync.json()
    assert set(result) == {"language", "text", "audio_duration_ms", "segments"}
    assert result["language"] == "ru"
    assert "добрый день" in result["text"].lower()
    assert type(result["audio_duration_ms"]) is int
    assert abs(result["audio_duration_ms"] - RUSSIAN_S * 1000) < 100


@pytest.mark.proves("speech.task.result.same-shape")
def test_a_finished_task_has_the_same_shape(heard: HeardCalls) -> None:
    for result in results(heard):
        assert set(result) == {"language", "text", "audio_duration_ms", "segments"}
        assert {type(value) for value in result.values()} == {str, int, list}


@pytest.mark.proves("speech.result.segments.times", "speech.result.segments.text", "speech.result.segments.speaker")
def test_segments_are_in_order_within_the_audio_and_have_text_and_label(heard: HeardCalls) -> None:
    for result in results(heard):
        segments = result["segments"]
        assert segments
        assert [each["start"] for each in segments] == sorted(each["start"] for each in segments)
        for each in segments:
            assert 0 <= each["start"] <= each["end"] <= result["audio_duration_ms"] / 1000
            assert each["text"].strip() == each["text"] != ""
            assert re.fullmatch(r"SPEAKER_\d\d", each["speaker"])
        assert " ".join(each["text"] for each in segments) == result["text"]


@pytest.mark.proves("speech.result.segments.words", "speech.timestamp-detail.word")
def test_words_come_with_their_times_where_they_are_asked_for(heard: HeardCalls) -> None:
    for each in heard.sync.json()["segments"]:
        assert each["words"]
        starts = [word["start"] for word in each["words"]]
        assert starts == sorted(starts)
        assert each["start"] <= starts[0] <= starts[-1] <= each["end"]
        assert {tuple(sorted(word)) for word in each["words"]} == {("start", "word")}
        assert " ".join(word["word"] for word in each["words"]) == each["text"]


@pytest.mark.proves("speech.timestamp-detail.default")
def test_segments_carry_no_words_where_none_are_asked_for(heard: HeardCalls) -> None:
    for upload in heard.asynchronous:
        for each in upload.result["segments"]:
            assert set(each) == {"start", "end", "text", "speaker"}


@pytest.mark.proves("speech.language.absent", "speech.result.language")
def test_the_language_is_found_from_the_audio(heard: HeardCalls) -> None:
    assert "language" not in heard.english.sent
    assert "language" not in heard.mixed.sent
    assert (heard.english.result["language"], heard.mixed.result["language"]) == ("en", "ru")


@pytest.mark.proves(
    "speech.channel-speakers.default", "speech.channel-speakers.left-right", "speech.result.audio-duration-ms"
)
def test_the_left_channel_is_the_first_speaker_and_the_right_one_the_second(heard: HeardCalls) -> None:
    assert "channel_speakers" not in heard.english.sent
    assert abs(heard.english.result["audio_duration_ms"] - ENGLISH_S * 1000) < 100
    assert {each["speaker"] for each in heard.english.result["segments"]} == {"SPEAKER_00", "SPEAKER_01"}
    assert "good afternoon" in heard.english.said_by("SPEAKER_00")
    assert "silver lane" in heard.english.said_by("SPEAKER_01")
    assert "silver lane" not in heard.english.said_by("SPEAKER_00")


@pytest.mark.proves("speech.channel-speakers.direction-has-no-say", "speech.channel-speakers.left-right")
def test_the_direction_has_no_say_in_who_is_who(heard: HeardCalls) -> None:
    assert (heard.english.sent["direction"], heard.swapped.sent["direction"]) == ("out", "in")
    assert "silver lane" in heard.swapped.said_by("SPEAKER_00")
    assert "good afternoon" in heard.swapped.said_by("SPEAKER_01")


@pytest.mark.proves("speech.channel-speakers.mono-mix")
def test_channels_that_are_mixed_down_are_one_speaker(heard: HeardCalls) -> None:
    assert {each["speaker"] for each in heard.mixed.result["segments"]} == {"SPEAKER_00"}
    assert "алло" in heard.mixed.said_by("SPEAKER_00")  # the right channel
    assert "добрый день" in heard.mixed.said_by("SPEAKER_00")  # the left one


@pytest.mark.proves("speech.channel-speakers.multichannel")
def test_three_channels_are_three_speakers(heard: HeardCalls) -> None:
    assert "good afternoon" in heard.three_channels.said_by("SPEAKER_00")
    assert "silver lane" in heard.three_channels.said_by("SPEAKER_01")
    assert "robert wells" in heard.three_channels.said_by("SPEAKER_02")
