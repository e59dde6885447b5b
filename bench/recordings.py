"""What recognition is measured on: recordings with what was said in them."""

from __future__ import annotations

import json
import re
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data" / "speech"
JFK = "And so my fellow Americans ask not what your country can do for you ask what you can do for your country"
_CALLS = ROOT / "demo" / "calls"
_SOUNDS = {".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a"}


@dataclass(frozen=True, slots=True)
class Recording:
    group: str
    path: Path
    text: str
    language: str


def recordings(folders: Sequence[Path]) -> Iterator[Recording]:
    """Those of the folders; without one the shared speech data, and one demo call in each language."""
    for folder in folders or [SHARED]:
        for path in sorted(folder.glob("*")) if folder.is_dir() else ():
            beside = path.with_suffix(".txt")
            if path.suffix in _SOUNDS and beside.exists():
                text = beside.read_text(encoding="utf-8")
                yield Recording(folder.name, path, text, "ru" if re.search("[а-я]", text.lower()) else "en")
    if folders:
        return
    if (SHARED / "jfk.flac").exists():
        yield Recording("jfk", SHARED / "jfk.flac", JFK, "en")
    seen: set[str] = set()
    for truth in _truths():
        if truth["language"] not in seen:
            seen.add(truth["language"])
            group = f"demo {truth['language']} (synthetic)"
            yield Recording(group, _CALLS / truth["audio"], _text(truth), truth["language"])


def demo_texts(language: str) -> list[str]:
    """What is said in the demo's calls, turn by turn."""
    return [turn["text"] for truth in _truths() if truth["language"] == language for turn in truth["turns"]]


def beside_recording(language: str, folder: Path) -> Recording:
    """All recordings of a language one after another, mixed down: at least ten minutes."""
    from ingest.speech.decode import SAMPLE_RATE, decode, samples_of

    some = [each for each in recordings([]) if each.language == language and not each.group.startswith("demo")]
    some += [
        Recording("demo", _CALLS / truth["audio"], _text(truth), language)
        for truth in _truths()
        if truth["language"] == language
    ]
    sounds = []
    for number, each in enumerate(some):
        channels = [samples_of(file)[:].astype(np.float64) for file in decode(each.path, folder / str(number)).files]
        sounds += [np.mean(channels, axis=0), np.zeros(SAMPLE_RATE // 2)]
    path = folder / "beside.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(np.concatenate(sounds).astype("<i2").tobytes())
    return Recording("beside", path, " ".join(each.text for each in some), language)


def words_of(text: str) -> list[str]:
    return re.sub(r"[^\w ]", " ", text.lower().replace("ё", "е")).split()


def word_errors(expected: Sequence[str], found: Sequence[str]) -> int:
    """Insertions, deletions and substitutions (Levenshtein distance over words)."""
    row = list(range(len(found) + 1))
    for i, wanted in enumerate(expected, 1):
        before, row[0] = row[0], i
        for j, word in enumerate(found, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (wanted != word))
    return row[-1]


def _text(truth: dict[str, Any]) -> str:
    return " ".join(turn["text"] for turn in truth["turns"])


def _truths() -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(_CALLS.glob("*.truth.json"))]
