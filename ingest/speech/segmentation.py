"""Who speaks when within five seconds: up to three voices a chunk, overlapped speech included.

The network is PyanNet of pyannote.audio (Bredin and Laurent, 2021, "End-to-end speaker segmentation for overlap-aware
resegmentation"): learned band-pass filters, convolutions, four bidirectional LSTM layers. Its voices are local: number
0 of one chunk is not number 0 of the next.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ingest.speech.decode import SAMPLE_RATE
from ingest.speech.network import Graph, Session
from ingest.speech.torch_files import NotTensors, read_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

CHUNK = 5 * SAMPLE_RATE
FRAMES = 293
FRAME_STEP = 270
"""Samples from one frame to the next."""
FIRST_FRAME = 495
"""Samples from the start of a chunk to the middle of its first frame."""
LOCAL_VOICES = 3

_HIDDEN = 128
_LAYERS = 4
_BATCH = 16


class Segmentation:
    def __init__(self, path: Path, threads: int) -> None:
        self._session = _network(read_tensors(path), threads)

    def activity(self, chunks: Array) -> Array:
        """How surely each local voice speaks: (n, CHUNK) samples in -1..1 to (n, FRAMES, LOCAL_VOICES) in 0..1."""
        import numpy as np

        parts = [
            self._session.run(sound=chunks[first : first + _BATCH, None]) for first in range(0, len(chunks), _BATCH)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, FRAMES, LOCAL_VOICES), np.float32)


def _network(tensors: Mapping[str, Array], threads: int) -> Session:
    prefix = "state_dict."
    found = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    try:
        return _build(found, threads)
    except KeyError as missing:
        raise NotTensors(f"not a speaker segmentation network: {missing} is missing") from missing


def _build(weights: Mapping[str, Array], threads: int) -> Session:
    import numpy as np

    graph = Graph()

    def normalised(value: str, name: str) -> str:
        scale, bias = (graph.weight(weights[f"sincnet.{name}.{part}"]) for part in ("weight", "bias"))
        return graph.add("InstanceNormalization", value, scale, bias, epsilon=1e-5)

    value = normalised("sound", "wav_norm1d")
    for layer in range(3):
        if layer == 0:
            value = graph.add("Abs", graph.add("Conv", value, graph.weight(_band_pass(weights)), strides=[10]))
        else:
            kernel, bias = (graph.weight(weights[f"sincnet.conv1d.{layer}.{part}"]) for part in ("weight", "bias"))
            value = graph.add("Conv", value, kernel, bias)
        value = graph.add("MaxPool", value, kernel_shape=[3], strides=[3])
        value = graph.add("LeakyRelu", normalised(value, f"norm1d.{layer}"), alpha=0.01)

    value = graph.add("Transpose", value, perm=[2, 0, 1])  # time, batch, features
    for layer in range(_LAYERS):
        value = graph.add("LSTM", value, *_lstm(graph, weights, layer), direction="bidirectional", hidden_size=_HIDDEN)
        value = graph.add("Transpose", value, perm=[0, 2, 1, 3])  # time, batch, directions, features
        value = graph.add("Reshape", value, graph.whole(0, 0, 2 * _HIDDEN))
    value = graph.add("Transpose", value, perm=[1, 0, 2])
    for name in ("linear.0", "linear.1", "classifier"):
        matrix = graph.weight(np.ascontiguousarray(weights[f"{name}.weight"].T))
        value = graph.add("Add", graph.add("MatMul", value, matrix), graph.weight(weights[f"{name}.bias"]))
        value = graph.add("Sigmoid", value) if name == "classifier" else graph.add("LeakyRelu", value, alpha=0.01)
    return graph.session({"sound": ["n", 1, CHUNK]}, value, threads)


def _band_pass(weights: Mapping[str, Array]) -> Array:
    """The kernels (80, 1, 251) of the learned filters: 40 even and 40 odd band passes (Ravanelli and Bengio, 2018)."""
    import numpy as np

    low_hz, band_hz, window, n = (
        weights[f"sincnet.conv1d.0.filterbank.{name}"].astype(np.float64)
        for name in ("low_hz_", "band_hz_", "window_", "n_")
    )
    low = 50 + np.abs(low_hz)
    high = np.clip(low + 50 + np.abs(band_hz), 50, SAMPLE_RATE / 2)
    band = high - low
    even = (np.sin(high @ n) - np.sin(low @ n)) / (n / 2) * window
    odd = (np.cos(low @ n) - np.cos(high @ n)) / (n / 2) * window
    kernels = np.concatenate(
        [np.concatenate([even, 2 * band, even[:, ::-1]], 1), np.concatenate([odd, 0 * band, -odd[:, ::-1]], 1)]
    )
    scaled: Array = (kernels / (2 * np.tile(band, (2, 1)))).astype(np.float32)
    return scaled[:, None]


def _lstm(graph: Graph, weights: Mapping[str, Array], layer: int) -> list[str]:
    """Torch's weights of a layer as ONNX wants them: gates in the order input, output, forget, cell; both biases."""
    import numpy as np

    def gates(name: str) -> Array:
        both = [weights[f"lstm.{name}_l{layer}{direction}"] for direction in ("", "_reverse")]
        inputs, forget, cell, output = np.split(np.stack(both), 4, axis=1)
        return np.concatenate([inputs, output, forget, cell], axis=1)

    biases = np.concatenate([gates("bias_ih"), gates("bias_hh")], axis=1)
    return [graph.weight(array) for array in (gates("weight_ih"), gates("weight_hh"), biases)]
