"""What YOLO networks take and give: a letterboxed picture in, boxes out. Without the network itself.

Sources: ultralytics' documentation of the exported shapes; letterbox and thresholds as in its `predict(rect=False)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Layout = Literal["v5", "v8"]

GREY = 114
MOST_BOXES = 300
OVERLAP = 0.45
"""Boxes of one class that overlap by more (IoU) are one thing."""
_CANDIDATES = 3000


@dataclass(frozen=True, slots=True)
class Fit:
    """How a picture lies in the network's square: scaled by `scale`, then moved by `left` and `top` pixels."""

    width: int
    height: int
    scale: float
    left: int
    top: int


@dataclass(frozen=True, slots=True)
class Boxes:
    """n things. `xyxy`: n x 4, in pixels of the picture; `scores`: n, 0 to 1; `classes`: n numbers; best first."""

    xyxy: Floats
    scores: Floats
    classes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.scores)


def fit_into(width: int, height: int, size: int) -> Fit:
    """Small pictures are enlarged."""
    scale = min(size / width, size / height)
    inner_width, inner_height = round(width * scale), round(height * scale)
    # By a tenth less than half, as ultralytics rounds the border.
    left, top = round((size - inner_width) / 2 - 0.1), round((size - inner_height) / 2 - 0.1)
    return Fit(width, height, scale, left, top)


def letterbox(picture: Pixels, size: int) -> tuple[Floats, Fit]:
    """A picture (height x width x 3, RGB) as the network takes it: 1 x 3 x size x size, 0 to 1."""
    height, width = picture.shape[:2]
    fit = fit_into(width, height, size)
    inner = (max(1, round(width * fit.scale)), max(1, round(height * fit.scale)))
    picture = resized(picture, *inner)
    square = np.full((size, size, 3), GREY, np.uint8)
    square[fit.top : fit.top + inner[1], fit.left : fit.left + inner[0]] = picture
    planes = np.ascontiguousarray(square.transpose(2, 0, 1)[None], np.float32)
    planes /= 255
    return planes, fit


def resized(picture: Pixels, width: int, height: int) -> Pixels:
    """As ultralytics does it, for training too: without smoothing where pixels are left out."""
    if picture.shape[:2] == (height, width):
        return picture
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def boxes_of(
    output: Floats,
    fit: Fit,
    *,
    layout: Layout,
    confidence: float = 0.25,
    overlap: float = OVERLAP,
    classes: int | None = None,
) -> Boxes:
    """The boxes in a network's answer to one picture.

    `output`: v8 and later 4 + classes x candidates, v5 candidates x 5 + classes; both may have a leading 1. `classes`:
    how many there are, where masks or key points follow them. Boxes of one class that overlap by more than `overlap`
    (IoU) are one thing.
    """
    rows = output[0] if output.ndim == 3 else output
    if layout == "v8":
        scores = rows[4 : None if classes is None else 4 + classes]
        rows = rows.T
    else:
        scores = (rows[:, 5 : None if classes is None else 5 + classes] * rows[:, 4:5]).T
    score = scores.max(axis=0)
    kept = np.flatnonzero(score >= confidence)
    kept = kept[np.argsort(-score[kept], kind="stable")][:_CANDIDATES]
    # Of those few only: over all candidates it takes ten times as long as the maximum.
    best = scores[:, kept].argmax(axis=0)
    centre, half = rows[kept, :2], rows[kept, 2:4] / 2
    square = np.concatenate([centre - half, centre + half], axis=1)
    chosen = without_overlaps(square, best, overlap)[:MOST_BOXES]
    xyxy = ((square[chosen] - np.array([fit.left, fit.top] * 2, np.float32)) / fit.scale).astype(np.float32)
    np.clip(xyxy, 0, np.array([fit.width, fit.height] * 2, np.float32), out=xyxy)
    return Boxes(xyxy, score[kept][chosen], best[chosen])


def without_overlaps(xyxy: Floats, classes: npt.NDArray[np.int64], overlap: float) -> npt.NDArray[np.int64]:
    """Which of the boxes, best first, are left when each takes away those after it that it overlaps with."""
    if not len(xyxy):
        return np.zeros(0, np.int64)
    # Far from each other, boxes of different classes never overlap.
    apart = xyxy + (classes * (xyxy.max() + 1))[:, None].astype(np.float32)
    left, top, right, bottom = apart.T
    areas = (right - left) * (bottom - top)
    order, chosen = np.arange(len(xyxy)), []
    while len(order):
        first, rest = order[0], order[1:]
        chosen.append(first)
        width = np.minimum(right[first], right[rest]) - np.maximum(left[first], left[rest])
        height = np.minimum(bottom[first], bottom[rest]) - np.maximum(top[first], top[rest])
        common = np.maximum(0, width) * np.maximum(0, height)
        order = rest[common <= overlap * (areas[first] + areas[rest] - common)]
    return np.array(chosen, np.int64)
