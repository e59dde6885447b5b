"""Whisper by whisper-timestamped: openai-whisper in float32 (float16 on a GPU), with word times and a confidence for
each word.

An optional extra, since its licence is GPL-3, and imported only where it is used, in a child process. By its own
defaults it hears a whole file, each window conditioned on the text before, and loops on telephone speech. Here it gets
one window of speech at a time (the stretches that voice activity detection found), unconditioned, and times words by
attention alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ingest.speech import whisper_checkpoint
from ingest.speech.recognise import Engine, EngineMissing, TimedWord, loadable, most_tokens, timed

if TYPE_CHECKING:
    from ingest.speech.recognise import Sound

_CAREFUL_BEAM = 5
_NO_SPACES = {"zh", "ja", "th", "lo", "my", "yue"}


def require_installed() -> None:
    """Raises EngineMissing. Looks for the packages without importing them."""
    if not all(find_spec(name) for name in ("whisper_timestamped", "whisper", "torch")):
        raise EngineMissing("whisper-timestamped")


class WhisperTimestamped:
    def __init__(self, engine: Engine) -> None:
        require_installed()
        import torch

        # The torch that is installed may be one without CUDA.
        device = engine.device if torch.cuda.is_available() else "cpu"
        self._model: Any = whisper_checkpoint.load(loadable(engine)).to(device)
        torch.set_num_threads(engine.threads)

    def languages(self, sounds: Sequence[Sound]) -> dict[str, float]:
        import whisper

        totals: defaultdict[str, float] = defaultdict(float)
        if not self._model.is_multilingual:
            return {"en": 1.0}
        for sound in sounds:
            padded = whisper.pad_or_trim(sound)
            spectrogram = whisper.log_mel_spectrogram(padded, self._model.dims.n_mels, device=self._model.device)
            _, probabilities = self._model.detect_language(spectrogram)
            for language, probability in probabilities.items():
                totals[language] += probability / len(sounds)
        return dict(totals)

    def batch(self, sounds: Sequence[Sound], language: str) -> list[list[TimedWord]]:
        return [self._words(sound, language, temperature=0.0) for sound in sounds]

    def careful(self, sound: Sound, language: str) -> list[TimedWord]:
        return self._words(sound, language, temperature=(0.0, 0.2, 0.4), beam_size=_CAREFUL_BEAM, best_of=_CAREFUL_BEAM)

    def _words(self, sound: Sound, language: str, **how: Any) -> list[TimedWord]:
        import whisper_timestamped

        found = whisper_timestamped.transcribe(
            self._model,
            sound,
            language=language if self._model.is_multilingual else "en",
            condition_on_previous_text=False,
            trust_whisper_timestamps=False,
            sample_len=min(most_tokens(len(sound)), self._model.dims.n_text_ctx // 2),
            fp16=False,
            verbose=None,
            **how,
        )
        space = "" if language in _NO_SPACES else " "
        return [
            timed(space + word["text"], word["start"], word["end"], word["confidence"])
            for segment in found["segments"]
            for word in segment["words"]
        ]
