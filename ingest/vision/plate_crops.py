"""What is cut out of a picture around a plate, before it is read."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

TWO_LINES_BELOW = 2.4
"""Width by height of a plate, without its margin, below which it may have two lines. One-line plates seen from the
side come down to 2.5."""
_LEAST_SIDE = 6


def cut_out(image: Pixels, box: Sequence[float], *, off_height: float = 0.0, off_width: float = 0.0) -> Pixels | None:
    """What is inside x1, y1, x2, y2 (pixels), less a share of the box at each side (negative: more). None where too
    little is left in the picture."""
    height, width = image.shape[:2]
    x1, y1, x2, y2 = box
    across, down = (x2 - x1) * off_width, (y2 - y1) * off_height
    left, right = max(0, round(x1 + across)), min(width, round(x2 - across))
    top, bottom = max(0, round(y1 + down)), min(height, round(y2 - down))
    if right - left < _LEAST_SIDE or bottom - top < _LEAST_SIDE:
        return None
    return image[top:bottom, left:right]


def two_lines(crop: Pixels) -> tuple[Pixels, Pixels] | None:
    """The upper and the lower part of a plate, parted near its middle; None for one that is too wide for two lines."""
    height, width = crop.shape[:2]
    if width >= TWO_LINES_BELOW * height or height < 2 * _LEAST_SIDE + 4:
        return None
    grey = cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY).astype(np.float32)
    inner = grey[:, width // 10 : width - width // 10]
    # A row between the lines has one colour; a row through characters has many.
    unrest = cv2.GaussianBlur(inner.std(axis=1)[:, None], (1, 5), 0)[:, 0]
    first, last = round(height * 0.35), round(height * 0.6)
    parting = first + int(unrest[first:last].argmin())
    return crop[: parting + 1], crop[parting:]
