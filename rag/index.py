"""What a vector index does, whichever Qdrant is behind it: points of a tenant, dense and BM25 search, filters."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.text_terms import TermVector, passage_vector
from store.errors import Unavailable

Vector = NDArray[np.float32]
Value = str | int | float | list[str] | None
Result = TypeVar("Result")

PAYLOAD_VERSION = 3
"""Of the fields that payloads have. An index that was filled with others is gone over once more (ingest/reindex.py)."""

DENSE = "dense"
TERMS = "terms"
TEXT = "text"
KEYWORD_FIELDS = (
    "kind",
    "space_id",
    "document_id",
    "communication_id",
    "speaker_id",
    "communication_kind",
    "channel_type",
    "direction",
    "participants",
    "participant_roles",
    "category",
)
INTEGER_FIELDS = ("occured_at_s",)
SUBJECT_FIELDS = {"document": "document_id", "communication": "communication_id", "memory": "speaker_id"}
"""By the kind of a passage, what names the subject that it is of."""
_SINGLE_FIELDS = (
    "document_id",
    "communication_id",
    "speaker_id",
    "communication_kind",
    "channel_type",
    "direction",
    "category",
)
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


class IndexTooOld(Unavailable):
    """The index's server is of a release that cannot serve it. The message says which one can."""


@dataclass(frozen=True, slots=True)
class Point:
    """A passage as it is indexed.

    `id` is a UUID, unique within the tenant. `vector` is (dimension,) or (k, dimension): the passage's own vector and
    those of its parts, of which the closest to the query counts; None where no embedding model is there.
    `payload` may hold `kind` (communication, document or memory), the fields of `Filter`, `title`, which is searched
    for words along with the text, and whatever the caller wants back.
    """

    id: str
    vector: Vector | None
    text: str
    payload: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filter:
    """All that is given must hold. None: no condition. Empty `kinds` or `point_ids`: nothing matches.

    `space_ids` bound documents alone: where other kinds are searched too, points without a space are not excluded.
    `participants` are speakers who all take part, `participant_role` is that of somebody who does. `from_s` and `to_s`
    bound `occured_at_s` (epoch seconds), both included.
    """

    kinds: tuple[str, ...] | None = None
    space_ids: tuple[str, ...] | None = None
    communication_kind: str | None = None
    channel_type: str | None = None
    without_channel_types: tuple[str, ...] = ()
    direction: str | None = None
    participants: tuple[str, ...] = ()
    participant_role: str | None = None
    category: str | None = None
    from_s: int | None = None
    to_s: int | None = None
    communication_id: str | None = None
    document_id: str | None = None
    speaker_id: str | None = None
    point_ids: tuple[str, ...] | None = None
    without_document_ids: tuple[str, ...] = ()

    @property
    def matches_nothing(self) -> bool:
        no_document = self.space_ids == () and self.kinds == ("document",)
        return no_document or self.kinds == () or self.point_ids == ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`or_absent`: a point without the field matches too."""

    key: str
    values: tuple[str, ...]
    or_absent: bool = False


@dataclass(frozen=True, slots=True)
class NoneOf:
    """A point without the field matches too."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    key: str
    low: int | None
    high: int | None


def clauses(wanted: Filter) -> Iterator[AnyOf | NoneOf | Between]:
    """The conditions on payload fields; `point_ids` is left to the adapter."""
    if wanted.kinds is not None:
        yield AnyOf("kind", wanted.kinds)
    for key in _SINGLE_FIELDS:
        value: str | None = getattr(wanted, key)
        if value is not None:
            yield AnyOf(key, (value,))
    for speaker_id in wanted.participants:
        yield AnyOf("participants", (speaker_id,))
    if wanted.participant_role is not None:
        yield AnyOf("participant_roles", (wanted.participant_role,))
    if wanted.space_ids is not None and (wanted.kinds is None or "document" in wanted.kinds):
        yield AnyOf("space_id", wanted.space_ids, or_absent=wanted.kinds != ("document",))
    if wanted.from_s is not None or wanted.to_s is not None:
        yield Between("occured_at_s", wanted.from_s, wanted.to_s)
    if wanted.without_channel_types:
        yield NoneOf("channel_type", wanted.without_channel_types)
    if wanted.without_document_ids:
        yield NoneOf("document_id", wanted.without_document_ids)


