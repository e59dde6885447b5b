"""What the visitors of a day look like, all in one matrix: comparing somebody with all of them is two products."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from ingest.vision.reidentify import DIMENSIONS

Floats = npt.NDArray[np.float32]
Look = tuple[float, Floats]
"""Its weight, and a unit vector."""

_ROOM = 16  # rows at first; then as many again each time
_UNKNOWN = 1.0  # in the mean of the visitors, so many more count of whom nothing is known
_LEAST = 1e-6


class Gallery:
    """Visitors have numbers from 1 on. They are kept in the order in which they were put."""

    def __init__(self) -> None:
        self._vectors = np.zeros((_ROOM, DIMENSIONS), np.float32)
        self._weights = np.zeros(_ROOM, np.float32)
        self._owners = np.zeros(_ROOM, np.int64)  # 0: the row is free
        self._shares = np.zeros(_ROOM, np.float32)  # each visitor counts once, however many vectors there are
        self._free = list(range(_ROOM))
        self._rows: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def first(self) -> int:
        """Who was put longest ago."""
        return next(iter(self._rows))

    def looks(self, visitor: int) -> list[Look]:
        """Those put; none of somebody who is not here."""
        return [(float(self._weights[row]), self._vectors[row].copy()) for row in self._rows.get(visitor, ())]

    def put(self, visitor: int, looks: Sequence[Look]) -> None:
        """In place of those before, as the last."""
        self.remove(visitor)
        while len(self._free) < len(looks):
            self._grow()
        rows = self._rows[visitor] = [self._free.pop() for _ in looks]
        for row, (weight, vector) in zip(rows, looks, strict=True):
            self._vectors[row], self._weights[row] = vector, weight
        self._owners[rows], self._shares[rows] = visitor, 1 / len(looks)

    def remove(self, visitor: int) -> None:
        rows = self._rows.pop(visitor, [])
        self._vectors[rows], self._owners[rows], self._shares[rows] = 0, 0, 0
        self._free += rows

    def nearest(self, vector: Floats, apart: Collection[int]) -> tuple[int, float, float]:
        """The visitor most like a unit vector, but for those `apart`; the cosine to it, with the mean of all visitors
        taken off, and that to the second. 0 and -1 where there is none."""
        if not self._rows.keys() - set(apart):
            return 0, -1.0, -1.0
        centre = self._shares @ self._vectors / (len(self._rows) + _UNKNOWN)
        towards = unit(vector - centre)
        along, common = (self._vectors @ np.stack([towards, centre], axis=1)).T
        lengths = np.sqrt(np.maximum(1 - 2 * common + centre @ centre, _LEAST))
        nearness = np.full(int(self._owners.max()) + 1, -1.0)
        np.maximum.at(nearness, self._owners, (along - towards @ centre) / lengths)
        nearness[[0, *(visitor for visitor in apart if visitor < len(nearness))]] = -1.0
        nearest = int(nearness.argmax())
        similarity, nearness[nearest] = float(nearness[nearest]), -1.0
        return nearest, similarity, float(nearness.max())

    def _grow(self) -> None:
        rows = len(self._owners)
        self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._weights = np.concatenate([self._weights, np.zeros_like(self._weights)])
        self._owners = np.concatenate([self._owners, np.zeros_like(self._owners)])
        self._shares = np.concatenate([self._shares, np.zeros_like(self._shares)])
        self._free += range(rows, 2 * rows)


def packed(looks: Sequence[Look]) -> bytes:
    """16-bit numbers: of each look its weight and its vector."""
    return np.array([[weight, *vector] for weight, vector in looks], np.float16).tobytes()


def unpacked(looks: bytes) -> list[Look]:
    """What `packed` gave. ValueError where it is something else."""
    rows = np.frombuffer(looks, np.float16).reshape(-1, 1 + DIMENSIONS).astype(np.float32)
    if not len(rows) or not (rows[:, 0] > 0).all():
        raise ValueError("these are no looks of a visitor")
    return [(float(row[0]), unit(row[1:])) for row in rows]


def unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not np.isfinite(length) or length == 0:
        raise ValueError("an embedding is one vector, finite and not 0")
    return np.asarray(vector / length, np.float32)
