"""From the picture to the floor: where somebody stands, in metres, by points that the owner measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ingest.vision.zones import Point

LEAST_POINTS = 4
_FLAT = 1e-9


class Floor:
    """A plane homography by the direct linear transform (Hartley and Zisserman, "Multiple View Geometry", 4.1): exact
    for four points, least squares for more."""

    def __init__(self, matrix: npt.NDArray[np.float64]) -> None:
        self._matrix = matrix

    @classmethod
    def of(cls, calibration: Sequence[Mapping[str, Any]]) -> Floor | None:
        """From points with `image` (x, y, 0 to 1) and `floor` (x, y in metres). None for fewer than four, and for
        points that tell nothing, such as all on one line."""
        if len(calibration) < LEAST_POINTS:
            return None
        rows = []
        for point in calibration:
            (x, y), (u, v) = point["image"], point["floor"]
            rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, -u])
            rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, -v])
        _, sizes, directions = np.linalg.svd(np.asarray(rows, np.float64))
        # Where another solution fits as well, the points lie on a line.
        if sizes[7] <= _FLAT * sizes[0]:
            return None
        return cls(directions[-1].reshape(3, 3))

    def place(self, point: Point) -> tuple[float, float] | None:
        """Metres, for a point of the picture (relative); None at or beyond the horizon."""
        x, y, w = self._matrix @ np.array([point[0], point[1], 1.0])
        if abs(w) <= _FLAT:
            return None
        return float(x / w), float(y / w)