@dataclass(frozen=True, slots=True)
class Hit:
    """`score` is a cosine from dense search, a BM25 score from text search."""

    id: str
    score: float
    text: str
    payload: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a point says, without its vectors."""

    text: str
    payload: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Candidate:
    """`dense` is the cosine with the query (None without a vector on either side), `bm25` the BM25 score (0: none)."""

    id: str
    dense: float | None
    bm25: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one hybrid search found, in no order; `idf` is of the query's terms, `points` how many the tenant has."""

    found: list[Candidate]
    idf: dict[str, float]
    points: int


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """`tenants` and `open_shards` of an embedded index, `points` of a server: None where the adapter has no such."""

    tenants: int | None
    open_shards: int | None
    points: int | None


@dataclass(frozen=True, slots=True)
class Subject:
    """A document, a communication, or a speaker whose `memory` it is."""

    tenant_id: str
    kind: str
    id: str


class Pool(Protocol):
    """What runs a function in a child process; `ingest.children.ChildPool` is one."""

    def run(self, function: Callable[..., Result], *args: object) -> Result: ...


class VectorIndex(Protocol):
    """Thread-safe. What `upsert` and `delete` did survives the death of the process once they returned."""

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        """Inserts or replaces by id. ValueError for a vector of another dimension or a reserved payload field."""

    def set_payload(self, tenant_id: str, ids: Collection[str], values: Mapping[str, Value]) -> None:
        """Sets fields of the points that are there, all else of them stays; None takes a field away. ValueError for the
        title, which is searched for, and for a reserved field."""

    def delete(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> None:
        """Deletes the points of one document, one communication or one speaker: exactly one of them is given."""

    def delete_points(self, tenant_id: str, ids: Collection[str]) -> None:
        """Deletes those that are there."""

    def delete_tenant(self, tenant_id: str) -> None: ...

    def ids_of(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> set[str]:
        """The ids of the points of one document, one communication or one speaker: exactly one of them is given."""

    def subjects(self, after: str | None, limit: int) -> tuple[set[Subject], str | None]:
        """Whose points they are, of all tenants, `limit` points at a time; behind which to go on, None where there are
        no more. None at all of an index that lies beside its database: a restore takes it away with that."""

    def search_hybrid(
        self, tenant_id: str, vector: Vector | None, query_text: str, filter: Filter, limit: int
    ) -> Candidates:
        """The best `limit` by meaning and the best `limit` by words, each with both scores.

        Without a `vector` by words alone. Where the index keeps a graph, the ones by meaning are approximately the
        best; their scores are exact.
        """

    def passages(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Stored]:
        """Text and payload by id, of those that are there."""

    def search_dense(self, tenant_id: str, vector: Vector, filter: Filter, limit: int) -> list[Hit]: ...

    def search_text(self, tenant_id: str, query_text: str, filter: Filter, limit: int) -> list[Hit]: ...

    def term_idf(self, tenant_id: str, terms: Sequence[str]) -> dict[str, float]:
        """BM25's IDF of each term among the tenant's points; a term that none has gets the highest."""

    def count(self, tenant_id: str) -> int: ...

    def counts(self) -> IndexCounts: ...

    def ready(self) -> bool: ...

    def is_complete(self) -> bool:
        """Whether `mark_complete` was ever called. Kept with the index: a new one, of another model too, says no."""

    def is_current(self) -> bool:
        """Whether it was marked complete by a release that wrote the same fields into payloads (PAYLOAD_VERSION)."""

    def mark_complete(self) -> None: ...

    def maintain(self, pool: Pool | None = None) -> None:
        """Does what keeps searches fast where it is due, heavy work in a child process. One call at a time works."""

    def close(self) -> None: ...


def stored_payload(point: Point) -> dict[str, str | int | float | list[str]]:
    """The payload as adapters keep it, with the text, without empty fields."""
    _refuse(_OWN_FIELDS & point.payload.keys())
    return {TEXT: point.text, **{key: value for key, value in point.payload.items() if value is not None}}


def changed_payload(values: Mapping[str, Value]) -> dict[str, Value]:
    """The fields that `set_payload` is given, as adapters send them."""
    _refuse((_OWN_FIELDS | {"title"}) & values.keys())
    return dict(values)


def _refuse(reserved: Collection[str]) -> None:
    if reserved:
        raise ValueError(f"the payload fields {sorted(reserved)} are the index's own")


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


def deletion_filter(
    document_id: str | None = None, communication_id: str | None = None, speaker_id: str | None = None
) -> Filter:
    if [document_id, communication_id, speaker_id].count(None) != 2:
        raise ValueError("give one of document_id, communication_id and speaker_id")
    return Filter(document_id=document_id, communication_id=communication_id, speaker_id=speaker_id)


def idf_of_unknown(points: int) -> float:
    """IDF of a term that none of `points` has, as Qdrant computes it."""
    return math.log(1 + (points + 0.5) / 0.5)
