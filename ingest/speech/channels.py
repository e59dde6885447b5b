"""Which channels of a recording are voices of their own.

A silent channel, the same sound on two channels, or the faint echo of another channel makes no second speaker.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.speech.crosstalk import FRAME_MS, SPEECH_BAND_HZ, envelope_of, floor_of, own_voice
from ingest.speech.samples import SAMPLE_RATE, Signal, samples_of, write_samples

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ingest.speech.crosstalk import Envelope

SILENT_DBFS = -60.0
SAME_CORRELATION = 0.9
"""Two channels above it are one sound. Two voices that leak into each other at -6 dB reach 0.8."""

# Steady noise of a line: never much louder than it mostly is, and not loud.
_NOISE_DBFS = -40.0
_NOISE_RANGE_DB = 6.0
_SECOND = SAMPLE_RATE
_COMPARED_SECONDS = 240
_COMPARED = 2 * _SECOND
_MAX_LAG = SAMPLE_RATE // 2
_SHORT_LAG = SAMPLE_RATE // 100
# What rises less above its quiet places holds no pauses by which its noise could be told.
_PAUSED_RANGE_DB = 5.0
_MOST_NOISE = 0.5


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel to transcribe: `index` counts from 0 in the recording, `file` holds raw int16 at 16 kHz.

    `own` is where it holds a voice of its own, [start_ms, end_ms], if another channel leaks into it; else None.
    """

    index: int
    file: Path
    own: tuple[tuple[int, int], ...] | None = None

    @property
    def speaker(self) -> str:
        return f"SPEAKER_{self.index:02d}"


def voices(files: Sequence[Path], *, keep_apart: bool) -> list[Channel]:
    """The channels to transcribe, in order; none when all are silent.

    With `keep_apart` every channel that differs from those before it and is not only the echo of another; else one
    channel, mixed of those into a file beside them. Raises Undecodable where the disk has no room for that file.
    """
    signals = [samples_of(file) for file in files]
    envelopes = [envelope_of(signal) for signal in signals]
    distinct: list[int] = []
    for index, envelope in enumerate(envelopes):
        if not is_silent(envelope) and not any(_same(signals, envelopes, other, index) for other in distinct):
            distinct.append(index)
    kept = [Channel(index, files[index], own) for index, own in _own_voices(distinct, signals, envelopes)]
    if keep_apart:
        return kept
    if len(kept) <= 1:
        return [Channel(0, channel.file) for channel in kept]
    mixed = files[0].with_name("mixed.s16")
    _mix([signals[channel.index] for channel in kept], mixed)
    return [Channel(0, mixed)]


def _own_voices(
    distinct: Sequence[int], signals: Sequence[Signal], envelopes: Sequence[Envelope]
) -> Iterator[tuple[int, tuple[tuple[int, int], ...] | None]]:
    """The channels that hold a voice of their own, and where they do."""

    def alike(first: int, second: int, starts: Sequence[int]) -> float:
        return correlation(signals[distinct[first]], signals[distinct[second]], starts)

    theirs = [envelopes[index] for index in distinct]
    for number, index in enumerate(distinct):
        own = own_voice(number, theirs, alike)
        if own is None or own:
            yield index, None if own is None else tuple(own)


def is_silent(envelope: Envelope) -> bool:
    """Whether there is nothing but silence, or a line's steady noise, in a channel."""
    import numpy as np

    if not len(envelope):
        return True
    frames = 1000 // FRAME_MS
    seconds = np.pad(envelope, (0, -len(envelope) % frames)).reshape(-1, frames).mean(axis=1)
    loudest_dbfs = _db(float(seconds.max()))
    if loudest_dbfs <= _NOISE_DBFS:
        return loudest_dbfs <= SILENT_DBFS or loudest_dbfs - _db(floor_of(envelope)) < _NOISE_RANGE_DB
    return False


def _db(power: float) -> float:
    return 10 * math.log10(power) if power > 0 else -math.inf


