"""One side of a call that is heard faintly on the other's channel: found, so that nobody's words count twice.

Loudness alone tells a leak from a voice: where one side speaks, the other channel follows it at a constant distance.
That it is the same sound is proved by correlation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ingest.speech.samples import SAMPLE_RATE, Signal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Envelope = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]

FRAME_MS = 100
SPEECH_BAND_HZ = (200, 3600)

_FRAME = SAMPLE_RATE * FRAME_MS // 1000
_BLOCK = 60 * SAMPLE_RATE
_LOUDEST_LEAK = 10 ** (-8 / 10)
_FAINTEST_LEAK = 10 ** (-60 / 10)
_ABOVE_LEAK = 10 ** (10 / 10)
_ABOVE_FLOOR = 10 ** (9 / 10)
_LEAK_CORRELATION = 0.4
_FAINTEST_VOICE = 10 ** (-40 / 10)
_ECHO_FRAMES = (1, 4)  # a leak may come a little early, where clocks differ, and rings on late
_FEWEST_FRAMES = 10
_LEAST_OWN_FRAMES = 3
_PAUSE_FRAMES = 7
_PADDING_FRAMES = 3
_COMPARED = 60
_COMPARED_FRAMES = 2000 // FRAME_MS


def envelope_of(signal: Signal) -> Envelope:
    """The mean square in the band of speech, full scale being 1, of each 100 ms."""
    import numpy as np

    window = np.hanning(_FRAME).astype(np.float32)
    scale = 2 / (_FRAME * float(window @ window) * 32768**2)
    low, high = (edge * _FRAME // SAMPLE_RATE for edge in SPEECH_BAND_HZ)
    found = []
    for start in range(0, len(signal), _BLOCK):
        block = signal[start : start + _BLOCK].astype(np.float32)
        frames = np.pad(block, (0, -len(block) % _FRAME), "edge").reshape(-1, _FRAME)
        band = np.fft.rfft(frames * window, axis=1)[:, low:high]
        found.append(((band.real**2 + band.imag**2).sum(axis=1) * scale).astype(np.float32))
    return np.concatenate(found) if found else np.zeros(0, np.float32)


def floor_of(envelope: Envelope) -> float:
    """The level between words: of the quietest fifth, digital silence left out."""
    import numpy as np

    sounding = envelope[envelope > 1e-10]
    return float(np.percentile(sounding, 20)) if len(sounding) else 0.0


def own_voice(
    index: int, envelopes: Sequence[Envelope], alike: Callable[[int, int, Sequence[int]], float]
) -> list[tuple[int, int]] | None:
    """Where a channel holds a voice of its own, milliseconds; None where nothing of another leaks into it.

    `alike(other, index, starts)` is the correlation of two channels in the two seconds behind each of these samples.
    """
    envelope = envelopes[index]
    active = envelope > max(floor_of(envelope) * _ABOVE_FLOOR, float(envelope.max(initial=0)) * _FAINTEST_VOICE)
    own = active.copy()
    leaks = False
    for other, source in enumerate(envelopes):
        if other == index:
            continue
        length = min(len(envelope), len(source))
        leak = _leak(envelope[:length], source[:length]) & active[:length]
        if leak.sum() < _FEWEST_FRAMES:
            continue
        starts = _purest(leak, active[:length], envelope[:length])
        if starts and alike(other, index, starts) >= _LEAK_CORRELATION:
            leaks = True
            own[:length] &= ~leak
    return _spans(own) if leaks else None


def _leak(envelope: Envelope, source: Envelope) -> Mask:
    """The frames that are no louder than what leaks out of `source` makes them."""
    import numpy as np

    before, after = _ECHO_FRAMES
    padded = np.pad(source, (after, before))
    around = np.lib.stride_tricks.sliding_window_view(padded, before + after + 1).max(axis=1)
    loud = source > max(floor_of(source) * _ABOVE_FLOOR, float(source.max(initial=0)) / 1000)
    if not loud.any():
        return np.zeros(len(envelope), np.bool_)
    ratios = envelope[loud] / around[loud]
    ratios = ratios[ratios < 1]  # where the other speaks, and not this one into the other's channel
    distance = float(np.median(ratios)) if len(ratios) else 1.0
    if not _FAINTEST_LEAK < distance < _LOUDEST_LEAK:
        return np.zeros(len(envelope), np.bool_)
    leaked: Mask = envelope < around * (distance * _ABOVE_LEAK)
    return leaked


def _purest(leak: Mask, active: Mask, envelope: Envelope) -> list[int]:
    """The samples at which stretches begin that hold most of a leak, and no voice of the channel's own."""
    import numpy as np

    def sums(frames: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return np.convolve(frames.astype(np.float64), np.ones(_COMPARED_FRAMES), "valid")

    if len(leak) < _COMPARED_FRAMES:
        return []
    pure = sums(active & ~leak) == 0
    held = np.where(pure, sums(np.where(leak, envelope, 0)), 0)
    # One of any that overlap.
    tops = [
        first + int(held[first : first + _COMPARED_FRAMES].argmax()) for first in range(0, len(held), _COMPARED_FRAMES)
    ]
    tops.sort(key=lambda frame: -held[frame])
    return [frame * _FRAME for frame in tops[:_COMPARED] if held[frame] > 0]


def _spans(mask: Mask) -> list[tuple[int, int]]:
    """The frames of a mask as stretches, over short pauses, padded; single frames are clicks."""
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    joined: list[list[int]] = []
    for start, end in edges.reshape(-1, 2).tolist():
        if joined and start - joined[-1][1] <= _PAUSE_FRAMES:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    return [
        (max(start - _PADDING_FRAMES, 0) * FRAME_MS, (end + _PADDING_FRAMES) * FRAME_MS)
        for start, end in joined
        if end - start >= _LEAST_OWN_FRAMES
    ]


def within(found: Sequence[tuple[int, int]], allowed: Sequence[tuple[int, int]] | None) -> list[tuple[int, int]]:
    """The parts of stretches that lie in allowed ones; all of them where `allowed` is None.

    Both are in order of time, and no two overlap.
    """
    if allowed is None:
        return list(found)
    parts: list[tuple[int, int]] = []
    at = 0
    for start, end in found:
        while at < len(allowed) and allowed[at][1] <= start:
            at += 1
        number = at
        while number < len(allowed) and allowed[number][0] < end:
            low, high = allowed[number]
            parts.append((max(start, low), min(end, high)))
            number += 1
    return parts
