"""The same index on a Qdrant server: one collection for all tenants, each query filtered by its tenant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from rag.index import (
    DENSE,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    PAYLOAD_VERSION,
    SUBJECT_FIELDS,
    TERMS,
    Candidate,
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
    stored_payload,
    stored_terms,
    stored_vectors,
)
from rag.kept_points import KeptPoints
from rag.server_points import ServerPoints, own_fields, upsert
from rag.server_queries import (
    POINT,
    TENANT,
    answering,
    dense_params,
    hybrid_requests,
    idf_from,
    idf_requests,
    read_payload,
    scores_by_id,
    server_filter,
    server_id,
    sparse_query,
    term_params,
    unavailable,
)
from rag.server_version import refuse_older
from rag.text_terms import query_terms
from store.bulkhead import Bulkhead
from store.errors import Unavailable

_BATCH_IDS = 10_000
# Of the threads that answer, forty a process, a server that lets everybody wait may keep so many.
_READS_AT_ONCE, _READS_WAITING, _LATE_READ_S = 12, 4, 3.0
# Those of jobs, for the most part, which have threads of their own.
_WRITES_AT_ONCE, _WRITES_WAITING, _LATE_WRITE_S = 8, 32, 10.0
_COMPLETE = "complete"
_VERSION = "payload_version"
_IN_BYTES = models.ScalarQuantization(
    scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a cluster holds a new collection. `shards` None: as many as the server thinks right. `quantized`: vectors lie
    on disk, and one byte a number of them in memory."""

    shards: int | None = None
    replicas: int = 1
    quantized: bool = False


