"""Speech to words: what every engine offers, and which engine and model a machine uses."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from ingest.gpu import has_gpu, torch_is_made_for_it
from store import weights
from store.settings import Settings, Work

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Sound = npt.NDArray[np.float32]

Kind = Literal["faster-whisper", "whisper-timestamped"]
Device = Literal["cpu", "cuda"]

BEST_FIRST = ("whisper-small", "whisper-base")
_MODEST_FIRST = ("whisper-base", "whisper-small")
_CORES_FOR_THE_BEST = 2
_MEMORY_FOR_THE_BEST = 4 * 1024**3
MAX_WINDOW_S = 28.0
"""Whisper hears 30 s at a time, and pays for all of them however short the sound is."""
_EARLY_S = 0.04


class EngineMissing(weights.ModelMissing):
    """The package of an engine is not installed. The message says how to get it."""

    def __init__(self, name: str) -> None:
        Exception.__init__(
            self,
            f"The speech engine {name!r} is not installed. Add it by `pip install 'parley[{name}]'` (it is GPL-3), "
            "or leave PARLEY_ASR_ENGINE empty.",
        )
        self.name = name


class GpuMissing(weights.ModelMissing):
    """The settings want speech recognised on a GPU, and this machine has none, or a torch that cannot use it."""

    def __init__(self) -> None:
        Exception.__init__(
            self,
            "Speech is to be recognised on a GPU (PARLEY_ASR_DEVICE), and this machine has none that the engine can "
            "use.",
        )
        self.name = "cuda"


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with its spaces and signs; seconds from the start of the sound that was given."""

    text: str
    start: float
    end: float
    probability: float


@dataclass(frozen=True, slots=True)
class Engine:
    """Which engine loads which model; plain data, so that it can be handed to a child process.

    `cache` is a folder for what is made of a model's files once; needed for models in ONNX only.
    """

    model_path: str
    threads: int
    kind: Kind = "faster-whisper"
    cache: str = ""
    device: Device = "cpu"


class Recogniser(Protocol):
    def languages(self, sounds: Sequence[Sound]) -> dict[str, float]:
        """How likely each language is, over all of the sounds (16 kHz, float32, at most 30 s each)."""

    def batch(self, sounds: Sequence[Sound], language: str) -> list[list[TimedWord]]:
        """The words of each sound (at most `MAX_WINDOW_S`), quickly."""

    def careful(self, sound: Sound, language: str) -> list[TimedWord]:
        """The words of one sound, slowly: several attempts, and nothing where there is no speech."""


def choose_engine(settings: Settings) -> Engine:
    """The engine and model that the settings ask for, or the best there is.

    Raises weights.ModelMissing: the model's files, the engine's package, or the GPU that is asked for are not there.
    """
    kind: Kind = settings.asr_engine or "faster-whisper"
    if kind == "whisper-timestamped":
        from ingest.speech.whisper_timestamped_engine import require_installed

        require_installed()
    threads = settings.asr_threads or len(os.sched_getaffinity(0))
    cache = settings.cache_dir.expanduser() / "converted"
    device = _device(settings, kind)
    return Engine(str(_model_folder(settings, device)), threads, kind, str(cache.absolute()), device)


def is_usable(engine: Engine) -> bool:
    """Whether this machine has what another one chose."""
    return Path(engine.model_path).is_dir() and (engine.device == "cpu" or _can_use_a_gpu(engine.kind))


def hears_by_gpu(settings: Settings, takes: Collection[Work]) -> bool:
    """Whether a worker that takes this work recognises its calls on a GPU."""
    if "speech" not in takes:
        return False
    try:
        return choose_engine(settings).device == "cuda"
    except weights.ModelMissing:
        return False


def _device(settings: Settings, kind: Kind) -> Device:
    if settings.asr_device == "cuda" and not _can_use_a_gpu(kind):
        raise GpuMissing
    return "cuda" if settings.asr_device != "cpu" and _can_use_a_gpu(kind) else "cpu"


def _can_use_a_gpu(kind: Kind) -> bool:
    return has_gpu() and (kind != "whisper-timestamped" or torch_is_made_for_it())


def _model_folder(settings: Settings, device: Device) -> Path:
    wanted = settings.asr_model
    if wanted and Path(wanted).is_dir():
        return Path(wanted).absolute()
    if wanted:
        try:
            return weights.require(settings, wanted)
        except KeyError:
            raise weights.ModelMissing(wanted) from None
    for name in _names(device):
        folder = weights.find(settings, name)
        if folder is not None:
            return folder
    raise weights.ModelMissing(_MODEST_FIRST[0])


def _names(device: Device) -> tuple[str, ...]:
    """Models from the best to the least for this machine.

    Whisper small makes a quarter fewer errors than base for three times the work and twice the memory: on
    two cores still some ten times faster than speech. With less than that base is the better choice.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    strong = len(os.sched_getaffinity(0)) >= _CORES_FOR_THE_BEST and memory >= _MEMORY_FOR_THE_BEST
    return BEST_FIRST if strong or device == "cuda" else _MODEST_FIRST


def loadable(engine: Engine) -> Path:
    """The folder that CTranslate2 can load: the model's own, or what was made of its ONNX files."""
    from ingest.speech import whisper_onnx

    folder = Path(engine.model_path)
    return whisper_onnx.converted(folder, Path(engine.cache)) if whisper_onnx.is_onnx(folder) else folder


@lru_cache(maxsize=1)
def load(engine: Engine) -> Recogniser:
    """The recogniser, loaded once a process."""
    if engine.kind == "whisper-timestamped":
        from ingest.speech.whisper_timestamped_engine import WhisperTimestamped

        return WhisperTimestamped(engine)
    from ingest.speech.faster_whisper_engine import FasterWhisper

    return FasterWhisper(engine)


def most_tokens(samples: int) -> int:
    """More than the fastest speech needs: a decoder caught in a loop ends here, not at the model's limit."""
    return min(400, 30 + 15 * samples // 16_000)


def timed(text: str, start: float, end: float, probability: float) -> TimedWord:
    """A word by the times of Whisper's attention, which comes some 40 ms before the sound (`bench.speech` measures)."""
    return TimedWord(text, float(min(start + _EARLY_S, end)), float(end), float(probability))
