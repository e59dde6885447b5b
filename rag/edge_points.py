"""The points of an embedded index, read and written as they are."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import qdrant_edge as edge

from rag.edge_shards import EdgeShards
from rag.index import DENSE, TERMS, TEXT
from rag.kept_points import KeptPoint, kept_point, rows_of

# qdrant-edge holds the GIL while it writes: some 3 ms for so many.
_BATCH_POINTS = 32


class EdgePoints:
    """`KeptPoints` of a folder of shards. Vectors come back bit for bit: those of length 1 are kept as they came."""

    def __init__(self, shards: EdgeShards) -> None:
        self._shards = shards

    def page(
        self, tenant_id: str, after: str | None, limit: int, *, whole: bool = True
    ) -> tuple[list[KeptPoint], str | None]:
        offset = UUID(after) if after is not None else None
        request = edge.ScrollRequest(offset=offset, limit=limit, with_payload=whole, with_vector=whole)
        with self._shards.reading(tenant_id) as shard:
            if shard is None:
                return [], None
            records, following = shard.scroll(request)
        return [_read(record) for record in records], None if following is None else str(following)

    def get(self, tenant_id: str, ids: Sequence[str], *, whole: bool = True) -> dict[str, KeptPoint]:
        with self._shards.reading(tenant_id) as shard:
            records = shard.retrieve([UUID(each) for each in ids], whole, whole) if shard is not None and ids else []
        return {str(record.id): _read(record) for record in records}

    def put(self, tenant_id: str, points: Sequence[KeptPoint]) -> None:
        upsert(self._shards, tenant_id, [_written(point) for point in points])


def upsert(shards: EdgeShards, tenant_id: str, points: list[edge.Point]) -> None:
    """They are on the disk once this returned."""
    if not points:
        return
    with shards.writing(tenant_id, create=True) as writer:
        assert writer is not None
        for start in range(0, len(points), _BATCH_POINTS):
            batch = points[start : start + _BATCH_POINTS]
            writer.apply(edge.UpdateOperation.upsert_points(batch), len(batch))
        writer.shard.flush()


def _read(record: edge.Record) -> KeptPoint:
    payload = dict(record.payload or {})
    vectors = record.vector or {}
    assert isinstance(vectors, dict), "an index's vectors have names"
    terms = vectors.get(TERMS)
    assert terms is None or isinstance(terms, edge.SparseVector)
    return kept_point(
        str(record.id),
        str(payload.pop(TEXT, "")),
        payload,
        None if terms is None else (terms.indices, terms.values),
        vectors.get(DENSE),
    )


def _written(point: KeptPoint) -> edge.Point:
    vectors: dict[str, edge.NamedVector] = {TERMS: edge.SparseVector(point.terms.indices, point.terms.values)}
    if (rows := rows_of(point)) is not None:
        vectors[DENSE] = rows
    return edge.Point(point.id, vectors, {TEXT: point.text, **point.payload})
