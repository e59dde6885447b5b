"""Whether Parley's own engine and ultralytics find the same: mAP of both with the same exported weights.

Both go through `ingest.vision.detector`, as a camera's pictures do. Plates, fire and smoke are measured against labels.
For COCO's classes there are no labelled pictures here: what ultralytics finds by the .pt file, at a confidence of .25,
stands for the truth, so that figure is agreement, not quality. The bound is on the two kinds that cameras tell apart,
people and vehicles: of most of the 80 classes the pictures have one thing or two, whose box at another threshold moves
the mean more than the bound (bf16 for float32 in one engine: by .016).

An export of one shape sees a wide picture between grey bars, a .pt file without them (`rect`), as Parley's own engine
does with either; that alone moves some boxes. So exports are compared on pictures that were made square before, and
Parley's engine on cameras' pictures, of 16:9, as they are with the .pt file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from ingest.vision.detector import Detector
from ingest.vision.network_runtimes import Runtime
from ingest.vision.yolo import GREY, MOST_BOXES, OVERLAP, Boxes, Pixels

MOST_DIFFERENCE = 0.01
_LEAST_CONFIDENCE = 0.001
_REFERENCE_CONFIDENCE = 0.25
_EVERY = 12
_KINDS = {0: 0, 1: 1, 2: 1, 3: 1, 5: 1, 7: 1}
"""COCO's number of a person, and of what `networks.VEHICLES` names."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A picture (RGB) and what is in it, its boxes in pixels."""

    image: Pixels
    truth: Boxes


def plates(folder: Path) -> Iterator[Labelled]:
    for sheet in sorted(folder.glob("*.txt")):
        rows = [line.split("\t") for line in sheet.read_text().splitlines() if line.strip()]
        corners = [(x, y, x + width, y + height) for _, x, y, width, height, *_ in (_numbers(row) for row in rows)]
        yield Labelled(read(folder / str(rows[0][0])), _boxes(corners, [0] * len(corners)))


def fires(folder: Path) -> Iterator[Labelled]:
    """The network's classes are 0 smoke, 1 fire; the labels' 0 fire, 2 smoke."""
    for sheet in sorted((folder / "valid/labels").glob("*.txt")):
        image = read(folder / "valid/images" / f"{sheet.stem}.jpg")
        height, width = image.shape[:2]
        rows = np.array([line.split()[:5] for line in sheet.read_text().splitlines() if line.strip()], np.float32)
        rows = rows.reshape(-1, 5)
        scale = np.array([width, height] * 2, np.float32)
        half = rows[:, 3:5] / 2
        corners = np.concatenate([rows[:, 1:3] - half, rows[:, 1:3] + half], axis=1) * scale
        yield Labelled(image, _boxes(corners, [{0: 1, 2: 0}[int(number)] for number in rows[:, 0]]))


def scenes(folder: Path) -> Iterator[Pixels]:
    """Pictures with people and vehicles, without labels."""
    for clip in sorted(folder.glob("*.mp4")):
        with av.open(str(clip)) as opened:
            for number, frame in enumerate(opened.decode(video=0)):
                if number % _EVERY == 0:
                    yield frame.to_ndarray(format="rgb24").astype(np.uint8, copy=False)
    for path in [*sorted(folder.glob("*.jpg")), *sorted((folder / "ppe/images").glob("*.jpg"))]:
        yield read(path)


