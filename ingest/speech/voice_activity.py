"""Where somebody speaks: Silero VAD over a channel, window by window, cut at pauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.speech.channels import level_dbfs
from ingest.speech.samples import SAMPLE_RATE, Signal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_STRETCH_S = 26.0
PAUSE_MS = 400
PADDING_MS = 200
LEVEL_DBFS = -32.0
"""Silero was heard to be surest of itself near this loudness; a channel is brought there first."""

# Silero's usual 0.5 finds one tenth of the speech of synthetic voices and loses the quiet ends of real words. 0.2 finds
# 0.91 to 0.99 of it and stays silent on white and pink noise, ringing tones and chords; what slips in is left to the
# recogniser, which drops stretches without words.
_THRESHOLD = 0.2
_END_THRESHOLD = 0.07
_MIN_SPEECH_MS = 120
_WINDOW = 300 * SAMPLE_RATE
_EDGE = SAMPLE_RATE
_SILENT_DBFS = -75.0
_USUAL_PERCENTILE = 85
_OUTSTANDING_DB = 15.0
_LEAST_BESIDE = SAMPLE_RATE * 3 // 10

Stretch = tuple[int, int]
"""Start and end of speech, milliseconds from the start of the recording."""


def stretches(signal: Signal) -> list[Stretch]:
    """The stretches of speech of a channel, in order, without overlap, none longer than about `MAX_STRETCH_S`.

    A stretch that runs into the end of a window is looked at again in the next one, which starts with it. Where a few
    seconds (a slammed door, a ringing tone) are much louder than the rest, the rest is listened to louder as well.
    """
    import numpy as np

    found: list[Stretch] = []
    gains = _gains(signal)
    start = 0
    while start < len(signal):
        end = min(start + _WINDOW, len(signal))
        samples = signal[start:end].astype(np.float32)
        samples -= samples.mean()
        spans = _spans(np.clip(samples * np.float32(gains[0]), -1, 1))
        for gain in gains[1:]:
            spans = _joined(spans, _spans(np.clip(samples * np.float32(gain), -1, 1)))
        next_start = end
        if spans and end < len(signal) and spans[-1][1] > len(samples) - _EDGE and spans[-1][0] > 0:
            next_start = start + spans.pop()[0]
        for span in spans:
            first, last = ((start + edge) * 1000 // SAMPLE_RATE for edge in span)
            if last > first:
                found.append((max(first, found[-1][1] if found else 0), last))
        start = next_start
    return found


def _gains(signal: Signal) -> list[float]:
    """The factors that bring a channel to LEVEL_DBFS: by its loudest second, and by those that are usual in it where
    they are far quieter."""
    import numpy as np

    seconds = range(0, len(signal), SAMPLE_RATE)
    levels = np.array([level_dbfs(signal[start : start + SAMPLE_RATE]) for start in seconds])
    sounding = levels[levels > _SILENT_DBFS]
    if not len(sounding):
        return [_gain(_SILENT_DBFS)]
    loudest, usual = float(sounding.max()), float(np.percentile(sounding, _USUAL_PERCENTILE))
    return [_gain(loudest), _gain(usual)] if loudest - usual > _OUTSTANDING_DB else [_gain(loudest)]


def _gain(level: float) -> float:
    return float(10 ** ((LEVEL_DBFS - level) / 20) / 32768)


def _joined(first: list[tuple[int, int]], more: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, and of more spans what lies beside them."""
    joined = list(first)
    for start, end in more:
        for low, high in first:
            if low < end and high > start:
                if low - start >= _LEAST_BESIDE:
                    joined.append((start, low))
                start = max(start, high)
        if end - start >= _LEAST_BESIDE:
            joined.append((start, end))
    return sorted(joined)


def _spans(window: npt.NDArray[np.float32]) -> list[tuple[int, int]]:
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(
        threshold=_THRESHOLD,
        neg_threshold=_END_THRESHOLD,
        max_speech_duration_s=MAX_STRETCH_S,
        min_silence_duration_ms=PAUSE_MS,
        min_speech_duration_ms=_MIN_SPEECH_MS,
        speech_pad_ms=PADDING_MS,
    )
    return [(int(span["start"]), int(span["end"])) for span in get_speech_timestamps(window, options)]
