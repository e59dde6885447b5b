"""Whose words they are: words are given to the voices that were heard while they were said."""

from __future__ import annotations

from ingest.speech.diarize import Diarized, Turn
from ingest.speech.transcribe import Segment
from ingest.speech.turns import attribute


def segment(start: float, text: str, *, speaker: str = "SPEAKER_00", word_s: float = 0.5) -> Segment:
    """Words of `word_s` each, one behind the other."""
    spoken = text.split()
    words = [
        {"word": word, "start": start + place * word_s, "end": start + (place + 1) * word_s}
        for place, word in enumerate(spoken)
    ]
    end = start + len(spoken) * word_s
    return {"start": start, "end": end, "text": text, "speaker": speaker, "words": words}  # type: ignore[typeddict-item]


def heard(*turns: tuple[float, float, int]) -> Diarized:
    found: list[Turn] = [
        {"start_ms": round(start * 1000), "end_ms": round(end * 1000), "voice": voice} for start, end, voice in turns
    ]
    voices = max((turn["voice"] for turn in found), default=-1) + 1
    return {"turns": found, "voices": [{"clean_ms": 5000, "embedding": [1.0]} for _ in range(voices)]}


def lines(segments: list[Segment]) -> list[tuple[str, float, float, str]]:
    return [(each["speaker"], each["start"], each["end"], each["text"]) for each in segments]


def test_a_segment_is_cut_where_another_voice_goes_on() -> None:
    spoken = attribute([segment(0, "how are you fine thanks")], {"SPEAKER_00": heard((0, 1.5, 0), (1.5, 4, 1))})
    assert lines(spoken.segments) == [("SPEAKER_00", 0, 1.5, "how are you"), ("SPEAKER_01", 1.5, 2.5, "fine thanks")]
    assert [[word["word"] for word in each["words"]] for each in spoken.segments] == [
        ["how", "are", "you"],
        ["fine", "thanks"],
    ]
    assert spoken.voices == {"SPEAKER_00": ("SPEAKER_00", 0), "SPEAKER_01": ("SPEAKER_00", 1)}


def test_voices_of_one_channel_are_numbered_as_they_first_speak() -> None:
    spoken = attribute(
        [segment(0, "one two"), segment(5, "three"), segment(8, "four")],
        {"SPEAKER_00": heard((0, 2, 2), (5, 6, 0), (8, 9, 2))},
    )
    assert [each["speaker"] for each in spoken.segments] == ["SPEAKER_00", "SPEAKER_01", "SPEAKER_00"]
    assert spoken.voices == {"SPEAKER_00": ("SPEAKER_00", 2), "SPEAKER_01": ("SPEAKER_00", 0)}


def test_a_word_that_no_voice_covers_goes_to_the_nearest() -> None:
    turns = heard((0, 1, 0), (4, 5, 1))
    for start, speaker in ((1.2, "SPEAKER_00"), (3.4, "SPEAKER_01"), (9.0, "SPEAKER_01")):
        both = [segment(0, "first", word_s=1), segment(4, "second", word_s=1), segment(start, "word", word_s=0.3)]
        spoken = attribute(both, {"SPEAKER_00": turns})
        assert [each["speaker"] for each in spoken.segments if each["text"] == "word"] == [speaker]


def test_in_an_overlap_the_voice_that_spoke_before_keeps_its_words() -> None:
    turns = heard((0, 2.0, 0), (1.0, 4.0, 1))
    spoken = attribute([segment(0, "a b c d e f")], {"SPEAKER_00": turns})
    assert lines(spoken.segments) == [("SPEAKER_00", 0, 2.0, "a b c d"), ("SPEAKER_01", 2.0, 3.0, "e f")]


def test_a_turn_within_a_longer_one_is_found() -> None:
    turns = heard((0, 20, 0), (5, 6, 1), (30, 40, 1))
    spoken = attribute([segment(15, "still the first")], {"SPEAKER_00": turns})
    assert spoken.voices == {"SPEAKER_00": ("SPEAKER_00", 0)}
    spoken = attribute([segment(21, "nearer to the first")], {"SPEAKER_00": turns})
    assert spoken.voices == {"SPEAKER_00": ("SPEAKER_00", 0)}


def test_of_several_channels_each_keeps_its_label_for_who_says_most_in_it() -> None:
    spoken = attribute(
        [
            segment(0, "hold the line"),
            segment(3, "here is the other colleague and I have very much to say"),
            segment(10, "thanks", speaker="SPEAKER_01"),
        ],
        {"SPEAKER_00": heard((0, 2, 0), (3, 10, 1)), "SPEAKER_01": heard((10, 11, 0))},
    )
    assert [each["speaker"] for each in spoken.segments] == ["SPEAKER_02", "SPEAKER_00", "SPEAKER_01"]
    assert spoken.voices["SPEAKER_00"] == ("SPEAKER_00", 1)
    assert spoken.voices["SPEAKER_02"] == ("SPEAKER_00", 0)


def test_a_channel_whose_neighbour_is_silent_keeps_its_label() -> None:
    spoken = attribute(
        [segment(0, "hello", speaker="SPEAKER_01"), segment(2, "hello you two", speaker="SPEAKER_01")],
        {"SPEAKER_01": heard((0, 1, 0), (2, 4, 1))},
    )
    assert [each["speaker"] for each in spoken.segments] == ["SPEAKER_02", "SPEAKER_01"]


def test_segments_without_voices_or_words_stay_whole() -> None:
    bare: Segment = {"start": 1.0, "end": 2.0, "text": "no words", "speaker": "SPEAKER_00"}
    assert attribute([bare], {"SPEAKER_00": heard()}).segments == [bare]
    assert attribute([bare], {"SPEAKER_00": heard((0, 3, 1))}).segments == [bare]


def test_what_several_channels_say_is_in_order_of_time() -> None:
    spoken = attribute(
        [segment(0, "a b c d e f g h"), segment(1.2, "yes", speaker="SPEAKER_01")],
        {"SPEAKER_00": heard((0, 2, 0), (2, 4, 1)), "SPEAKER_01": heard((1.2, 1.7, 0))},
    )
    assert [each["start"] for each in spoken.segments] == [0, 1.2, 2.0]
