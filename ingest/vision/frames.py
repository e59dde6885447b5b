"""A picture of a camera, and the forms in which others want it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture. `number` counts the pictures of a capture from 1, those that nobody took included, and the
    `undecoded` of them, which came faster than they could be decoded.

    `seen_at` (UTC) and `arrived_s` (monotonic) are when its last packet arrived, by the camera's clock as far as that
    can be told: it may have waited to be read. `is_key`: it was decoded without any other picture. The forms are made
    when they are asked for, in the asking thread: what nobody looks at costs its decoding alone.
    """

    number: int
    undecoded: int
    seen_at: datetime
    arrived_s: float
    is_key: bool
    width: int
    height: int
    _picture: Any = field(repr=False)  # av.VideoFrame
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def image(self) -> npt.NDArray[np.uint8]:
        """RGB, (height, width, 3). Made anew at each call: .5 ms for 1280 x 720."""
        return self._form("rgb24", self.width, self.height)

    def thumbnail(self, width: int = 160) -> npt.NDArray[np.uint8]:
        """Grey, (height, width) at most that wide, averaged over areas: .4 ms from 1280 x 720, colours untouched."""
        width = max(1, min(width, self.width))
        return self._form("gray", width, max(1, round(self.height * width / self.width)))

    def _form(self, kind: str, width: int, height: int) -> npt.NDArray[np.uint8]:
        from av.video.reformatter import Interpolation

        # Threads of the scaler's own cost three times of what they save; and it writes to the frame for a moment.
        with self._lock:
            made = self._picture.reformat(width, height, kind, interpolation=Interpolation.AREA, threads=1)
        array: npt.NDArray[np.uint8] = made.to_ndarray()
        return array
