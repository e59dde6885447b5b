"""Diarization error, speed and memory, by the standard scoring (pyannote.metrics, no collar, overlap counted).

    python -m bench.diarization [FOLDER]

Measured are the demo's calls mixed to mono, conversations put together from their voices, and the shared meetings and
reader where they are. A folder of voices, one folder of recordings each, makes more conversations. A call's truth is
its turns without pauses of more than 300 ms. `--long` adds hours of sound.
"""

from __future__ import annotations

import itertools
import resource
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.conversations import Conversation, Sound, converse, decoded, demo_call, voices_in
from ingest.speech import clustering
from ingest.speech.decode import SAMPLE_RATE
from ingest.speech.diarize import Diarized, Models, choose_models, listen, pieces, settle, settle_at
from store.settings import load_settings
from store.weights import ModelMissing

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data" / "speech"
OFFSETS = (-0.05, 0.0, 0.05)
LONG_HOURS = 3


def conversations(folders: Sequence[Path]) -> Iterator[tuple[str, Conversation]]:
    voices: dict[str, list[Sound]] = {}
    for path in sorted((ROOT / "demo" / "calls").glob("*.truth.json")):
        call, turns = demo_call(path)
        yield "demo calls", call
        voices |= {name: turns[label] for label, name in speakers(path).items()}
    yield from made("synthetic", voices)
    for folder in folders:
        yield from made(folder.name, voices_in(folder))
    yield from meetings()
    readers = {"reader": [decoded(path)[0] for path in sorted(SHARED.glob("ru_*.wav"))]}
    if readers["reader"]:
        yield "one reader", converse("ru_*.wav", readers, 60, 1)


def speakers(truth_file: Path) -> dict[str, str]:
    """Which synthetic voice each label of a call is. Those of one synthesiser at nearly one speed are one voice."""
    script = tomllib.loads(truth_file.with_name(truth_file.name.replace(".truth.json", ".toml")).read_text("utf-8"))
    return {voice["label"]: f"{voice['voice'][-14:]} {round(voice['speed'] * 5) / 5}" for voice in script["voice"]}


