"""What a vector index does, whichever Qdrant is behind it: points of a tenant, dense and BM25 search, filters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.text_terms import TermVector, passage_vector
from store.errors import Unavailable

Vector = NDArray[np.float32]
Value = str | int | float | None

DENSE = "dense"
TERMS = "terms"
TEXT = "text"
KEYWORD_FIELDS = (
    "kind",
    "space_id",
    "document_id",
    "communication_id",
    "communication_kind",
    "channel_type",
    "direction",
)
INTEGER_FIELDS = ("occured_at_s",)
_OWN_FIELDS = frozenset({TEXT, "tenant_id", "point_id"})


class ShardDamaged(Unavailable):
    """A tenant's part of the index cannot be opened. `detail` says more, for the operator alone."""

    def __init__(self, detail: str) -> None:
        super().__init__("The search index of this account cannot be read.", code="index_damaged", retry_after_s=60)
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}"


class IndexLocked(Exception):
    """Another process owns the folder of the index."""


class IndexMismatch(Exception):
    """The index was made for another embedding model or dimension."""


@dataclass(frozen=True, slots=True)
class Point:
    """A passage as it is indexed.

    `id` is a UUID, unique within the tenant. `vector` is (dimension,) or (k, dimension): the passage's own vector and
    those of its parts, of which the closest to the query counts; None where no embedding model is there.
    `payload` may hold `kind` ("communication" or "document"), the fields of `Filter`, `title`, which is searched for
    words along with the text, and whatever the caller wants back.
    """

    id: str
    vector: Vector | None
    text: str
    payload: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filter:
    """All that is given must hold. None: no condition. Empty `space_ids` or `point_ids`: nothing matches.

    `from_s` and `to_s` bound `occured_at_s` (epoch seconds), both included.
    """

    kind: str | None = None
    space_ids: tuple[str, ...] | None = None
    communication_kind: str | None = None
    channel_type: str | None = None
    direction: str | None = None
    from_s: int | None = None
    to_s: int | None = None
    communication_id: str | None = None
    document_id: str | None = None
    point_ids: tuple[str, ...] | None = None

    @property
    def matches_nothing(self) -> bool:
        return self.space_ids == () or self.point_ids == ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    key: str
    low: int | None
    high: int | None


def clauses(wanted: Filter) -> Iterator[AnyOf | Between]:
    """The conditions on payload fields; `point_ids` is left to the adapter."""
    for key in ("kind", "communication_kind", "channel_type", "direction", "communication_id", "document_id"):
        value: str | None = getattr(wanted, key)
        if value is not None:
            yield AnyOf(key, (value,))
    if wanted.space_ids is not None:
        yield AnyOf("space_id", wanted.space_ids)
    if wanted.from_s is not None or wanted.to_s is not None:
        yield Between("occured_at_s", wanted.from_s, wanted.to_s)


@dataclass(frozen=True, slots=True)
class Hit:
    """`score` is a cosine from dense search, a BM25 score from text search."""

    id: str
    score: float
    text: str
    payload: dict[str, Value]


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """`tenants` and `open_shards` of an embedded index, `points` of a server: None where the adapter has no such."""

    tenants: int | None
    open_shards: int | None
    points: int | None


class VectorIndex(Protocol):
    """Thread-safe. What `upsert` and `delete` did survives the death of the process once they returned."""

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        """Inserts or replaces by id. ValueError for a vector of another dimension or a reserved payload field."""

    def delete(self, tenant_id: str, *, document_id: str | None = None, communication_id: str | None = None) -> None:
        """Deletes the points of one document or one communication: exactly one of the two is given."""

    def delete_tenant(self, tenant_id: str) -> None: ...

    def search_dense(self, tenant_id: str, vector: Vector, filter: Filter, limit: int) -> list[Hit]: ...

    def search_text(self, tenant_id: str, query_text: str, filter: Filter, limit: int) -> list[Hit]: ...

    def term_idf(self, tenant_id: str, terms: Sequence[str]) -> dict[str, float]:
        """BM25's IDF of each term among the tenant's points; a term that none has gets the highest."""

    def count(self, tenant_id: str) -> int: ...

    def counts(self) -> IndexCounts: ...

    def ready(self) -> bool: ...

    def close(self) -> None: ...


def stored_payload(point: Point) -> dict[str, str | int | float]:
    """The payload as adapters keep it, with the text, without empty fields."""
    if reserved := _OWN_FIELDS & point.payload.keys():
        raise ValueError(f"the payload fields {sorted(reserved)} are the index's own")
    return {TEXT: point.text, **{key: value for key, value in point.payload.items() if value is not None}}


def stored_terms(point: Point) -> TermVector:
    """BM25 weights of the text and, where there is one, the title."""
    title = point.payload.get("title")
    return passage_vector(f"{title}\n{point.text}" if isinstance(title, str) else point.text)


def stored_vectors(point: Point, dimension: int) -> list[list[float]] | None:
    """The dense vectors as rows of `dimension` numbers, or None."""
    if point.vector is None:
        return None
    rows = np.atleast_2d(point.vector)
    if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] != dimension:
        raise ValueError(f"vectors of {dimension} numbers are wanted, this one has the shape {point.vector.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("a vector holds numbers that are not finite")
    listed: list[list[float]] = rows.astype(np.float32).tolist()
    return listed


def deletion_filter(document_id: str | None, communication_id: str | None) -> Filter:
    if (document_id is None) == (communication_id is None):
        raise ValueError("give either document_id or communication_id")
    return Filter(document_id=document_id, communication_id=communication_id)


def idf_of_unknown(points: int) -> float:
    """IDF of a term that none of `points` has, as Qdrant computes it."""
    return math.log(1 + (points + 0.5) / 0.5)
