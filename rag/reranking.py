"""Reranking: a cross-encoder reads question and passage together, and orders the few that a search found best.

It runs through sentence-transformers in a child process, never in the server, and within a bound of time: where it is
late, or fails, the order of the search stands.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import structlog

from rag.index import Pool
from store import meters, weights
from store.settings import Settings

log = structlog.get_logger(__name__)

# Of the catalogue, those that are taken where they are installed and none is named, the better fit for two cores first.
CATALOGUED = ("mmarco-minilm-l12-h384", "bge-reranker-v2-m3")
_MOST_TOKENS = 512
_MOST_CHARACTERS = 4000
_BATCH = 4
_FAILURE_REPORT_S = 60.0


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """Which model to run. `source` is a folder, or a name that sentence-transformers fetches from its hub."""

    name: str
    source: str


def choose_reranker(settings: Settings) -> RerankerSpec | None:
    """The model that the settings name, else one of the catalogue that is installed, else None.

    Raises weights.ModelMissing for a named model of the catalogue that is not installed.
    """
    known = {model.name for model in weights.catalog()}
    name = settings.reranker_model
    if name == "none":
        return None
    if name:
        return RerankerSpec(name, str(weights.require(settings, name)) if name in known else name)
    for each in CATALOGUED:
        if (folder := weights.find(settings, each)) is not None:
            return RerankerSpec(each, str(folder))
    return None


class Reranker:
    """Thread-safe. The model is loaded by the first question, which does not wait for it."""

    def __init__(self, spec: RerankerSpec, pool: Pool, timeout_s: float) -> None:
        """`pool`: of one child, for this alone."""
        assert timeout_s > 0
        self.name = spec.name
        self._spec = spec
        self._pool = pool
        self._timeout_s = timeout_s
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="reranking")
        self._reported_at_s = -_FAILURE_REPORT_S

    def order(self, query: str, texts: Sequence[str]) -> list[int] | None:
        """The places of `texts`, the one that answers best first; None where that is not known in time."""
        if len(texts) < 2:
            return list(range(len(texts)))
        try:
            scores = self._scores(query, texts)
        # Whatever a model or its child can fail by: a search does not fail with it.
        except Exception as error:
            meters.RERANKED.labels("error").inc()
            self._report(error)
            return None
        if scores is None:
            meters.RERANKED.labels("late").inc()
            return None
        meters.RERANKED.labels("success").inc()
        assert len(scores) == len(texts)
        return sorted(range(len(texts)), key=lambda place: (-scores[place], place))

    def _scores(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """None where they are not known in time. Raises what the child and its pool raise."""
        # One clock for all processes of a machine: the child stops by itself where nobody waits any more.
        deadline_s = time.monotonic() + self._timeout_s
        cut = [text[:_MOST_CHARACTERS] for text in texts]
        try:
            asked: Future[list[float] | None] = self._asking.submit(
                self._pool.run, score_in_child, self._spec, query[:_MOST_CHARACTERS], cut, deadline_s
            )
        except RuntimeError:  # closed
            return None
        try:
            return asked.result(self._timeout_s)
        except LateError:
            asked.cancel()
            return None

    def close(self) -> None:
        """The pool is its owner's to close, and is closed first."""
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _report(self, error: Exception) -> None:
        now_s = time.monotonic()
        if now_s - self._reported_at_s >= _FAILURE_REPORT_S:
            self._reported_at_s = now_s
            log.warning("reranking failed: passages keep the order of the search", model=self.name, error=str(error))


@lru_cache(maxsize=1)
def _loaded(spec: RerankerSpec, threads: int) -> Any:
    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(threads)
    # A model's own code is never run, and its weights come as safetensors or not at all.
    model = CrossEncoder(spec.source, device="cpu", trust_remote_code=False, model_kwargs={"use_safetensors": True})
    if model.num_labels != 1:
        raise ValueError(f"{spec.name} gives {model.num_labels} numbers for a pair: not a reranker")
    model.max_length = min(model.max_length or _MOST_TOKENS, _MOST_TOKENS)
    return model


def score_in_child(spec: RerankerSpec, query: str, texts: Sequence[str], deadline_s: float) -> list[float] | None:
    """For a child process, which keeps the model between calls: a score for each text, to be compared and no more.

    None where `deadline_s`, by the monotonic clock, passes before all are read.
    """
    import os

    import torch

    model = _loaded(spec, max(1, os.cpu_count() or 1))
    scores = [0.0] * len(texts)
    # Of one length together: a batch is as slow as its longest.
    places = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(places), _BATCH):
        if time.monotonic() > deadline_s:
            return None
        batch = places[start : start + _BATCH]
        pairs = [(query, texts[place]) for place in batch]
        found = model.predict(pairs, batch_size=_BATCH, show_progress_bar=False, activation_fn=torch.nn.Identity())
        for place, score in zip(batch, found, strict=True):
            scores[place] = float(score)
    return scores
