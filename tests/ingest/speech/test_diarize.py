"""Who speaks when: the number of voices, their turns, over pieces, codecs and thresholds; one voice stays one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ingest.speech import clustering, diarize
from ingest.speech.diarize import heard, listen, pieces, sample_voice, settle, settle_at
from ingest.speech.voices import SAME_VOICE, similarity
from tests.ingest.speech.sounds import RATE, noise
from tests.ingest.speech.talking import FILE, demo_call, diarized, mixed_up, models

ENGLISH = "04-order-change"
RUSSIAN = "03-oshibka-v-schete"


@pytest.mark.parametrize("name", [ENGLISH, RUSSIAN])
def test_two_voices_of_a_mono_call_are_told_apart_at_any_near_threshold(tmp_path: Path, name: str) -> None:
    call = demo_call(name).until(60)
    found = diarized(tmp_path, call.mono)
    assert len(found["voices"]) == 2
    assert mixed_up(found, call.turns) < 0.12
    for offset in (-0.05, 0.05):
        other = settle_at(tmp_path, FILE, pieces(len(call.mono)), expected=None, threshold=clustering.SAME + offset)
        assert len(other["voices"]) == 2
        assert mixed_up(other, call.turns) < 0.12


def test_voices_are_numbered_as_they_appear_and_turns_lie_in_order_within_the_recording(tmp_path: Path) -> None:
    call = demo_call(ENGLISH).until(40)
    found = diarized(tmp_path, call.mono)
    assert found["turns"][0]["voice"] == 0
    assert list(dict.fromkeys(turn["voice"] for turn in found["turns"])) == [0, 1]
    assert all(0 <= turn["start_ms"] < turn["end_ms"] <= 40_000 for turn in found["turns"])
    assert all(first["start_ms"] <= second["start_ms"] for first, second in pairwise(found["turns"]))
    for voice in found["voices"]:
        assert np.linalg.norm(voice["embedding"]) == pytest.approx(1, abs=1e-4)
        assert 5_000 < voice["clean_ms"] < 30_000


def test_a_recording_that_is_hardly_to_be_heard_is_understood_all_the_same(tmp_path: Path) -> None:
    call = demo_call(ENGLISH).until(40)
    found = diarized(tmp_path, (call.mono // 50).astype(np.int16))
    assert len(found["voices"]) == 2
    assert mixed_up(found, call.turns) < 0.15


def test_one_voice_is_one_and_speech_over_another_is_both(tmp_path: Path) -> None:
    call = demo_call(ENGLISH).until(30)
    alone = diarized(tmp_path, call.sides[0])
    assert len(alone["voices"]) == 1
    shifted = np.roll(call.sides[1], -3 * RATE)
    together = diarized(tmp_path, ((call.sides[0].astype(np.int32) + shifted) // 2).astype(np.int16))
    assert any(
        first["voice"] != second["voice"] and second["start_ms"] + 300 < first["end_ms"]
        for first, second in pairwise(together["turns"])
    )


@pytest.mark.parametrize(
    "samples",
    [np.zeros(0), np.zeros(100), np.zeros(RATE * 7), noise(7) * 32767],
    ids=["nothing", "a moment", "silence", "noise"],
)
def test_where_nobody_speaks_there_is_no_voice(tmp_path: Path, samples: np.ndarray) -> None:
    assert diarized(tmp_path, samples.astype(np.int16)) == {"turns": [], "voices": []}


def test_a_word_too_short_for_its_voice_to_be_known_still_has_a_turn(tmp_path: Path) -> None:
    call = demo_call(ENGLISH)
    _, start, _ = call.turns[0]
    word = call.sides[0][start * 16 : (start + 350) * 16]
    found = diarized(tmp_path, np.concatenate([np.zeros(RATE, np.int16), word, np.zeros(2 * RATE, np.int16)]))
    assert len(found["voices"]) == 1
    assert found["voices"][0]["clean_ms"] == 0 or found["voices"][0]["embedding"]


def test_a_voice_keeps_its_number_over_all_pieces_and_a_turn_goes_on_over_their_edge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = demo_call(ENGLISH).until(60)
    monkeypatch.setattr(diarize, "PIECE_MS", 20_250)
    assert pieces(60 * RATE) == [[0, 20_250], [20_250, 40_500], [40_500, 60_000]]
    found = diarized(tmp_path, call.mono)
    assert len(found["voices"]) == 2
    assert mixed_up(found, call.turns) < 0.12
    for edge in (20_250, 40_500):
        over = [turn for turn in call.turns if turn[1] < edge - 500 and turn[2] > edge + 500]
        assert not over or any(turn["start_ms"] < edge - 300 and turn["end_ms"] > edge + 300 for turn in found["turns"])


def test_listening_again_changes_nothing_and_what_is_missing_is_known(tmp_path: Path) -> None:
    samples = demo_call(ENGLISH).until(12).mono
    all_pieces = pieces(len(samples))
    (tmp_path / FILE).write_bytes(samples.tobytes())
    assert not heard(tmp_path, FILE, all_pieces)
    listen(tmp_path, FILE, all_pieces[0], models())
    first = settle(tmp_path, FILE, all_pieces)
    listen(tmp_path, FILE, all_pieces[0], models())
    assert heard(tmp_path, FILE, all_pieces)
    assert settle(tmp_path, FILE, all_pieces) == first
    assert not list(tmp_path.glob("*.part"))
    assert not heard(tmp_path, FILE, [*all_pieces, [303_750, 400_000]])


def test_the_voice_of_a_side_is_the_one_that_diarization_finds_and_two_voices_are_none(tmp_path: Path) -> None:
    call = demo_call(ENGLISH).until(60)
    found = diarized(tmp_path, call.mono)
    for side in (0, 1):
        spoken = [[start, end] for voice, start, end in call.turns if voice == side]
        (tmp_path / "side.s16").write_bytes(call.sides[side].tobytes())
        voice = sample_voice(tmp_path, "side.s16", spoken, models())
        assert voice is not None
        likeness = [similarity(voice["embedding"], other["embedding"]) for other in found["voices"]]
        assert max(likeness) > SAME_VOICE > min(likeness)
        assert voice["clean_ms"] > 5_000
    everybody = [[start, end] for _, start, end in call.turns]
    assert sample_voice(tmp_path, FILE, everybody, models()) is None
    assert sample_voice(tmp_path, FILE, everybody[:1], models()) is None or everybody[0][1] - everybody[0][0] > 5_000
    assert sample_voice(tmp_path, FILE, [], models()) is None
