"""Speed, errors and memory of speech recognition on real recordings.

    python -m bench.speech [FOLDER ...]

A folder holds recordings with their text beside them (`x.wav`, `x.txt`). Without one: the shared speech data beside the
checkout, and the demo's calls. Those are synthetic voices: their error rate says nothing about people.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.speech.recognise import Engine, choose_engine, load
from ingest.speech.transcribe import transcribe
from store.settings import load_settings
from store.weights import ModelMissing

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data" / "speech"
JFK = "And so my fellow Americans ask not what your country can do for you ask what you can do for your country"
_SOUNDS = {".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a"}


@dataclass(frozen=True, slots=True)
class Recording:
    group: str
    path: Path
    text: str
    language: str


@dataclass(slots=True)
class Row:
    files: int = 0
    audio_s: float = 0.0
    took_s: float = 0.0
    cpu_s: float = 0.0
    errors: int = 0
    words: int = 0
    wrong_language: int = 0


def recordings(folders: Sequence[Path]) -> Iterator[Recording]:
    for folder in folders or [SHARED]:
        for path in sorted(folder.glob("*")) if folder.is_dir() else ():
            beside = path.with_suffix(".txt")
            if path.suffix in _SOUNDS and beside.exists():
                text = beside.read_text(encoding="utf-8")
                yield Recording(folder.name, path, text, "ru" if re.search("[а-я]", text.lower()) else "en")
    if not folders:
        if (SHARED / "jfk.flac").exists():
            yield Recording("jfk", SHARED / "jfk.flac", JFK, "en")
        for path in sorted((ROOT / "demo" / "calls").glob("*.truth.json")):
            truth = json.loads(path.read_text(encoding="utf-8"))
            text = " ".join(turn["text"] for turn in truth["turns"])
            group = f"demo {truth['language']} (synthetic)"
            yield Recording(group, path.with_name(truth["audio"]), text, truth["language"])


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


def measure(some: Sequence[Recording], engine: Engine) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for recording in some:
        with tempfile.TemporaryDirectory() as folder:
            started, cpu = time.perf_counter(), time.process_time()
            result = transcribe(recording.path, Path(folder), engine)
            took_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
        row = rows.setdefault(recording.group, Row())
        expected = words_of(recording.text)
        row.files += 1
        row.audio_s += result["audio_duration_ms"] / 1000
        row.took_s += took_s
        row.cpu_s += cpu_s
        row.errors += word_errors(expected, words_of(result["text"]))
        row.words += len(expected)
        row.wrong_language += result["language"] != recording.language
    return rows


def main(arguments: Sequence[str]) -> int:
    some = list(recordings([Path(argument) for argument in arguments]))
    if not some:
        print("speech: skipped, there are no recordings with their text (give a folder)")
        return 0
    try:
        engine = choose_engine(load_settings())
    except ModelMissing as missing:
        print(f"speech: skipped. {missing}")
        return 0
    started = time.perf_counter()
    load(engine)
    print(f"{Path(engine.model_path).name}, {engine.threads} threads, loaded in {time.perf_counter() - started:.1f} s")
    print("RTF: seconds taken per second of audio; CPU: seconds of one core, which a busy machine changes less")
    print(f"{'recordings':22} {'files':>5} {'audio s':>8} {'RTF':>6} {'CPU':>6} {'WER':>6} {'words':>6} wrong language")
    for group, row in measure(some, engine).items():
        speeds = f"{row.took_s / row.audio_s:6.3f} {row.cpu_s / row.audio_s:6.3f}"
        errors = f"{row.errors / row.words:6.3f} {row.words:6} {row.wrong_language}"
        print(f"{group:22} {row.files:5} {row.audio_s:8.0f} {speeds} {errors}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
