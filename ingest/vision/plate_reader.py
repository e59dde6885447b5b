"""Finds plates in a picture and reads them, and the numbers on containers.

A plate is read in several cuts, since the detector's boxes are too tall by an amount that differs. What is told is the
text that all of them together make likeliest, a known format being likelier than none; its confidence is its share of
all that they can mean. Russian plates have a network of their own, which answers with a Russian plate whatever it is
shown: such a text needs the word of both.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ingest.vision.networks import open_network
from ingest.vision.plate_crops import cut_out, two_lines
from ingest.vision.plate_lattice import chance_of, formatted_texts, free_text, joined
from ingest.vision.plate_lines import LineReader, RussianReader, TextFinder, straightened
from ingest.vision.scenarios.container_numbers import read_container_number
from ingest.vision.scenarios.findings import Box
from ingest.vision.scenarios.plate_formats import FORMATS
from ingest.vision.scenarios.plates import PlateReading
from ingest.vision.yolo import Boxes, boxes_of, letterbox

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

CUTS = ((0.10, 0.0), (0.16, 0.01), (0.22, 0.02))
RUSSIAN_CUTS = ((0.0, 0.0), (0.05, 0.0), (0.10, 0.0))
"""Shares of the box's height and width that are taken off at each side. The Russian network wants some margin."""
PLATE_CONFIDENCE = 0.25
LEAST_CHARACTERS = 4
MOST_CHARACTERS = 10
_FORMLESS = 0.02
"""How likely a text of no known format is, beside one of a known."""
_UNSEEN = 0.003
"""The least chance that a Russian text has with either network: one may see nothing where the other is sure."""
SURE = 0.9
"""Of a plate that was read so surely in all cuts, one cut says the same, on each photograph that was tried."""
_OTHERWISE = 0.03
"""How likely the Russian network's answers are where the plate is of another country."""
_MOST_READINGS = 5
_RUSSIAN = tuple(number for number, form in enumerate(FORMATS) if form.country == "RU")


class PlateReader:
    """May be used from any thread. `detector_path`: of a YOLO network for plates. Raises NetworkUnusable where that is
    none, FileNotFoundError where the file of another network is missing."""

    def __init__(self, detector_path: Path, ru_ocr_path: Path | None = None, threads: int = 1) -> None:
        self._detector = open_network(detector_path, threads)
        self._lines = LineReader(threads)
        self._russian = RussianReader(ru_ocr_path, threads) if ru_ocr_path is not None else None
        self._texts: TextFinder | None = None
        self._opening = threading.Lock()
        self._threads = threads

    def find(self, image: Pixels, confidence: float = PLATE_CONFIDENCE) -> Boxes:
        """The plates in a picture (height x width x 3, RGB), a margin around each."""
        planes, fit = letterbox(image, self._detector.size)
        (output,) = self._detector.run(planes)
        return boxes_of(output, fit, layout=self._detector.layout, confidence=confidence)

    def read(self, image: Pixels, box: Sequence[float], *, is_sure: bool = False) -> list[PlateReading]:
        """What a plate that `find` found says, the likeliest first; nothing where nothing is legible. `is_sure`:
        another picture of it was read surely, and one cut confirms that in a third of the time."""
        cuts, russian_cuts = (CUTS[1:2], RUSSIAN_CUTS[1:2]) if is_sure else (CUTS, RUSSIAN_CUTS)
        crops = _cuts(image, box, cuts)
        if not crops:
            return []
        russian = self._russian.read(_cuts(image, box, russian_cuts)) if self._russian is not None else []
        return _readings(self._seen(crops), russian)

    def _seen(self, crops: Sequence[Pixels]) -> list[Floats]:
        """A lattice for each cut, as one line or as two, whichever is clearer."""
        halves = [two_lines(crop) for crop in crops]
        parts = [half for pair in halves if pair is not None for half in pair]
        lattices = self._lines.read([*crops, *parts])
        whole, rest = lattices[: len(crops)], iter(lattices[len(crops) :])
        seen = []
        for lattice, pair in zip(whole, halves, strict=True):
            options = [lattice] if pair is None else [lattice, joined([next(rest), next(rest)])]
            seen.append(max(options, key=_clearness))
        return seen

    def read_container(self, image: Pixels, box: Box) -> list[PlateReading]:
        """The number on a container (ISO 6346) inside a box; nothing where none is read whose check digit fits."""
        crop = cut_out(image, box)
        if crop is None:
            return []
        with self._opening:
            finder = self._texts = self._texts or TextFinder(self._threads)
        pieces = [straightened(crop, corners) for corners in finder.find(crop)]
        lattices = self._lines.read(pieces)
        texts = [free_text(lattice) for lattice in lattices]
        # A number stands in one line, or in two or three below each other.
        for count in (1, 2, 3):
            for start in range(len(texts) - count + 1):
                some = slice(start, start + count)
                number = read_container_number("".join(texts[some]))
                if number is not None:
                    sure = [chance_of(*pair) for pair in zip(lattices[some], texts[some], strict=True)]
                    return [PlateReading(number, float(np.prod(sure)), kind="container")]
        return []


def _cuts(image: Pixels, box: Sequence[float], shares: Sequence[tuple[float, float]]) -> list[Pixels]:
    cuts = (cut_out(image, box, off_height=down, off_width=across) for down, across in shares)
    return [cut for cut in cuts if cut is not None]


def _clearness(lattice: Floats) -> float:
    """Of equally clear texts the longer one: half a plate is often very clear."""
    text = free_text(lattice)
    return chance_of(lattice, text) * min(len(text), 6)


def _readings(seen: Sequence[Floats], russian: Sequence[Floats]) -> list[PlateReading]:
    """The likeliest texts in the general network's lattices and the Russian one's, over all cuts."""
    fitting: dict[str, tuple[int, ...]] = {}
    for lattice in seen:
        fitting |= formatted_texts(lattice)
        text = free_text(lattice)
        if LEAST_CHARACTERS <= len(text) <= MOST_CHARACTERS:
            fitting.setdefault(text, ())
    for lattice in russian:
        fitting |= formatted_texts(lattice, _RUSSIAN)
    general = {text: _mean_chance(seen, text) for text in fitting}
    other = _OTHERWISE if russian else 1.0
    weights = {text: chance * other * (1.0 if fitting[text] else _FORMLESS) for text, chance in general.items()}
    if russian:
        for text, formats in fitting.items():
            if set(formats) & set(_RUSSIAN):
                weights[text] = (general[text] + _UNSEEN) * (_mean_chance(russian, text) + _UNSEEN)
    total = sum(weights.values()) + other * _FORMLESS * max(0.0, 1.0 - sum(general.values()))
    best = sorted(weights, key=lambda text: -weights[text])[:_MOST_READINGS]
    return [_reading(text, weights[text] / total, fitting[text]) for text in best]


def _mean_chance(lattices: Sequence[Floats], text: str) -> float:
    return float(np.mean([chance_of(lattice, text) for lattice in lattices]))


def _reading(text: str, confidence: float, formats: Sequence[int]) -> PlateReading:
    countries = {FORMATS[number].country for number in formats}
    form = FORMATS[formats[0]].shown if formats else ""
    return PlateReading(text, confidence, countries.pop() if len(countries) == 1 else "", form)
