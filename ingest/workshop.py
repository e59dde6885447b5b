"""What ingestion works with, opened once a process: database, blobs, index, embedder, child processes and jobs.

Job steps are plain functions that DBOS calls by name, so they reach it through `workshop()`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import structlog

from accounts import webhooks
from accounts.installation import check_secret
from accounts.keys import Keyring
from ingest.children import ChildDied, ChildPool, PoolClosed
from ingest.speech import recognise
from rag import embedding
from rag.embedding import Embedder, EmbedderSpec
from rag.generation import LoadedEmbedder
from rag.index import Vector
from rag.index_places import open_place
from rag.indexes import Indexes
from rag.model_choice import resolve_model
from rag.reranking import Reranker, choose_reranker
from rag.retrieval import Retriever
from rag.search import Searcher
from rag.shared_models import SharedModels
from store import index_work, migrate
from store.blobs import Blobs
from store.database import Connection, Database
from store.errors import ParleyError, Unavailable
from store.jobs import Jobs, QueuePlan
from store.settings import WORK, Settings, Work
from store.signatures import Signatures

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

TRIES = 3
"""Of what a child does for a job, where it dies."""
_PAUSE_S = 0.5

CALLS_QUEUE = "calls_by_client"  # partitioned by tenant
FETCHES_QUEUE = "fetches"  # partitioned by tenant
SYNC_CALLS_QUEUE = "sync_calls"
ANALYSES_QUEUE = "analyses"  # partitioned by tenant
DOCUMENTS_QUEUE = "documents_by_client"  # partitioned by tenant
RECORDINGS_QUEUE = "recordings"  # of the knowledge base; partitioned by tenant
EVALUATIONS_QUEUE = "evaluations"  # partitioned by tenant
EXPORTS_QUEUE = "account-exports"
WARNINGS_QUEUE = "deletion-warnings"
REFILL_QUEUE = "refill"  # of an index
# Of earlier releases. Its jobs name no partition, and in a partitioned queue such a job waits for ever.
_OLD_CALLS_QUEUE = "calls"
_OLD_DOCUMENTS_QUEUE = "documents"


@dataclass(frozen=True, slots=True)
class Pools:
    """Child processes by what they do, so that a long recognition keeps nobody from a quick look at a file."""

    probing: ChildPool
    decoding: ChildPool
    speech: ChildPool
    documents: ChildPool
    analysis: ChildPool
    reranking: ChildPool
    maintenance: ChildPool

    def close(self) -> None:
        for each in fields(self):
            pool: ChildPool = getattr(self, each.name)
            pool.close()


class PooledEmbedder:
    """An embedder whose bulk work runs in a child process of its own; queries too where its engine is too heavy for the
    server."""

    def __init__(self, spec: EmbedderSpec, timeout_s: float) -> None:
        """Raises what the engine raises where the model cannot be loaded."""
        self.spec = spec
        if Path(spec.source).is_absolute() and not Path(spec.source).exists():
            raise FileNotFoundError(f"{spec.source} is not there")
        self._near: Embedder | None = spec.load() if spec.in_process else None
        self._pool = ChildPool("embedding", 1, timeout_s)
        self.name = spec.name
        try:
            self.dimension = self._pool.run(embedding.dimension_of, spec) if spec.dimension is None else spec.dimension
        except BaseException:
            self._pool.close()
            raise

    def close(self) -> None:
        self._pool.close()

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        if self._near is not None:
            return self._near.embed_queries(texts)
        # Somebody waits for the answer; passages are embedded by jobs.
        return self._pool.run(embedding.embed_queries_of, self.spec, list(texts), urgent=True)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([vectors[0] for vectors in self.embed_for_index(texts)])

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        return run_or_shut_down(self._pool, embedding.embed_passages_of, self.spec, list(texts), tries=TRIES)


@dataclass(frozen=True, slots=True)
class Workshop:
    settings: Settings
    database: Database
    blobs: Blobs
    indexes: Indexes
    pools: Pools
    jobs: Jobs
    models: SharedModels
    reranker: Reranker | None

    @property
    def work_folder(self) -> Path:
        """Where jobs keep what they can make again: decoded audio, say."""
        return self.settings.data_dir.absolute() / "work"

    @property
    def searcher(self) -> Searcher:
        """Over the index that serves now."""
        return Searcher(*self.indexes.serving)

    @property
    def retriever(self) -> Retriever:
        """Over the index that serves now: ask for it anew with each question."""
        return Retriever(self.searcher, self.database, self.reranker)

    def close(self) -> None:
        self.pools.close()  # first: jobs that wait for a child let go at once
        if self.reranker is not None:
            self.reranker.close()
        self.indexes.let_go()
        self.models.close()  # and those that wait for a language model
        self.jobs.close()
        self.indexes.close()
        self.jobs.fall_silent()
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
    tries: int = 1,
) -> Result:
    """`pool.run`, for job steps. Raises ShuttingDown when the server stops meanwhile.

    `tries`: how often in all, where the child dies: that may be somebody else's doing, who kills the others in the same
    moment, so there is a pause before each further try."""
    for tries_left in reversed(range(tries)):
        try:
            return pool.run(function, *args, urgent=urgent, owner=owner, tag=tag)
        except PoolClosed:
            raise ShuttingDown from None
        except ChildDied as error:
            if not tries_left:
                raise
            log.warning("a child died, so its work is done again", pool=pool.name, error=str(error))
            time.sleep(_PAUSE_S * (tries - tries_left))
    raise AssertionError("the last try returns or raises")


_opened: Workshop | None = None


def _load_embedder(settings: Settings, spec: EmbedderSpec) -> LoadedEmbedder:
    if spec.is_remote:
        return embedding.open_api(spec, settings)
    return PooledEmbedder(spec, settings.child_timeout_s)


def _refill(name: str, tenant_id: str | None) -> None:
    """Notes, for whoever sweeps, that an index must be filled again."""
    database = workshop().database
    with database.write() as connection:
        index_work.note_refill(connection, name, tenant_id)


def workshop() -> Workshop:
    """The workshop of this process."""
    assert _opened is not None, "no workshop was opened in this process"
    return _opened


def open_workshop(settings: Settings, *, takes: Collection[Work] = WORK) -> Workshop:
    """Opens everything; `takes` tells which work this process does.

    Raises Unavailable for a database that this release cannot work with, InvalidRequest for one that belongs to another
    secret key, rag.index.IndexLocked where another process
    owns the embedded index, store.weights.ModelMissing for a model that the settings name and that is not installed.
    """
    global _opened
    database = Database(settings)
    if says := migrate.trouble(database):
        raise Unavailable(says)
    if says := migrate.newer(database):
        log.warning("a release before the database's", says=says)
    check_secret(database, Keyring.of(settings))
    pools = _open_pools(settings)
    spec = embedding.choose_embedder(settings)
    if spec is None:
        log.warning("no embedding model is installed: searching by words alone (parley models pull)")
    if problem := resolve_model(settings).problem:
        log.warning("no language model answers", reason=problem)
    reranker = choose_reranker(settings)
    indexes = Indexes(open_place(settings), spec, partial(_open_embedder, settings), _refill)
    queues = _queue_plans(settings)
    has_gpu = recognise.hears_by_gpu(settings, takes)
    jobs = Jobs(
        settings,
        database,
        queues,
        takes=takes,
        has_gpu=has_gpu,
        index_name=indexes.name,
        can_work=Signatures(settings).are_taken,
    )
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
        indexes=indexes,
        pools=pools,
        jobs=jobs,
        models=SharedModels(settings),
        reranker=Reranker(reranker, pools.reranking, settings.reranker_timeout_s) if reranker is not None else None,
    )
    return _opened


def _open_embedder(settings: Settings, spec: EmbedderSpec) -> LoadedEmbedder:
    if spec.is_remote:
        return embedding.open_api(spec, settings)
    return PooledEmbedder(spec, settings.child_timeout_s)


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
    # More than are read at once: a few large ones, or one client's many, keep no small one waiting.
    documents = 4 * settings.document_places
    return [
        QueuePlan(CALLS_QUEUE, settings.call_places, places_per_partition=per_client, work="speech"),
        QueuePlan(
            FETCHES_QUEUE,
            settings.fetch_places,
            places_per_partition=(settings.fetch_places + 1) // 2,
            is_urgent=False,
        ),
        QueuePlan(SYNC_CALLS_QUEUE, max(1, settings.sync_places), work="speech"),
        QueuePlan(_OLD_CALLS_QUEUE, per_client, is_urgent=False, work="speech"),
        QueuePlan(
            ANALYSES_QUEUE,
            settings.analysis_places,
            places_per_partition=(settings.analysis_places + 1) // 2,
            is_urgent=False,
            work="analysis",
        ),
        QueuePlan(DOCUMENTS_QUEUE, documents, places_per_partition=documents * 3 // 4, work="documents"),
        QueuePlan(_OLD_DOCUMENTS_QUEUE, settings.document_places, is_urgent=False, work="documents"),
        QueuePlan(
            RECORDINGS_QUEUE, settings.call_places, places_per_partition=per_client, is_urgent=False, work="speech"
        ),
        QueuePlan(EVALUATIONS_QUEUE, 2, places_per_partition=1, is_urgent=False),
        QueuePlan(EXPORTS_QUEUE, 2, places_per_partition=1, is_urgent=False),
        QueuePlan(WARNINGS_QUEUE, 2, is_urgent=False),
        QueuePlan(REFILL_QUEUE, 1, is_urgent=False, work="documents"),
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
        analysis=ChildPool("analysis", 1, min(600.0, timeout_s), memory_bytes, nice=5),
        # Its child stops by itself where nobody waits any more; this bound is for loading a model, even fetching it.
        reranking=ChildPool("reranking", 1, timeout_s),
        maintenance=ChildPool("maintenance", 1, timeout_s, nice=15),
    )
