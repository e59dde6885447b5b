"""A few hundred passages in memory, searched exactly: for a corpus that comes with the program and is no tenant's."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag.index import Candidate, Candidates, Filter, Point, Stored, Vector, idf_of_unknown, stored_terms
from rag.text_terms import query_terms, term_id

_EVERYTHING = Filter()


class SmallIndex:
    """What `Searcher` asks of an index, over points that do not change; thread-safe. Every caller sees all of them."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._ids = [point.id for point in points]
        self._stored = {point.id: Stored(point.text, point.payload) for point in points}
        assert len(self._stored) == len(points), "ids are unique"
        self._weights: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, point in enumerate(points):
            found = stored_terms(point)
            for term, weight in zip(found.indices, found.values, strict=True):
                self._weights[term].append((place, weight))
        vectors = [np.atleast_2d(point.vector) for point in points if point.vector is not None]
        assert len(vectors) in (0, len(points)), "all points have vectors or none"
        self._vectors: Vector | None = np.vstack(vectors) if vectors else None
        self._first_rows = np.cumsum([0, *(len(rows) for rows in vectors)])[:-1]

    def search_hybrid(
        self, tenant_id: str, vector: Vector | None, query_text: str, filter: Filter, limit: int
    ) -> Candidates:
        """See `VectorIndex.search_hybrid`. Takes no conditions."""
        assert filter == _EVERYTHING
        asked = query_terms(query_text)
        idf = {term: self._idf(term) for term in asked}
        bm25 = np.zeros(len(self._ids))
        for term in asked:
            for place, weight in self._weights.get(term_id(term), ()):
                bm25[place] += idf[term] * weight
        chosen = {int(place) for place in np.argsort(-bm25, kind="stable")[:limit] if bm25[place] > 0}
        dense = self._cosines(vector)
        if dense is not None:
            chosen.update(int(place) for place in np.argsort(-dense, kind="stable")[:limit])
        found = [
            Candidate(self._ids[place], None if dense is None else float(dense[place]), float(bm25[place]))
            for place in sorted(chosen)
        ]
        return Candidates(found, idf, len(self._ids))

    def passages(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Stored]:
        return {id_: self._stored[id_] for id_ in ids if id_ in self._stored}

    def _cosines(self, vector: Vector | None) -> NDArray[np.float32] | None:
        """Of each passage the best of its vectors."""
        if vector is None or self._vectors is None:
            return None
        best: NDArray[np.float32] = np.maximum.reduceat(self._vectors @ vector, self._first_rows)
        return best

    def _idf(self, term: str) -> float:
        having = len(self._weights.get(term_id(term), ()))
        if not having:
            return idf_of_unknown(len(self._ids))
        return math.log(1 + (len(self._ids) - having + 0.5) / (having + 0.5))
