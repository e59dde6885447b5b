"""Audio and request bodies for the contract's tests: pieces of the demo's calls, tones, and multipart by hand."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.support.audio import call_clip

RATE = 16_000

Samples = npt.NDArray[np.int16]
"""(frames, channels) at 16 kHz."""


@cache
def spoken(name: str, start_s: float, end_s: float) -> Samples:
    """Seconds of a demo call, (frames, 2)."""
    with wave.open(io.BytesIO(call_clip(name, start_s, end_s))) as file:
        return np.frombuffer(file.readframes(-1), np.int16).reshape(-1, 2)


def tone(seconds: float, hz: float = 440.0) -> Samples:
    times = np.arange(int(seconds * RATE)) / RATE
    return (8000 * np.sin(2 * np.pi * hz * times)).astype(np.int16)[:, None]


def wav(samples: Samples) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return out.getvalue()


def wav_of_size(size: int) -> bytes:
    """A tone as a mono WAV file of exactly `size` bytes."""
    head = wav(tone(0))
    content = wav(tone((size - len(head)) // 2 / RATE + 1)[: (size - len(head)) // 2])
    return content + bytes(size - len(content))


def encoded(samples: Samples, container: str, codec: str) -> bytes:
    """The samples as a file of another format: ("mp3", "mp3"), ("flac", "flac"), ("ogg", "libopus")."""
    import av

    layout = {1: "mono", 2: "stereo"}[samples.shape[1]]
    out = io.BytesIO()
    with av.open(out, "w", format=container) as made:
        stream: Any = made.add_stream(codec, rate=RATE, layout=layout)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.reshape(1, -1)), format="s16", layout=layout)
        frame.sample_rate = RATE
        for ready in av.AudioResampler(format=stream.format, layout=layout, rate=RATE).resample(frame):
            made.mux(stream.encode(ready))
        made.mux(stream.encode(None))
    return out.getvalue()


class _Pipe(io.RawIOBase):
    """Can be written to, but not gone back in: headers keep what was known at the start."""

    def __init__(self) -> None:
        self.written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.written += data
        return len(data)


def streamed_flac(samples: Samples) -> bytes:
    """A mono FLAC file whose header does not say how long it is."""
    import av

    out = _Pipe()
    with av.open(out, "w", format="flac") as made:
        stream: Any = made.add_stream("flac", rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.reshape(1, -1)), format="s16", layout="mono")
        frame.sample_rate = RATE
        for ready in av.AudioResampler(format=stream.format, layout="mono", rate=RATE).resample(frame):
            made.mux(stream.encode(ready))
        made.mux(stream.encode(None))
    return bytes(out.written)


def understated(samples: Samples, claimed_s: float) -> bytes:
    """A Matroska file with Opus in it, whose header claims another length than it has."""
    content = bytearray(encoded(samples, "matroska", "libopus"))
    place = content.index(b"\x44\x89\x88") + 3  # the element Duration, a double in milliseconds
    content[place : place + 8] = struct.pack(">d", claimed_s * 1000)
    return bytes(content).replace(b"DURATION", b"DURATIOX")


def silent_video() -> bytes:
    """A film of one second without a sound track."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="matroska") as made:
        stream: Any = made.add_stream("mpeg4", rate=25)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for step in range(25):
            picture = np.full((64, 64, 3), step * 9, np.uint8)
            made.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        made.mux(stream.encode(None))
    return out.getvalue()


def png() -> bytes:
    """A picture of one white point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\x00\xff\xff\xff")) + chunk(b"IEND", b"")


def multipart(*parts: tuple[str, bytes, str], end: bool = True) -> dict[str, Any]:
    """`content` and `headers` of a request: parts of (name, value, file name or ""), bytes as they are given."""
    body = b""
    for name, value, file_name in parts:
        disposition = f'form-data; name="{name}"' + (f'; filename="{file_name}"' if file_name else "")
        body += b"--edge\r\nContent-Disposition: " + disposition.encode() + b"\r\n\r\n" + value + b"\r\n"
    body += b"--edge--\r\n" if end else b""
    return {"content": body, "headers": {"Content-Type": "multipart/form-data; boundary=edge"}}
