"""Decoded frames to samples at 16 kHz on one clock: what the time stamps say is missing becomes silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ingest.speech.containers import damages
from ingest.speech.samples import SAMPLE_RATE, Undecodable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_CHANNELS = 8
LONGEST_HOLE_S = 600.0
"""A longer leap of the time stamps is none of time: a counter that was reset, files put together, damage."""
LONGEST_LEAD_S = 60.0
"""Silence before the first sound may be no longer; nor may all silence be longer than the sound before it by more.

Silence filled in is part of the recording's length, which is paid for: damage to the time stamps of a few packets must
not make hours of it. What a recorder leaves out while nobody speaks is hardly more than what it keeps.
"""

_MOST_CHANNELS = 64  # of FFmpeg's resampler
# Outside of it no sound is recorded; one sample at 1 Hz would become 16 000.
_LOWEST_RATE, _HIGHEST_RATE = 1_000, 1_000_000
# Stamps in whole milliseconds, or of whole groups of packets, are off by less.
_JITTER_S = 0.06
_BEYOND_CLAIM_S = 1.0


class Damage:
    """What was lost on the way. `silence_ms` stands in the samples where sound is missing; `sound_s` was decoded."""

    def __init__(self) -> None:
        self.packets = 0
        self.cut = False
        self.silence_ms = 0
        self.sound_s = 0.0

    @property
    def silence_left_s(self) -> float:
        """How much more silence may be filled in, by all links of a chain together."""
        return self.sound_s + LONGEST_LEAD_S - self.silence_ms / 1000


class Resampler:
    """Turns frames into (channels, samples) int16 at 16 kHz. The first frame's layout holds for the whole file.

    More than MAX_CHANNELS channels are a sound stage or a studio's tracks, not the two sides of a call: one channel
    is made of them, their sum over the root of their number. A voice on one track so stays well audible, and separate
    voices together keep their loudness.
    """

    def __init__(self, damage: Damage) -> None:
        self.first: Any = None
        self._damage = damage
        self._shape: tuple[Any, ...] = ()
        self._resampler: Any = None

    def blocks(self, packets: Iterable[list[Any]], clock: Clock | None = None) -> Iterator[npt.NDArray[np.int16]]:
        """The sound of packets, and silence, a second at a time, where the clock finds it missing."""
        frames = self._usable(packets)
        for hole_s, frame in clock.placed(frames, self._damage) if clock else ((0.0, frame) for frame in frames):
            yield from self._push(frame, hole_s)
        yield from self._resampled(None)

    def _usable(self, packets: Iterable[list[Any]]) -> Iterator[Any]:
        for frames in packets:
            for frame in frames:
                if _LOWEST_RATE <= frame.sample_rate <= _HIGHEST_RATE:
                    yield frame
                else:
                    self._damage.packets += 1

    def _push(self, frame: Any, hole_s: float) -> Iterator[npt.NDArray[np.int16]]:
        import av

        if self.first is None:
            if frame.layout.nb_channels > _MOST_CHANNELS:
                raise Undecodable(f"the sound has more than {_MOST_CHANNELS} channels")
            self.first = frame
            self._many = frame.layout.nb_channels > MAX_CHANNELS
        if hole_s > 0:
            yield from self._resampled(None)
            yield from self._silence(hole_s)
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if shape != self._shape:  # streams may change in the middle
            yield from self._resampled(None)
            self._shape = shape
            layout = frame.layout if self._many else self.first.layout
            # Packed, because PyAV reads wild memory behind the eighth plane.
            self._resampler = av.AudioResampler(format="s16", layout=layout, rate=SAMPLE_RATE)
        frame.pts = None
        self._damage.sound_s += _length_s(frame)
        yield from self._resampled(frame)

    def _silence(self, hole_s: float) -> Iterator[npt.NDArray[np.int16]]:
        import numpy as np

        channels = 1 if self._many else self.first.layout.nb_channels
        missing = round(hole_s * SAMPLE_RATE)
        self._damage.silence_ms += missing * 1000 // SAMPLE_RATE
        for start in range(0, missing, SAMPLE_RATE):
            yield np.zeros((channels, min(SAMPLE_RATE, missing - start)), np.int16)

    def _resampled(self, frame: Any) -> Iterator[npt.NDArray[np.int16]]:
        """What comes out for a frame, or for the end (None), after which a new resampler is needed."""
        if self._resampler is None:
            return
        try:
            blocks = [self._planes(out) for out in self._resampler.resample(frame) if out.samples]
        except damages():
            # The filters behind a resampler that failed cannot be used again: the next frame makes new ones.
            self._damage.packets += frame is not None
            self._resampler, self._shape = None, ()
            return
        if frame is None:
            self._resampler, self._shape = None, ()
        yield from blocks

    def _planes(self, frame: Any) -> npt.NDArray[np.int16]:
        import numpy as np

        channels: npt.NDArray[np.int16] = frame.to_ndarray().reshape(frame.samples, -1).T
        if not self._many:
            return np.ascontiguousarray(channels)
        mixed = channels.sum(axis=0, dtype=np.float32, keepdims=True) / np.sqrt(len(channels), dtype=np.float32)
        clipped: npt.NDArray[np.int16] = np.clip(np.rint(mixed), -32768, 32767).astype(np.int16)
        return clipped


class Clock:
    """Finds the holes before frames by their time stamps.

    A hole counts once the frame behind it is followed by one that goes on from there: a single wrong stamp moves
    nothing. Stamps that run backwards, or leap further than a recording can, begin a new count without a hole.

    `origin_s` is the time stamp at which the recording begins, `claimed_ms` how long it says to be, where it does.
    """

    def __init__(self, origin_s: float | None, claimed_ms: int | None) -> None:
        self._due_s = origin_s  # the stamp of the next frame, if nothing is missing
        self._claimed_s = None if claimed_ms is None else claimed_ms / 1000
        self._elapsed_s = 0.0

    def placed(self, frames: Iterator[Any], damage: Damage) -> Iterator[tuple[float, Any]]:
        """(seconds missing before it, frame) for each frame. `damage` counts what became of those before."""
        held: Any = None  # the frame behind what looks like a hole
        held_s = 0.0
        for frame in frames:
            at_s = _stamp_s(frame)
            if held is not None:
                follows = at_s is not None and abs(at_s - held_s - _length_s(held)) <= _JITTER_S
                yield self._step(held, held_s if follows else None), held
                held = None
            if at_s is not None and self._is_hole(at_s, damage):
                held, held_s = frame, at_s
            else:
                yield self._step(frame, None, at_s), frame
        if held is not None:
            yield self._step(held, None), held

    def _is_hole(self, at_s: float, damage: Damage) -> bool:
        if self._due_s is None:
            return False
        hole_s = at_s - self._due_s
        longest_s = min(LONGEST_HOLE_S if self._elapsed_s else LONGEST_LEAD_S, damage.silence_left_s)
        if self._claimed_s is not None and self._elapsed_s:
            longest_s = min(longest_s, self._claimed_s + _BEYOND_CLAIM_S - self._elapsed_s)
        return _JITTER_S < hole_s <= longest_s

    def _step(self, frame: Any, hole_ends_s: float | None, at_s: float | None = None) -> float:
        """Counts a frame; the hole before it, seconds."""
        hole_s = 0.0
        if hole_ends_s is not None and self._due_s is not None:
            hole_s, self._due_s = hole_ends_s - self._due_s, hole_ends_s
        elif at_s is not None and (self._due_s is None or abs(at_s - self._due_s) > _JITTER_S):
            self._due_s = at_s
        length_s = _length_s(frame)
        self._elapsed_s += hole_s + length_s
        if self._due_s is not None:
            self._due_s += length_s
        return hole_s


def _length_s(frame: Any) -> float:
    return float(frame.samples / frame.sample_rate)


def _stamp_s(frame: Any) -> float | None:
    return None if frame.pts is None or not frame.time_base else float(frame.pts * frame.time_base)
