"""Speech whose word times are known: synthesised by the voices of Debian's festival and flite that are installed.

Synthetic voices say nothing about the errors on people; when each of their words starts is exactly known.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

RATE_HZ = 16_000
PAUSE_S = (0.3, 0.9)
_FESTIVAL_VOICES = Path("/usr/share/festival/voices")
_RUSSIAN = "msu_ru_nsh_clunits"
_ENGLISH = ("slt", "rms", "awb")

Samples = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spoken:
    """Mono samples at RATE_HZ, and each word with the second at which it starts."""

    samples: Samples
    words: tuple[tuple[str, float], ...]


def languages() -> list[str]:
    """Those for which a voice is installed."""
    found = []
    if shutil.which("festival") and list(_FESTIVAL_VOICES.glob(f"*/{_RUSSIAN}")):
        found.append("ru")
    if shutil.which("flite"):
        found.append("en")
    return found


def say(texts: Sequence[str], language: str, seed: int = 1) -> Spoken:
    """The texts one after another with pauses, in telephone quality. Texts whose times are not sure are left out."""
    random = np.random.default_rng(seed)
    sounds: list[Samples] = [np.zeros(RATE_HZ // 2)]
    words: list[tuple[str, float]] = []
    at = len(sounds[0])
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            voice = _ENGLISH[number % len(_ENGLISH)]
            spoken = _festival(text, Path(folder)) if language == "ru" else _flite(text, voice, Path(folder))
            if spoken is None:
                continue
            words += [(word, at / RATE_HZ + start) for word, start in spoken.words]
            sounds += [spoken.samples, np.zeros(int(random.uniform(*PAUSE_S) * RATE_HZ))]
            at += len(sounds[-2]) + len(sounds[-1])
    samples = np.concatenate(sounds)
    return Spoken(samples + 0.002 * random.standard_normal(len(samples)), tuple(words))


def write(spoken: Spoken, path: Path) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes((np.clip(spoken.samples, -1, 1) * 32767).astype("<i2").tobytes())
    return path


def _festival(text: str, folder: Path) -> Spoken:
    sound, script = folder / "said.wav", folder / "say.scm"
    quoted = text.replace("\\", " ").replace('"', " ")
    script.write_text(
        f'({"voice_" + _RUSSIAN})\n(set! said (utt.synth (Utterance Text "{quoted}")))\n'
        f'(utt.save.wave said "{sound}")\n'
        '(mapcar (lambda (word) (format t "%s\\t%f\\n" (item.name word) (item.feat word \'word_start)))'
        " (utt.relation.items said 'Word))\n",
        encoding="utf-8",
    )
    run = subprocess.run(["festival", "-b", str(script)], check=True, capture_output=True, text=True)
    lines = (line.split("\t") for line in run.stdout.splitlines() if "\t" in line)
    return Spoken(_telephone(sound), tuple((word, float(start)) for word, start in lines))


def _flite(text: str, voice: str, folder: Path) -> Spoken | None:
    """flite tells when each sound ends, not each word: a word's sounds are counted by saying it alone."""
    sound = folder / "said.wav"
    plain = re.sub(r"[^A-Za-z,.?! ]", " ", text)
    said = _flite_output(voice, plain, "-psdur", str(sound))
    ends = [(name, float(end)) for name, end in (item.split(":") for item in said.split())]
    starts = [0.0, *(end for _, end in ends)]
    sounds = [(name, start) for (name, _), start in zip(ends, starts, strict=False) if name != "pau"]
    words: list[tuple[str, float]] = []
    at = 0
    for word in re.findall(r"[A-Za-z]+", plain):
        if at >= len(sounds):
            return None
        words.append((word, sounds[at][1]))
        at += sum(name != "pau" for name in _flite_output(voice, word, "-ps", "none").split())
    return Spoken(_telephone(sound), tuple(words)) if at == len(sounds) else None


def _flite_output(voice: str, text: str, what: str, sound: str) -> str:
    command = ["flite", "-voice", voice, "-t", text, what, "-o", sound]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _telephone(path: Path) -> Samples:
    """The sound as a telephone would pass it (8 kHz), at RATE_HZ, at one loudness."""
    with wave.open(str(path), "rb") as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float64)
    spectrum = np.fft.rfft(samples)
    frequencies = np.fft.rfftfreq(len(samples), 1 / rate)
    spectrum[(frequencies < 200) | (frequencies > 3600)] = 0
    length = round(len(samples) * RATE_HZ / rate)
    resampled = np.fft.irfft(spectrum, len(samples))
    if rate != RATE_HZ:
        resampled = np.interp(np.arange(length) / RATE_HZ, np.arange(len(samples)) / rate, resampled)
    return np.asarray(0.08 * resampled / max(float(np.sqrt(np.mean(resampled**2))), 1e-9))
