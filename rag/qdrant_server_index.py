"""The same index on a Qdrant server: one collection for all tenants, each query filtered by its tenant."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

from qdrant_client import QdrantClient, models

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
    Vector,
    clauses,
    deletion_filter,
    idf_of_unknown,
    stored_payload,
    stored_terms,
    stored_vectors,
)
from rag.text_terms import query_terms, query_vector, term_id

_TENANT = "tenant_id"
_POINT = "point_id"
_BATCH_POINTS = 256


class ServerIndex:
    """A `VectorIndex` over a client, which `close` closes too."""

    def __init__(self, client: QdrantClient, dimension: int, collection: str = "parley", model: str = "") -> None:
        """Makes the collection where there is none. Raises IndexMismatch where it is for another dimension or model."""
        assert dimension > 0
        self._client = client
        self._dimension = dimension
        self._collection = collection
        if not client.collection_exists(collection):
            self._create(model)
        self._check_made_for(model)

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        prepared = [self._prepare(tenant_id, point) for point in points]
        for start in range(0, len(prepared), _BATCH_POINTS):
            self._client.upsert(self._collection, prepared[start : start + _BATCH_POINTS], wait=True)

    def delete(self, tenant_id: str, *, document_id: str | None = None, communication_id: str | None = None) -> None:
        self._delete(_server_filter(tenant_id, deletion_filter(document_id, communication_id)))

    def delete_tenant(self, tenant_id: str) -> None:
        self._delete(_server_filter(tenant_id, Filter()))

    def search_dense(self, tenant_id: str, vector: Vector, filter: Filter, limit: int) -> list[Hit]:
        if vector.shape != (self._dimension,):
            raise ValueError(f"a vector of {self._dimension} numbers is wanted, this one has the shape {vector.shape}")
        return self._search(tenant_id, [vector.tolist()], DENSE, None, filter, limit)

    def search_text(self, tenant_id: str, query_text: str, filter: Filter, limit: int) -> list[Hit]:
        wanted = query_terms(query_text)
        return self._search(tenant_id, _sparse(wanted), TERMS, _term_params(tenant_id), filter, limit) if wanted else []

    def term_idf(self, tenant_id: str, terms: Sequence[str]) -> dict[str, float]:
        everything = _server_filter(tenant_id, Filter())
        found = dict.fromkeys(terms, idf_of_unknown(self.count(tenant_id)))
        if not terms:
            return found
        requests = [
            models.QueryRequest(
                query=_sparse([term]),
                using=TERMS,
                limit=1,
                filter=everything,
                params=_term_params(tenant_id),
                with_vector=[TERMS],
            )
            for term in terms
        ]
        answers = self._client.query_batch_points(self._collection, requests)
        for term, answer in zip(terms, answers, strict=True):
            for hit in answer.points:
                assert isinstance(hit.vector, dict)
                weights = hit.vector[TERMS]
                assert isinstance(weights, models.SparseVector)
                found[term] = hit.score / weights.values[weights.indices.index(term_id(term))]
        return found

    def count(self, tenant_id: str) -> int:
        everything = _server_filter(tenant_id, Filter())
        return self._client.count(self._collection, count_filter=everything, exact=True).count

    def counts(self) -> IndexCounts:
        points = self._client.count(self._collection, exact=False).count
        return IndexCounts(tenants=None, open_shards=None, points=points)

    def ready(self) -> bool:
        try:
            return self._client.collection_exists(self._collection)
        # The client raises its own, httpx's and grpc's errors; each of them means "not ready".
        except Exception:
            return False

    def close(self) -> None:
        self._client.close()

    def _search(
        self,
        tenant_id: str,
        query: list[list[float]] | models.SparseVector,
        using: str,
        params: models.SearchParams | None,
        filter: Filter,
        limit: int,
    ) -> list[Hit]:
        if filter.matches_nothing or limit <= 0:
            return []
        answer = self._client.query_points(
            self._collection,
            query=query,
            using=using,
            query_filter=_server_filter(tenant_id, filter),
            search_params=params,
            limit=limit,
            with_payload=True,
        )
        hits = []
        for point in answer.points:
            payload = dict(point.payload or {})
            assert payload.pop(_TENANT) == str(UUID(tenant_id))
            hits.append(Hit(payload.pop(_POINT), point.score, payload.pop(TEXT), payload))
        return hits

    def _prepare(self, tenant_id: str, point: Point) -> models.PointStruct:
        weights = stored_terms(point)
        vectors: dict[str, models.Vector] = {TERMS: models.SparseVector(indices=weights.indices, values=weights.values)}
        dense = stored_vectors(point, self._dimension)
        if dense is not None:
            vectors[DENSE] = dense
        own = {_TENANT: str(UUID(tenant_id)), _POINT: str(UUID(point.id))}
        return models.PointStruct(
            id=_server_id(tenant_id, point.id), vector=vectors, payload=stored_payload(point) | own
        )

    def _delete(self, condition: models.Filter) -> None:
        self._client.delete(self._collection, models.FilterSelector(filter=condition), wait=True)

    def _create(self, model: str) -> None:
        self._client.create_collection(
            self._collection,
            vectors_config={
                DENSE: models.VectorParams(
                    size=self._dimension,
                    distance=models.Distance.COSINE,
                    multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
                )
            },
            sparse_vectors_config={TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            # A graph for each tenant and none over all: every query names its tenant.
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
            metadata={"dimension": self._dimension, "model": model},
        )
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        self._client.create_payload_index(self._collection, _TENANT, tenant)
        for name in KEYWORD_FIELDS:
            self._client.create_payload_index(self._collection, name, models.PayloadSchemaType.KEYWORD)
        for name in INTEGER_FIELDS:
            self._client.create_payload_index(self._collection, name, models.PayloadSchemaType.INTEGER)

    def _check_made_for(self, model: str) -> None:
        wanted = {"dimension": self._dimension, "model": model}
        found = self._client.get_collection(self._collection).config.metadata
        if found != wanted:
            raise IndexMismatch(
                f"The collection {self._collection} was made for {found}, wanted is {wanted}. Choose that embedding "
                "model again, or another collection, and index everything anew."
            )


def _server_id(tenant_id: str, point_id: str) -> str:
    """Ids are unique within a tenant only; one tenant must not be able to overwrite another's point."""
    return str(uuid5(UUID(tenant_id), str(UUID(point_id))))


def _term_params(tenant_id: str) -> models.SearchParams:
    # IDF over the tenant's own points: another tenant's words neither show nor count.
    corpus = _server_filter(tenant_id, Filter())
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))


def _sparse(terms: Sequence[str]) -> models.SparseVector:
    vector = query_vector(terms)
    return models.SparseVector(indices=vector.indices, values=vector.values)


def _server_filter(tenant_id: str, wanted: Filter) -> models.Filter:
    must: list[models.Condition] = [
        models.FieldCondition(key=_TENANT, match=models.MatchValue(value=str(UUID(tenant_id))))
    ]
    for clause in clauses(wanted):
        if isinstance(clause, AnyOf):
            must.append(models.FieldCondition(key=clause.key, match=models.MatchAny(any=list(clause.values))))
        else:
            must.append(models.FieldCondition(key=clause.key, range=models.Range(gte=clause.low, lte=clause.high)))
    if wanted.point_ids is not None:
        must.append(models.HasIdCondition(has_id=[_server_id(tenant_id, point_id) for point_id in wanted.point_ids]))
    return models.Filter(must=must)
