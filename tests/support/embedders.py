"""Stand-ins for embedding models: quick, and each with vectors of its own."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rag.embedding import EmbedderSpec
from rag.generation import LoadedEmbedder
from rag.index import Vector
from store.errors import Unavailable


class HashEmbedder:
    """Texts of one word each have a vector of their own: enough to see by which model an index was made."""

    def __init__(self, spec: EmbedderSpec) -> None:
        assert spec.dimension is not None
        self.name = spec.name
        self.dimension = spec.dimension
        self.closed = False
        self.fails = False
        self.before: Callable[[], None] = lambda: None

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        seeds = [zlib.crc32(f"{self.name} {text}".encode()) for text in texts]
        rows = np.stack([np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds]).astype(np.float32)
        norms: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return norms

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return self.embed_queries(texts)

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        self.before()
        if self.fails:
            raise Unavailable("the provider is away")
        return [row[None, :] for row in self.embed_queries(texts)]

    def close(self) -> None:
        self.closed = True


OLD = EmbedderSpec("sentence-transformers", "old-model", "old-model", 4, in_process=False)
NEW = EmbedderSpec("sentence-transformers", "new-model", "new-model", 6, in_process=False)


class Models:
    """Which models can be loaded, and what was."""

    def __init__(self) -> None:
        self.away: set[str] = set()
        self.loaded: dict[str, HashEmbedder] = {}

    def load(self, spec: EmbedderSpec) -> LoadedEmbedder:
        if spec.name in self.away:
            raise ConnectionError(f"{spec.name} does not answer")
        self.loaded[spec.name] = HashEmbedder(replace(spec, dimension={"old-model": 4}.get(spec.name, 6)))
        return self.loaded[spec.name]
