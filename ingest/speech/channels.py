"""Which channels of a recording are voices of their own.

A silent channel, or the same sound on two channels, makes no second speaker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.speech.decode import SAMPLE_RATE, samples_of, write_samples

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SILENT_DBFS = -60.0
SAME_CORRELATION = 0.9
"""Two channels above it are one sound. Two voices that leak into each other at -6 dB reach 0.8."""

_SECOND = SAMPLE_RATE
_COMPARED_SECONDS = 240
_MAX_LAG = SAMPLE_RATE // 50


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel to transcribe: `index` counts from 0 in the recording, `file` holds raw int16 at 16 kHz."""

    index: int
    file: Path

    @property
    def speaker(self) -> str:
        return f"SPEAKER_{self.index:02d}"


def voices(files: Sequence[Path], *, keep_apart: bool) -> list[Channel]:
    """The channels to transcribe, in order; none when all are silent.

    With `keep_apart` every channel that differs from those before it; else one channel, mixed of those into a file
    beside them. Raises decode.Undecodable where the disk has no room for that file.
    """
    signals = [samples_of(file) for file in files]
    levels = [level_dbfs(signal) for signal in signals]
    distinct: list[int] = []
    for index, level in enumerate(levels):
        if level > SILENT_DBFS and not any(_same(signals[other], signals[index]) for other in distinct):
            distinct.append(index)
    if keep_apart or len(distinct) <= 1:
        kept = [Channel(index, files[index]) for index in distinct]
        return kept if keep_apart else [Channel(0, channel.file) for channel in kept]
    mixed = files[0].with_name("mixed.s16")
    _mix([signals[index] for index in distinct], mixed)
    return [Channel(0, mixed)]


def level_dbfs(signal: npt.NDArray[np.int16]) -> float:
    """The loudness of the loudest second, decibels below full scale; -inf for digital silence or no samples."""
    import numpy as np

    loudest = 0.0
    for start in range(0, len(signal), _SECOND):
        second = signal[start : start + _SECOND].astype(np.float32)
        loudest = max(loudest, float(np.mean(second * second)))
    return 10 * float(np.log10(loudest / 32768**2)) if loudest > 0 else -float("inf")


def _same(first: npt.NDArray[np.int16], second: npt.NDArray[np.int16]) -> bool:
    return correlation(first, second) >= SAME_CORRELATION


def correlation(first: npt.NDArray[np.int16], second: npt.NDArray[np.int16]) -> float:
    """How alike two channels are, 0 to 1: the highest normalised cross-correlation, of either sign, within 20 ms.

    Looks at seconds spread over the whole recording, weighted by their energy.
    """
    import numpy as np

    length = min(len(first), len(second))
    size = 2 * _SECOND
    cross = np.zeros(size // 2 + 1, np.complex128)
    energy_first = energy_second = 0.0
    step = max(1, length // _SECOND // _COMPARED_SECONDS) * _SECOND
    for start in range(0, length, step):
        one = first[start : start + _SECOND].astype(np.float32)
        other = second[start : start + _SECOND].astype(np.float32)
        energy_first += float(one @ one)
        energy_second += float(other @ other)
        cross += np.conj(np.fft.rfft(one, size)) * np.fft.rfft(other, size)
    if energy_first == 0 or energy_second == 0:
        return 0.0
    lags = np.abs(np.fft.irfft(cross, size))
    peak = max(lags[: _MAX_LAG + 1].max(), lags[-_MAX_LAG:].max())
    return float(peak / np.sqrt(energy_first * energy_second))


def _mix(signals: Sequence[npt.NDArray[np.int16]], target: Path) -> None:
    longest = max(len(signal) for signal in signals)
    write_samples(target, _mixed(signals, longest), 2 * longest)


def _mixed(signals: Sequence[npt.NDArray[np.int16]], longest: int) -> Iterator[npt.NDArray[np.int16]]:
    """The mean of the channels, minute by minute. Those are distinct ones, so that nothing cancels out."""
    import numpy as np

    block = 60 * _SECOND
    for start in range(0, longest, block):
        total = np.zeros(min(block, longest - start), np.int32)
        for signal in signals:
            part = signal[start : start + block]
            total[: len(part)] += part
        yield (total // len(signals)).astype(np.int16)
