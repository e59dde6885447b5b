"""Speech to words. One protocol for engines, one engine (Whisper by CTranslate2), and the checks on what it says."""

from __future__ import annotations

import os
import re
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ingest.speech.decode import SAMPLE_RATE
from store import weights
from store.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Sound = npt.NDArray[np.float32]

BEST_FIRST = ("whisper-small", "whisper-base")
MAX_WINDOW_S = 28.0
"""Whisper hears 30 s at a time, and pays for all of them however short the sound is."""

_BEAM_SIZE = 5
_BATCH = 4
_LOOP_RATIO = 2.4
_MAX_LETTERS_PER_S = 35.0
_MIN_CONFIDENCE = 0.22
_CYRILLIC = {"ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "mn", "tg", "tt", "ba"}
_LATIN = {"en", "de", "fr", "es", "it", "pt", "pl", "nl", "tr", "cs", "sv", "fi", "da", "no", "ro", "hu", "uz", "az"}
# What Whisper writes over noise: credits from the subtitles that it learned from.
_PHANTOM = re.compile(
    r"(редактор )?субтитр\w*\b.*|продолжение следует|спасибо за просмотр|(ставьте лайки.*|подписывайтесь на .*канал.*)"
    r"|thanks? (you )?(so much )?for watching.*|subtitles by .*|(please )?(like and )?subscribe.*|.*amara\.?org.*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with its spaces and signs; seconds from the start of the sound that was given."""

    text: str
    start: float
    end: float
    probability: float


@dataclass(frozen=True, slots=True)
class Engine:
    """Which model to load and how; plain data, so that it can be handed to a child process."""

    model_path: str
    threads: int


class Recogniser(Protocol):
    def languages(self, sounds: Sequence[Sound]) -> dict[str, float]:
        """How likely each language is, over all of the sounds (16 kHz, float32, at most 30 s each)."""

    def batch(self, sounds: Sequence[Sound], language: str) -> list[list[TimedWord]]:
        """The words of each sound (at most `MAX_WINDOW_S`), quickly."""

    def careful(self, sound: Sound, language: str) -> list[TimedWord]:
        """The words of one sound, slowly: several attempts, and nothing where there is no speech."""


def choose_engine(settings: Settings) -> Engine:
    """The engine that the settings ask for, or the best model installed. Raises weights.ModelMissing."""
    threads = settings.asr_threads or os.cpu_count() or 1
    wanted = settings.asr_model
    if wanted and Path(wanted).is_dir():
        return Engine(str(Path(wanted).absolute()), threads)
    if wanted:
        try:
            return Engine(str(weights.require(settings, wanted)), threads)
        except KeyError:
            raise weights.ModelMissing(wanted) from None
    for name in BEST_FIRST:
        folder = weights.find(settings, name)
        if folder is not None:
            return Engine(str(folder), threads)
    raise weights.ModelMissing(BEST_FIRST[-1])


@lru_cache(maxsize=1)
def load(engine: Engine) -> FasterWhisper:
    """The recogniser, loaded once a process."""
    return FasterWhisper(engine)


class FasterWhisper:
    """Whisper in int8 on the CPU."""

    def __init__(self, engine: Engine) -> None:
        from faster_whisper import BatchedInferencePipeline, WhisperModel

        self._model = WhisperModel(
            engine.model_path, device="cpu", compute_type="int8", cpu_threads=engine.threads, local_files_only=True
        )
        self._pipeline = BatchedInferencePipeline(self._model)

    def languages(self, sounds: Sequence[Sound]) -> dict[str, float]:
        totals: defaultdict[str, float] = defaultdict(float)
        if not self._model.model.is_multilingual:
            return {"en": 1.0}
        for sound in sounds:
            _, _, probabilities = self._model.detect_language(audio=sound)
            for language, probability in probabilities:
                totals[language] += probability / len(sounds)
        return dict(totals)

    def batch(self, sounds: Sequence[Sound], language: str) -> list[list[TimedWord]]:
        import numpy as np

        ends = np.cumsum([len(sound) for sound in sounds])
        spans = [(int(end) - len(sound), int(end)) for sound, end in zip(sounds, ends, strict=True)]
        segments, _ = self._pipeline.transcribe(
            np.concatenate(sounds),
            language=language,
            clip_timestamps=[{"start": start / SAMPLE_RATE, "end": end / SAMPLE_RATE} for start, end in spans],
            batch_size=_BATCH,
            beam_size=_BEAM_SIZE,
            temperature=0.0,
            max_new_tokens=_most_tokens(max(len(sound) for sound in sounds)),
            word_timestamps=True,
        )
        words: list[list[TimedWord]] = [[] for _ in sounds]
        for segment in segments:
            # `seek` is the start of the segment's clip in hundredths of a second, rounded down from a rounded float.
            at = segment.seek * SAMPLE_RATE // self._model.frames_per_second
            number = min(range(len(spans)), key=lambda n, at=at: abs(spans[n][0] - at))  # type: ignore[misc]
            words[number] += _timed(segment, -spans[number][0] / SAMPLE_RATE)
        return words

    def careful(self, sound: Sound, language: str) -> list[TimedWord]:
        segments, _ = self._model.transcribe(
            sound,
            language=language,
            beam_size=_BEAM_SIZE,
            temperature=[0.0, 0.2, 0.4],
            condition_on_previous_text=False,
            max_new_tokens=_most_tokens(len(sound)),
            vad_filter=False,
            word_timestamps=True,
        )
        return [word for segment in segments for word in _timed(segment, 0.0)]


def _most_tokens(samples: int) -> int:
    """More than the fastest speech needs: a decoder caught in a loop ends here, not at the model's limit."""
    return min(400, 30 + 15 * samples // SAMPLE_RATE)


def _timed(segment: Any, shift: float) -> list[TimedWord]:
    return [
        TimedWord(word.word, float(word.start) + shift, float(word.end) + shift, float(word.probability))
        for word in segment.words or ()
    ]


def text_of(words: Sequence[TimedWord]) -> str:
    return " ".join("".join(word.text for word in words).split())


def suspicious(words: Sequence[TimedWord], duration_s: float, language: str) -> bool:
    """Whether a quick result must be done again: nothing, a loop, more than can be spoken, or another language."""
    text = text_of(words)
    return (
        not text or is_loop(text) or len(text) > _MAX_LETTERS_PER_S * max(duration_s, 1.0) or _foreign(text, language)
    )


def is_loop(text: str) -> bool:
    """Whether the same words come again and again (their compression ratio, as Whisper's own decoder measures it)."""
    data = text.encode()
    return len(data) > 40 and len(data) / len(zlib.compress(data)) > _LOOP_RATIO


def _foreign(text: str, language: str) -> bool:
    """Whether most letters are of another script than the language's; short words (names, brands) may be."""
    letters = [letter for letter in text if letter.isalpha()]
    if len(letters) < 12 or language not in _CYRILLIC | _LATIN:
        return False
    cyrillic = sum("\u0400" <= letter <= "\u04ff" for letter in letters) / len(letters)
    return cyrillic < 0.4 if language in _CYRILLIC else cyrillic > 0.4


def credible(words: Sequence[TimedWord]) -> bool:
    """Whether the words of a stretch were spoken, as far as the engine itself believes it."""
    text = text_of(words)
    if not any(letter.isalnum() for letter in text) or _PHANTOM.fullmatch(text.strip(" .!…,-")):
        return False
    if text.isupper() and len(text) > 8:  # captions of sounds: ТЕЛЕФОННЫЙ ЗВОНОК, DRAMATIC MUSIC
        return False
    return sum(word.probability for word in words) / len(words) >= _MIN_CONFIDENCE


def without_loops(words: Sequence[TimedWord]) -> list[TimedWord]:
    """The words with phrases of up to eight words that come more than three times in a row said once."""
    keys = [re.sub(r"\W", "", word.text.lower()) for word in words]
    kept: list[TimedWord] = []
    at = 0
    while at < len(words):
        for length in range(1, 9):
            count = 1
            phrase = keys[at : at + length]
            while keys[at + count * length : at + (count + 1) * length] == phrase:
                count += 1
            if count > 3:
                kept += words[at : at + length]
                at += count * length
                break
        else:
            kept.append(words[at])
            at += 1
    return kept
