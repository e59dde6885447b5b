"""The points of a tenant on a Qdrant server, read and written as they are."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from qdrant_client import QdrantClient, models

from rag.index import DENSE, TERMS, TEXT, Filter
from rag.kept_points import KeptPoint, kept_point, rows_of
from rag.server_queries import POINT, TENANT, answering, read_payload, server_filter, server_id

_BATCH_POINTS = 256
_BATCH_NUMBERS = 400_000
_ID_ALONE = [TENANT, POINT, TEXT]


class ServerPoints:
    """`KeptPoints` of a collection. A server may bring vectors to length 1 once more, so that last digits differ."""

    def __init__(self, client: QdrantClient, collection: str) -> None:
        self._client = client
        self._collection = collection

    def page(
        self, tenant_id: str, after: str | None, limit: int, *, whole: bool = True
    ) -> tuple[list[KeptPoint], str | None]:
        with answering():
            records, following = self._client.scroll(
                self._collection,
                server_filter(tenant_id, Filter()),
                limit=limit,
                offset=after,
                with_payload=True if whole else _ID_ALONE,
                with_vectors=whole,
            )
        return [_read(tenant_id, record) for record in records], None if following is None else str(following)

    def get(self, tenant_id: str, ids: Sequence[str], *, whole: bool = True) -> dict[str, KeptPoint]:
        if not ids:
            return {}
        chosen = [server_id(tenant_id, point_id) for point_id in ids]
        fields = True if whole else _ID_ALONE
        with answering():
            records = self._client.retrieve(self._collection, chosen, with_payload=fields, with_vectors=whole)
        found = [_read(tenant_id, record) for record in records]
        return {point.id: point for point in found}

    def put(self, tenant_id: str, points: Sequence[KeptPoint]) -> None:
        numbers = sum(point.vectors.size for point in points if point.vectors is not None)
        upsert(self._client, self._collection, [_written(tenant_id, point) for point in points], numbers)


def upsert(client: QdrantClient, collection: str, points: list[models.PointStruct], numbers: int) -> None:
    """In several requests where they have many `numbers`: a passage may have many vectors, and a server refuses
    requests of more than 32 MB."""
    each = numbers // max(len(points), 1)
    step = max(1, min(_BATCH_POINTS, _BATCH_NUMBERS // max(each, 1)))
    for start in range(0, len(points), step):
        with answering():
            client.upsert(collection, points[start : start + step], wait=True)


def own_fields(tenant_id: str, point_id: str) -> dict[str, str]:
    """What a payload has besides on a server."""
    return {TENANT: str(UUID(tenant_id)), POINT: str(UUID(point_id))}


def _read(tenant_id: str, record: models.Record) -> KeptPoint:
    point_id, text, payload = read_payload(tenant_id, record.payload)
    vectors = record.vector or {}
    assert isinstance(vectors, dict), "an index's vectors have names"
    terms = vectors.get(TERMS)
    assert terms is None or isinstance(terms, models.SparseVector)
    return kept_point(
        point_id, text, payload, None if terms is None else (terms.indices, terms.values), vectors.get(DENSE)
    )


def _written(tenant_id: str, point: KeptPoint) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {
        TERMS: models.SparseVector(indices=point.terms.indices, values=point.terms.values)
    }
    if (rows := rows_of(point)) is not None:
        vectors[DENSE] = rows
    payload = {TEXT: point.text, **point.payload, **own_fields(tenant_id, point.id)}
    return models.PointStruct(id=server_id(tenant_id, point.id), vector=vectors, payload=payload)
