"""The segmentation network, built from its weights: the same numbers as the reference, and no sense made of noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ingest.speech.segmentation import CHUNK, FRAMES, LOCAL_VOICES, Segmentation
from ingest.speech.torch_files import NotTensors
from tests.ingest.speech.sounds import ROOT
from tests.ingest.speech.talking import demo_call, models


@pytest.fixture(scope="module")
def network() -> Segmentation:
    return Segmentation(Path(models().segmentation), 1)


def chunks(*starts_s: int) -> np.ndarray:
    mono = demo_call("04-order-change").mono.astype(np.float32) / np.float32(32768)
    return np.stack([mono[start * 16_000 : start * 16_000 + CHUNK] for start in starts_s])


def test_the_numbers_are_those_of_the_reference(network: Segmentation) -> None:
    reference = ROOT.parent / "shared" / "models" / "speaker-segmentation.onnx"
    if not reference.exists():
        pytest.skip("the reference network is not here")
    import onnxruntime

    session = onnxruntime.InferenceSession(str(reference))
    sound = chunks(3, 12, 40)
    expected = session.run(None, {session.get_inputs()[0].name: sound})[0]
    assert np.abs(network.activity(sound) - expected).max() < 1e-3


def test_a_chunk_says_the_same_alone_and_among_others(network: Segmentation) -> None:
    sound = chunks(*range(0, 60, 3))
    together = network.activity(sound)
    assert together.shape == (20, FRAMES, LOCAL_VOICES)
    assert np.abs(network.activity(sound[7:8])[0] - together[7]).max() < 1e-4
    assert together.max() > 0.9


def test_nobody_speaks_in_silence_and_noise(network: Segmentation) -> None:
    noise = np.random.default_rng(1).normal(scale=0.05, size=(2, CHUNK)).astype(np.float32)
    silence = np.zeros((1, CHUNK), np.float32)
    assert network.activity(np.concatenate([noise, silence])).max() < 0.5
    assert network.activity(np.zeros((0, CHUNK), np.float32)).shape == (0, FRAMES, LOCAL_VOICES)


def test_the_weights_of_another_network_are_refused() -> None:
    with pytest.raises(NotTensors, match="not a speaker segmentation network"):
        Segmentation(Path(models().embedding), 1)
