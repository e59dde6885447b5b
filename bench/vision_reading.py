"""How well barcodes and plates are read: exact texts, false alarms, calibration, milliseconds of one CPU.

    python -m bench.vision_reading

Photographs are the shared ones, where they are. Of Russian plates there is one photograph only, so more are generated:
rendered by Pillow in DejaVu (not the typeface of the standard), tilted, blurred and noisy. Their figures say that the
reader works on such pictures, not how often it is right on a road.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from bench.bounds import said
from ingest.vision.plate_reader import PlateReader
from ingest.vision.scenarios.barcodes import read_codes, safe_bytes, safe_text
from ingest.vision.scenarios.plate_formats import RUSSIAN_LETTERS
from ingest.vision.scenarios.plates import GOOD_ENOUGH, PlateReading

Pixels = npt.NDArray[np.uint8]
Box = tuple[float, float, float, float]

SHARED = Path(__file__).parents[2] / "shared"
PICTURES, MODELS = SHARED / "data" / "vision", SHARED / "models"
DETECTOR, RUSSIAN = MODELS / "plate-detector-fastanpr.onnx", MODELS / "ru-plate-ocr-stn-lprnet.onnx"
FONTS = Path("/usr/share/fonts/truetype/dejavu")
FACES = ("DejaVuSansCondensed-Bold.ttf", "DejaVuSans-Bold.ttf")
GENERATED = 60
CLEAR_PX = 120  # as wide as the least of clear plates
SAME_PLACE = 0.3
"""IoU from which a found plate is the one that was labelled: the detector's boxes are too tall by half."""
LEAST_CODES, LEAST_EUROPEAN, LEAST_RUSSIAN = 0.9, 0.6, 0.9
"""Shares that are read exactly: of codes, of European plates in whole photographs, of clear Russian ones."""
BANDS = (0.0, 0.5, 0.8, 0.9, 0.95, 1.01)


def picture(path: Path) -> Pixels:
    return np.asarray(Image.open(path).convert("RGB"))


# Barcodes


def barcodes(folder: Path, *, thorough: bool) -> bool:
    """Whether enough are read and nothing is where no code is. A camera's pictures are many, and none is read
    thoroughly."""
    print("one picture, thoroughly" if thorough else "as a camera's pictures are read")
    print(f"{'barcodes':20} pictures  read  share  wrong texts  false alarms   ms mean  worst")
    pictures_in_all = read_in_all = alarms_in_all = 0
    for each in sorted(folder.iterdir()):
        pictures = read = wrong = alarms = 0
        times_ms = []
        for path in sorted(each.iterdir()):
            if path.suffix in (".txt", ".bin"):
                continue
            image = picture(path)
            started = time.process_time()
            found = [code.text for code in read_codes(image, thorough=thorough)]
            times_ms.append(1000 * (time.process_time() - started))
            wanted = wanted_text(path)
            pictures += 1
            if wanted is None:
                alarms += len(found)
            else:
                read += wanted in found
                wrong += bool(found) and wanted not in found
        is_readable = not each.name.startswith("false")
        pictures_in_all += pictures * is_readable
        read_in_all += read
        alarms_in_all += alarms
        share = f"{read / pictures:6.3f}" if is_readable else "     -"
        print(
            f"{each.name:20} {pictures:8} {read:5} {share} {wrong:12} {alarms:13} "
            f"{np.mean(times_ms):9.1f} {max(times_ms):6.1f}"
        )
    print(f"{'all that are readable':20} {pictures_in_all:7} {read_in_all:5} {read_in_all / pictures_in_all:6.3f}")
    enough = said(f"codes read, at least {LEAST_CODES}", read_in_all >= LEAST_CODES * pictures_in_all)
    return said("no code where none is", alarms_in_all == 0) and enough


def wanted_text(path: Path) -> str | None:
    """None for a picture without a code."""
    if path.with_suffix(".txt").exists():
        return safe_text(path.with_suffix(".txt").read_bytes().decode())
    if path.with_suffix(".bin").exists():
        return safe_bytes(path.with_suffix(".bin").read_bytes())
    return None


