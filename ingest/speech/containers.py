"""Opens a recording, whatever container it is in, and says what sound it holds.

The content decides what a file is, never its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ingest.speech.samples import Undecodable

_LONGEST_CLAIM_MS = 366 * 24 * 3600 * 1000

# Containers of sound, alone or with video. Playlists and the like are left out on purpose: they name other files.
_FORMATS = (
    "wav,w64,mp3,flac,ogg,aac,loas,ac3,eac3,aiff,au,amr,caf,wv,ape,tta,mpc,mpc8,dts,voc,gsm,nistsphere,dss,qcp,"
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,asf,avi,flv,mpegts,mpeg"
)
_CLOCKED = {"mov", "matroska", "ogg", "asf", "flv", "mpegts", "mpeg", "flac", "amr"}
_HEAD_BYTES = 4096
_GSM_FRAME_BYTES = 33
_FEWEST_GSM_FRAMES = 10
_WEBM = re.compile(rb"\x42\x82.{1,8}?webm", re.DOTALL)  # the DocType of its EBML header

# By FFmpeg's name of the container: for sound alone, and with video. Names as IANA has them, else those in wide use.
_MEDIA_TYPES = {
    "wav": ("audio/wav", ""),
    "w64": ("audio/x-w64", ""),
    "mp3": ("audio/mpeg", ""),
    "flac": ("audio/flac", ""),
    "ogg": ("audio/ogg", "video/ogg"),
    "aac": ("audio/aac", ""),
    "loas": ("audio/aac", ""),
    "ac3": ("audio/ac3", ""),
    "eac3": ("audio/eac3", ""),
    "aiff": ("audio/aiff", ""),
    "au": ("audio/basic", ""),
    "amr": ("audio/amr", ""),
    "amr-wb": ("audio/amr-wb", ""),
    "caf": ("audio/x-caf", ""),
    "wv": ("audio/x-wavpack", ""),
    "ape": ("audio/x-ape", ""),
    "tta": ("audio/x-tta", ""),
    "mpc": ("audio/x-musepack", ""),
    "mpc8": ("audio/x-musepack", ""),
    "dts": ("audio/vnd.dts", ""),
    "voc": ("audio/x-voc", ""),
    "gsm": ("audio/x-gsm", ""),
    "nistsphere": ("audio/x-nist", ""),
    "dss": ("audio/x-dss", ""),
    "qcp": ("audio/qcelp", ""),
    "mov": ("audio/mp4", "video/quicktime"),
    "mp4": ("audio/mp4", "video/mp4"),
    "3gp": ("audio/3gpp", "video/3gpp"),
    "3g2": ("audio/3gpp2", "video/3gpp2"),
    "matroska": ("audio/x-matroska", "video/x-matroska"),
    "webm": ("audio/webm", "video/webm"),
    "asf": ("audio/x-ms-wma", "video/x-ms-wmv"),
    "avi": ("video/x-msvideo", "video/x-msvideo"),
    "flv": ("video/x-flv", "video/x-flv"),
    "mpegts": ("video/mp2t", "video/mp2t"),
    "mpeg": ("video/mpeg", "video/mpeg"),
}


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What the container says. `duration_ms` is None where it does not say; `video`: moving pictures come with it."""

    duration_ms: int | None
    channels: int
    sample_rate: int
    codec: str
    container: str
    video: bool = False


def media_type(info: AudioInfo) -> str:
    """The media type of a recording by its content: audio/wav, video/mp4."""
    alone, with_video = _MEDIA_TYPES.get(info.container, ("application/octet-stream", ""))
    return (info.video and with_video) or alone


def damages() -> tuple[type[Exception], ...]:
    """What reading, decoding or resampling damaged sound raises.

    PyAV raises MemoryError where FFmpeg refuses a claimed size, and Python's own errors for numbers without sense.
    """
    import av

    return (av.error.FFmpegError, MemoryError, ValueError, IndexError, ArithmeticError)


