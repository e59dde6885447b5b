"""Reads sound out of any container: what is in it, and its samples at 16 kHz, one file a channel.

The content decides what a file is, never its name. Damaged packets are skipped, so a broken file gives what can still
be read. Memory and disk stay bounded: samples go to disk as they come, up to MAX_DECODED_BYTES, and never into the last
gigabyte of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ingest.speech.containers import AudioInfo, Recording, damages, media_type, opened
from ingest.speech.ogg_chain import links
from ingest.speech.resampling import MAX_CHANNELS, Clock, Damage, Resampler
from ingest.speech.samples import (
    MIN_FREE_BYTES,
    SAMPLE_RATE,
    Samples,
    Signal,
    Undecodable,
    check_room,
    full_disk_is_told,
    samples_of,
    write_samples,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from av import AudioFrame

__all__ = [
    "MAX_CHANNELS",
    "MAX_DECODED_BYTES",
    "MAX_DURATION_MS",
    "MIN_FREE_BYTES",
    "SAMPLE_RATE",
    "AudioInfo",
    "Decoded",
    "Samples",
    "Signal",
    "Undecodable",
    "decode",
    "media_type",
    "probe",
    "samples_of",
    "write_samples",
]

MAX_DURATION_MS = 24 * 3600 * 1000
MAX_DECODED_BYTES = 24 * 3600 * SAMPLE_RATE * 2 * 2
"""All channels together: a day of stereo, 5.5 GB. A few KiB of compressed silence can claim much more."""

_MOST_UNREADABLE = 1000
_CHECKED_BYTES = 32 * 1024 * 1024
_PROBED_PACKETS = 500
_WRITE_BUFFER = 256 * 1024


@dataclass(frozen=True, slots=True)
class Decoded:
    """Samples on disk: `files[c]` holds channel c as raw int16 at 16 kHz. `duration_ms` is what was really decoded.

    `silence_ms` of it stand where packets are lost, or the time stamps leave a hole.
    """

    files: tuple[Path, ...]
    duration_ms: int
    truncated: bool
    damaged_packets: int
    silence_ms: int
    info: AudioInfo


def probe(path: Path) -> AudioInfo:
    """What sound a file holds; at least one frame of it was decoded. Raises Undecodable."""
    with opened(path) as recording:
        damage = Damage()
        resampler = Resampler(damage)
        for _ in resampler.blocks(islice(_frames(recording, damage), _PROBED_PACKETS)):
            return recording.info(resampler.first)
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
    damage = Damage()
    writer = _Writer(folder, max_duration_ms * SAMPLE_RATE // 1000, max_bytes)
    info: AudioInfo | None = None
    claimed_ms = 0
    try:
        with full_disk_is_told(), writer:
            resampler = Resampler(damage)
            for recording in _recordings(path):
                claimed_ms += recording.claimed_ms or 0
                clock = Clock(recording.origin_s, recording.claimed_ms) if recording.has_clock else None
                for block in resampler.blocks(_frames(recording, damage), clock):
                    info = info or recording.info(resampler.first)
                    if not writer.write(block):
                        damage.cut = True
                        break
                if writer.is_full:
                    break
        if info is None or writer.samples == 0:
            raise Undecodable("no sound in the file can be decoded")
    except Undecodable:
        for file in writer.files:
            file.unlink(missing_ok=True)
        raise
    duration_ms = writer.samples * 1000 // SAMPLE_RATE
    # Containers without an index only estimate their length, hence the tolerance.
    short = claimed_ms - duration_ms > max(1000, duration_ms // 20)
    truncated = damage.cut or short or damage.packets > 0
    return Decoded(tuple(writer.files), duration_ms, truncated, damage.packets, damage.silence_ms, info)


def blocks_of(path: Path) -> Iterator[npt.NDArray[np.int16]]:
    """The sound of a file block by block, (channels, samples) at 16 kHz, for who keeps none of it. Raises
    Undecodable."""
    damage = Damage()
    resampler = Resampler(damage)
    for recording in _recordings(path):
        clock = Clock(recording.origin_s, recording.claimed_ms) if recording.has_clock else None
        yield from resampler.blocks(_frames(recording, damage), clock)


class _Writer:
    """The channels' files in a folder, opened with the first block, and bounded."""

    def __init__(self, folder: Path, most_samples: int, max_bytes: int) -> None:
        self.files: list[Path] = []
        self.samples = 0
        self.is_full = False
        self._folder = folder
        self._most_samples = most_samples
        self._max_bytes = max_bytes
        self._unchecked = 0
        self._outputs: list[BinaryIO] = []
        self._stack = ExitStack()

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def write(self, block: npt.NDArray[np.int16]) -> bool:
        """Appends (channels, samples); False once no more fits. Raises Undecodable where the disk has no room."""
        if not self.files:
            check_room(self._folder, block.nbytes)
            self._most_samples = min(self._most_samples, self._max_bytes // (2 * len(block)))
            self.files = [self._folder / f"channel-{number}.s16" for number in range(len(block))]
            self._outputs = [self._stack.enter_context(file.open("wb", buffering=_WRITE_BUFFER)) for file in self.files]
        self._unchecked += block.nbytes
        if self._unchecked >= _CHECKED_BYTES:
            check_room(self._folder, self._unchecked)
            self._unchecked = 0
        block = block[:, : self._most_samples - self.samples]
        for samples, output in zip(block, self._outputs, strict=True):
            output.write(samples.tobytes())
        self.samples += block.shape[1]
        self.is_full = self.samples >= self._most_samples
        return not self.is_full


def _recordings(path: Path) -> Iterator[Recording]:
    """The recording; the links of a chained Ogg file one after another, except those that cannot be opened."""
    with opened(path) as recording:
        starts = links(path) if recording.is_ogg else [0]
        if len(starts) == 1:
            yield recording
            return
    for start, end in zip(starts, [*starts[1:], path.stat().st_size], strict=True):
        with suppress(Undecodable), ExitStack() as stack:
            recording = stack.enter_context(opened(path, start, end))
            # What the caller raises meanwhile is its own.
            yield recording


def _frames(recording: Recording, damage: Damage) -> Iterator[list[AudioFrame]]:
    """The frames of each packet; none for a damaged one."""
    bad = damages()
    packets = recording.container.demux(recording.stream)
    unreadable = 0
    while True:
        try:
            packet = next(packets)
        except (StopIteration, IndexError):
            # PyAV raises IndexError at the end, after this stream's, for streams that the header did not name.
            return
        except bad:
            # The reader may find the next packet behind the damage; one that stands still is left after some tries.
            damage.cut = True
            unreadable += 1
            if unreadable > _MOST_UNREADABLE:
                return
            packets = recording.container.demux(recording.stream)
            continue
        try:
            yield [frame for frame in packet.decode() if frame.samples]
        except bad:
            # An end-of-stream packet that a codec refuses is no damage to the sound.
            damage.packets += packet.size > 0
            yield []
