"""Video files for tests, made on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

GREY = 114


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


def letterboxed(photo: Path, size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """A photo in the middle of a grey picture of that width and height."""
    with Image.open(photo) as opened:
        shown = opened.convert("RGB")
    shown.thumbnail(size)
    picture = Image.new("RGB", size, (GREY,) * 3)
    picture.paste(shown, ((size[0] - shown.width) // 2, (size[1] - shown.height) // 2))
    return np.asarray(picture, np.uint8)


def write_codes(path: Path, codes: Sequence[str]) -> Path:
    """A file of 640 x 360 that shows these two codes: EAN-13 where they are digits, else QR."""
    import zxingcpp

    picture = np.full((360, 640, 3), 200, np.uint8)
    for number, text in enumerate(codes):
        kind = zxingcpp.BarcodeFormat.EAN13 if text.isdigit() else zxingcpp.BarcodeFormat.QRCode
        drawn = np.asarray(zxingcpp.create_barcode(text, kind).to_image(scale=4), np.uint8)
        drawn = np.asarray(Image.fromarray(drawn).crop((0, 0, drawn.shape[1], min(drawn.shape[0], 200))))
        top, left = 130, 20 + number * 420
        picture[top : top + drawn.shape[0], left : left + drawn.shape[1]] = drawn[..., None]
    return write_pictures(path, [picture] * 20)


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
