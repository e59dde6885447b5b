"""Makes the index anew from the store: after a change of the embedding model, or when its folder was lost.

A marker beside the index says that it is complete. Where it is missing at a start, a durable job puts every document
and communication in; uploads meanwhile go in by their own jobs. Everything is keyed, so doing it twice is harmless.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import structlog

from ingest.documents.documents import index_stored_chunks
from ingest.timelines import index_communication
from ingest.workshop import DOCUMENTS_QUEUE, Workshop, workshop
from store import communications, knowledge
from store.jobs import ENDED_BADLY, step, workflow

log = structlog.get_logger(__name__)

_PAGE = 50


def _marker(house: Workshop) -> Path:
    return house.index_folder / "complete"


def start_if_needed() -> None:
    """Starts the job unless the index is complete; after a restart it is the same job that goes on."""
    house = workshop()
    if _marker(house).exists():
        return
    with house.database.read() as connection:
        empty = not communications.page_of_all(connection, after=None, limit=1) and not knowledge.page_of_all(
            connection, after=None, limit=1
        )
    if empty:
        _marker(house).touch()
        return
    note = house.index_folder / "reindex"
    job_id = note.read_text() if note.exists() else ""
    # A job that ended and left the index incomplete would not begin again under its own id.
    if not job_id or house.jobs.statuses([job_id]).get(job_id) in (*ENDED_BADLY, "SUCCESS"):
        job_id = f"reindex-{house.index_folder.name}-{time.time_ns()}"
        note.write_text(job_id)
    log.warning("the index is not complete: putting everything in again", job=job_id)
    house.jobs.enqueue(DOCUMENTS_QUEUE, job_id, reindex_everything)


@workflow(name="reindex_everything")
def reindex_everything() -> None:
    failures = 0
    for page in (_index_documents, _index_communications):
        after: str | None = None
        while (done := page(after)) is not None:
            after, failed = done
            failures += failed
    _finish(failures)


@step(name="reindex_documents", retries_allowed=True, max_attempts=5)
def _index_documents(after: str | None) -> tuple[str, int] | None:
    """Indexes the documents behind `after`: the last one's id and how many failed; None when there are no more."""
    house = workshop()
    with house.database.read() as connection:
        rows = knowledge.page_of_all(connection, after=after, limit=_PAGE)
    failed = sum(not _try(index_stored_chunks, house, *row) for row in rows)
    return (rows[-1][1], failed) if rows else None


@step(name="reindex_communications", retries_allowed=True, max_attempts=5)
def _index_communications(after: str | None) -> tuple[str, int] | None:
    house = workshop()
    with house.database.read() as connection:
        rows = communications.page_of_all(connection, after=after, limit=_PAGE)
    failed = sum(not _try(index_communication, house, *row) for row in rows)
    return (rows[-1][1], failed) if rows else None


def _try(function: Callable[[Workshop, str, str], None], house: Workshop, tenant_id: str, subject_id: str) -> bool:
    try:
        function(house, tenant_id, subject_id)
    # One account's broken shard must not keep the others out of the index; the next start tries it again.
    except Exception:
        log.exception("could not be put into the index", tenant_id=tenant_id, subject=subject_id)
        return False
    return True


@step(name="finish_reindex")
def _finish(failures: int) -> None:
    if failures:
        log.error("the index is still not complete", failures=failures)
        return
    _marker(workshop()).touch()
    log.info("the index is complete again")
