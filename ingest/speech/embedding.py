"""The voice of a stretch of speech as a vector: ECAPA-TDNN as speechbrain trained it on VoxCeleb.

Desplanques, Thienpondt and Demuynck, 2020, "ECAPA-TDNN: Emphasized Channel Attention, Propagation and Aggregation in
TDNN Based Speaker Verification". Features as in speechbrain: 80 mel bands, 25 ms every 10 ms, their mean taken away.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.speech.decode import SAMPLE_RATE
from ingest.speech.network import Graph, Session
from ingest.speech.torch_files import NotTensors, read_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

DIMENSIONS = 192

_MEL_BANDS = 80
_FRAME = SAMPLE_RATE // 40
_HOP = SAMPLE_RATE // 100
_FLOOR = 1e-10
_DYNAMIC_RANGE_DB = 80.0
_SCALE = 8  # parts of a Res2Net block
_DILATIONS = (1, 2, 3, 4)
_FRAME_CHANNELS = 3072


class Embedding:
    """Two networks: one over the whole sound, frame by frame, and one that pools any part of it into a vector. So many
    overlapping parts cost little more than one."""

    def __init__(self, path: Path, threads: int) -> None:
        weights = read_tensors(path)
        try:
            self._frames = _frames(weights, threads)
            self._pool = _pool(weights, threads)
        except KeyError as missing:
            raise NotTensors(f"not a speaker embedding network: {missing} is missing") from missing

    def of(self, sound: Array) -> Array:
        """The unit vector (DIMENSIONS,) of a sound: samples in -1..1, a tenth of a second or more."""
        vector: Array = self.pooled(self.frames(sound), [(0, len(sound))])[0]
        return vector

    def frames(self, sound: Array) -> Array:
        """What the network makes of each moment of a sound, for `pooled`."""
        return self._frames.run(features=features(sound)[None])

    def pooled(self, frames: Array, parts: Sequence[tuple[int, int]]) -> Array:
        """Unit vectors (parts, DIMENSIONS) of parts of the sound, [start, end) in samples."""
        import numpy as np

        vectors = np.concatenate(
            [np.zeros((0, DIMENSIONS), np.float32)]
            + [
                self._pool.run(frames=np.ascontiguousarray(frames[:, :, start // _HOP : end // _HOP + 1]))
                for start, end in parts
            ]
        )
        unit: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
        return unit


def features(sound: Array) -> Array:
    """Log mel energies (frames, 80) of a sound, decibels, each band's mean taken away."""
    import numpy as np

    padded = np.pad(sound.astype(np.float32), _FRAME // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
    hamming = (0.54 - 0.46 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)).astype(np.float32)
    power = np.abs(np.fft.rfft(frames * hamming)) ** 2
    decibels = 10 * np.log10(np.maximum(power @ _mel_bands(), _FLOOR))
    decibels = np.maximum(decibels, decibels.max() - _DYNAMIC_RANGE_DB)
    centred: Array = (decibels - decibels.mean(0)).astype(np.float32)
    return centred


