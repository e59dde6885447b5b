"""A heat map as a picture: transparent where nobody was, from blue over yellow to red where people stayed longest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

_WIDTH, _HEIGHT = 1280, 720
_COLOURS = np.array([[0, 0, 255, 0], [0, 120, 255, 110], [0, 220, 160, 150], [255, 220, 0, 180], [255, 40, 0, 210]])


def draw_heat(cells: npt.NDArray[np.float32]) -> Image.Image:
    """RGBA, 1280 x 720, to be laid over the camera's picture. By the square root, so that a place where one stood for
    an hour does not hide where a hundred walked."""
    most = float(cells.max(initial=0.0))
    share = np.sqrt(cells / most) if most > 0 else np.zeros_like(cells)
    smooth = Image.fromarray((share * 255).astype(np.uint8)).resize((_WIDTH, _HEIGHT), Image.Resampling.BICUBIC)
    place = np.asarray(smooth, np.float32) / 255 * (len(_COLOURS) - 1)
    colours = [np.interp(place, np.arange(len(_COLOURS)), _COLOURS[:, number]) for number in range(4)]
    return Image.fromarray(np.stack(colours, axis=-1).astype(np.uint8), "RGBA")
