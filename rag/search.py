"""Hybrid search: the best by meaning and the best by words, put into one order by a weighted sum of z-scores.

Reciprocal rank fusion, the usual choice, measured worse than BM25 alone here (`python -m bench.retrieval`): ranks
forget how far ahead the first one is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import structlog
from numpy.typing import NDArray

from rag.embedding import Embedder
from rag.index import Candidate, Candidates, Filter, Stored, Value, Vector
from rag.text_terms import term_set
from store.errors import Unavailable, UpstreamFailed

log = structlog.get_logger(__name__)

_CANDIDATES = 50
_DEEPER = 8  # times as many, where those are not enough
_DENSE_SHARE = 0.5
_LOWEST = -2.5
_BACKGROUND_PASSAGES = 20
_MAX_QUERY_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Found:
    """A passage with what speaks for it.

    `score` orders the passages of one search and means nothing beside another search. `dense` is the cosine with the
    query (None without an embedding model or vector), `bm25` the BM25 score. `coverage` (0 to 1) is the share of the
    query's informative words that text and title contain, each word counted by its IDF; words are matched by stem,
    so a passage in another language than the query has a coverage near 0 and only `dense` speaks for it. `idf` is that
    of the query's words.
    `duplicates`: how many passages that say the same were left out in favour of this one.
    """

    id: str
    score: float
    text: str
    payload: dict[str, Value]
    dense: float | None
    bm25: float
    coverage: float
    duplicates: int = 0
    idf: Mapping[str, float] = field(default_factory=dict)


class Searchable(Protocol):
    """The part of `rag.index.VectorIndex` that a search needs."""

    def search_hybrid(
        self, tenant_id: str, vector: Vector | None, query_text: str, filter: Filter, limit: int
    ) -> Candidates: ...

    def passages(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Stored]: ...


class Searcher:
    """Thread-safe where its parts are. Without an embedder it searches by words alone."""

    def __init__(self, index: Searchable, embedder: Embedder | None) -> None:
        self._index = index
        self.embedder = embedder

    def search(self, tenant_id: str, query: str, filter: Filter, limit: int) -> list[Found]:
        """The best `limit` passages, best first; nothing for an empty query. Only 4,000 characters of it are read."""
        assert limit > 0
        query = query[:_MAX_QUERY_CHARS].strip()
        if not query or filter.matches_nothing:
            return []
        candidates, ranked = self._ranked(tenant_id, query, filter, limit)
        stored = self._index.passages(tenant_id, [candidate.id for candidate, _ in ranked])
        # As if this many more passages without the query's words were there: among a handful of passages a word that
        # is present would else weigh next to nothing, and one that is not, everything.
        background = math.log1p(_BACKGROUND_PASSAGES / (candidates.points + 1))
        idf = {term: weight + background for term, weight in candidates.idf.items()}
        return [
            Found(
                id=candidate.id,
                score=score,
                text=passage.text,
                payload=passage.payload,
                dense=candidate.dense,
                bm25=candidate.bm25,
                coverage=_coverage(idf, passage),
                idf=idf,
            )
            for candidate, score in ranked
            if (passage := stored.get(candidate.id)) is not None  # else deleted a moment ago
        ]

    def _ranked(
        self, tenant_id: str, query: str, filter: Filter, limit: int
    ) -> tuple[Candidates, list[tuple[Candidate, float]]]:
        """The best `limit`, with their scores. Whoever asks for more of them gets the same ones first, so that pages
        neither repeat nor miss one: a deeper look ranks anew, and what it adds comes behind."""
        vector, depth = self._vector(query), _CANDIDATES
        first = found = self._index.search_hybrid(tenant_id, vector, query, filter, depth)
        ranked: dict[str, tuple[Candidate, float]] = {}
        least = math.inf
        while True:
            for candidate, score in _fused(found.found):
                if candidate.id not in ranked:
                    least = min(least, score)
                    ranked[candidate.id] = candidate, least
            if len(ranked) >= limit or len(found.found) < depth:
                return first, list(ranked.values())[:limit]
            depth *= _DEEPER
            found = self._index.search_hybrid(tenant_id, vector, query, filter, depth)

    def _vector(self, query: str) -> Vector | None:
        """None where no model is there, or where a provider's fails: then words alone are searched for."""
        if self.embedder is None:
            return None
        try:
            vector: Vector = self.embedder.embed_queries([query])[0]
        except (Unavailable, UpstreamFailed) as error:
            log.warning("searching by words alone", model=self.embedder.name, error=error.message)
            return None
        return vector


def _fused(found: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
    words = _z_scores([each.bm25 for each in found])
    meaning = _z_scores([0.0 if each.dense is None else each.dense for each in found])
    scores = _DENSE_SHARE * meaning + (1 - _DENSE_SHARE) * words
    return sorted(zip(found, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0].id))


def _z_scores(scores: Sequence[float]) -> NDArray[np.float64]:
    """(len(scores),). All zeros where no score stands out."""
    values = np.array(scores, dtype=np.float64)
    spread = values.std() if len(values) else 0.0
    found = (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(values))
    # The one passage that holds a rare word, a code say, may be all alone below in meaning: that is not to outweigh it.
    return np.maximum(found, _LOWEST)


def _coverage(idf: dict[str, float], passage: Stored) -> float:
    total = sum(idf.values())
    if total <= 0:
        return 0.0
    title = passage.payload.get("title")
    present = term_set(f"{title}\n{passage.text}" if isinstance(title, str) else passage.text)
    share = sum(weight for term, weight in idf.items() if term in present) / total
    assert 0 <= share <= 1 + 1e-9
    return min(share, 1.0)
