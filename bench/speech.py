"""Speed, errors, word times and memory of speech recognition on real recordings.

    python -m bench.speech [--beside] [--engine KIND] [--model NAME] [FOLDER ...]

Each installed model, in a process of its own; whisper-timestamped with the small files alone, since it takes ten times
as long. A folder holds recordings with their text beside them (`x.wav`, `x.txt`). Without one: the shared speech data
beside the checkout, and one demo call a language. Those are synthetic voices: their error rate says nothing about
people. `--beside` adds whisper-timestamped's own `transcribe` on thirteen minutes of the same, with the same weights
(some five minutes on two idle cores, as long as all the rest).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from statistics import median
from typing import Any

from bench import spoken
from bench.recordings import Recording, beside_recording, demo_texts, recordings, word_errors, words_of
from ingest.speech import whisper_checkpoint
from ingest.speech.recognise import BEST_FIRST, Engine, choose_engine, load, loadable
from ingest.speech.transcribe import transcribe
from store.settings import load_settings
from store.weights import ModelMissing

_TURNS_TIMED = 10


@dataclass(slots=True)
class Row:
    files: int = 0
    audio_s: float = 0.0
    took_s: float = 0.0
    cpu_s: float = 0.0
    errors: int = 0
    words: int = 0
    wrong_language: int = 0


def measure(some: Sequence[Recording], engine: Engine) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for recording in some:
        with tempfile.TemporaryDirectory() as folder:
            started, cpu = time.perf_counter(), time.process_time()
            result = transcribe(recording.path, Path(folder), engine, words=True)
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


def word_start_errors(language: str, engine: Engine) -> tuple[list[float], int]:
    """How far from the truth each word starts that was recognised, in seconds, and how many words were said."""
    said = spoken.say(demo_texts(language)[:_TURNS_TIMED], language)
    with tempfile.TemporaryDirectory() as folder:
        path = spoken.write(said, Path(folder) / "said.wav")
        result = transcribe(path, Path(folder), engine, language=language, words=True)
    found = [(word["word"], word["start"]) for segment in result["segments"] for word in segment["words"]]
    names = [["".join(words_of(word)) for word, _ in each] for each in (said.words, found)]
    blocks = SequenceMatcher(None, names[0], names[1], autojunk=False).get_matching_blocks()
    pairs = [(said.words[a + n][1], found[b + n][1]) for a, b, size in blocks for n in range(size)]
    return [abs(start - true) for true, start in pairs], len(said.words)


def report(engine: Engine, some: Sequence[Recording]) -> None:
    """Prints the tables of one engine with one model; meant for a process of its own, for the peak of memory."""
    started = time.perf_counter()
    load(engine)
    print(f"\n{Path(engine.model_path).name} by {engine.kind}, {engine.threads} threads, ", end="")
    print(f"loaded in {time.perf_counter() - started:.1f} s")
    print(f"{'recordings':22} {'files':>5} {'audio s':>8} {'RTF':>6} {'CPU':>6} {'WER':>6} {'words':>6} wrong language")
    for group, row in measure(some, engine).items():
        speeds = f"{row.took_s / row.audio_s:6.3f} {row.cpu_s / row.audio_s:6.3f}"
        errors = f"{row.errors / row.words:6.3f} {row.words:6} {row.wrong_language}"
        print(f"{group:22} {row.files:5} {row.audio_s:8.0f} {speeds} {errors}", flush=True)
    for language in spoken.languages():
        errors_s, said = word_start_errors(language, engine)
        if errors_s:
            late = sorted(errors_s)[len(errors_s) * 9 // 10]
            print(f"word starts {language}: {len(errors_s)} of {said} words, median error ", end="")
            print(f"{median(errors_s) * 1000:.0f} ms, nine in ten within {late * 1000:.0f} ms", flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", flush=True)


def beside(engine: Engine) -> None:
    """The same ten minutes and weights by Parley and by whisper-timestamped's own `transcribe` with its defaults."""
    import torch
    import whisper_timestamped

    torch.set_num_threads(engine.threads)
    with tempfile.TemporaryDirectory() as folder:
        said = beside_recording("ru", Path(folder))
        expected = words_of(said.text)
        load(engine)
        model = whisper_checkpoint.load(loadable(engine))
        runs: dict[str, Callable[[], Any]] = {
            "Parley, segments": lambda: transcribe(said.path, Path(folder) / "a", engine, language="ru"),
            "Parley, words": lambda: transcribe(said.path, Path(folder) / "b", engine, language="ru", words=True),
            "whisper-timestamped": lambda: whisper_timestamped.transcribe(model, str(said.path), language="ru"),
        }
        print(f"\n{Path(engine.model_path).name}, {engine.threads} threads, one recording in one run")
        base_s = base_cpu_s = 0.0
        for name, run in runs.items():
            started, cpu = time.perf_counter(), time.process_time()
            text = run()["text"]
            took_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
            base_s, base_cpu_s = base_s or took_s, base_cpu_s or cpu_s
            errors = word_errors(expected, words_of(text)) / len(expected)
            times = f"{took_s / base_s:.1f} times the seconds, {cpu_s / base_cpu_s:.1f} times the CPU"
            print(f"{name:22} {took_s:7.1f} s, CPU {cpu_s:7.1f} s, WER {errors:.3f}; {times}", flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.speech")
    parser.add_argument("--engine", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("folders", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    some = list(recordings(options.folders))
    if not some:
        print("speech: skipped, there are no recordings with their text (give a folder)")
        return 0
    if options.engine and options.model:
        engine = choose_engine(load_settings(asr_engine=options.engine, asr_model=options.model))
        if options.beside:
            beside(replace(engine, kind="faster-whisper"))
        else:
            small = [each for each in some if options.folders or not each.group.startswith("demo")]
            report(engine, small if engine.kind == "whisper-timestamped" else some)
        return 0
    print(
        "RTF: seconds taken per second of audio; CPU: seconds of one core, which a busy machine changes less",
        flush=True,
    )
    plans: list[tuple[str, str, list[str]]] = [("faster-whisper", model, []) for model in reversed(BEST_FIRST)]
    plans.append(("whisper-timestamped", BEST_FIRST[-1], []))
    if options.beside:
        plans.append(("whisper-timestamped", BEST_FIRST[-1], ["--beside"]))
    failed = 0
    for kind, model, more in plans:
        try:
            choose_engine(load_settings(asr_engine=kind, asr_model=model))
        except ModelMissing as missing:
            print(f"\n{model} by {kind}: skipped. {missing}", flush=True)
            continue
        command = [sys.executable, "-m", "bench.speech", "--engine", kind, "--model", model, *more]
        failed += subprocess.run([*command, *map(str, options.folders)], check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
