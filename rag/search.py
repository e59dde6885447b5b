"""Hybrid search: the best by meaning and the best by words, put into one order by a weighted sum of z-scores.

Reciprocal rank fusion, the usual choice, measured worse than BM25 alone here (`python -m bench.retrieval`): ranks
forget how far ahead the first one is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Embedder
from rag.index import Filter, Hit, Value, VectorIndex
from rag.text_terms import query_terms, terms

_CANDIDATES = 50
_DENSE_SHARE = 0.5
_BACKGROUND_PASSAGES = 20
_MAX_QUERY_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Found:
    """A passage with what speaks for it.

    `score` orders the passages of one search and means nothing beside another search. `dense` is the cosine with the
    query (None without an embedding model or vector), `bm25` the BM25 score. `coverage` (0 to 1) is the share of the
    query's informative words that text and title contain, each word counted by its IDF; words are matched by stem,
    so a passage in another language than the query has a coverage near 0 and only `dense` speaks for it.
    """

    id: str
    score: float
    text: str
    payload: dict[str, Value]
    dense: float | None
    bm25: float
    coverage: float


class Searcher:
    """Thread-safe where its parts are. Without an embedder it searches by words alone."""

    def __init__(self, index: VectorIndex, embedder: Embedder | None) -> None:
        self._index = index
        self._embedder = embedder

    def search(self, tenant_id: str, query: str, filter: Filter, limit: int) -> list[Found]:
        """The best `limit` passages, best first; nothing for an empty query. Only 4,000 characters of it are read."""
        assert limit > 0
        query = query[:_MAX_QUERY_CHARS].strip()
        if not query or filter.matches_nothing:
            return []
        wanted = max(_CANDIDATES, limit)
        by_words = self._index.search_text(tenant_id, query, filter, wanted)
        by_meaning: list[Hit] = []
        if self._embedder is not None:
            vector = self._embedder.embed_queries([query])[0]
            by_meaning = self._index.search_dense(tenant_id, vector, filter, wanted)
            # What only one of the two found still has a score by the other; ask for it rather than guess.
            for_words, for_meaning = _missing(by_words, by_meaning), _missing(by_meaning, by_words)
            if for_words and by_words:
                only = replace(filter, point_ids=for_words)
                by_words = by_words + self._index.search_text(tenant_id, query, only, len(for_words))
            if for_meaning:
                only = replace(filter, point_ids=for_meaning)
                by_meaning = by_meaning + self._index.search_dense(tenant_id, vector, only, len(for_meaning))
        if not by_words and not by_meaning:
            return []
        ranked = _fused(by_words, by_meaning)[:limit]
        return self._with_evidence(tenant_id, query, ranked, by_words, by_meaning)

    def _with_evidence(
        self,
        tenant_id: str,
        query: str,
        ranked: Sequence[tuple[Hit, float]],
        by_words: Sequence[Hit],
        by_meaning: Sequence[Hit],
    ) -> list[Found]:
        idf = self._index.term_idf(tenant_id, query_terms(query))
        # As if this many more passages without the query's words were there: among a handful of passages a word that
        # is present would else weigh next to nothing, and one that is not, everything.
        background = math.log1p(_BACKGROUND_PASSAGES / (self._index.count(tenant_id) + 1))
        idf = {term: weight + background for term, weight in idf.items()}
        bm25 = {hit.id: hit.score for hit in by_words}
        cosine = {hit.id: hit.score for hit in by_meaning}
        return [
            Found(
                id=hit.id,
                score=score,
                text=hit.text,
                payload=hit.payload,
                dense=cosine.get(hit.id),
                bm25=bm25.get(hit.id, 0.0),
                coverage=_coverage(idf, hit),
            )
            for hit, score in ranked
        ]


def _missing(one: Sequence[Hit], other: Sequence[Hit]) -> tuple[str, ...]:
    """Ids that `other` has and `one` has not."""
    known = {hit.id for hit in one}
    return tuple(hit.id for hit in other if hit.id not in known)


def _fused(by_words: Sequence[Hit], by_meaning: Sequence[Hit]) -> list[tuple[Hit, float]]:
    hits = {hit.id: hit for hit in (*by_words, *by_meaning)}
    ids = list(hits)
    words = _z_scores({hit.id: hit.score for hit in by_words}, ids)
    meaning = _z_scores({hit.id: hit.score for hit in by_meaning}, ids)
    scores = _DENSE_SHARE * meaning + (1 - _DENSE_SHARE) * words
    ranked = sorted(zip(ids, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [(hits[point_id], score) for point_id, score in ranked]


def _z_scores(scores: dict[str, float], ids: Sequence[str]) -> NDArray[np.float64]:
    """(len(ids),): without a score counts as the lowest. All zeros where no score stands out."""
    lowest = min([0.0, *scores.values()])
    values = np.array([scores.get(point_id, lowest) for point_id in ids])
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(ids))


def _coverage(idf: dict[str, float], hit: Hit) -> float:
    total = sum(idf.values())
    if total <= 0:
        return 0.0
    title = hit.payload.get("title")
    present = set(terms(f"{title}\n{hit.text}" if isinstance(title, str) else hit.text))
    share = sum(weight for term, weight in idf.items() if term in present) / total
    assert 0 <= share <= 1 + 1e-9
    return min(share, 1.0)