def level_dbfs(signal: Signal) -> float:
    """The loudness of the loudest second, decibels below full scale, without a constant offset; -inf for none."""
    import numpy as np

    loudest = 0.0
    for start in range(0, len(signal), _SECOND):
        loudest = max(loudest, float(np.var(signal[start : start + _SECOND].astype(np.float32))))
    return _db(loudest / 32768**2)


def _same(signals: Sequence[Signal], envelopes: Sequence[Envelope], first: int, second: int) -> bool:
    """Whether two channels are one sound. The noise of each, as loud as its pauses, is no difference."""
    shared = math.sqrt((1 - _noise_share(envelopes[first])) * (1 - _noise_share(envelopes[second])))
    return correlation(signals[first], signals[second]) >= SAME_CORRELATION * shared


def _noise_share(envelope: Envelope) -> float:
    """How much of a channel's energy is what sounds in its pauses too; 0 for a channel without pauses."""
    import numpy as np

    floor, mean = floor_of(envelope), float(envelope.mean()) if len(envelope) else 0.0
    if floor == 0 or _db(float(np.percentile(envelope, 95))) - _db(floor) < _PAUSED_RANGE_DB:
        return 0.0
    return min(floor / mean, _MOST_NOISE)


def correlation(first: Signal, second: Signal, starts: Sequence[int] | None = None) -> float:
    """How alike two channels are, 0 to 1: the highest normalised cross-correlation, of either sign, within 0.5 s.

    Looks at the band of speech, in stretches of two seconds that begin at `starts`, or are spread over the whole
    recording, weighted by their energy.
    """
    if starts is None:
        length = min(len(first), len(second))
        step = max(1, length // _SECOND // _COMPARED_SECONDS) * _COMPARED
        starts = range(0, length, step)
    found, lag = _cross_correlation(first, second, starts, 0)
    # Of a copy that comes later, the stretches miss a part.
    return max(found, _cross_correlation(first, second, starts, lag)[0]) if abs(lag) > _SHORT_LAG else found


def _cross_correlation(first: Signal, second: Signal, starts: Sequence[int], shift: int) -> tuple[float, int]:
    """The highest value, and the samples by which the second channel is late there; `shift` of them are made up for."""
    import numpy as np

    size = 2 * _COMPARED
    low, high = (edge * size // SAMPLE_RATE for edge in SPEECH_BAND_HZ)
    cross = np.zeros(size // 2 + 1, np.complex128)
    energy_first = energy_second = 0.0
    for start in starts:
        one = _spectrum(first, start, size)[low:high]
        other = _spectrum(second, start + shift, size)[low:high]
        energy_first += float((one.real**2 + one.imag**2).sum())
        energy_second += float((other.real**2 + other.imag**2).sum())
        cross[low:high] += np.conj(one) * other
    if energy_first == 0 or energy_second == 0:
        return 0.0, 0
    lags = np.roll(np.abs(np.fft.irfft(cross, size)), _MAX_LAG)[: 2 * _MAX_LAG + 1]
    best = int(lags.argmax())
    return float(lags[best] * size / 2 / math.sqrt(energy_first * energy_second)), best - _MAX_LAG


def _spectrum(signal: Signal, start: int, size: int) -> npt.NDArray[np.complex128]:
    import numpy as np

    part = signal[max(start, 0) : max(start + _COMPARED, 0)].astype(np.float32)
    return np.fft.rfft(np.pad(part, (max(-start, 0), 0))[:_COMPARED], size)


def _mix(signals: Sequence[Signal], target: Path) -> None:
    longest = max(len(signal) for signal in signals)
    write_samples(target, _mixed(signals, longest), 2 * longest)


def _mixed(signals: Sequence[Signal], longest: int) -> Iterator[npt.NDArray[np.int16]]:
    """The mean of the channels, minute by minute. Those are distinct ones, so that nothing cancels out."""
    import numpy as np

    block = 60 * _SECOND
    for start in range(0, longest, block):
        total = np.zeros(min(block, longest - start), np.int32)
        for signal in signals:
            part = signal[start : start + block]
            total[: len(part)] += part
        yield (total // len(signals)).astype(np.int16)
