"""What ingestion works with, opened once a process: database, blobs, index, embedder, child processes and jobs.

Job steps are plain functions that DBOS calls by name, so they reach it through `workshop()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import structlog

from accounts import webhooks
from ingest.children import ChildPool, PoolClosed
from rag import embedding
from rag.embedding import Embedder, EmbedderSpec
from rag.index import Vector, VectorIndex
from rag.search import Searcher
from store import migrate
from store.blobs import Blobs
from store.database import Connection, Database
from store.errors import ParleyError, Unavailable
from store.jobs import Jobs, QueuePlan
from store.settings import Settings

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

CALLS_QUEUE = "calls_by_client"  # partitioned by tenant
FETCHES_QUEUE = "fetches"  # partitioned by tenant
SYNC_CALLS_QUEUE = "sync_calls"
DOCUMENTS_QUEUE = "documents"
# Of earlier releases. Its jobs name no partition, and in a partitioned queue such a job waits for ever.
_OLD_CALLS_QUEUE = "calls"

# The index needs a dimension before any model is there; searching by words alone puts no vector in it.
_NO_MODEL_DIMENSION = 8


@dataclass(frozen=True, slots=True)
class Pools:
    """Child processes by what they do, so that a long recognition keeps nobody from a quick look at a file."""

    probing: ChildPool
    decoding: ChildPool
    speech: ChildPool
    documents: ChildPool
    embedding: ChildPool

    def close(self) -> None:
        for pool in (self.probing, self.decoding, self.speech, self.documents, self.embedding):
            pool.close()


class PooledEmbedder:
    """An embedder whose bulk work runs in a child process; queries too where its engine is too heavy for the server."""

    def __init__(self, spec: EmbedderSpec, pool: ChildPool) -> None:
        self._spec = spec
        self._pool = pool
        self._near: Embedder | None = spec.load() if spec.in_process else None
        self.name = spec.name
        self.dimension = pool.run(embedding.dimension_of, spec) if spec.dimension is None else spec.dimension

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        if self._near is not None:
            return self._near.embed_queries(texts)
        # Somebody waits for the answer; passages are embedded by jobs.
        return self._pool.run(embedding.embed_queries_of, self._spec, list(texts), urgent=True)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([vectors[0] for vectors in self.embed_for_index(texts)])

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        return run_or_shut_down(self._pool, embedding.embed_passages_of, self._spec, list(texts))


@dataclass(frozen=True, slots=True)
class Workshop:
    settings: Settings
    database: Database
    blobs: Blobs
    index: VectorIndex
    embedder: PooledEmbedder | None
    searcher: Searcher
    pools: Pools
    jobs: Jobs

    @property
    def work_folder(self) -> Path:
        """Where jobs keep what they can make again: decoded audio, say."""
        return self.settings.data_dir.absolute() / "work"

    @property
    def index_folder(self) -> Path:
        """Of the embedded index; beside a Qdrant server, of what is noted about it."""
        return index_folder(self.settings, self.embedder)

    def passage_vectors(self, texts: Sequence[str]) -> list[Vector | None]:
        return [None] * len(texts) if self.embedder is None else list(self.embedder.embed_for_index(texts))

    def close(self) -> None:
        self.pools.close()  # first: jobs that wait for a child let go at once
        self.jobs.close()
        self.index.close()
        self.database.close()


class ShuttingDown(BaseException):
    """The server stops in the middle of a step. No Exception, so that the job is not recorded as failed by it: the
    step runs again after the next start."""


def run_or_shut_down(
    pool: ChildPool,
    function: Callable[..., Result],
    *args: object,
    urgent: bool = False,
    owner: str = "",
    tag: str = "",
) -> Result:
    """`pool.run`, for job steps. Raises ShuttingDown when the server stops meanwhile."""
    try:
        return pool.run(function, *args, urgent=urgent, owner=owner, tag=tag)
    except PoolClosed:
        raise ShuttingDown from None


_opened: Workshop | None = None


def workshop() -> Workshop:
    """The workshop of this process."""
    assert _opened is not None, "no workshop was opened in this process"
    return _opened


def open_workshop(settings: Settings, *, works: bool = True) -> Workshop:
    """Opens everything; `works` tells whether this process takes jobs from the queues.

    Raises Unavailable for a database that is not up to date, rag.index.IndexLocked where another process owns the
    embedded index, store.weights.ModelMissing for a model that the settings name and that is not installed.
    """
    global _opened
    database = Database(settings)
    if not migrate.is_current(database):
        raise Unavailable("The database is not up to date: run `parley migrate`.")
    pools = _open_pools(settings)
    spec = embedding.choose_embedder(settings)
    if spec is None:
        log.warning("no embedding model is installed: searching by words alone (parley models pull)")
    embedder = PooledEmbedder(spec, pools.embedding) if spec else None
    index = open_index(settings, embedder)
    jobs = Jobs(settings, database, _queue_plans(settings), works=works)
    local = not settings.qdrant_url or not settings.blob_url
    if local and (others := jobs.others()):
        raise Unavailable(
            f"another server ({', '.join(others)}) works on this database: several of them need one index and one blob "
            "store (PARLEY_QDRANT_URL, PARLEY_BLOB_URL)"
        )
    _opened = Workshop(
        settings=settings,
        database=database,
        blobs=Blobs(settings),
        index=index,
        embedder=embedder,
        searcher=Searcher(index, embedder),
        pools=pools,
        jobs=jobs,
    )
    return _opened


def start_or_leave(row_id: str, start: Callable[..., None], *arguments: object) -> None:
    """Starts the job of a row that is committed; where that fails the row is not refused but left to the sweeper."""
    try:
        start(*arguments)
    # The job database may be away in any way; what was accepted stays accepted.
    except Exception:
        log.exception("a job could not be started yet", row=row_id)


def delete_unless_recorded(house: Workshop, blob_key: str, is_recorded: Callable[[Connection], bool]) -> None:
    """Deletes the blob of a row that was not written. A commit whose acknowledgement was lost on the way is a commit:
    better a blob too many than a row without one."""
    with suppress(ParleyError):
        with house.database.read() as connection:
            recorded = is_recorded(connection)
        if not recorded:
            house.blobs.delete(blob_key)


def _queue_plans(settings: Settings) -> list[QueuePlan]:
    """Calls in work take turns in the speech pool piece by piece, so a client's places bound what it keeps on disk, and
    the rest of the places is for others."""
    per_client = min(settings.call_places_per_client, settings.call_places)
    return [
        QueuePlan(CALLS_QUEUE, settings.call_places, places_per_partition=per_client),
        QueuePlan(FETCHES_QUEUE, settings.fetch_places, places_per_partition=(settings.fetch_places + 1) // 2),
        QueuePlan(SYNC_CALLS_QUEUE, max(1, settings.sync_places)),
        QueuePlan(_OLD_CALLS_QUEUE, per_client),
        QueuePlan(DOCUMENTS_QUEUE, settings.document_places),
        webhooks.queue_plan(settings),
    ]


def _open_pools(settings: Settings) -> Pools:
    timeout_s = settings.child_timeout_s
    memory_bytes = settings.child_memory_bytes
    return Pools(
        probing=ChildPool("probing", 2, min(60.0, timeout_s), memory_bytes, nice=5),
        # Two places, and none of the speech child's: a day's recording keeps nobody else from being heard.
        decoding=ChildPool("decoding", 2, timeout_s),
        speech=ChildPool("speech", 1, timeout_s),
        documents=ChildPool("documents", settings.document_places, min(600.0, timeout_s), memory_bytes),
        embedding=ChildPool("embedding", 1, timeout_s),
    )


def open_index(settings: Settings, embedder: PooledEmbedder | None) -> VectorIndex:
    """The embedded index, or the one of a Qdrant server. Each embedding model has one of its own."""
    model = _model_name(embedder)
    dimension = embedder.dimension if embedder else _NO_MODEL_DIMENSION
    folder = index_folder(settings, embedder)
    folder.mkdir(parents=True, exist_ok=True)
    if settings.qdrant_url:
        from qdrant_client import QdrantClient

        from rag.qdrant_server_index import ServerIndex

        client = QdrantClient(url=settings.qdrant_url, api_key=settings.qdrant_api_key.get_secret_value() or None)
        return ServerIndex(client, dimension, collection=f"parley-{folder.name}", model=model)
    from rag.qdrant_edge_index import EdgeIndex

    return EdgeIndex(folder / "shards", dimension, model=model)


def index_folder(settings: Settings, embedder: PooledEmbedder | None) -> Path:
    slug = re.sub(r"[^a-z0-9]+", "-", _model_name(embedder).lower()).strip("-")[-80:]
    return settings.data_dir.absolute() / "index" / slug


def _model_name(embedder: PooledEmbedder | None) -> str:
    return embedder.name if embedder else "words-only"