@cache
def _mel_bands() -> npt.NDArray[np.float64]:
    """Triangles (201, 80), evenly spaced in mel, each as wide to the right as to the left."""
    import numpy as np

    top = 2595 * np.log10(1 + SAMPLE_RATE / 2 / 700)
    hz = 700 * (10 ** (np.linspace(0, top, _MEL_BANDS + 2) / 2595) - 1)
    frequencies = np.linspace(0, SAMPLE_RATE / 2, _FRAME // 2 + 1)
    slope = (frequencies[:, None] - hz[1:-1]) / np.diff(hz)[:-1]
    triangles: npt.NDArray[np.float64] = np.maximum(0, np.minimum(slope + 1, 1 - slope))
    return triangles


class _Layers:
    """The network's kinds of layers over a graph, by the names of their weights."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.graph = Graph()
        self.weights = weights

    def convolved(self, value: str, name: str, *, dilation: int = 1) -> str:
        """A convolution that keeps the length; the edges are mirrored."""
        kernel, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        side = dilation * (kernel.shape[2] - 1) // 2
        if side:
            value = self.graph.add("Pad", value, self.graph.whole(0, 0, side, 0, 0, side), mode="reflect")
        return self.graph.add("Conv", value, self.graph.weight(kernel), self.graph.weight(bias), dilations=[dilation])

    def normalised(self, value: str, name: str) -> str:
        """Batch normalisation with what was learned: a factor and a shift for each channel."""
        import numpy as np

        scale = self.weights[f"{name}.weight"] / np.sqrt(self.weights[f"{name}.running_var"] + 1e-5)
        shift = self.weights[f"{name}.bias"] - self.weights[f"{name}.running_mean"] * scale
        scaled = self.graph.add("Mul", value, self.graph.weight(scale[:, None]))
        return self.graph.add("Add", scaled, self.graph.weight(shift[:, None]))

    def time_delay(self, value: str, name: str, *, dilation: int = 1) -> str:
        value = self.graph.add("Relu", self.convolved(value, f"{name}.conv.conv", dilation=dilation))
        return self.normalised(value, f"{name}.norm.norm")

    def res2net(self, value: str, name: str, dilation: int) -> str:
        parts = self.graph.add("Split", value, outputs=_SCALE, axis=1)
        outputs = [parts]
        for number in range(1, _SCALE):
            part = f"{parts}.{number}"
            if number > 1:
                part = self.graph.add("Add", part, outputs[-1])
            outputs.append(self.time_delay(part, f"{name}.blocks.{number - 1}", dilation=dilation))
        return self.graph.add("Concat", *outputs, axis=1)

    def squeezed(self, value: str, name: str) -> str:
        """Each channel weighed by what the whole sound says about it (squeeze and excitation)."""
        gate = self.graph.add("ReduceMean", value, axes=[2])
        gate = self.graph.add("Relu", self.convolved(gate, f"{name}.conv1.conv"))
        gate = self.graph.add("Sigmoid", self.convolved(gate, f"{name}.conv2.conv"))
        return self.graph.add("Mul", gate, value)

    def spread(self, value: str, mean: str, share: str = "") -> str:
        """The standard deviation over time, each moment counting by its share."""
        import numpy as np

        away = self.graph.add("Sub", value, mean)
        square = self.graph.add("Mul", away, away)
        if share:
            variance = self.graph.add("ReduceSum", self.graph.add("Mul", square, share), self.graph.whole(2))
        else:
            variance = self.graph.add("ReduceMean", square, axes=[2])
        return self.graph.add("Sqrt", self.graph.add("Max", variance, self.graph.weight(np.array(1e-12, np.float32))))

    def attention(self, value: str) -> str:
        """How much each moment counts for each channel, seen with mean and deviation of the whole part."""
        import numpy as np

        mean = self.graph.add("ReduceMean", value, axes=[2])
        kernel, bias = self.weights["asp.tdnn.conv.conv.weight"], self.weights["asp.tdnn.conv.conv.bias"]
        of_moment, of_whole = np.split(kernel, [_FRAME_CHANNELS], axis=1)
        moment = self.graph.add(
            "Conv", value, self.graph.weight(np.ascontiguousarray(of_moment)), self.graph.weight(bias)
        )
        context = self.graph.add("Concat", mean, self.spread(value, mean), axis=1)
        whole = self.graph.add("Conv", context, self.graph.weight(np.ascontiguousarray(of_whole)))
        hidden = self.graph.add("Relu", self.graph.add("Add", moment, whole))
        hidden = self.graph.add("Tanh", self.normalised(hidden, "asp.tdnn.norm.norm"))
        return self.graph.add("Softmax", self.convolved(hidden, "asp.conv.conv"), axis=2)


def _frames(weights: Mapping[str, Array], threads: int) -> Session:
    """From features (n, frames, 80) to (n, _FRAME_CHANNELS, frames)."""
    layers = _Layers(weights)
    value = layers.time_delay(layers.graph.add("Transpose", "features", perm=[0, 2, 1]), "blocks.0")
    blocks = []
    for number in range(1, 4):
        before, name = value, f"blocks.{number}"
        value = layers.res2net(layers.time_delay(value, f"{name}.tdnn1"), f"{name}.res2net_block", _DILATIONS[number])
        value = layers.squeezed(layers.time_delay(value, f"{name}.tdnn2"), f"{name}.se_block")
        value = layers.graph.add("Add", value, before)
        blocks.append(value)
    value = layers.time_delay(layers.graph.add("Concat", *blocks, axis=1), "mfa")
    return layers.graph.session({"features": ["n", "frames", _MEL_BANDS]}, value, threads)


def _pool(weights: Mapping[str, Array], threads: int) -> Session:
    """From some frames (n, _FRAME_CHANNELS, frames) to vectors (n, DIMENSIONS)."""
    layers = _Layers(weights)
    share = layers.attention("frames")
    mean = layers.graph.add("ReduceSum", layers.graph.add("Mul", "frames", share), layers.graph.whole(2))
    spread = layers.spread("frames", mean, share)
    pooled = layers.normalised(layers.graph.add("Concat", mean, spread, axis=1), "asp_bn.norm")
    vector = layers.graph.add("Reshape", layers.convolved(pooled, "fc.conv"), layers.graph.whole(0, DIMENSIONS))
    return layers.graph.session({"frames": ["n", _FRAME_CHANNELS, "frames"]}, vector, threads)
