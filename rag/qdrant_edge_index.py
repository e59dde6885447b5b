"""The embedded index: qdrant-edge, one shard folder a tenant, opened on demand. One process owns the folder.

qdrant-edge holds the GIL while it builds an HNSW graph, so this adapter never asks it to: up to about 100,000 points
a tenant an exact scan is fast enough.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import qdrant_edge as edge

from rag.folder_lock import FolderLock
from rag.index import (
    DENSE,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    TERMS,
    TEXT,
    AnyOf,
    Filter,
    Hit,
    IndexCounts,
    IndexMismatch,
    Point,
    ShardDamaged,
    Vector,
    clauses,
    deletion_filter,
    idf_of_unknown,
    stored_payload,
    stored_terms,
    stored_vectors,
)
from rag.text_terms import query_terms, query_vector, term_id

_BATCH_POINTS = 256
_EVERYTHING = edge.Filter()


@dataclass(slots=True)
class _Slot:
    """A tenant's place among the open shards. `users` is guarded by the index, `shard` by `lock`."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    shard: edge.EdgeShard | None = None
    users: int = 0


class EdgeIndex:
    """A `VectorIndex` in a folder. At most `max_open` shards stay open, the least recently used is closed first."""

    def __init__(self, folder: Path, dimension: int, max_open: int = 64, model: str = "") -> None:
        """Raises IndexLocked, or IndexMismatch where the folder was made for another `dimension` or `model`."""
        assert dimension > 0
        assert max_open > 0
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._dimension = dimension
        self._max_open = max_open
        self._guard = threading.Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._closed = False
        self._lock = FolderLock(folder)
        try:
            self._check_made_for(model)
            for leftover in folder.glob(".*-*"):  # of a creation or deletion that the process did not live to finish
                shutil.rmtree(leftover)
        except BaseException:
            self._lock.release()
            raise

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        if not points:
            return
        prepared = [self._prepare(point) for point in points]
        with self._shard(tenant_id, create=True) as shard:
            assert shard is not None
            for start in range(0, len(prepared), _BATCH_POINTS):
                shard.update(edge.UpdateOperation.upsert_points(prepared[start : start + _BATCH_POINTS]))
            shard.flush()

    def delete(self, tenant_id: str, *, document_id: str | None = None, communication_id: str | None = None) -> None:
        condition = _edge_filter(deletion_filter(document_id, communication_id))
        with self._shard(tenant_id) as shard:
            if shard is not None:
                shard.update(edge.UpdateOperation.delete_points_by_filter(condition))
                shard.flush()

    def delete_tenant(self, tenant_id: str) -> None:
        with self._slot(tenant_id) as slot:
            if slot.shard is not None:
                slot.shard.close()
                slot.shard = None
            folder = self._folder / _folder_name(tenant_id)
            if folder.exists():
                # Renamed first: a tenant is either whole or gone, wherever the process dies.
                shutil.rmtree(folder.rename(self._folder / f".deleted-{uuid4()}"))

    def search_dense(self, tenant_id: str, vector: Vector, filter: Filter, limit: int) -> list[Hit]:
        if vector.shape != (self._dimension,):
            raise ValueError(f"a vector of {self._dimension} numbers is wanted, this one has the shape {vector.shape}")
        query = edge.Query.Nearest([vector.tolist()], using=DENSE)
        return self._search(tenant_id, query, edge.SearchParams(exact=True), filter, limit)

    def search_text(self, tenant_id: str, query_text: str, filter: Filter, limit: int) -> list[Hit]:
        wanted = query_terms(query_text)
        return self._search(tenant_id, _term_query(wanted), _term_params(), filter, limit) if wanted else []

    def term_idf(self, tenant_id: str, terms: Sequence[str]) -> dict[str, float]:
        # The score of a one-term query is its IDF times the passage's weight, and the passage tells its weight.
        with self._shard(tenant_id) as shard:
            if shard is None or not terms:
                return dict.fromkeys(terms, idf_of_unknown(0))
            requests = [
                edge.QueryRequest(limit=1, query=_term_query([term]), with_vector=[TERMS], params=_term_params())
                for term in terms
            ]
            unknown = idf_of_unknown(shard.count(edge.CountRequest()))
            answers = shard.query_batch(edge.QueryBatchRequest(requests))
        found = dict.fromkeys(terms, unknown)
        for term, hits in zip(terms, answers, strict=True):
            for hit in hits:
                assert isinstance(hit.vector, dict)
                weights = hit.vector[TERMS]
                assert isinstance(weights, edge.SparseVector)
                found[term] = hit.score / weights.values[weights.indices.index(term_id(term))]
        return found

    def count(self, tenant_id: str) -> int:
        with self._shard(tenant_id) as shard:
            return 0 if shard is None else shard.count(edge.CountRequest())

    def counts(self) -> IndexCounts:
        with self._guard:
            opened = sum(slot.shard is not None for slot in self._slots.values())
        tenants = sum(1 for entry in self._folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
        return IndexCounts(tenants=tenants, open_shards=opened, points=None)

    def ready(self) -> bool:
        return not self._closed

    def close(self) -> None:
        """Waits for the calls under way, closes every shard and gives the folder free. Later calls raise."""
        with self._guard:
            self._closed = True
            slots = list(self._slots.values())
            self._slots.clear()
        for slot in slots:
            with slot.lock:
                if slot.shard is not None:
                    slot.shard.close()
                    slot.shard = None
        self._lock.release()

    def _search(
        self, tenant_id: str, query: edge.Query, params: edge.SearchParams, filter: Filter, limit: int
    ) -> list[Hit]:
        if filter.matches_nothing or limit <= 0:
            return []
        request = edge.QueryRequest(
            limit=limit, query=query, filter=_edge_filter(filter), with_payload=True, params=params
        )
        with self._shard(tenant_id) as shard:
            points = [] if shard is None else shard.query(request)
        hits = []
        for point in points:
            payload = dict(point.payload or {})
            hits.append(Hit(str(point.id), point.score, payload.pop(TEXT), payload))
        return hits

    def _prepare(self, point: Point) -> edge.Point:
        weights = stored_terms(point)
        vectors: dict[str, edge.NamedVector] = {TERMS: edge.SparseVector(weights.indices, weights.values)}
        dense = stored_vectors(point, self._dimension)
        if dense is not None:
            vectors[DENSE] = dense
        return edge.Point(str(UUID(point.id)), vectors, stored_payload(point))

    @contextmanager
    def _slot(self, tenant_id: str) -> Iterator[_Slot]:
        name = _folder_name(tenant_id)
        with self._guard:
            if self._closed:
                raise ShardDamaged("The index is closed.")
            slot = self._slots.setdefault(name, _Slot())
            self._slots.move_to_end(name)
            slot.users += 1
        try:
            with slot.lock:
                yield slot
        finally:
            with self._guard:
                slot.users -= 1
                self._close_surplus()

    @contextmanager
    def _shard(self, tenant_id: str, create: bool = False) -> Iterator[edge.EdgeShard | None]:
        """The tenant's shard, or None where it has none and `create` is not asked for."""
        with self._slot(tenant_id) as slot:
            if slot.shard is None:
                slot.shard = self._open(self._folder / _folder_name(tenant_id), create)
            yield slot.shard

    def _close_surplus(self) -> None:
        """Called with the guard held. Closing takes milliseconds, and nobody may open the shard meanwhile."""
        idle = [name for name, slot in self._slots.items() if slot.users == 0]
        for name in idle[: max(0, len(self._slots) - self._max_open)]:
            shard = self._slots.pop(name).shard
            if shard is not None:
                shard.close()

    def _open(self, folder: Path, create: bool) -> edge.EdgeShard | None:
        if not folder.exists():
            if not create:
                return None
            self._create(folder)
        try:
            return edge.EdgeShard.load(str(folder))
        # qdrant-edge raises bare Exceptions, whatever went wrong.
        except Exception as error:
            raise ShardDamaged(
                f"The shard in {folder} cannot be opened ({error}). Move that folder away and index the account anew."
            ) from error

    def _create(self, folder: Path) -> None:
        """Made beside its place and then renamed, so that a shard is never found half made."""
        draft = self._folder / f".new-{uuid4()}"
        config = edge.EdgeConfig(
            vectors={
                DENSE: edge.EdgeVectorParams(
                    size=self._dimension,
                    distance=edge.Distance.Cosine,
                    multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
                )
            },
            sparse_vectors={TERMS: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        )
        shard = edge.EdgeShard.create(str(draft), config)
        for name in KEYWORD_FIELDS:
            shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Keyword))
        for name in INTEGER_FIELDS:
            shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Integer))
        shard.flush()
        shard.close()
        draft.rename(folder)

    def _check_made_for(self, model: str) -> None:
        wanted = {"format": 1, "dimension": self._dimension, "model": model}
        path = self._folder / "index.json"
        if not path.exists():
            draft = path.with_suffix(".draft")
            draft.write_text(json.dumps(wanted))
            draft.rename(path)
        found = json.loads(path.read_text())
        if found != wanted:
            raise IndexMismatch(
                f"The index in {self._folder} was made for {found}, wanted is {wanted}. Choose that embedding model "
                "again, or move the folder away and index everything anew."
            )


def _folder_name(tenant_id: str) -> str:
    """A UUID's canonical form, which no path can hide in. Raises ValueError for anything else."""
    return str(UUID(tenant_id))


def _term_params() -> edge.SearchParams:
    # The corpus is named, since the default statistics count deleted points too.
    return edge.SearchParams(idf=edge.IdfParams(corpus=_EVERYTHING))


def _term_query(terms: Sequence[str]) -> edge.Query:
    vector = query_vector(terms)
    return edge.Query.Nearest(edge.SparseVector(vector.indices, vector.values), using=TERMS)


def _edge_filter(wanted: Filter) -> edge.Filter:
    must: list[edge.ConditionType] = []
    for clause in clauses(wanted):
        if isinstance(clause, AnyOf):
            must.append(edge.FieldCondition(clause.key, match=edge.MatchAny(list(clause.values))))
        else:
            must.append(edge.FieldCondition(clause.key, range=edge.RangeFloat(gte=clause.low, lte=clause.high)))
    if wanted.point_ids is not None:
        must.append(edge.HasIdCondition({UUID(point_id) for point_id in wanted.point_ids}))
    return edge.Filter(must=must)
