"""Points as an index keeps them, with their vectors: what one index gives another of the same model, whichever Qdrant
is behind each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from rag.index import Value, Vector, VectorIndex
from rag.text_terms import TermVector

_PAGE = 128
"""Of up to seventeen vectors each: some tens of megabytes as the numbers of a request."""
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class KeptPoint:
    """`vectors` (k, dimension): of length 1 each, as a cosine index keeps them; None where the point has none. `terms`:
    its BM25 weights. `payload`: without the text, and without fields that say nothing."""

    id: str
    text: str
    payload: dict[str, Value]
    terms: TermVector
    vectors: Vector | None

    def is_like(self, other: KeptPoint) -> bool:
        """Whether both say the same. Numbers may differ in their last digits: an engine may bring a vector to length 1
        once more, or keep 32 bits of a number that came with 64."""
        return (
            (self.id, self.text, self.payload, self.terms.indices)
            == (other.id, other.text, other.payload, other.terms.indices)
            and np.allclose(self.terms.values, other.terms.values, rtol=_TOLERANCE, atol=0)
            and _are_like(self.vectors, other.vectors)
        )

    def digest(self, tenant_id: str) -> bytes:
        """SHA-256 of all of it."""
        said = [tenant_id, self.id, self.text, self.payload, self.terms.indices]
        made = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
        made.update(np.asarray(self.terms.values, dtype=np.float32).tobytes())
        if self.vectors is not None:
            made.update(repr(self.vectors.shape).encode() + self.vectors.tobytes())
        return made.digest()


class KeptPoints(Protocol):
    """The points of an index, of one tenant at a time."""

    def page(
        self, tenant_id: str, after: str | None, limit: int, *, whole: bool = True
    ) -> tuple[list[KeptPoint], str | None]:
        """Up to `limit` in the index's own order, and what to ask for the next ones by; None where these are the last.
        Not `whole`: without what they hold, which is quicker."""

    def get(self, tenant_id: str, ids: Sequence[str], *, whole: bool = True) -> dict[str, KeptPoint]:
        """By id, of those that are there."""

    def put(self, tenant_id: str, points: Sequence[KeptPoint]) -> None:
        """Inserts or replaces by id. They survive the death of the process once this returned."""


class KeptIndex(VectorIndex, Protocol):
    """An index whose points can be read and written as they are."""

    @property
    def points(self) -> KeptPoints: ...


def pages(points: KeptPoints, tenant_id: str, *, whole: bool = True) -> Iterator[list[KeptPoint]]:
    """All points of a tenant."""
    after: str | None = None
    while True:
        page, after = points.page(tenant_id, after, _PAGE, whole=whole)
        if page:
            yield page
        if after is None:
            return


def kept_point(
    id_: str,
    text: str,
    payload: dict[str, Value],
    terms: tuple[Sequence[int], Sequence[float]] | None,
    dense: object,
) -> KeptPoint:
    """Of what an engine answers: `terms` as indices and values in any order, `dense` as rows of numbers or None."""
    found = sorted(zip(*terms, strict=True)) if terms is not None else []
    return KeptPoint(
        id=id_,
        text=text,
        payload={key: value for key, value in payload.items() if value is not None},
        terms=TermVector([index for index, _ in found], [value for _, value in found]),
        vectors=None if dense is None else np.atleast_2d(np.asarray(dense, dtype=np.float32)),
    )


def rows_of(point: KeptPoint) -> list[list[float]] | None:
    """Its vectors as engines take them."""
    return None if point.vectors is None else cast("list[list[float]]", point.vectors.tolist())


def _are_like(one: Vector | None, other: Vector | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=_TOLERANCE)
