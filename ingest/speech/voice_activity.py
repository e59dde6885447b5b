"""Where somebody speaks: Silero VAD over a channel, window by window, cut at pauses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.speech.channels import level_dbfs
from ingest.speech.decode import SAMPLE_RATE

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

Stretch = tuple[int, int]
"""Start and end of speech, milliseconds from the start of the recording."""


def stretches(signal: npt.NDArray[np.int16]) -> list[Stretch]:
    """The stretches of speech of a channel, in order, without overlap, none longer than about `MAX_STRETCH_S`.

    A stretch that runs into the end of a window is looked at again in the next one, which starts with it.
    """
    import numpy as np

    found: list[Stretch] = []
    gain = 10 ** ((LEVEL_DBFS - max(level_dbfs(signal), -90.0)) / 20) / 32768
    start = 0
    while start < len(signal):
        end = min(start + _WINDOW, len(signal))
        window = np.clip(signal[start:end].astype(np.float32) * np.float32(gain), -1, 1)
        spans = _spans(window)
        next_start = end
        if spans and end < len(signal) and spans[-1]["end"] > len(window) - _EDGE and spans[-1]["start"] > 0:
            next_start = start + int(spans.pop()["start"])
        for span in spans:
            first, last = ((start + int(span[edge])) * 1000 // SAMPLE_RATE for edge in ("start", "end"))
            if last > first:
                found.append((max(first, found[-1][1] if found else 0), last))
        start = next_start
    return found


def _spans(window: npt.NDArray[np.float32]) -> list[dict[str, Any]]:
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(
        threshold=_THRESHOLD,
        neg_threshold=_END_THRESHOLD,
        max_speech_duration_s=MAX_STRETCH_S,
        min_silence_duration_ms=PAUSE_MS,
        min_speech_duration_ms=_MIN_SPEECH_MS,
        speech_pad_ms=PADDING_MS,
    )
    return list(get_speech_timestamps(window, options))
