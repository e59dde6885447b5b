"""Searches as qdrant-edge takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import qdrant_edge as edge

from rag.index import DENSE, TERMS, AnyOf, Candidate, Candidates, Filter, NoneOf, Vector, clauses, idf_of_unknown
from rag.text_terms import query_vector, term_id

_EVERYTHING = edge.Filter()
_SEARCHED_NEIGHBOURS = 256


@dataclass(frozen=True, slots=True)
class HybridSearch:
    """`VectorIndex.search_hybrid` against one shard, in two calls; ids and scores alone cross into Python."""

    vector: Vector | None
    terms: Sequence[str]
    filter: Filter
    limit: int

    def run(self, shard: edge.EdgeShard) -> Candidates:
        found = edge_filter(self.filter)
        requests = [self._dense(found, self.limit)] if self.vector is not None else []
        if self.terms:
            requests.append(self._words(found, self.limit))
        answers = shard.query_batch(edge.QueryBatchRequest([*requests, *idf_requests(self.terms)]))
        # For the weight of words alone; to count exactly takes a fifth of the search.
        points = shard.count(edge.CountRequest(exact=False))
        idf = idf_from(self.terms, answers[len(requests) :], points)
        cosine: dict[UUID, float] = {}
        bm25: dict[UUID, float] = {}
        if self.vector is not None:
            cosine = _scores(answers[0])
        if self.terms:
            bm25 = _scores(answers[len(requests) - 1])
        # What only one of the two found still has a score by the other; asked for rather than guessed.
        for_words, for_meaning = cosine.keys() - bm25.keys(), bm25.keys() - cosine.keys()
        missing: list[tuple[dict[UUID, float], edge.QueryRequest]] = []
        if for_words and bm25:
            missing.append((bm25, self._words(_only(for_words), len(for_words))))
        if for_meaning and self.vector is not None:
            missing.append((cosine, self._dense(_only(for_meaning), len(for_meaning))))
        if missing:
            more = shard.query_batch(edge.QueryBatchRequest([request for _, request in missing]))
            for (scores, _), answer in zip(missing, more, strict=True):
                scores.update(_scores(answer))
        ids = cosine.keys() | bm25.keys()
        return Candidates([Candidate(str(id_), cosine.get(id_), bm25.get(id_, 0.0)) for id_ in ids], idf, points)

    def _dense(self, condition: edge.Filter, limit: int) -> edge.QueryRequest:
        assert self.vector is not None
        query, params = dense_query(self.vector)
        return edge.QueryRequest(limit=limit, query=query, filter=condition, params=params)

    def _words(self, condition: edge.Filter, limit: int) -> edge.QueryRequest:
        return edge.QueryRequest(limit=limit, query=term_query(self.terms), filter=condition, params=term_params())


def dense_query(vector: Vector) -> tuple[edge.Query, edge.SearchParams]:
    """Approximate where the shard has a graph, which only large ones have; else every vector is looked at."""
    return edge.Query.Nearest([vector.tolist()], using=DENSE), edge.SearchParams(hnsw_ef=_SEARCHED_NEIGHBOURS)


def term_query(terms: Sequence[str]) -> edge.Query:
    vector = query_vector(terms)
    return edge.Query.Nearest(edge.SparseVector(vector.indices, vector.values), using=TERMS)


def term_params() -> edge.SearchParams:
    # The corpus is named, since the default statistics count deleted points too.
    return edge.SearchParams(idf=edge.IdfParams(corpus=_EVERYTHING))


def idf_requests(terms: Sequence[str]) -> list[edge.QueryRequest]:
    """One for each term; `idf_from` reads the answers."""
    return [
        edge.QueryRequest(limit=1, query=term_query([term]), with_vector=[TERMS], params=term_params())
        for term in terms
    ]


def idf_from(terms: Sequence[str], answers: Sequence[Sequence[edge.ScoredPoint]], points: int) -> dict[str, float]:
    # The score of a one-term query is its IDF times the passage's weight, and the passage tells its weight.
    found = dict.fromkeys(terms, idf_of_unknown(points))
    for term, hits in zip(terms, answers, strict=True):
        for hit in hits:
            assert isinstance(hit.vector, dict)
            weights = hit.vector[TERMS]
            assert isinstance(weights, edge.SparseVector)
            found[term] = hit.score / weights.values[weights.indices.index(term_id(term))]
    return found


def edge_filter(wanted: Filter) -> edge.Filter:
    must: list[edge.ConditionType] = []
    must_not: list[edge.ConditionType] = []
    for clause in clauses(wanted):
        if isinstance(clause, AnyOf):
            match = edge.FieldCondition(clause.key, match=edge.MatchAny(list(clause.values)))
            must.append(edge.Filter(should=[match, edge.IsEmptyCondition(clause.key)]) if clause.or_absent else match)
        elif isinstance(clause, NoneOf):
            must_not.append(edge.FieldCondition(clause.key, match=edge.MatchAny(list(clause.values))))
        else:
            must.append(edge.FieldCondition(clause.key, range=edge.RangeFloat(gte=clause.low, lte=clause.high)))
    if wanted.point_ids is not None:
        must.append(edge.HasIdCondition({UUID(point_id) for point_id in wanted.point_ids}))
    return edge.Filter(must=must, must_not=must_not) if must_not else edge.Filter(must=must)


def _only(ids: set[UUID]) -> edge.Filter:
    chosen: set[edge.PointId] = {*ids}
    return edge.Filter(must=[edge.HasIdCondition(chosen)])


def _scores(hits: Sequence[edge.ScoredPoint]) -> dict[UUID, float]:
    scores: dict[UUID, float] = {}
    for hit in hits:
        assert isinstance(hit.id, UUID)
        scores[hit.id] = hit.score
    return scores
