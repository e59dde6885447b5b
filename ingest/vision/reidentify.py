"""What a person looks like, as a vector: pictures of one person are near each other, those of different people are not.

The network is OSNet x0.25, trained on MSMT17 (Zhou et al., "Omni-Scale Feature Learning for Person Re-Identification",
2019); pictures are prepared as in its authors' torchreid: 256 x 128, RGB, ImageNet's mean and deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

DIMENSIONS = 512
HEIGHT, WIDTH = 256, 128
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_BESIDE = 0.1
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


class Appearance:
    """The network on its threads. Not for several threads at once."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        """ValueError where the file is no network of this kind."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        # The runtime has errors of many kinds for a damaged file, which have no other base.
        except Exception as failed:
            raise ValueError(f"{path.name} cannot be opened: {failed}") from failed
        takes, gives = self._session.get_inputs(), self._session.get_outputs()
        if len(takes) != 1 or takes[0].shape[1:] != [3, HEIGHT, WIDTH] or gives[0].shape[-1] != DIMENSIONS:
            raise ValueError(f"{path.name} does not turn 3 x {HEIGHT} x {WIDTH} pixels into {DIMENSIONS} numbers")
        self._input = takes[0].name

    def embed(self, crops: Sequence[Pixels]) -> Floats:
        """n pictures of one person each (height x width x 3, RGB) to n x 512 unit vectors. ValueError for an empty
        picture or one that is not RGB."""
        embeddings = np.zeros((len(crops), DIMENSIONS), np.float32)
        # The published network takes one picture at a time.
        for place, crop in enumerate(crops):
            embeddings[place] = self._session.run(None, {self._input: prepared(crop)})[0][0]
        norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
        return np.asarray(embeddings / np.maximum(norms, 1e-12), np.float32)


def prepared(crop: Pixels) -> Floats:
    """A picture as the network takes it: 1 x 3 x 256 x 128. ValueError as in `embed`."""
    if crop.ndim != 3 or crop.shape[2] != 3 or not crop.size:
        raise ValueError(f"a picture is height x width x 3, not {crop.shape}")
    resized = Image.fromarray(crop).resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)
    planes = (np.asarray(resized, np.float32) / 255 - _MEAN) / _DEVIATION
    return np.ascontiguousarray(planes.transpose(2, 0, 1)[None])


def cut_out(picture: Pixels, box: Sequence[float]) -> Pixels | None:
    """The picture of a person in a box (x1, y1, x2, y2 in pixels), cut at the border; None where less than 8 pixels
    each way are left. A tenth is left out on each side: what stands beside people is the same for all of them."""
    height, width = picture.shape[:2]
    less = _BESIDE * (box[2] - box[0])
    left, top = max(0, round(box[0] + less)), max(0, round(box[1]))
    right, bottom = min(width, round(box[2] - less)), min(height, round(box[3]))
    if right - left < 8 or bottom - top < 8:
        return None
    return picture[top:bottom, left:right]
