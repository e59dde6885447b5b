"""Reads sound out of any container: what is in it, and its samples at 16 kHz, one file a channel.

The content decides what a file is, never its name. Damaged packets are skipped, so a broken file gives what can still
be read. Memory and disk stay bounded: samples go to disk as they come, up to MAX_DECODED_BYTES, and never into the last
gigabyte of it.
"""

from __future__ import annotations

import errno
import io
import shutil
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
MAX_DECODED_BYTES = 24 * 3600 * SAMPLE_RATE * 2 * 2
"""All channels together: a day of stereo, 5.5 GB. A few KiB of compressed silence can claim much more."""
MIN_FREE_BYTES = 10**9
"""What decoding leaves free on the disk."""

_MOST_CHANNELS = 64  # of FFmpeg's resampler
# Outside of it no sound is recorded; one sample at 1 Hz would become 16 000.
_LOWEST_RATE, _HIGHEST_RATE = 1_000, 1_000_000
_LONGEST_CLAIM_MS = 366 * 24 * 3600 * 1000
_MOST_UNREADABLE = 1000
_CHECKED_BYTES = 32 * 1024 * 1024
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
        damage = _Damage()
        resampler = _Resampler(damage)
        for _ in resampler.blocks(islice(_frames(container, stream, damage), _PROBED_PACKETS)):
            return _info(container, stream, resampler.first)
    raise Undecodable("no sound in the file can be decoded")


def decode(
    path: Path, folder: Path, *, max_duration_ms: int = MAX_DURATION_MS, max_bytes: int = MAX_DECODED_BYTES
) -> Decoded:
    """Writes every channel of the first audio stream into `folder`, which then holds at most `max_bytes` more.

    What is longer than `max_duration_ms`, or too much for `max_bytes`, is cut there and reported as truncated. More
    than MAX_CHANNELS channels become one. Raises Undecodable where nothing can be read or the disk has no room for it;
    the files are then gone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    try:
        with _full_disk_is_told():
            return _decode(path, folder, files, max_duration_ms * SAMPLE_RATE // 1000, max_bytes)
    except Undecodable:
        for file in files:
            file.unlink(missing_ok=True)
        raise


def _decode(path: Path, folder: Path, files: list[Path], most_samples: int, max_bytes: int) -> Decoded:
    damage = _Damage()
    info: AudioInfo | None = None
    written = unchecked = 0
    with ExitStack() as stack:
        container, stream = stack.enter_context(_opened(path))
        resampler = _Resampler(damage)
        outputs: list[BinaryIO] = []
        for block in resampler.blocks(_frames(container, stream, damage)):
            if info is None:
                info = _info(container, stream, resampler.first)
                most_samples = min(most_samples, max_bytes // (2 * len(block)))
                files += [folder / f"channel-{number}.s16" for number in range(len(block))]
                check_room(folder, block.nbytes)
                outputs = [stack.enter_context(file.open("wb", buffering=_WRITE_BUFFER)) for file in files]
            unchecked += block.nbytes
            if unchecked >= _CHECKED_BYTES:
                check_room(folder, unchecked)
                unchecked = 0
            block = block[:, : most_samples - written]
            for samples, output in zip(block, outputs, strict=True):
                output.write(samples.tobytes())
            written += block.shape[1]
            if written >= most_samples:
                damage.cut = True
                break
    if info is None or written == 0:
        raise Undecodable("no sound in the file can be decoded")
    duration_ms = written * 1000 // SAMPLE_RATE
    missing_ms = (info.duration_ms or 0) - duration_ms
    # Containers without an index only estimate their length, hence the tolerance.
    short = missing_ms > max(1000, duration_ms // 20)
    return Decoded(tuple(files), duration_ms, damage.cut or short or damage.packets > 0, damage.packets, info)


def check_room(folder: Path, size_bytes: int) -> None:
    """Raises Undecodable unless MIN_FREE_BYTES stay free on the folder's disk after writing that much."""
    if shutil.disk_usage(folder).free - size_bytes < MIN_FREE_BYTES:
        raise Undecodable("the server's disk has no room for the decoded sound")


