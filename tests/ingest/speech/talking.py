"""Telephone calls with known turns for the tests of voices: the demo's, cut and mixed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import pytest

from ingest.speech.decode import decode, samples_of
from ingest.speech.diarize import Diarized, Models, choose_models, listen, pieces, settle
from store.settings import load_settings
from store.weights import ModelMissing
from tests.ingest.speech.sounds import RATE, ROOT

Samples = npt.NDArray[np.int16]
FILE = "channel-0.s16"


@dataclass(frozen=True)
class Call:
    """Both sides of a call, and the turns (side, start_ms, end_ms)."""

    sides: tuple[Samples, Samples]
    turns: list[tuple[int, int, int]]

    @property
    def mono(self) -> Samples:
        return ((self.sides[0].astype(np.int32) + self.sides[1]) // 2).astype(np.int16)

    def until(self, seconds: int) -> Call:
        first, second = (side[: seconds * RATE] for side in self.sides)
        return Call((first, second), [turn for turn in self.turns if turn[2] <= seconds * 1000])


@cache
def demo_call(name: str) -> Call:
    told = json.loads((ROOT / "demo" / "calls" / f"{name}.truth.json").read_text(encoding="utf-8"))
    with TemporaryDirectory() as folder:
        files = decode(ROOT / "demo" / "calls" / told["audio"], Path(folder)).files
        first, second = (np.array(samples_of(file)[0 : file.stat().st_size // 2]) for file in files)
    labels = ("SPEAKER_00", "SPEAKER_01")
    return Call((first, second), [(labels.index(t["label"]), t["start_ms"], t["end_ms"]) for t in told["turns"]])


def models() -> Models:
    try:
        return choose_models(load_settings())
    except ModelMissing as missing:
        pytest.skip(str(missing))


def diarized(folder: Path, samples: Samples, expected: int | None = None) -> Diarized:
    (folder / FILE).write_bytes(samples.astype("<i2").tobytes())
    all_pieces = pieces(len(samples))
    for piece in all_pieces:
        listen(folder, FILE, piece, models())
    return settle(folder, FILE, all_pieces, expected=expected)


def mixed_up(found: Diarized, turns: list[tuple[int, int, int]]) -> float:
    """The share of the turns' time that is given to another voice or to none, voices matched as they fit best."""
    end = max(turn[2] for turn in turns) // 10 + 1
    heard = np.zeros((len(found["voices"]), end), np.bool_)
    for turn in found["turns"]:
        heard[turn["voice"], turn["start_ms"] // 10 : turn["end_ms"] // 10] = True
    right = 0
    for side in {turn[0] for turn in turns}:
        said = np.zeros(end, np.bool_)
        for _, first, last in (turn for turn in turns if turn[0] == side):
            said[first // 10 : last // 10] = True
        right += max((int((said & voice).sum()) for voice in heard), default=0)
    return 1 - right / (sum(last - first for _, first, last in turns) / 10)
