"""The pictures of things that are told of later: somebody who left is shown as seen last, and not by an empty place; a
plate as it was read best, and not as it drives out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ingest.vision.scenarios.findings import Box, EventType, Finding, Tracked

_MOST = 8
"""Pictures that one stream holds so, of a few megabytes each; things seen in the same one share it."""

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Kept:
    image: Image
    box: Box
    quality: float


class KeptPictures:
    """By the event that is told later, and the track's number. Height x width x 3, RGB."""

    def __init__(self) -> None:
        self._kept: dict[tuple[EventType, int], _Kept] = {}

    def newest(self, told: EventType, tracked: Sequence[Tracked], image: Image) -> None:
        """In which these are seen now."""
        for each in tracked:
            self._keep((told, each.number), _Kept(image, each.box, 0.0))

    def best(self, told: EventType, thing: Tracked, image: Image, quality: float) -> None:
        """Kept unless it was seen better before; the more `quality`, the better."""
        before = self._kept.get((told, thing.number))
        if before is None or quality > before.quality:
            self._keep((told, thing.number), _Kept(image, thing.box, quality))

    def shown(self, finding: Finding, image: Image) -> tuple[Finding, Image]:
        """The finding with the picture kept of its thing, and where it is in that; with `image` where none is, or only
        from long ago."""
        kept = None if finding.number is None else self._kept.pop((finding.type, finding.number), None)
        return (finding, image) if kept is None else (replace(finding, box=kept.box), kept.image)

    def _keep(self, key: tuple[EventType, int], kept: _Kept) -> None:
        self._kept.pop(key, None)  # the dict's order is that of the pictures
        self._kept[key] = kept
        while len({id(each.image) for each in self._kept.values()}) > _MOST:
            del self._kept[next(iter(self._kept))]
