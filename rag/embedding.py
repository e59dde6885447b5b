"""Text to vectors: which embedding model is used, and the engines that run one.

`EmbedderSpec` is small and picklable: it says which model, and is loaded where the model is to run. An engine that
brings torch says `in_process = False` and belongs into a child process; `embed_queries_of` and `embed_passages_of`
are what to call there.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from rag.api_embedding import ApiEmbedder, names_provider
from rag.index import Vector
from store import weights
from store.settings import Settings

BUILT_IN_MODEL = "use-multilingual-v3"
_BUILT_IN_DIMENSION = 512
_ENCODE = {"batch_size": 32, "show_progress_bar": False}
_MOST_THREADS = 4
_BULK_TEXTS = 16  # of fewer than twice as many, a second thread makes nothing faster
_SENTENCES_A_WINDOW = 2
_MAX_WINDOWS = 16
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")


class Embedder(Protocol):
    """A loaded model. Every vector has length 1."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """(len(texts), dimension)."""

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """(len(texts), dimension)."""

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        """Of each text what `Point.vector` takes: (k, dimension), its vector and, where that helps, those of parts."""


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """Which model to run. `source` is a folder, a name that sentence-transformers fetches from its hub, or the base URL
    of an API ("": the provider's own).

    `dimension` is None where only loading the model tells it. `in_process`: light enough for the server's process.
    """

    engine: Literal["multilingual-encoder", "sentence-transformers", "api"]
    name: str
    source: str
    dimension: int | None
    in_process: bool

    @property
    def is_remote(self) -> bool:
        return self.engine == "api"

    def load(self, threads: int = 1) -> Embedder:
        """Loads the model and bounds the numeric threads of this whole process. Raises what the engine raises."""
        assert threads > 0
        assert not self.is_remote, "open_api opens it"
        if self.engine == "multilingual-encoder":
            return _MultilingualEmbedder(self.name, Path(self.source), threads)
        return _SentenceTransformersEmbedder(self.name, self.source, threads)


def choose_embedder(settings: Settings) -> EmbedderSpec | None:
    """The model that the settings name, else the built-in one; None where none is named and it is not installed.

    Raises weights.ModelMissing for a named model of the catalogue that is not installed.
    """
    name = settings.embedding_model
    if name in ("", BUILT_IN_MODEL):
        folder = weights.require(settings, name) if name else weights.find(settings, BUILT_IN_MODEL)
        if folder is None:
            return None
        return EmbedderSpec("multilingual-encoder", BUILT_IN_MODEL, str(folder), _BUILT_IN_DIMENSION, in_process=True)
    if names_provider(name):
        return EmbedderSpec("api", name, settings.embedding_api_base, None, in_process=True)
    known = any(model.name == name for model in weights.catalog())
    source = str(weights.require(settings, name)) if known else name
    return EmbedderSpec("sentence-transformers", name, source, _dimension_in(Path(source)), in_process=False)


def open_api(spec: EmbedderSpec, settings: Settings) -> ApiEmbedder:
    """Raises store.errors.Unavailable or UpstreamFailed where the dimension is not known and cannot be asked for."""
    assert spec.is_remote
    return ApiEmbedder(spec.name, spec.source, settings.embedding_api_key.get_secret_value(), spec.dimension)


def bulk_threads() -> int:
    """How many threads embed passages in a child: the cores that this process may use, at most 4."""
    return min(len(os.sched_getaffinity(0)), _MOST_THREADS)


@lru_cache(maxsize=1)
def _loaded(spec: EmbedderSpec, threads: int) -> Embedder:
    return spec.load(threads)


def embed_queries_of(spec: EmbedderSpec, texts: Sequence[str], threads: int = 0) -> Vector:
    """For a child process, which keeps the model between calls. 0 threads: `bulk_threads`."""
    return _loaded(spec, threads or bulk_threads()).embed_queries(texts)


def embed_passages_of(spec: EmbedderSpec, texts: Sequence[str], threads: int = 0) -> list[Vector]:
    """`embed_for_index`, for a child process, which keeps the model between calls. 0 threads: `bulk_threads`."""
    return _loaded(spec, threads or bulk_threads()).embed_for_index(texts)


def dimension_of(spec: EmbedderSpec) -> int:
    """For a child process: loads the model where the spec does not know the dimension."""
    return spec.dimension if spec.dimension is not None else _loaded(spec, bulk_threads()).dimension


def _windows(text: str) -> list[str]:
    """The text as windows of two sentences each, at most 16: a longer text has longer windows."""
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    size = max(_SENTENCES_A_WINDOW, -(-len(sentences) // _MAX_WINDOWS))
    return [" ".join(sentences[start : start + size]) for start in range(0, len(sentences), size)] or [text]


def _dimension_in(folder: Path) -> int | None:
    """What a sentence-transformers folder says of its last layer, where it says so."""
    modules = folder / "modules.json"
    if not modules.is_file():
        return None
    found: int | None = None
    for module in json.loads(modules.read_text(encoding="utf-8")):
        config = folder / module["path"] / "config.json"
        if module["path"] and config.is_file():
            values = json.loads(config.read_text(encoding="utf-8"))
            found = values.get("out_features") or values.get("word_embedding_dimension") or found
    return found


class _MultilingualEmbedder:
    dimension = _BUILT_IN_DIMENSION

    def __init__(self, name: str, folder: Path, threads: int) -> None:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        from rag.multilingual_encoder import MultilingualEncoder

        # Several threads share the texts, not the matrices, which are too small to be worth sharing.
        threadpool_limits(limits=1, user_api="blas")
        self._threads = threads
        self.name = name
        self._encoder = MultilingualEncoder(folder)

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self._encoder.encode(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return self._encoder.encode(texts)

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        # This model blurs what a long passage says; the best of several windows finds more (see bench/retrieval.py).
        if self._threads == 1 or len(texts) < 2 * _BULK_TEXTS:
            return self._encode(texts)
        stretches = [texts[start : start + _BULK_TEXTS] for start in range(0, len(texts), _BULK_TEXTS)]
        with ThreadPoolExecutor(self._threads) as threads:
            return [vectors for stretch in threads.map(self._encode, stretches) for vectors in stretch]

    def _encode(self, texts: Sequence[str]) -> list[Vector]:
        return self._encoder.encode_parts([_windows(text) for text in texts])


class _SentenceTransformersEmbedder:
    def __init__(self, name: str, source: str, threads: int) -> None:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(threads)
        self.name = name
        # A model's own code is never run, and its weights come as safetensors or not at all.
        # Any: its overloads take every kind of input there is.
        self._model: Any = SentenceTransformer(
            source, device="cpu", trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
        dimension = self._model.get_embedding_dimension()
        assert dimension is not None
        self.dimension = dimension
        # The E5 family was trained with these words before each text (Wang et al. 2022, arXiv:2212.03533), and not
        # every copy of it carries them in its own configuration.
        plain = re.search(r"(^|[-_/])e5([-_]|$)", name.lower()) is not None and not any(self._model.prompts.values())
        self._query_prompt = "query: " if plain else None
        self._passage_prompt = "passage: " if plain else None

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self._finished(self._model.encode_query(list(texts), prompt=self._query_prompt, **_ENCODE), len(texts))

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        rows = self._model.encode_document(list(texts), prompt=self._passage_prompt, **_ENCODE)
        return self._finished(rows, len(texts))

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        return [row[None, :] for row in self.embed_passages(texts)]

    def _finished(self, vectors: object, count: int) -> Vector:
        rows = np.asarray(vectors, dtype=np.float32).reshape(count, self.dimension)
        norms: Vector = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
        return rows / norms
