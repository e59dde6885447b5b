"""Embedding by a provider's API through litellm: requests in batches, tries again where that helps, vectors checked."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import structlog

from rag import litellm_calls
from rag.index import Vector
from store import meters, traces
from store.errors import ParleyError, Unavailable, UpstreamFailed

log = structlog.get_logger(__name__)

Purpose = Literal["query", "passage"]

PROVIDERS = frozenset(
    """
    openai azure azure_ai cohere voyage jina_ai mistral gemini vertex_ai bedrock nvidia_nim watsonx databricks
    together_ai fireworks_ai nebius deepinfra openrouter gigachat ollama hosted_vllm lm_studio infinity xinference
    openai_like litellm_proxy
    """.split()  # noqa: SIM905
)
"""What a model's name begins with, before a slash, where it means a provider: no owner on the hub with models that
sentence-transformers loads is called so."""

# What tells a provider that a text is a question or a passage: the field and its two values.
_INPUT_TYPES = {
    "cohere": ("input_type", "search_query", "search_document"),
    "bedrock/cohere": ("input_type", "search_query", "search_document"),
    "voyage": ("input_type", "query", "document"),
    "jina_ai": ("task", "retrieval.query", "retrieval.passage"),
    "nvidia_nim": ("input_type", "query", "passage"),
    "gemini": ("task_type", "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"),
    "vertex_ai": ("task_type", "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"),
}
_BATCH_TEXTS = 64
_BATCH_CHARACTERS = 100_000
_MOST_CHARACTERS = 12_000
_QUERY_TIMEOUT_S = 8.0
_PASSAGES_TIMEOUT_S = 120.0
_REST_S = 15.0
"""After a question that failed the next ones fail at once for so long: searches go on by words alone meanwhile."""


class _Zero(int):
    """litellm takes a plain 0 for "not given", and lets its clients try again unasked, for as long as they like."""

    def __bool__(self) -> bool:
        return True


def names_provider(model: str) -> bool:
    provider, slash, rest = model.partition("/")
    return bool(slash and rest) and provider in PROVIDERS


class ApiEmbedder:
    """Thread-safe, and in the server's own process: it only waits for answers."""

    def __init__(self, name: str, api_base: str, api_key: str, dimension: int | None = None) -> None:
        """Asks for the dimension where it is not known. Raises Unavailable or UpstreamFailed."""
        assert names_provider(name)
        self.name = name
        self._api_base = api_base or None
        self._api_key = api_key or None
        self._dimension = dimension
        self._plain_e5 = re.search(r"(^|[-_/])e5([-_]|$)", name.lower()) is not None
        self._rests_until_s = 0.0
        self._closed = threading.Event()
        if dimension is None:
            self._dimension = self._embed(["dimension"], "passage", _QUERY_TIMEOUT_S).shape[1]

    @property
    def dimension(self) -> int:
        assert self._dimension is not None
        return self._dimension

    def close(self) -> None:
        """Ends pauses between tries."""
        self._closed.set()

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        if time.monotonic() < self._rests_until_s:
            raise Unavailable("The embedding provider failed a moment ago.", retry_after_s=int(_REST_S))
        try:
            return self._in_batches(texts, "query", _QUERY_TIMEOUT_S)
        except ParleyError:
            self._rests_until_s = time.monotonic() + _REST_S
            raise

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return self._in_batches(texts, "passage", _PASSAGES_TIMEOUT_S)

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        return [row[None, :] for row in self.embed_passages(texts)]

    def _in_batches(self, texts: Sequence[str], purpose: Purpose, timeout_s: float) -> Vector:
        rows = [self._embed(batch, purpose, timeout_s) for batch in _batches(texts)]
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    def _embed(self, texts: list[str], purpose: Purpose, timeout_s: float) -> Vector:
        """The vectors of one request, within `timeout_s` together with its repetitions."""
        asked = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": self.name}
        begun_s, outcome = time.monotonic(), "error"
        try:
            with traces.span(f"embeddings {self.name}", traces.CLIENT, asked) as span:
                answer = self._ask(texts, purpose, timeout_s)
                used = getattr(getattr(answer, "usage", None), "prompt_tokens", None) or 0
                meters.MODEL_TOKENS.labels(self.name, "prompt", "embedding").inc(used)
                span.set_attribute("gen_ai.usage.input_tokens", used)
                vectors = self._vectors(answer, len(texts))
            outcome = "success"
            return vectors
        finally:
            meters.EMBEDDING_SECONDS.labels(self.name, outcome).observe(time.monotonic() - begun_s)

    def _ask(self, texts: list[str], purpose: Purpose, timeout_s: float) -> Any:
        litellm = litellm_calls.import_litellm()
        request = self._request(texts, purpose)
        deadline_s = time.monotonic() + timeout_s
        attempt = 0
        while True:
            left_s = deadline_s - time.monotonic()
            try:
                return litellm.embedding(**request, timeout=max(left_s, 0.1), max_retries=_Zero())
            except litellm_calls.provider_errors() as error:
                attempt += 1
                pause_s = _pause_s(error, attempt)
                if pause_s is None or time.monotonic() + pause_s >= deadline_s or self._closed.is_set():
                    failure = self._failed(error)
                else:
                    log.info("embedding_retry", model=self.name, reason=type(error).__name__, attempt=attempt)
                    self._closed.wait(pause_s)
                    continue
            raise failure

    def _request(self, texts: list[str], purpose: Purpose) -> dict[str, Any]:
        provider, _, model = self.name.partition("/")
        if self._plain_e5:
            texts = [f"{purpose}: {text}" for text in texts]
        request: dict[str, Any] = {
            "model": self.name,
            "input": texts,
            "api_base": self._api_base,
            "api_key": self._api_key,
        }
        if provider in ("openai", "azure", "hosted_vllm", "lm_studio", "openai_like"):
            request["encoding_format"] = "float"
        maker, _, _ = model.partition(".")
        kind = _INPUT_TYPES.get(provider) or _INPUT_TYPES.get(f"{provider}/{maker}")
        if kind is not None:
            field, query, passage = kind
            request[field] = query if purpose == "query" else passage
        return request

    def _vectors(self, answer: Any, count: int) -> Vector:
        """(count, dimension), each of length 1. Raises UpstreamFailed where the answer is not that."""
        try:
            data = sorted(answer.data, key=lambda each: each["index"])
            with np.errstate(over="ignore"):  # too large for a float is infinite, and refused below
                rows = np.array([each["embedding"] for each in data], dtype=np.float32)
        except (AttributeError, KeyError, TypeError, ValueError):
            rows = np.empty((0, 0), dtype=np.float32)
        wanted = self._dimension if self._dimension is not None else rows.shape[-1]
        if rows.shape != (count, wanted) or not wanted or not np.isfinite(rows).all():
            log.warning("embedding_misshapen", model=self.name, shape=rows.shape, wanted=(count, wanted))
            raise UpstreamFailed("The embedding provider gave no usable vectors.")
        norms: Vector = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
        return rows / norms

    def _failed(self, error: BaseException) -> ParleyError:
        """Logs what happened and gives the error for the caller, neither of them with the key."""
        detail = litellm_calls.mask_keys(str(error), self._api_key)
        log.warning("embedding_failed", model=self.name, **litellm_calls.loggable(error, detail))
        status = getattr(error, "status_code", None)
        if litellm_calls.is_timeout(error) or status is None or status in litellm_calls.RETRIED_STATUSES:
            return Unavailable("The embedding provider does not answer.", retry_after_s=int(_REST_S))
        return UpstreamFailed("The embedding provider refused the request.")


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        text = text[:_MOST_CHARACTERS] if text.strip() else "-"  # providers refuse empty texts
        if batch and (len(batch) == _BATCH_TEXTS or size + len(text) > _BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _pause_s(error: BaseException, attempt: int) -> float | None:
    """Seconds until the next try: what the provider asks for, else ever longer; None where a try is no use."""
    status = getattr(error, "status_code", None)
    if litellm_calls.is_timeout(error) or (status is not None and status not in litellm_calls.RETRIED_STATUSES):
        return None
    asked_s = litellm_calls.asked_pause_s(error)
    return asked_s if asked_s is not None else min(0.5 * 2 ** (attempt - 1), 30.0)
