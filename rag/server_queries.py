"""Requests to a Qdrant server and what it answers: each names its tenant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from json import JSONDecodeError
from uuid import UUID, uuid5

from qdrant_client import models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from rag.index import DENSE, TERMS, TEXT, AnyOf, Filter, NoneOf, Value, Vector, clauses, idf_of_unknown
from rag.text_terms import query_vector, term_id
from store.errors import Unavailable

TENANT = "tenant_id"
POINT = "point_id"
_OUR_MISTAKES = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)


@contextmanager
def answering() -> Iterator[None]:
    """Turns what the client raises into Unavailable, unless the server refuses our request for what it says."""
    try:
        yield
    # Also an answer that is none of Qdrant's: a proxy's page, say.
    except (ResponseHandlingException, JSONDecodeError) as error:
        raise unavailable() from error
    except ResourceExhaustedResponse as error:
        raise unavailable(error.retry_after_s) from error
    except UnexpectedResponse as error:
        if error.status_code in _OUR_MISTAKES:
            raise
        raise unavailable() from error


def unavailable(retry_after_s: int = 10) -> Unavailable:
    """What is told where the server does not answer."""
    return Unavailable("The search index cannot be reached.", code="index_unavailable", retry_after_s=retry_after_s)


def read_payload(tenant_id: str, stored: models.Payload | None) -> tuple[str, str, dict[str, Value]]:
    """(id within the tenant, text, payload)."""
    payload = dict(stored or {})
    assert payload.pop(TENANT) == str(UUID(tenant_id))
    return str(payload.pop(POINT)), str(payload.pop(TEXT)), payload


def dense_params(vectors: Mapping[str, models.VectorParams] | models.VectorParams | None) -> models.SearchParams | None:
    """Where a collection's vectors are quantized, the whole ones are to tell the similarity: it counts as evidence."""
    dense = vectors.get(DENSE) if isinstance(vectors, Mapping) else None
    if dense is None or dense.quantization_config is None:
        return None
    return models.SearchParams(quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0))


def hybrid_requests(
    tenant_id: str,
    vector: Vector | None,
    terms: Sequence[str],
    filter: Filter,
    limit: int,
    dense_params: models.SearchParams | None = None,
) -> dict[str, models.QueryRequest]:
    """The searches that there is something to ask with, by the name of what they search."""
    condition = server_filter(tenant_id, filter)
    requests = {}
    if vector is not None:
        requests[DENSE] = models.QueryRequest(
            query=[vector.tolist()],
            using=DENSE,
            filter=condition,
            limit=limit,
            params=dense_params,
            with_payload=[POINT],
        )
    if terms:
        requests[TERMS] = models.QueryRequest(
            query=sparse_query(terms),
            using=TERMS,
            filter=condition,
            limit=limit,
            params=term_params(tenant_id),
            with_payload=[POINT],
        )
    return requests


def scores_by_id(hits: Sequence[models.ScoredPoint]) -> dict[str, float]:
    return {str(hit.payload[POINT]): hit.score for hit in hits if hit.payload}


def idf_requests(tenant_id: str, terms: Sequence[str]) -> list[models.QueryRequest]:
    everything, params = server_filter(tenant_id, Filter()), term_params(tenant_id)
    return [
        models.QueryRequest(
            query=sparse_query([term]), using=TERMS, limit=1, filter=everything, params=params, with_vector=[TERMS]
        )
        for term in terms
    ]


def idf_from(terms: Sequence[str], answers: Sequence[Sequence[models.ScoredPoint]], points: int) -> dict[str, float]:
    # The score of a one-term query is its IDF times the passage's weight, and the passage tells its weight.
    found = dict.fromkeys(terms, idf_of_unknown(points))
    for term, hits in zip(terms, answers, strict=True):
        for hit in hits:
            assert isinstance(hit.vector, dict)
            weights = hit.vector[TERMS]
            assert isinstance(weights, models.SparseVector)
            found[term] = hit.score / weights.values[weights.indices.index(term_id(term))]
    return found


def server_id(tenant_id: str, point_id: str) -> str:
    """Ids are unique within a tenant only; one tenant must not be able to overwrite another's point."""
    return str(uuid5(UUID(tenant_id), str(UUID(point_id))))


def term_params(tenant_id: str) -> models.SearchParams:
    # IDF over the tenant's own points: another tenant's words neither show nor count.
    corpus = server_filter(tenant_id, Filter())
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))


def sparse_query(terms: Sequence[str]) -> models.SparseVector:
    vector = query_vector(terms)
    return models.SparseVector(indices=vector.indices, values=vector.values)


def server_filter(tenant_id: str, wanted: Filter) -> models.Filter:
    must: list[models.Condition] = [
        models.FieldCondition(key=TENANT, match=models.MatchValue(value=str(UUID(tenant_id))))
    ]
    must_not: list[models.Condition] = []
    for clause in clauses(wanted):
        if isinstance(clause, AnyOf):
            condition = models.FieldCondition(key=clause.key, match=models.MatchAny(any=list(clause.values)))
            absent = models.IsEmptyCondition(is_empty=models.PayloadField(key=clause.key))
            must.append(models.Filter(should=[condition, absent]) if clause.or_absent else condition)
        elif isinstance(clause, NoneOf):
            must_not.append(models.FieldCondition(key=clause.key, match=models.MatchAny(any=list(clause.values))))
        else:
            must.append(models.FieldCondition(key=clause.key, range=models.Range(gte=clause.low, lte=clause.high)))
    if wanted.point_ids is not None:
        must.append(models.HasIdCondition(has_id=[server_id(tenant_id, point_id) for point_id in wanted.point_ids]))
    return models.Filter(must=must, must_not=must_not or None)