class ServerIndex:
    """A `VectorIndex` over a client, which `close` closes too."""

    def __init__(
        self,
        client: QdrantClient,
        dimension: int,
        collection: str = "parley",
        model: str = "",
        layout: Layout | None = None,
        reader: QdrantClient | None = None,
    ) -> None:
        """Makes the collection where there is none. Raises IndexMismatch where it is for another dimension or model.
        `reader`: a client for what people wait for, which waits less long; `close` closes it too."""
        assert dimension > 0
        self._layout = layout or Layout()
        self._client = client
        self._reader = reader or client
        self._reads = Bulkhead(unavailable, at_once=_READS_AT_ONCE, waiting=_READS_WAITING, late_s=_LATE_READ_S)
        self._writes = Bulkhead(unavailable, at_once=_WRITES_AT_ONCE, waiting=_WRITES_WAITING, late_s=_LATE_WRITE_S)
        self._dimension = dimension
        self._collection = collection
        self._made_for: dict[str, object] = {"dimension": dimension, "model": model}
        self.points: KeptPoints = ServerPoints(client, collection)
        with answering():
            if not client.collection_exists(collection):
                self._create()
            info = client.get_collection(collection)
            is_new = not info.config.metadata and not info.points_count
            self._dense_params = dense_params(info.config.params.vectors)
            if is_new:
                self._finish()
            self._check_made_for()
            if not is_new:
                self._index_fields(info.payload_schema)

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        numbers = sum(point.vector.size for point in points if point.vector is not None)
        prepared = [self._prepare(tenant_id, point) for point in points]
        with self._writes.call():
            upsert(self._client, self._collection, prepared, numbers)

    def set_payload(self, tenant_id: str, ids: Collection[str], values: Mapping[str, Value]) -> None:
        changed, wanted = changed_payload(values), [*ids]
        for start in range(0, len(wanted), _BATCH_IDS):
            some = server_filter(tenant_id, Filter(point_ids=tuple(wanted[start : start + _BATCH_IDS])))
            with self._writing():
                self._client.set_payload(self._collection, changed, models.FilterSelector(filter=some), wait=True)

    def delete(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> None:
        self._delete(server_filter(tenant_id, deletion_filter(document_id, communication_id, speaker_id)))

    def delete_tenant(self, tenant_id: str) -> None:
        self._delete(server_filter(tenant_id, Filter()))

    def delete_points(self, tenant_id: str, ids: Collection[str]) -> None:
        wanted = [server_id(tenant_id, point_id) for point_id in ids]
        for start in range(0, len(wanted), _BATCH_IDS):
            points: list[models.ExtendedPointId] = [*wanted[start : start + _BATCH_IDS]]
            with self._writing():
                self._client.delete(self._collection, models.PointIdsList(points=points), wait=True)

    def ids_of(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> set[str]:
        condition = server_filter(tenant_id, deletion_filter(document_id, communication_id, speaker_id))
        found: set[str] = set()
        offset: models.ExtendedPointId | None = None
        while True:
            with self._writing():
                page, offset = self._client.scroll(
                    self._collection, condition, limit=_BATCH_IDS, offset=offset, with_payload=[POINT]
                )
            found |= {str(record.payload[POINT]) for record in page if record.payload}
            if offset is None:
                return found

    def subjects(self, after: str | None, limit: int) -> tuple[set[Subject], str | None]:
        fields = [TENANT, "kind", *SUBJECT_FIELDS.values()]
        with answering():
            page, following = self._client.scroll(self._collection, limit=limit, offset=after, with_payload=fields)
        found = set()
        for payload in (record.payload or {} for record in page):
            kind = payload.get("kind")
            if kind in SUBJECT_FIELDS and (id_ := payload.get(SUBJECT_FIELDS[kind])) is not None:
                found.add(Subject(str(payload[TENANT]), kind, str(id_)))
        return found, None if following is None else str(following)

    def search_hybrid(
        self, tenant_id: str, vector: Vector | None, query_text: str, filter: Filter, limit: int
    ) -> Candidates:
        self._check_shape(vector)
        terms = query_terms(query_text)
        if filter.matches_nothing or limit <= 0 or (vector is None and not terms):
            return Candidates([], {}, 0)
        asking = partial(hybrid_requests, tenant_id, vector, terms, dense_params=self._dense_params)
        requests = asking(filter, limit)
        answers = self._batch([*requests.values(), *idf_requests(tenant_id, terms)])
        scores: dict[str, dict[str, float]] = {DENSE: {}, TERMS: {}}
        scores |= {name: scores_by_id(answer) for name, answer in zip(requests, answers, strict=False)}
        cosine, bm25 = scores[DENSE], scores[TERMS]
        # What only one of the two found still has a score by the other; asked for rather than guessed.
        lacking = {DENSE: bm25.keys() - cosine.keys(), TERMS: cosine.keys() - bm25.keys() if bm25 else set()}
        missing = {
            name: asking(Filter(point_ids=tuple(ids)), len(ids))[name]
            for name, ids in lacking.items()
            if ids and name in requests
        }
        for name, answer in zip(missing, self._batch([*missing.values()]), strict=True):
            scores[name] |= scores_by_id(answer)
        points = self.count(tenant_id)
        found = [Candidate(id_, cosine.get(id_), bm25.get(id_, 0.0)) for id_ in dict.fromkeys([*cosine, *bm25])]
        return Candidates(found, idf_from(terms, answers[len(requests) :], points), points)

    def passages(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Stored]:
        if not ids:
            return {}
        chosen = [server_id(tenant_id, point_id) for point_id in ids]
        with self._reading():
            records = self._reader.retrieve(self._collection, chosen, with_payload=True)
        found = {}
        for record in records:
            point_id, text, payload = read_payload(tenant_id, record.payload)
            found[point_id] = Stored(text, payload)
        return found

    def search_dense(self, tenant_id: str, vector: Vector, filter: Filter, limit: int) -> list[Hit]:
        self._check_shape(vector)
        return self._search(tenant_id, [vector.tolist()], DENSE, self._dense_params, filter, limit)

    def search_text(self, tenant_id: str, query_text: str, filter: Filter, limit: int) -> list[Hit]:
        wanted = query_terms(query_text)
        return (
            self._search(tenant_id, sparse_query(wanted), TERMS, term_params(tenant_id), filter, limit)
            if wanted
            else []
        )

    def term_idf(self, tenant_id: str, terms: Sequence[str]) -> dict[str, float]:
        points = self.count(tenant_id)
        return idf_from(terms, self._batch(idf_requests(tenant_id, terms)), points)

    def count(self, tenant_id: str) -> int:
        everything = server_filter(tenant_id, Filter())
        with self._reading():
            return self._reader.count(self._collection, count_filter=everything, exact=True).count

    def counts(self) -> IndexCounts:
        with self._reading():
            points = self._reader.count(self._collection, exact=False).count
        return IndexCounts(tenants=None, open_shards=None, points=points)

    def ready(self) -> bool:
        """Raises IndexTooOld: the server may have been replaced since it was connected to."""
        try:
            with self._reads.look(), answering():
                exists = self._reader.collection_exists(self._collection)
        except Unavailable:
            return False
        refuse_older(self._reader)
        return exists

    def is_complete(self) -> bool:
        return bool(self._metadata().get(_COMPLETE))

    def is_current(self) -> bool:
        metadata = self._metadata()
        return bool(metadata.get(_COMPLETE)) and metadata.get(_VERSION) == PAYLOAD_VERSION

    def mark_complete(self) -> None:
        noted = self._made_for | {_COMPLETE: True, _VERSION: PAYLOAD_VERSION}
        with answering():
            self._client.update_collection(self._collection, metadata=noted)

    def _metadata(self) -> dict[str, object]:
        with answering():
            return dict(self._client.get_collection(self._collection).config.metadata or {})

    def maintain(self, pool: Pool | None = None) -> None:
        """A server maintains itself."""

    def close(self) -> None:
        self._client.close()
        self._reader.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._reads.call(), answering():
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._writes.call(), answering():
            yield

    def _check_shape(self, vector: Vector | None) -> None:
        if vector is not None and vector.shape != (self._dimension,):
            raise ValueError(f"a vector of {self._dimension} numbers is wanted, this one has the shape {vector.shape}")

    def _batch(self, requests: Sequence[models.QueryRequest]) -> list[list[models.ScoredPoint]]:
        if not requests:
            return []
        with self._reading():
            return [answer.points for answer in self._reader.query_batch_points(self._collection, requests)]

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
        with self._reading():
            answer = self._reader.query_points(
                self._collection,
                query=query,
                using=using,
                query_filter=server_filter(tenant_id, filter),
                search_params=params,
                limit=limit,
                with_payload=True,
            )
        hits = []
        for point in answer.points:
            point_id, text, payload = read_payload(tenant_id, point.payload)
            hits.append(Hit(point_id, point.score, text, payload))
        return hits

    def _prepare(self, tenant_id: str, point: Point) -> models.PointStruct:
        weights = stored_terms(point)
        vectors: dict[str, models.Vector] = {TERMS: models.SparseVector(indices=weights.indices, values=weights.values)}
        dense = stored_vectors(point, self._dimension)
        if dense is not None:
            vectors[DENSE] = dense
        return models.PointStruct(
            id=server_id(tenant_id, point.id),
            vector=vectors,
            payload=stored_payload(point) | own_fields(tenant_id, point.id),
        )

    def _delete(self, condition: models.Filter) -> None:
        with self._writing():
            self._client.delete(self._collection, models.FilterSelector(filter=condition), wait=True)

    def _create(self) -> None:
        dense = models.VectorParams(
            size=self._dimension,
            distance=models.Distance.COSINE,
            multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
            on_disk=True if self._layout.quantized else None,
            quantization_config=_IN_BYTES if self._layout.quantized else None,
        )
        try:
            self._client.create_collection(
                self._collection,
                vectors_config={DENSE: dense},
                sparse_vectors_config={TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                # A graph for each tenant and none over all: every query names its tenant.
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                shard_number=self._layout.shards,
                replication_factor=self._layout.replicas,
            )
        except UnexpectedResponse as error:
            if error.status_code != HTTPStatus.CONFLICT:  # another server was a moment earlier
                raise

    def _finish(self) -> None:
        """The metadata come last: a collection without them was left half made, or is being made, and gets the rest."""
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        self._client.create_payload_index(self._collection, TENANT, tenant)
        self._index_fields(())
        self._client.update_collection(self._collection, metadata=self._made_for)

    def _index_fields(self, there: Collection[str]) -> None:
        """Those that are not: a release may filter by more fields than the one that made the collection."""
        for names, kind in (
            (KEYWORD_FIELDS, models.PayloadSchemaType.KEYWORD),
            (INTEGER_FIELDS, models.PayloadSchemaType.INTEGER),
        ):
            for name in names:
                if name not in there:
                    self._client.create_payload_index(self._collection, name, kind)

    def _check_made_for(self) -> None:
        found = {key: value for key, value in self._metadata().items() if key not in (_COMPLETE, _VERSION)}
        if found != self._made_for:
            raise IndexMismatch(
                f"The collection {self._collection} was made for {found}, wanted is {self._made_for}. Choose that "
                "embedding model again, or another collection, and index everything anew."
            )
