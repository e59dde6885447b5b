"""Video files for tests, made on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt


def write_pictures(path: Path, pictures: Sequence[npt.NDArray[np.uint8]], *, fps: int = 10) -> Path:
    """An H.264 file of these pictures (height x width x 3, RGB, all of one even size)."""
    import av

    with av.open(str(path), "w") as made:
        stream = made.add_stream("libx264", rate=fps, options={"preset": "ultrafast", "crf": "18"})
        stream.height, stream.width, stream.pix_fmt = *pictures[0].shape[:2], "yuv420p"
        for number, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            made.mux(stream.encode(frame))
        made.mux(stream.encode(None))
    return path


def write_clip(path: Path, *, width: int = 320, height: int = 240, frames: int = 10, fps: int = 25) -> Path:
    """An H.264 file in the container that its name says; its brightness grows from picture to picture."""
    import av

    with av.open(str(path), "w") as made:
        stream = made.add_stream("libx264", rate=fps, options={"tune": "zerolatency", "preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(frames):
            grey = np.full((height, width, 3), 20 + 200 * number // frames, np.uint8)
            frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            made.mux(stream.encode(frame))
        made.mux(stream.encode(None))
    return path
