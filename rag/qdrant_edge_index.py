"""The embedded index: qdrant-edge, one shard folder a tenant, opened on demand. One process owns the folder."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from uuid import UUID

import qdrant_edge as edge

from rag.edge_maintenance import EdgeMaintenance
from rag.edge_points import EdgePoints, upsert
from rag.edge_queries import HybridSearch, dense_query, edge_filter, idf_from, idf_requests, term_params, term_query
from rag.edge_shards import EdgeShards
from rag.folder_lock import FolderLock
from rag.index import (
    DENSE,
    PAYLOAD_VERSION,
    TERMS,
    TEXT,
    Candidates,
    Filter,
    Hit,
    IndexCounts,
    IndexMismatch,
    Point,
    Pool,
    Stored,
    Subject,
    Value,
    Vector,
    changed_payload,
    deletion_filter,
    idf_of_unknown,
    stored_payload,
    stored_terms,
    stored_vectors,
)
from rag.kept_points import KeptPoints
from rag.text_terms import query_terms

_BATCH_IDS = 1_000
_COMPLETE = "complete"


class EdgeIndex:
    """A `VectorIndex` in a folder. At most `max_open` shards stay open, the least recently used is closed first."""

    def __init__(self, folder: Path, dimension: int, max_open: int = 64, model: str = "") -> None:
        """Raises IndexLocked, or IndexMismatch where the folder was made for another `dimension` or `model`."""
        assert dimension > 0
        assert max_open > 0
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._dimension = dimension
        self._lock = FolderLock(folder)
        try:
            self._check_made_for(model)
            self._shards = EdgeShards(folder, dimension, max_open)
        except BaseException:
            self._lock.release()
            raise
        self._maintenance = EdgeMaintenance(self._shards, dimension)
        self.points: KeptPoints = EdgePoints(self._shards)

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        upsert(self._shards, tenant_id, [self._prepare(point) for point in points])

    def set_payload(self, tenant_id: str, ids: Collection[str], values: Mapping[str, Value]) -> None:
        changed, wanted = changed_payload(values), [*ids]
        with self._shards.writing(tenant_id) as writer:
            if writer is None or not wanted:
                return
            for start in range(0, len(wanted), _BATCH_IDS):
                # By a filter: an id that is not there would be an error.
                some = edge_filter(Filter(point_ids=tuple(wanted[start : start + _BATCH_IDS])))
                writer.apply(edge.UpdateOperation.set_payload_by_filter(some, changed))
            writer.shard.flush()

    def delete(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> None:
        condition = edge_filter(deletion_filter(document_id, communication_id, speaker_id))
        with self._shards.writing(tenant_id) as writer:
            if writer is not None:
                writer.apply(edge.UpdateOperation.delete_points_by_filter(condition))
                writer.shard.flush()

    def delete_points(self, tenant_id: str, ids: Collection[str]) -> None:
        wanted: list[int | UUID | str] = [UUID(point_id) for point_id in ids]
        with self._shards.writing(tenant_id) as writer:
            if writer is None or not wanted:
                return
            for start in range(0, len(wanted), _BATCH_IDS):
                writer.apply(edge.UpdateOperation.delete_points(wanted[start : start + _BATCH_IDS]))
            writer.shard.flush()

    def ids_of(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> set[str]:
        condition = edge_filter(deletion_filter(document_id, communication_id, speaker_id))
        with self._shards.reading(tenant_id) as shard:
            if shard is None:
                return set()
            count = shard.count(edge.CountRequest(filter=condition))
            points = shard.query(edge.QueryRequest(limit=count, filter=condition)) if count else []
        return {str(point.id) for point in points}

    def subjects(self, after: str | None, limit: int) -> tuple[set[Subject], str | None]:
        return set(), None

    def passages(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Stored]:
        with self._shards.reading(tenant_id) as shard:
            points = shard.retrieve([UUID(each) for each in ids], True, False) if shard is not None and ids else []
        found = {}
        for point in points:
            payload = dict(point.payload or {})
            found[str(point.id)] = Stored(payload.pop(TEXT), payload)
        return found

    def is_complete(self) -> bool:
        return (self._folder / _COMPLETE).exists()

    def is_current(self) -> bool:
        return self.is_complete() and (self._folder / _COMPLETE).read_text() == str(PAYLOAD_VERSION)

    def mark_complete(self) -> None:
        (self._folder / _COMPLETE).write_text(str(PAYLOAD_VERSION))

    def maintain(self, pool: Pool | None = None) -> None:
        self._maintenance.run(pool)

    def delete_tenant(self, tenant_id: str) -> None:
        self._shards.remove(tenant_id)

    def search_hybrid(
        self, tenant_id: str, vector: Vector | None, query_text: str, filter: Filter, limit: int
    ) -> Candidates:
        self._check_shape(vector)
        terms = query_terms(query_text)
        if filter.matches_nothing or limit <= 0 or (vector is None and not terms):
            return Candidates([], {}, 0)
        search = HybridSearch(vector, terms, filter, limit)
        with self._shards.reading(tenant_id) as shard:
            return Candidates([], dict.fromkeys(terms, idf_of_unknown(0)), 0) if shard is None else search.run(shard)

    def search_dense(self, tenant_id: str, vector: Vector, filter: Filter, limit: int) -> list[Hit]:
        self._check_shape(vector)
        query, params = dense_query(vector)
        return self._search(tenant_id, query, params, filter, limit)

    def search_text(self, tenant_id: str, query_text: str, filter: Filter, limit: int) -> list[Hit]:
        wanted = query_terms(query_text)
        return self._search(tenant_id, term_query(wanted), term_params(), filter, limit) if wanted else []

    def term_idf(self, tenant_id: str, terms: Sequence[str]) -> dict[str, float]:
        with self._shards.reading(tenant_id) as shard:
            if shard is None or not terms:
                return dict.fromkeys(terms, idf_of_unknown(0))
            answers = shard.query_batch(edge.QueryBatchRequest(idf_requests(terms)))
            return idf_from(terms, answers, shard.count(edge.CountRequest()))

    def count(self, tenant_id: str) -> int:
        with self._shards.reading(tenant_id) as shard:
            return 0 if shard is None else shard.count(edge.CountRequest())

    def counts(self) -> IndexCounts:
        return IndexCounts(tenants=len(self._shards.tenants()), open_shards=self._shards.open_shards, points=None)

    def ready(self) -> bool:
        return not self._shards.closed

    def close(self) -> None:
        """Waits for the calls under way, closes every shard and gives the folder free. Later calls raise."""
        self._shards.close()
        self._lock.release()

    def _check_shape(self, vector: Vector | None) -> None:
        if vector is not None and vector.shape != (self._dimension,):
            raise ValueError(f"a vector of {self._dimension} numbers is wanted, this one has the shape {vector.shape}")

    def _search(
        self, tenant_id: str, query: edge.Query, params: edge.SearchParams, filter: Filter, limit: int
    ) -> list[Hit]:
        if filter.matches_nothing or limit <= 0:
            return []
        request = edge.QueryRequest(
            limit=limit, query=query, filter=edge_filter(filter), with_payload=True, params=params
        )
        with self._shards.reading(tenant_id) as shard:
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
