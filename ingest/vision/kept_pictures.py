"""The pictures of things that are told of later: somebody who left is shown as seen last, and not by an empty place; a
plate as it was read best, and not as it drives out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import cv2
import numpy as np
import numpy.typing as npt

from ingest.vision.recorder import WIDEST
from ingest.vision.scenarios.findings import Box, EventType, Finding, Tracked

_MOST = 8
"""Pictures that one stream holds so, of three megabytes each at most; things seen in the same one share it."""

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Kept:
    image: Image
    box: Box
    seen_at: datetime | None = None  # where that is the event's time
    quality: float = 0.0


class KeptPictures:
    """By the event that is told later, and the track's number. Height x width x 3, RGB; boxes are those of the whole
    frame, though its picture may be kept as small as it will be stored."""

    def __init__(self) -> None:
        self._kept: dict[tuple[EventType, int], _Kept] = {}

    def newest(self, told: EventType, tracked: Sequence[Tracked], image: Image) -> None:
        """In which these are seen now."""
        for each in tracked:
            self._keep((told, each.number), _Kept(image, each.box))
        self._shrink_all_but(image)

    def best(self, told: EventType, thing: Tracked, image: Image, seen_at: datetime, quality: float) -> None:
        """Kept unless it was seen better before; the more `quality`, the better. The event will be one of then."""
        before = self._kept.get((told, thing.number))
        if before is None or quality > before.quality:
            self._keep((told, thing.number), _Kept(image, thing.box, seen_at, quality))
            self._shrink_all_but(image)

    def shown(self, finding: Finding, image: Image, seen_at: datetime) -> tuple[Finding, Image, datetime]:
        """The finding with the picture kept of its thing, where it is in that, and the event's time; with `image` and
        `seen_at` where none is, or only from long ago."""
        kept = None if finding.number is None else self._kept.pop((finding.type, finding.number), None)
        if kept is None:
            return finding, image, seen_at
        return replace(finding, box=kept.box), kept.image, kept.seen_at or seen_at

    def _keep(self, key: tuple[EventType, int], kept: _Kept) -> None:
        self._kept.pop(key, None)  # the dict's order is that of the pictures
        self._kept[key] = kept
        while len({id(each.image) for each in self._kept.values()}) > _MOST:
            del self._kept[next(iter(self._kept))]

    def _shrink_all_but(self, newest: Image) -> None:
        """The newest is mostly replaced by the next one: it is not worth the work."""
        small: dict[int, Image] = {}
        for key, kept in self._kept.items():
            image = kept.image
            if image is not newest and image.shape[1] > WIDEST:
                if id(image) not in small:
                    size = WIDEST, round(image.shape[0] * WIDEST / image.shape[1])
                    small[id(image)] = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
                self._kept[key] = replace(kept, image=small[id(image)])
