"""Conversations with a known truth, put together from recordings of single voices."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ingest.speech.decode import SAMPLE_RATE, Undecodable, decode, samples_of

Sound = npt.NDArray[np.float32]
Span = tuple[str, int, int]
"""Who speaks, start and end in milliseconds."""

PAUSE_MS = 300
"""Shorter pauses belong to the speech around them."""

_LEVEL = 0.08
_QUIET_DB = -32.0
_LONGEST_S = 12


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    sound: Sound
    truth: list[Span]

    @property
    def voices(self) -> int:
        return len({span[0] for span in self.truth})


def speech_in(sound: Sound) -> list[tuple[int, int]]:
    """Where one clean voice speaks, in samples: what is loud enough, with its short pauses."""
    size = SAMPLE_RATE // 100
    levels = np.sqrt(np.square(sound[: len(sound) // size * size].reshape(-1, size)).mean(1) + 1e-12)
    loud = levels > max(float(np.percentile(levels, 95)) * 10 ** (_QUIET_DB / 20), 1e-4) if levels.size else levels > 0
    found: list[list[int]] = []
    for block in np.flatnonzero(loud).tolist():
        if found and (block - found[-1][1]) * 10 < PAUSE_MS:
            found[-1][1] = block + 1
        else:
            found.append([block, block + 1])
    return [(start * size, end * size) for start, end in found if end - start >= 5]


def decoded(path: Path) -> list[Sound]:
    """The channels of a recording."""
    with tempfile.TemporaryDirectory() as folder:
        channels = [samples_of(file) for file in decode(path, Path(folder)).files]
        return [channel[0 : len(channel)].astype(np.float32) / np.float32(32768) for channel in channels]


def demo_call(truth_file: Path) -> tuple[Conversation, dict[str, list[Sound]]]:
    """A call of the demo mixed to mono, and each voice's turns alone. Inner pauses are taken out of the turns."""
    told = json.loads(truth_file.read_text(encoding="utf-8"))
    channels = dict(zip(("SPEAKER_00", "SPEAKER_01"), decoded(truth_file.with_name(told["audio"])), strict=True))
    truth: list[Span] = []
    turns: dict[str, list[Sound]] = {label: [] for label in channels}
    for turn in told["turns"]:
        start = turn["start_ms"] * SAMPLE_RATE // 1000
        sound = channels[turn["label"]][start : turn["end_ms"] * SAMPLE_RATE // 1000]
        turns[turn["label"]].append(sound)
        truth += [(turn["label"], *_milliseconds(start + first, start + last)) for first, last in speech_in(sound)]
    mono: Sound = np.stack(list(channels.values())).mean(0, dtype=np.float32)
    return Conversation(truth_file.name.split(".")[0], mono, truth), turns


def voices_in(folder: Path) -> dict[str, list[Sound]]:
    """The voices of a folder that holds a folder of recordings for each."""
    found: dict[str, list[Sound]] = {}
    for path in sorted(folder.glob("*/*")):
        try:
            found.setdefault(path.parent.name, []).append(decoded(path)[0])
        except Undecodable:
            continue
    return found


def converse(
    name: str, voices: Mapping[str, Sequence[Sound]], seconds: float, seed: int, overlap: float = 0.15
) -> Conversation:
    """The voices in turns, with pauses, now and then before the other has ended, over a little noise."""
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    waiting = {label: _endless(sounds, chance) for label, sounds in voices.items()}
    loudness = {label: chance.uniform(0.6, 1.3) for label in voices}
    total = noise.normal(scale=0.0012, size=int((seconds + 60) * SAMPLE_RATE)).astype(np.float32)
    truth: list[Span] = []
    at, last = SAMPLE_RATE // 2, ""
    while at < seconds * SAMPLE_RATE:
        label = chance.choice([other for other in voices if other != last] or list(voices))
        for number in range(chance.choice((1, 1, 2, 3))):
            sound, spans = next(waiting[label])
            shift = -chance.uniform(0.2, 1.2) if number == 0 and last and chance.random() < overlap else 0.0
            start = max(0, at + int((shift or chance.uniform(0.15, 0.8)) * SAMPLE_RATE))
            total[start : start + len(sound)] += np.tanh(sound * loudness[label] * _LEVEL)
            truth += [(label, *_milliseconds(start + first, start + end)) for first, end in spans]
            at = max(at, start + len(sound))
        last = label
    return Conversation(name, np.clip(total[: at + SAMPLE_RATE // 2], -1, 1), sorted(truth, key=lambda span: span[1]))


def _endless(sounds: Sequence[Sound], chance: random.Random) -> Iterator[tuple[Sound, list[tuple[int, int]]]]:
    """The utterances in any order, again and again, cut to their speech and at one loudness."""
    order = list(range(len(sounds)))
    chance.shuffle(order)
    while True:
        for number in order:
            spans = speech_in(sounds[number])
            spans = [span for span in spans if span[1] - spans[0][0] <= _LONGEST_S * SAMPLE_RATE]
            if not spans:
                continue
            first = spans[0][0]
            sound = sounds[number][first : spans[-1][1]]
            spoken = np.concatenate([sounds[number][start:end] for start, end in spans])
            level = float(np.sqrt(np.mean(np.square(spoken))))
            yield sound / np.float32(max(level, 1e-6)), [(start - first, end - first) for start, end in spans]


def _milliseconds(start: int, end: int) -> tuple[int, int]:
    return start * 1000 // SAMPLE_RATE, end * 1000 // SAMPLE_RATE
