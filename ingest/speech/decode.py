"""Reads sound out of any container: what is in it, and its samples at 16 kHz, one file a channel.

The content decides what a file is, never its name. Damaged packets are skipped, so a broken file gives what can still
be read. Memory stays bounded: samples go to disk as they come.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SAMPLE_RATE = 16_000
MAX_CHANNELS = 8
MAX_DURATION_MS = 24 * 3600 * 1000
_PROBED_PACKETS = 500
_WRITE_BUFFER = 256 * 1024

# Containers of sound, alone or with video. Playlists and the like are left out on purpose: they name other files.
_FORMATS = (
    "wav,w64,mp3,flac,ogg,aac,loas,ac3,eac3,aiff,au,amr,caf,wv,ape,tta,mpc,mpc8,dts,voc,gsm,"
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,asf,avi,flv,mpegts,mpeg"
)


class Undecodable(Exception):
    """There is no sound in the file that could be read. The message says why."""


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What the container says. `duration_ms` is None where it does not say."""

    duration_ms: int | None
    channels: int
    sample_rate: int
    codec: str
    container: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """Samples on disk: `files[c]` holds channel c as raw int16 at 16 kHz. `duration_ms` is what was really decoded."""

    files: tuple[Path, ...]
    duration_ms: int
    truncated: bool
    damaged_packets: int
    info: AudioInfo


def probe(path: Path) -> AudioInfo:
    """What sound a file holds; at least one frame of it was decoded. Raises Undecodable."""
    with _opened(path) as (container, stream):
        for frames in islice(_frames(container, stream, _Damage()), _PROBED_PACKETS):
            if frames:
                return _info(container, stream, frames[0])
    raise Undecodable("no sound in the file can be decoded")


def decode(path: Path, folder: Path, *, max_duration_ms: int = MAX_DURATION_MS) -> Decoded:
    """Writes every channel of the first audio stream into `folder`. Raises Undecodable where nothing can be read.

    What is longer than `max_duration_ms` is cut there and reported as truncated.
    """
    folder.mkdir(parents=True, exist_ok=True)
    damage = _Damage()
    info: AudioInfo | None = None
    limit = max_duration_ms * SAMPLE_RATE // 1000
    written = 0
    with ExitStack() as stack:
        container, stream = stack.enter_context(_opened(path))
        resampler = _Resampler()
        outputs: list[BinaryIO] = []
        for block in resampler.blocks(_frames(container, stream, damage)):
            if info is None:
                info = _info(container, stream, resampler.first)
                files = tuple(folder / f"channel-{number}.s16" for number in range(block.shape[0]))
                outputs = [stack.enter_context(file.open("wb", buffering=_WRITE_BUFFER)) for file in files]
            block = block[:, : limit - written]
            for samples, output in zip(block, outputs, strict=True):
                output.write(samples.tobytes())
            written += block.shape[1]
            if written >= limit:
                damage.cut = True
                break
    if info is None or written == 0:
        raise Undecodable("no sound in the file can be decoded")
    duration_ms = written * 1000 // SAMPLE_RATE
    missing_ms = (info.duration_ms or 0) - duration_ms
    # Containers without an index only estimate their length, hence the tolerance.
    short = missing_ms > max(1000, duration_ms // 20)
    return Decoded(files, duration_ms, damage.cut or short or damage.packets > 0, damage.packets, info)


def samples_of(file: Path) -> npt.NDArray[np.int16]:
    """A decoded channel, (samples,) int16, mapped from disk."""
    import numpy as np

    if file.stat().st_size == 0:
        return np.zeros(0, np.int16)
    return np.memmap(file, dtype=np.int16, mode="r")


class _Damage:
    """What was lost on the way."""

    def __init__(self) -> None:
        self.packets = 0
        self.cut = False


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    import av

    av.logging.set_level(None)
    with path.open("rb") as file:
        try:
            container = av.open(file, mode="r", options={"format_whitelist": _FORMATS, "protocol_whitelist": "none"})
        except (av.error.FFmpegError, OSError, ValueError) as error:
            raise Undecodable("the file is not a known audio or video format") from error
        with container:
            if not container.streams.audio:
                raise Undecodable("the file holds no sound")
            yield container, container.streams.audio[0]


def _frames(container: Any, stream: Any, damage: _Damage) -> Iterator[list[Any]]:
    """The frames of each packet; none for a damaged one."""
    import av

    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
        except StopIteration:
            return
        except av.error.FFmpegError:
            damage.cut = True
            return
        try:
            yield [frame for frame in packet.decode() if frame.samples]
        except av.error.FFmpegError:
            # An end-of-stream packet that a codec refuses is no damage to the sound.
            damage.packets += packet.size > 0
            yield []


class _Resampler:
    """Turns frames into (channels, samples) int16 at 16 kHz. The first frame's layout holds for the whole file."""

    def __init__(self) -> None:
        self.first: Any = None
        self._shape: tuple[Any, ...] = ()
        self._resampler: Any = None

    def blocks(self, packets: Iterator[list[Any]]) -> Iterator[npt.NDArray[np.int16]]:
        for frames in packets:
            for frame in frames:
                yield from self._push(frame)
        if self._resampler is not None:
            yield from self._arrays(None)

    def _push(self, frame: Any) -> Iterator[npt.NDArray[np.int16]]:
        import av

        if self.first is None:
            self.first = frame
            # More channels than people can sit on: surround sound, not a conversation; mixed down.
            many = frame.layout.nb_channels > MAX_CHANNELS
            self._layout = "mono" if many else frame.layout
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if shape != self._shape:  # streams may change in the middle
            if self._resampler is not None:
                yield from self._arrays(None)
            self._shape = shape
            self._resampler = av.AudioResampler(format="s16p", layout=self._layout, rate=SAMPLE_RATE)
        frame.pts = None
        yield from self._arrays(frame)

    def _arrays(self, frame: Any) -> Iterator[npt.NDArray[np.int16]]:
        for out in self._resampler.resample(frame):
            if out.samples:
                yield out.to_ndarray()


def _info(container: Any, stream: Any, frame: Any) -> AudioInfo:
    duration_ms = None
    if stream.duration and stream.time_base:
        duration_ms = int(stream.duration * stream.time_base * 1000)
    elif container.duration:
        duration_ms = container.duration // 1000
    return AudioInfo(
        duration_ms,
        frame.layout.nb_channels,
        frame.sample_rate,
        stream.codec_context.name,
        container.format.name.split(",")[0],
    )
