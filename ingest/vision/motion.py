"""Whether anything moves in a camera's picture: a still scene must cost almost nothing.

Works on small grey pictures. The background is a running mean, so slow changes of light are part of it; what stays
where it came to becomes part of it too, after about `FORGET_S`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WIDTH = 96
"""Of the pictures, in pixels; the height follows from the camera's."""
FORGET_S = 8.0
KEEPS_MOVING_S = 1.5
_LEAST_CHANGE = 12.0  # of 255: above the noise of a camera
_LEAST_SHARE = 0.0015  # of the picture: a person far away
_NOISE_FACTOR = 4.0


class MotionGate:
    """One camera's. Not for several threads."""

    def __init__(self) -> None:
        self._background: npt.NDArray[np.float32] | None = None
        self._noise = 0.0
        self._seen_s = 0.0
        self._moved_s = float("-inf")

    def moves(self, grey: npt.NDArray[np.uint8], now_s: float) -> bool:
        """Whether something moves at `now_s` (monotonic), or did until a moment ago. The first picture counts as
        movement, and so does one of another size."""
        picture = grey.astype(np.float32)
        if self._background is None or self._background.shape != picture.shape:
            self._background, self._seen_s, self._moved_s = picture, now_s, now_s
            return True
        difference = np.abs(picture - self._background)
        # When the sun comes out everything changes at once; that alone is no movement.
        difference = np.abs(difference - np.median(difference))
        self._noise = 0.95 * self._noise + 0.05 * float(np.median(difference))
        changed = difference > max(_LEAST_CHANGE, _NOISE_FACTOR * self._noise)
        weight = min(1.0, max(0.0, now_s - self._seen_s) / FORGET_S)
        self._background += weight * (picture - self._background)
        self._seen_s = now_s
        if _without_specks(changed).mean() >= _LEAST_SHARE:
            self._moved_s = now_s
        return now_s - self._moved_s <= KEEPS_MOVING_S


def _without_specks(changed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Only where at least three of the four neighbours in a square changed too."""
    count = changed[:-1, :-1].astype(np.uint8) + changed[1:, :-1] + changed[:-1, 1:] + changed[1:, 1:]
    return np.asarray(count >= 3)