def alarms_elsewhere(folder: Path) -> None:
    """Photographs that were not made for barcodes. What is found there is shown: a shop's shelf may have one."""
    paths = [path for path in sorted(folder.rglob("*.jpg")) if "barcodes" not in path.parts]
    found = [(path.name, code) for path in paths for code in read_codes(picture(path))]
    shown = ", ".join(f"{name}: {code.format} {code.text[:30]}{' (weak)' * code.is_weak}" for name, code in found)
    print(f"codes in {len(paths)} photographs of other things: {shown or 'none'}")


# Plates


@dataclass
class Score:
    """Of many plates: how they were read and how sure the reader was."""

    plates: int = 0
    found: int = 0
    exact: int = 0
    but_zero: int = 0
    characters: int = 0
    wrong_characters: int = 0
    find_ms: list[float] = field(default_factory=list)
    read_ms: list[float] = field(default_factory=list)
    sure: list[tuple[float, bool]] = field(default_factory=list)
    """Confidence of each reading, and whether its text is right but for O and 0."""

    def add(self, wanted: str, got: PlateReading | None) -> None:
        text = got.text if got is not None else ""
        self.plates += 1
        self.exact += text == wanted
        is_right = text.replace("O", "0") == wanted.replace("O", "0")
        self.but_zero += is_right
        self.characters += len(wanted)
        self.wrong_characters += min(len(wanted), distance(text, wanted))
        if got is not None:
            self.sure.append((got.confidence, is_right))

    def row(self, name: str) -> str:
        return (
            f"{name:34} {self.plates:6} {self.found / self.plates:6.3f} {self.exact / self.plates:6.3f} "
            f"{self.but_zero / self.plates:8.3f} {1 - self.wrong_characters / self.characters:10.3f} "
            f"{np.median(self.find_ms or [0]):8.1f} {np.median(self.read_ms or [0]):8.1f}"
        )


HEADER = f"{'plates':34} plates  found  exact  but O/0 characters   find ms read ms"


def distance(one: str, other: str) -> int:
    """Levenshtein's."""
    row = list(range(len(other) + 1))
    for place, character in enumerate(one, 1):
        before, row[0] = row[0], place
        for column, wanted in enumerate(other, 1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (character != wanted))
    return row[-1]


def labelled(folder: Path) -> Iterator[tuple[Pixels, Box, str]]:
    for path in sorted(folder.glob("*.txt")):
        name, left, top, width, height, text = path.read_text(encoding="utf-8").split()
        x, y = float(left), float(top)
        yield picture(folder / name), (x, y, x + float(width), y + float(height)), text


def score_frames(reader: PlateReader, frames: Sequence[tuple[Pixels, Box, str]]) -> Score:
    """From the whole frame. Read is each plate that was found; the surest reading counts, wherever it is."""
    score = Score()
    for image, box, text in frames:
        started = time.process_time()
        plates = reader.find(image)
        score.find_ms.append(1000 * (time.process_time() - started))
        score.found += any(overlap(tuple(each), box) >= SAME_PLACE for each in plates.xyxy.tolist())
        readings = []
        for each in plates.xyxy.tolist():
            started = time.process_time()
            readings += reader.read(image, each)[:1]
            score.read_ms.append(1000 * (time.process_time() - started))
        score.add(text, max(readings, key=lambda reading: reading.confidence, default=None))
    return score


def overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """IoU of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    common = max(0.0, width) * max(0.0, height)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return common / (areas - common)


def worsened(image: Pixels, source: np.random.Generator, smallest: float) -> Pixels:
    """As from a worse camera: fewer pixels (by `smallest` at the most), blurred, noisy, darker; in its old size."""
    height, width = image.shape[:2]
    scale = source.uniform(smallest, 1.0)
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), source.uniform(0.3, 1.2))
    noisy = small * source.uniform(0.4, 1.0) + source.normal(0, source.uniform(2, 12), small.shape)
    return np.asarray(cv2.resize(np.clip(noisy, 0, 255).astype(np.uint8), (width, height)), np.uint8)


def russian_text(source: random.Random) -> str:
    letters = [source.choice(RUSSIAN_LETTERS) for _ in range(3)]
    region = source.choice(("77", "50", "16", "02", "61", "34", "178", "197", "750", "799", "123", "190"))
    return f"{letters[0]}{source.randint(1, 999):03}{letters[1]}{letters[2]}{region}"


def rendered(text: str, face: str) -> Pixels:
    """A Russian car's plate, a pixel a millimetre: digits 76 high, letters 58, the region apart above RUS."""
    plate = Image.new("RGB", (520, 112), "white")
    pen = ImageDraw.Draw(plate)
    pen.rounded_rectangle((1, 1, 518, 110), 8, outline="black", width=4)
    pen.line((388, 0, 388, 112), fill="black", width=4)
    for place, (character, middle) in enumerate(zip(text[:6], (42, 102, 160, 218, 280, 342), strict=True)):
        _stamp(plate, character, face, (middle, 94), 58 if place in (0, 4, 5) else 76)
    region = text[6:]
    for place, character in enumerate(region):
        middle = 454 + round((place - (len(region) - 1) / 2) * (38 if len(region) == 3 else 46))
        _stamp(plate, character, face, (middle, 70), 54)
    _stamp(plate, "R", face, (414, 100), 18)
    _stamp(plate, "U", face, (432, 100), 18)
    _stamp(plate, "S", face, (450, 100), 18)
    for row, colour in enumerate(("white", "blue", "red")):
        pen.rectangle((466, 82 + 6 * row, 500, 88 + 6 * row), fill=colour, outline="grey")
    return np.asarray(plate)


def _stamp(plate: Image.Image, character: str, face: str, foot: tuple[int, int], height: int) -> None:
    """So that its lower edge is at the foot and the character itself is so high, and as wide as the standard has it."""
    font = ImageFont.truetype(str(FONTS / face), 100)
    left, top, right, bottom = font.getbbox(character)
    made = Image.new("L", (round(right - left), round(bottom - top)), 0)
    ImageDraw.Draw(made).text((-left, -top), character, 255, font)
    width = round(height * (0.58 if character.isdigit() else 0.76))
    if character == "1":  # without the foot that it has in DejaVu
        width, made = round(height * 0.32), Image.new("L", (32, 100), 0)
        ImageDraw.Draw(made).polygon([(0, 30), (18, 0), (31, 0), (31, 99), (14, 99), (14, 26), (5, 40)], fill=255)
    plate.paste("black", (foot[0] - width // 2, foot[1] - height), made.resize((width, height)))


def generated(count: int, plate_width: tuple[int, int], seed: int) -> Iterator[tuple[Pixels, Box, str]]:
    """Plates in mild perspective on a dark bumper, so many pixels wide."""
    texts, source = random.Random(seed), np.random.default_rng(seed)
    for number in range(count):
        text = russian_text(texts)
        plate = rendered(text, FACES[number % len(FACES)])
        width = float(source.uniform(*plate_width))
        height = width * 112 / 520
        frame_width, frame_height = round(width * 3), round(width * 2)
        left, top = width + source.uniform(-0.2, 0.2) * width, width * source.uniform(0.8, 1.2)
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]])
        corners += np.array([left, top])
        corners += source.uniform(-0.08, 0.08, (4, 2)) * height
        corners[[1, 2], 1] += source.uniform(-0.06, 0.06) * width
        matrix = cv2.getPerspectiveTransform(
            np.array([[0, 0], [520, 0], [520, 112], [0, 112]], np.float32), corners.astype(np.float32)
        )
        shade = source.integers(30, 110)
        coarse = source.normal(shade, 25, (frame_height, frame_width, 3)).clip(0, 255).astype(np.uint8)
        frame = cv2.GaussianBlur(coarse, (0, 0), 4)
        large = cv2.GaussianBlur(plate, (0, 0), max(0.1, 0.4 * 520 / width))
        inside = cv2.warpPerspective(np.full((112, 520), 255, np.uint8), matrix, (frame_width, frame_height))
        drawn = cv2.warpPerspective(large, matrix, (frame_width, frame_height), flags=cv2.INTER_AREA)
        share = inside[..., None] / 255
        mixed = frame * (1 - share) + drawn * share * source.uniform(0.6, 1.0)
        mixed = cv2.GaussianBlur(mixed, (0, 0), source.uniform(0.3, 0.8)) + source.normal(0, 6, mixed.shape)
        low, high = corners.min(axis=0), corners.max(axis=0)
        yield np.clip(mixed, 0, 255).astype(np.uint8), (low[0], low[1], high[0], high[1]), text


