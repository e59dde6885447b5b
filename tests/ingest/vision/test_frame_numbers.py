"""Lost pictures are seen by the numbers in H.264's headers, over streams of a real encoder."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import av
import numpy as np
import pytest

from ingest.vision.frame_numbers import START, FrameNumbers

ENCODERS = [
    {"tune": "zerolatency"},
    {"bf": "2", "x264-params": "b-adapt=0"},
    {"profile": "baseline", "x264-params": "slices=3:sliced-threads=0"},
    {"profile": "high", "x264-params": "b-pyramid=normal:bframes=3"},
    {"x264-params": "interlaced=1"},
]


@cache
def pictures(encoder: int) -> list[bytes]:
    """80 pictures in the order in which they are sent; every 30th is a key frame."""
    context = av.CodecContext.create("libx264", "w")
    context.width, context.height, context.pix_fmt = 160, 128, "yuv420p"
    context.framerate, context.time_base = Fraction(25), Fraction(1, 25)
    context.options = {"preset": "veryfast", "g": "30"} | ENCODERS[encoder]
    made = []
    for number in range(80):
        grey = np.full((128, 160, 3), number * 3, np.uint8)
        frame = av.VideoFrame.from_ndarray(grey, format="rgb24").reformat(format="yuv420p")
        frame.pts = number
        made += context.encode(frame)
    made += context.encode(None)
    return [
        bytes(packet).replace(b"\x00\x00\x00\x01", b"\x00\x00\x01").replace(b"\x00\x00\x01", START) for packet in made
    ]


def is_leaned_on(picture: bytes) -> bool:
    return any(unit[0] & 0x60 for unit in picture.split(START) if unit and unit[0] & 31 in (1, 5))


@pytest.mark.parametrize("encoder", range(len(ENCODERS)))
def test_a_whole_stream_misses_nothing(encoder: int) -> None:
    numbers = FrameNumbers(None)
    assert not any(numbers.misses(picture) for picture in pictures(encoder))


@pytest.mark.parametrize("encoder", range(len(ENCODERS)))
def test_a_lost_picture_is_missed_by_the_next_one_at_the_latest_that_is_counted(encoder: int) -> None:
    whole = pictures(encoder)
    for lost in range(5, 20):
        numbers = FrameNumbers(None)
        rest = whole[:lost] + whole[lost + 1 : lost + 5]
        assert any(map(numbers.misses, rest)) == is_leaned_on(whole[lost]), lost


def test_what_cannot_be_read_misses_nothing() -> None:
    numbers = FrameNumbers(b"\x01\x42\x00\x1e")
    for data in (b"", START, START + b"\x67", START + b"\x41", START + b"\x41\x00\x00\x00\x00", b"\x00" * 100):
        assert not numbers.misses(data)
