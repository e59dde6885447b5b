"""Clean stretches out of overlapping chunks: overlap, a change of voice and a long pause end them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ingest.speech.local_voices import (
    CHUNK_STEP_FRAMES,
    Grid,
    clean_stretches,
    frames_in,
    pack,
    samples_between,
)
from ingest.speech.segmentation import FRAMES, LOCAL_VOICES

Truth = npt.NDArray[np.bool_]


def heard(truth: Truth, seed: int = 1) -> Grid:
    """The chunks over who speaks (frames, voices), as a faultless network hears them, local voices in any order."""
    chance = np.random.default_rng(seed)
    chunks = []
    for start in range(0, len(truth) - FRAMES + 1, CHUNK_STEP_FRAMES):
        chunk = truth[start : start + FRAMES]
        order = chance.permutation(LOCAL_VOICES)
        padded = np.zeros((FRAMES, LOCAL_VOICES), np.float32)
        padded[:, : chunk.shape[1]] = chunk
        chunks.append(padded[:, order])
    return Grid(0, pack(np.stack(chunks)))


def turns(*spans: tuple[int, int, int]) -> Truth:
    truth = np.zeros((FRAMES + 20 * CHUNK_STEP_FRAMES, 2), np.bool_)
    for start, end, voice in spans:
        truth[start:end, voice] = True
    return truth


def test_each_turn_is_a_stretch_of_its_own() -> None:
    found = clean_stretches(heard(turns((50, 250, 0), (260, 500, 1), (600, 700, 0))), 0, 893)
    assert [(some[0][0], some[-1][1]) for some in found] == [(50, 250), (260, 500), (600, 700)]


def test_a_change_of_voice_without_a_pause_ends_a_stretch() -> None:
    found = clean_stretches(heard(turns((100, 300, 0), (300, 500, 1))), 0, 893)
    assert len(found) == 2
    assert found[0][-1][1] <= 300 <= found[1][0][0]
    assert found[1][0][0] - found[0][-1][1] < 20


def test_overlapped_speech_is_in_no_stretch() -> None:
    grid = heard(turns((100, 400, 0), (350, 600, 1)))
    assert grid.voices_at_once()[350:400].tolist() == [2] * 50
    covered = {frame for stretch in clean_stretches(grid, 0, 893) for run in stretch for frame in range(*run)}
    assert not covered & set(range(350, 400))
    assert covered >= set(range(110, 340)) | set(range(410, 590))


def test_a_voice_that_goes_on_after_a_short_pause_stays_one_stretch() -> None:
    found = clean_stretches(heard(turns((100, 200, 0), (215, 300, 0), (315, 400, 1))), 0, 893)
    assert found[0] == [(100, 200), (215, 300)]
    assert found[1] == [(315, 400)]


def test_stretches_are_neither_tiny_nor_longer_than_some_seconds_and_stay_in_their_piece() -> None:
    found = clean_stretches(heard(turns((0, 800, 0), (820, 830, 1))), 100, 893)
    assert found[0][0][0] == 100
    assert all(20 < frames_in(stretch) < 460 for stretch in found)
    assert sum(frames_in(stretch) for stretch in found) == 700


def test_frames_are_where_their_samples_are() -> None:
    assert samples_between(0, 1) == (360, 630)
    assert samples_between(10, 20) == (360 + 2700, 360 + 5400)