def reliability(scores: Sequence[Score]) -> None:
    sure = [each for score in scores for each in score.sure]
    print("confidence     readings  right")
    for low, high in itertools.pairwise(BANDS):
        there = [is_right for confidence, is_right in sure if low <= confidence < high]
        share = f"{np.mean(there):6.3f}" if there else "     -"
        print(f"{low:4.2f} to {min(high, 1.0):4.2f}  {len(there):8} {share}")


def plates_elsewhere(reader: PlateReader) -> None:
    """Photographs that were not made for plates, car.jpg among them, which has В840ОК197 in 40 pixels."""
    paths = [path for path in sorted(PICTURES.rglob("*.jpg")) if not {"barcodes", "plates-eu"} & {*path.parts}]
    boxes, sure = 0, []
    for path in paths:
        image = picture(path)
        for box in reader.find(image).xyxy.tolist():
            boxes += 1
            sure += [each for each in reader.read(image, box)[:1] if each.confidence >= GOOD_ENOUGH]
    shown = ", ".join(f"{each.text} ({each.confidence:.2f})" for each in sure)
    print(f"plates in {len(paths)} photographs of other things: {boxes} boxes; sure enough for an event: {shown}")


def plates() -> bool:
    reader = PlateReader(DETECTOR, RUSSIAN if RUSSIAN.exists() else None, 1)
    european = list(labelled(PICTURES / "plates-eu"))
    print(HEADER)
    scores: list[Score] = []

    def show(name: str, frames: Sequence[tuple[Pixels, Box, str]]) -> float:
        scores.append(score_frames(reader, frames))
        print(scores[-1].row(name))
        return scores[-1].exact / scores[-1].plates

    held = [said(f"exact, at least {LEAST_EUROPEAN}", show("EU, photographs", european) >= LEAST_EUROPEAN)]
    for smallest in (0.6, 0.3):
        source = np.random.default_rng(1)
        worse = [(worsened(image, source, smallest), box, text) for image, box, text in european for _ in range(2)]
        show(f"EU, worsened, down to {smallest}", worse)
    if RUSSIAN.exists() and (FONTS / FACES[0]).exists():
        for low, high in ((120, 240), (60, 120), (40, 60)):
            exact = show(f"Russian, generated, {low} to {high} px", list(generated(GENERATED, (low, high), low)))
            if low == CLEAR_PX:
                held.append(said(f"exact, at least {LEAST_RUSSIAN}", exact >= LEAST_RUSSIAN))
    print("All of the above that were read, by confidence; right but for O and 0:")
    reliability(scores)
    plates_elsewhere(reader)
    return all(held)


def main() -> int:
    held = True
    if (PICTURES / "barcodes").exists():
        held = barcodes(PICTURES / "barcodes", thorough=False)
        held = barcodes(PICTURES / "barcodes", thorough=True) and held
        alarms_elsewhere(PICTURES)
    else:
        print(f"no pictures of barcodes in {PICTURES}: not measured")
    if DETECTOR.exists() and (PICTURES / "plates-eu").exists():
        held = plates() and held
    else:
        print(f"no plates in {PICTURES}, or no {DETECTOR}: not measured")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
