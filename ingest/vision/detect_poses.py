"""People with their key points, out of a YOLO pose network's answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ingest.vision.network_files import KEYPOINTS
from ingest.vision.yolo import MOST_BOXES, OVERLAP, Boxes, Fit, Floats, without_overlaps

_CANDIDATES = 3000


@dataclass(frozen=True, slots=True)
class Poses:
    """n people. `keypoints`: n x 17 x 3, each x and y in pixels of the picture, and how sure it is, 0 to 1.

    Points that cannot be seen have coordinates too, perhaps outside of the picture: look at their certainty.
    """

    boxes: Boxes
    keypoints: Floats

    def __len__(self) -> int:
        return len(self.boxes)


def poses_of(
    output: Floats, fit: Fit, *, classes: int = 1, confidence: float = 0.25, overlap: float = OVERLAP
) -> Poses:
    """The people in a network's answer to one picture: 4 + classes + 51 x candidates, with or without a leading 1.

    `classes`: how many there are. Boxes that overlap by more than `overlap` (IoU) are one person.
    """
    rows = (output[0] if output.ndim == 3 else output).T
    scores = rows[:, 4 : 4 + classes]
    score = scores.max(axis=1)
    kept = np.flatnonzero(score >= confidence)
    kept = kept[np.argsort(-score[kept], kind="stable")][:_CANDIDATES]
    centre, half = rows[kept, :2], rows[kept, 2:4] / 2
    square = np.concatenate([centre - half, centre + half], axis=1)
    best = scores[kept].argmax(axis=1)
    chosen = without_overlaps(square, best, overlap)[:MOST_BOXES]
    shift = np.array([fit.left, fit.top], np.float32)
    xyxy = ((square[chosen] - np.tile(shift, 2)) / fit.scale).astype(np.float32)
    np.clip(xyxy, 0, np.array([fit.width, fit.height] * 2, np.float32), out=xyxy)
    points = rows[kept[chosen], 4 + classes :].reshape(-1, KEYPOINTS, 3).astype(np.float32)
    points[..., :2] = (points[..., :2] - shift) / fit.scale
    return Poses(Boxes(xyxy, score[kept][chosen], best[chosen]), points)
