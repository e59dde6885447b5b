"""Likeness in meaning of a question and many short texts, by the embedder that searches ask."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from rag.embedding import Embedder
from rag.indexes import Indexes

KEPT = 20_000
"""Texts whose vectors are kept, about 30 MB: the same documents answer many questions."""


class Likeness:
    """A `chat.contract.Scorer` over an embedder of this machine. A provider's would be asked for hundreds of words a
    question: there is none for those."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes
        self._embedder: Embedder | None = None
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def is_there(self) -> bool:
        return self._indexes.serving_spec is not None

    async def __call__(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return await anyio.to_thread.run_sync(self._cosines, queries, texts)

    def _cosines(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]]:
        _, embedder = self._indexes.serving
        if embedder is None:
            return [[0.0] * len(texts) for _ in queries]
        vectors = self._embed(embedder, [*queries, *texts])
        found: list[list[float]] = (vectors[: len(queries)] @ vectors[len(queries) :].T).tolist()
        return found

    def _embed(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            if embedder is not self._embedder:  # the index was changed to another model's
                self._embedder = embedder
                self._vectors.clear()
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in known:
                self._vectors.move_to_end(text)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            made = dict(zip(new, np.asarray(embedder.embed_queries(new), np.float32), strict=True))
            known |= made
            with self._lock:
                if embedder is self._embedder:
                    self._vectors.update(made)
                while len(self._vectors) > KEPT:
                    self._vectors.popitem(last=False)
        return np.stack([known[text] for text in texts])