class _Source:
    """A part of a file as FFmpeg reads it; it is not told the name.

    A place that no file can have is an error for FFmpeg alone, not for its caller.
    """

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file = file
        self._start = start
        self._end = end
        file.seek(start)

    def read(self, size: int) -> bytes:
        return self._file.read(max(min(size, self._end - self._file.tell()), 0))

    def tell(self) -> int:
        return self._file.tell() - self._start

    def seek(self, target: int, whence: int = 0) -> int:
        base = {0: self._start, 1: self._file.tell(), 2: self._end}.get(whence, -1)
        try:
            return self._file.seek(base + target) - self._start if base + target >= self._start else -1
        except (OSError, ValueError, OverflowError):
            return -1

    def seekable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Recording:
    """PyAV's container, its first audio stream, and the first bytes of the file."""

    container: Any
    stream: Any
    head: bytes

    @property
    def claimed_ms(self) -> int | None:
        """How long the sound is by the container's word; None where it has none that is possible."""
        if self.stream.duration and self.stream.time_base:
            claimed_ms = int(self.stream.duration * self.stream.time_base * 1000)
        elif self.container.duration:
            claimed_ms = self.container.duration // 1000
        else:
            return None
        return claimed_ms if 0 <= claimed_ms <= _LONGEST_CLAIM_MS else None

    @property
    def is_ogg(self) -> bool:
        return self._format == "ogg"

    @property
    def has_clock(self) -> bool:
        """Whether time stamps are written down in it, rather than counted from the packets that are there."""
        return self._format in _CLOCKED

    @property
    def origin_s(self) -> float | None:
        """The time stamp at which the recording, pictures included, begins."""
        start_us = self.container.start_time
        return None if start_us is None else float(start_us / 1_000_000)

    def info(self, frame: Any) -> AudioInfo:
        """What the container says, and the layout and rate of the first frame of its sound."""
        return AudioInfo(
            self.claimed_ms,
            frame.layout.nb_channels,
            frame.sample_rate,
            self.stream.codec_context.name,
            self._name(),
            any(not _is_cover(picture) for picture in self.container.streams.video),
        )

    @property
    def _format(self) -> str:
        """FFmpeg's first name of it."""
        name: str = self.container.format.name.split(",")[0]
        return name

    def _name(self) -> str:
        """The format, told apart where one reader reads several."""
        name = self._format
        if name == "mov":
            brand = str(self.container.metadata.get("major_brand", "qt")).strip().lower()
            return "mov" if brand == "qt" else brand[:3] if brand.startswith(("3gp", "3g2")) else "mp4"
        if name == "matroska" and _WEBM.search(self.head):
            return "webm"
        if name == "amr" and self.head.startswith(b"#!AMR-WB"):
            return "amr-wb"
        return name


@contextmanager
def opened(path: Path, start: int = 0, end: int | None = None) -> Iterator[Recording]:
    """Opens a recording that has sound, in a whole file or from byte `start` to `end`. Raises Undecodable."""
    import av

    av.logging.set_level(None)
    size = path.stat().st_size
    with path.open("rb") as file:
        source = _Source(file, start, size if end is None else end)
        head = source.read(_HEAD_BYTES)
        source.seek(0)
        # FFmpeg itself recognises only more than half a second of it.
        container = _open(source, "gsm" if is_raw_gsm(head) else None)
        with container:
            if not container.streams.audio:
                raise Undecodable("the file holds no sound")
            yield Recording(container, container.streams.audio[0], head)


def _open(source: _Source, format_name: str | None) -> Any:
    import av

    unreadable: tuple[type[Exception], ...] = (*damages(), OSError)
    try:
        return av.open(
            source,
            mode="r",
            format=format_name,
            options={"format_whitelist": _FORMATS, "protocol_whitelist": "none"},
            metadata_errors="replace",
        )
    except unreadable as error:
        raise Undecodable("the file is not a known audio or video format") from error


def is_raw_gsm(head: bytes) -> bool:
    """Whether a file begins as bare GSM 06.10 frames do: 33 bytes each, the first half-byte of each 0xD."""
    starts = head[::_GSM_FRAME_BYTES]
    marked = sum(byte >> 4 == 0xD for byte in starts)
    return len(starts) >= _FEWEST_GSM_FRAMES and len(starts) - marked <= len(starts) // 25


def _is_cover(stream: Any) -> bool:
    import av

    return bool(stream.disposition & av.stream.Disposition.attached_pic)
