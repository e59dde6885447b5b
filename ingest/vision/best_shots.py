"""The best picture of an event: while whom it shows is still there, a sharper, larger, more whole one takes the place
of the first, which had to be quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ingest.vision.frames import Frame
from ingest.vision.reidentify import cut_out
from ingest.vision.scenarios.findings import Box, Tracked, object_of
from ingest.vision.visitors import quality_of
from ingest.vision.yolo import Pixels

FOR_S = 3.0
"""So long after its event a better picture of somebody is waited for."""
_BETTER = 1.25
_MOST = 64
_SHARP = 12.0  # of the mean change between neighbours, in grey levels: sharper than this is no better
_EVERY_S = 0.3


@dataclass
class _Shot:
    event_id: str
    number: int
    quality: float
    until_s: float
    looked_s: float


class BestShots:
    """One stream's. Not for several threads."""

    def __init__(self, width: int, height: int) -> None:
        self._size = width, height
        self._shots: list[_Shot] = []

    def begin(self, event_id: str, number: int, box: Box, image: Pixels, now_s: float) -> None:
        """An event was stored with this picture of the track `number`."""
        shot = _Shot(event_id, number, self._quality(box, 1.0, image, ()), now_s + FOR_S, now_s)
        self._shots = [*self._shots[-_MOST + 1 :], shot]

    def better(self, seen: Sequence[Tracked], frame: Frame) -> list[str]:
        """The events that this picture shows better than any before."""
        now_s = frame.arrived_s
        self._shots = [shot for shot in self._shots if shot.until_s >= now_s]
        image = frame.image if any(now_s - shot.looked_s >= _EVERY_S for shot in self._shots) else None
        found = []
        for shot in self._shots:
            who = next((each for each in seen if each.number == shot.number), None)
            if who is None or image is None or now_s - shot.looked_s < _EVERY_S:
                continue
            shot.looked_s = now_s
            # Who stands before a car is not hidden by it.
            alike = [each for each in seen if object_of(each.number) == object_of(who.number)]
            others = [each.box for each in alike if each is not who]
            quality = self._quality(who.box, who.confidence, image, others)
            if quality > _BETTER * shot.quality:
                shot.quality = quality
                found.append(shot.event_id)
        return found

    def _quality(self, box: Box, confidence: float, image: Pixels, others: Sequence[Box]) -> float:
        crop = cut_out(image, box)
        if crop is None:
            return 0.0
        return quality_of(box, confidence, *self._size, others) * min(1.0, sharpness(crop) / _SHARP)


def sharpness(crop: Pixels) -> float:
    """The mean change between neighbouring pixels, in grey levels."""
    grey = crop[..., 1].astype(np.float32)
    return float(np.abs(np.diff(grey, axis=0)).mean() + np.abs(np.diff(grey, axis=1)).mean()) / 2
