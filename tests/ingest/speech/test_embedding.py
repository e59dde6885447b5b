"""The embedding network: speechbrain's numbers, parts of a sound as if they were alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ingest.speech.embedding import DIMENSIONS, Embedding, features
from ingest.speech.torch_files import NotTensors
from tests.ingest.speech.talking import demo_call, models


@pytest.fixture(scope="module")
def network() -> Embedding:
    return Embedding(Path(models().embedding), 1)


def left_s(start: float, end: float) -> np.ndarray:
    side = demo_call("04-order-change").sides[0].astype(np.float32) / np.float32(32768)
    return side[int(start * 16_000) : int(end * 16_000)]


def test_features_and_vector_are_those_of_speechbrain(network: Embedding) -> None:
    # speechbrain 1.1.2 and its own weights over the same samples.
    sound = left_s(1, 4)
    bands = features(sound)
    assert bands.shape == (301, 80)
    assert bands[100, ::16] == pytest.approx([-24.3336, -14.8322, -10.7291, 4.9856, -9.7177], abs=0.05)
    vector = network.of(sound)
    expected = [0.0055, 0.001, -0.0148, 0.002, 0.071, -0.0022, -0.0267, 0.0031]
    assert vector[:8] == pytest.approx(expected, abs=1e-3)


def test_vectors_have_unit_length_and_do_not_depend_on_loudness(network: Embedding) -> None:
    sound = left_s(1, 4)
    vectors = network.pooled(network.frames(sound), [(0, 24_000), (8_000, 32_000), (40_000, 48_000)])
    assert vectors.shape == (3, DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert float(network.of(sound) @ network.of(sound / 30)) > 0.97


def test_a_part_of_a_sound_is_what_it_is_alone(network: Embedding) -> None:
    sound = left_s(1, 5)
    part = network.pooled(network.frames(sound), [(16_000, 48_000)])[0]
    assert float(part @ network.of(sound[16_000:48_000])) > 0.9


def test_a_tenth_of_a_second_silence_and_a_click_give_vectors(network: Embedding) -> None:
    click = np.zeros(16_000, np.float32)
    click[8_000] = 1
    for sound in (left_s(1, 1.1), np.zeros(16_000, np.float32), click):
        assert np.isfinite(network.of(sound)).all()


def test_the_weights_of_another_network_are_refused() -> None:
    with pytest.raises(NotTensors, match="not a speaker embedding network"):
        Embedding(Path(models().segmentation), 1)