def made(kind: str, voices: dict[str, list[Sound]]) -> Iterator[tuple[str, Conversation]]:
    """Conversations of one to four voices."""
    for count, few in ((1, 4), (2, 8), (3, 3), (4, 2)):
        groups = list(itertools.combinations(sorted(voices), count))
        for number, group in enumerate(groups[:: max(1, len(groups) // few)][:few]):
            chosen = {label: voices[label] for label in group}
            yield f"{kind}, {count} voices", converse(", ".join(group), chosen, (40, 75, 120)[number % 3], number)


def meetings() -> Iterator[tuple[str, Conversation]]:
    truth: dict[str, list[tuple[str, int, int]]] = {}
    if (SHARED / "meetings.rttm").exists():
        for line in (SHARED / "meetings.rttm").read_text(encoding="utf-8").splitlines():
            _, name, _, start, length, _, _, speaker, *_ = line.split()
            span = (speaker, round(1000 * float(start)), round(1000 * (float(start) + float(length))))
            truth.setdefault(name, []).append(span)
    for name, spans in truth.items():
        yield "meetings", Conversation(name, decoded(SHARED / f"meeting-{name}.wav")[0], spans)


def errors(conversation: Conversation, found: Diarized) -> dict[str, float]:
    """Seconds: total, missed detection, false alarm, confusion."""
    from pyannote.core import Annotation, Segment, Timeline  # type: ignore[import-untyped]
    from pyannote.metrics.diarization import DiarizationErrorRate

    reference, hypothesis = Annotation(), Annotation()
    for number, (label, start, end) in enumerate(conversation.truth):
        reference[Segment(start / 1000, end / 1000), number] = label
    for number, turn in enumerate(found["turns"]):
        hypothesis[Segment(turn["start_ms"] / 1000, turn["end_ms"] / 1000), number] = turn["voice"]
    whole = Timeline([Segment(0, len(conversation.sound) / SAMPLE_RATE)])
    detailed: dict[str, float] = DiarizationErrorRate()(reference, hypothesis, uem=whole, detailed=True)
    return detailed


class Group:
    def __init__(self) -> None:
        self.files = 0
        self.parts: list[dict[str, float]] = [dict.fromkeys((*_PARTS, "total"), 0.0) for _ in (*OFFSETS, "hint")]
        self.worst = 0.0
        self.wrong_count = 0

    def add(self, conversation: Conversation, folder: Path, all_pieces: list[list[int]]) -> None:
        found = [
            settle_at(folder, "0.s16", all_pieces, expected=None, threshold=clustering.SAME + offset)
            for offset in OFFSETS
        ]
        found.append(settle(folder, "0.s16", all_pieces, expected=conversation.voices))
        for sums, one in zip(self.parts, found, strict=True):
            scored = errors(conversation, one)
            for part in sums:
                sums[part] += scored[part]
            if one is found[1]:
                self.worst = max(self.worst, scored["diarization error rate"])
        self.files += 1
        self.wrong_count += len(found[1]["voices"]) != conversation.voices

    def row(self, name: str) -> str:
        rates = " ".join(f"{sum(sums[part] for part in _PARTS) / sums['total']:7.3f}" for sums in self.parts)
        usual = self.parts[1]
        kinds = " ".join(f"{usual[part] / usual['total']:6.3f}" for part in _PARTS)
        return f"{name:24} {self.files:5} {rates} {self.worst:6.3f} {kinds} {self.wrong_count:6}"


_PARTS = ("missed detection", "false alarm", "confusion")


def prepare(sound: Sound, folder: Path) -> list[list[int]]:
    (folder / "0.s16").write_bytes((sound * 32767).astype("<i2").tobytes())
    return pieces(len(sound))


def long_file(models: Models, sound: Sound) -> None:
    """A call said again and again for hours: time, memory, and whether a voice keeps its label."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times = -(-LONG_HOURS * 3600 * SAMPLE_RATE // len(sound))
        with (folder / "0.s16").open("wb") as file:
            for _ in range(times):
                file.write((sound * 32767).astype("<i2").tobytes())
        all_pieces = pieces(times * len(sound))
        listen(folder, "0.s16", all_pieces[0], models)
        before, started = _peak_mb(), time.process_time()
        for piece in all_pieces[1:]:
            listen(folder, "0.s16", piece, models)
        heard_s, heard_mb, started = time.process_time() - started, _peak_mb(), time.perf_counter()
        found = settle(folder, "0.s16", all_pieces)
        took_s = time.perf_counter() - started
    shares = [0.0] * len(found["voices"])
    for turn in found["turns"]:
        shares[turn["voice"]] += (turn["end_ms"] - turn["start_ms"]) / 1000
    print(
        f"{LONG_HOURS} hours: listening {heard_s:.0f} s of CPU, {heard_mb - before:.0f} MB more than the first piece; "
        f"settling {took_s:.1f} s, {_peak_mb() - heard_mb:.0f} MB more; {len(shares)} voices, "
        f"{', '.join(f'{share:.0f} s' for share in shares)}"
    )


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: Sequence[str]) -> int:
    try:
        import pyannote.metrics  # noqa: F401
    except ImportError:
        print("diarization: skipped, pyannote.metrics is not installed")
        return 0
    try:
        models = choose_models(load_settings())
    except ModelMissing as missing:
        print(f"diarization: skipped. {missing}")
        return 0
    groups: dict[str, Group] = {}
    audio_s = cpu_s = took_s = 0.0
    first: Any = None
    for kind, conversation in conversations([Path(argument) for argument in arguments if argument != "--long"]):
        first = conversation.sound if first is None else first
        with tempfile.TemporaryDirectory() as name:
            all_pieces = prepare(conversation.sound, Path(name))
            cpu, started = time.process_time(), time.perf_counter()
            for piece in all_pieces:
                listen(Path(name), "0.s16", piece, models)
            settle(Path(name), "0.s16", all_pieces)
            cpu_s, took_s = cpu_s + time.process_time() - cpu, took_s + time.perf_counter() - started
            audio_s += len(conversation.sound) / SAMPLE_RATE
            groups.setdefault(kind, Group()).add(conversation, Path(name), all_pieces)
    print("error rate with the number of voices unknown, at three thresholds, and with the number given")
    heads = f"{'-.05':>7} {'usual':>7} {'+.05':>7} {'given':>7} {'worst':>6} missed  false  mixed"
    print(f"{'':24} {'files':>5} {heads} wrong number")
    for name, group in groups.items():
        print(group.row(name))
    print(
        f"{models.threads} threads, {audio_s:.0f} s of sound: RTF {took_s / audio_s:.3f}, CPU {cpu_s / audio_s:.3f}, "
        f"peak memory {_peak_mb():.0f} MB"
    )
    if "--long" in arguments:
        long_file(models, first)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