def squared(image: Pixels) -> Pixels:
    """The picture in the middle of a grey square."""
    height, width = image.shape[:2]
    side = max(height, width)
    square = np.full((side, side, 3), GREY, np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    square[top : top + height, left : left + width] = image
    return square


def found_by_checkpoint(
    checkpoint: Path, images: Sequence[Pixels], confidence: float = _REFERENCE_CONFIDENCE
) -> list[Boxes]:
    """What ultralytics finds with a .pt file."""
    from ultralytics import YOLO

    model = YOLO(checkpoint, task="detect")
    everything = []
    for image in images:
        given = np.ascontiguousarray(image[..., ::-1])
        (found,) = model.predict(given, conf=confidence, iou=OVERLAP, max_det=MOST_BOXES, verbose=False)
        table = found.boxes.data.numpy().astype(np.float32)
        everything.append(Boxes(table[:, :4], table[:, 4], table[:, 5].astype(np.int64)))
    return everything


def as_truth(images: Sequence[Pixels], found: Sequence[Boxes]) -> list[Labelled]:
    return [Labelled(image, boxes) for image, boxes in zip(images, found, strict=True)]


def compare(name: str, model: Path, labelled: Sequence[Labelled]) -> bool:
    """Prints one line. Whether the engines differ by no more than they may."""
    return _show(name, labelled, _found(model, labelled, None), _found(model, labelled, "ultralytics"))


def compare_people_and_vehicles(
    name: str, model: Path, labelled: Sequence[Labelled], checkpoint: Path | None = None
) -> bool:
    """As `compare`, or with a .pt file for the other engine; and prints another line, of all classes, for
    information."""
    if checkpoint is not None:
        others = found_by_checkpoint(checkpoint, [each.image for each in labelled], _LEAST_CONFIDENCE)
    else:
        others = _found(model, labelled, "ultralytics")
    both = _found(model, labelled, None), others
    _show(f"  all 80 classes ({name})", labelled, *both, is_held=False)
    own, theirs = ([_kinds_of(boxes) for boxes in found] for found in both)
    kinds = [Labelled(each.image, _kinds_of(each.truth)) for each in labelled]
    return _show(f"people and vehicles ({name})", kinds, own, theirs)


def _show(
    name: str, labelled: Sequence[Labelled], own: Sequence[Boxes], theirs: Sequence[Boxes], is_held: bool = True
) -> bool:
    things = sum(len(each.truth) for each in labelled)
    ours, others = _mean_average_precision(labelled, own), _mean_average_precision(labelled, theirs)
    holds = abs(ours - others) <= MOST_DIFFERENCE
    verdict = ("holds" if holds else "DOES NOT HOLD") if is_held else ""
    print(f"{name:<52}{len(labelled):>9}{things:>8}{ours:>9.4f}{others:>13.4f}{ours - others:>+12.4f}  {verdict}")
    return holds


def _found(model: Path, labelled: Sequence[Labelled], runtime: Runtime | None) -> list[Boxes]:
    with Detector({"asked": model}, runtime=runtime) as detector:
        assert detector.about("asked").runtime == (runtime or "openvino")
        return [detector.detect("asked", each.image, confidence=_LEAST_CONFIDENCE, timeout_s=60) for each in labelled]


def _mean_average_precision(labelled: Sequence[Labelled], everything: Sequence[Boxes]) -> float:
    """COCO's, over IoU .5 to .95."""
    from supervision import Detections
    from supervision.metrics import MeanAveragePrecision

    metric: Any = MeanAveragePrecision()
    for each, found in zip(labelled, everything, strict=True):
        metric.update(
            Detections(found.xyxy, confidence=found.scores, class_id=found.classes),
            Detections(each.truth.xyxy, class_id=each.truth.classes),
        )
    return float(metric.compute().map50_95)


def _kinds_of(boxes: Boxes) -> Boxes:
    """COCO's people as 0, its vehicles as 1, and nothing else."""
    kinds = np.array([_KINDS.get(int(number), -1) for number in boxes.classes], np.int64)
    return Boxes(boxes.xyxy[kinds >= 0], boxes.scores[kinds >= 0], kinds[kinds >= 0])


def read(path: Path) -> Pixels:
    image = cv2.imread(str(path))
    assert image is not None, path
    return np.ascontiguousarray(image[..., ::-1])


def _numbers(row: Sequence[str]) -> list[Any]:
    return [row[0], *map(float, row[1:5])]


def _boxes(corners: Any, classes: Sequence[int]) -> Boxes:
    xyxy = np.asarray(corners, np.float32).reshape(-1, 4)
    return Boxes(xyxy, np.ones(len(xyxy), np.float32), np.asarray(classes, np.int64))