@contextmanager
def _full_disk_is_told() -> Iterator[None]:
    """A disk, quota or file that is full becomes Undecodable: trying again at once would only fill it again."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise Undecodable("the server's disk has no room for the decoded sound") from error


def write_samples(file: Path, blocks: Iterator[npt.NDArray[np.int16]], size_bytes: int) -> None:
    """Writes a channel of about `size_bytes`. Raises Undecodable where the disk has no room for it."""
    check_room(file.parent, size_bytes)
    with _full_disk_is_told(), file.open("wb") as output:
        for block in blocks:
            output.write(block.tobytes())


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


def _damages() -> tuple[type[Exception], ...]:
    """What reading, decoding or resampling damaged sound raises.

    PyAV raises MemoryError where FFmpeg refuses a claimed size, and Python's own errors for numbers without sense.
    """
    import av

    return (av.error.FFmpegError, MemoryError, ValueError, IndexError, ArithmeticError)


class _Source(io.BufferedReader):
    """The file as FFmpeg reads it. A place that no file can have is an error for FFmpeg alone, not for its caller."""

    def seek(self, target: int, whence: int = 0, /) -> int:
        try:
            return super().seek(target, whence)
        except (OSError, ValueError, OverflowError):
            return -1


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    import av

    av.logging.set_level(None)
    damages: tuple[type[Exception], ...] = (*_damages(), OSError)
    with _Source(io.FileIO(path)) as file:
        try:
            container = av.open(
                file,
                mode="r",
                options={"format_whitelist": _FORMATS, "protocol_whitelist": "none"},
                metadata_errors="replace",
            )
        except damages as error:
            raise Undecodable("the file is not a known audio or video format") from error
        with container:
            if not container.streams.audio:
                raise Undecodable("the file holds no sound")
            yield container, container.streams.audio[0]


def _frames(container: Any, stream: Any, damage: _Damage) -> Iterator[list[Any]]:
    """The frames of each packet; none for a damaged one."""
    damages = _damages()
    packets = container.demux(stream)
    unreadable = 0
    while True:
        try:
            packet = next(packets)
        except (StopIteration, IndexError):
            # PyAV raises IndexError at the end, after this stream's, for streams that the header did not name.
            return
        except damages:
            # The reader may find the next packet behind the damage; one that stands still is left after some tries.
            damage.cut = True
            unreadable += 1
            if unreadable > _MOST_UNREADABLE:
                return
            packets = container.demux(stream)
            continue
        try:
            yield [frame for frame in packet.decode() if frame.samples]
        except damages:
            # An end-of-stream packet that a codec refuses is no damage to the sound.
            damage.packets += packet.size > 0
            yield []


class _Resampler:
    """Turns frames into (channels, samples) int16 at 16 kHz. The first frame's layout holds for the whole file.

    More than MAX_CHANNELS channels are a sound stage or a studio's tracks, not the two sides of a call: one channel
    is made of them, their sum over the root of their number. A voice on one track so stays well audible, and separate
    voices together keep their loudness.
    """

    def __init__(self, damage: _Damage) -> None:
        self.first: Any = None
        self._damage = damage
        self._shape: tuple[Any, ...] = ()
        self._resampler: Any = None

    def blocks(self, packets: Iterator[list[Any]]) -> Iterator[npt.NDArray[np.int16]]:
        for frames in packets:
            for frame in frames:
                yield from self._push(frame)
        yield from self._resampled(None)

    def _push(self, frame: Any) -> Iterator[npt.NDArray[np.int16]]:
        import av

        if not _LOWEST_RATE <= frame.sample_rate <= _HIGHEST_RATE:
            self._damage.packets += 1
            return
        if self.first is None:
            if frame.layout.nb_channels > _MOST_CHANNELS:
                raise Undecodable(f"the sound has more than {_MOST_CHANNELS} channels")
            self.first = frame
            self._many = frame.layout.nb_channels > MAX_CHANNELS
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if shape != self._shape:  # streams may change in the middle
            yield from self._resampled(None)
            self._shape = shape
            layout = frame.layout if self._many else self.first.layout
            # Packed, because PyAV reads wild memory behind the eighth plane.
            self._resampler = av.AudioResampler(format="s16", layout=layout, rate=SAMPLE_RATE)
        frame.pts = None
        yield from self._resampled(frame)

    def _resampled(self, frame: Any) -> Iterator[npt.NDArray[np.int16]]:
        """What comes out for a frame, or for the end (None)."""
        if self._resampler is None:
            return
        try:
            blocks = [self._planes(out) for out in self._resampler.resample(frame) if out.samples]
        except _damages():
            # The filters behind a resampler that failed cannot be used again: the next frame makes new ones.
            self._damage.packets += frame is not None
            self._resampler, self._shape = None, ()
            return
        yield from blocks

    def _planes(self, frame: Any) -> npt.NDArray[np.int16]:
        import numpy as np

        channels: npt.NDArray[np.int16] = frame.to_ndarray().reshape(frame.samples, -1).T
        if not self._many:
            return np.ascontiguousarray(channels)
        mixed = channels.sum(axis=0, dtype=np.float32, keepdims=True) / np.sqrt(len(channels), dtype=np.float32)
        clipped: npt.NDArray[np.int16] = np.clip(np.rint(mixed), -32768, 32767).astype(np.int16)
        return clipped


def _info(container: Any, stream: Any, frame: Any) -> AudioInfo:
    duration_ms = None
    if stream.duration and stream.time_base:
        duration_ms = int(stream.duration * stream.time_base * 1000)
    elif container.duration:
        duration_ms = container.duration // 1000
    if duration_ms is not None and not 0 <= duration_ms <= _LONGEST_CLAIM_MS:
        duration_ms = None
    return AudioInfo(
        duration_ms,
        frame.layout.nb_channels,
        frame.sample_rate,
        stream.codec_context.name,
        container.format.name.split(",")[0],
    )
