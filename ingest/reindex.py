"""Makes the index anew from the store: after a change of the embedding model, or when its folder was lost.

A marker beside the index says that it is complete. Where it is missing at a start, a durable job puts every document
and communication in; uploads meanwhile go in by their own jobs. Everything is keyed, so doing it twice is harmless.
"""

from __future__ import annotations

import time
from pathlib import Path

import structlog

from ingest.documents.documents import index_stored_chunks
from ingest.timelines import index_communication
from ingest.workshop import DOCUMENTS_QUEUE, Workshop, workshop
from store import communications, knowledge
from store.jobs import step, workflow

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
    job = house.index_folder / "reindex"
    if not job.exists():
        job.write_text(f"reindex-{house.index_folder.name}-{time.time_ns()}")
    log.warning("the index is not complete: putting everything in again", job=job.read_text())
    house.jobs.enqueue(DOCUMENTS_QUEUE, job.read_text(), reindex_everything)


@workflow(name="reindex_everything")
def reindex_everything() -> None:
    for page in (_index_documents, _index_communications):
        after: str | None = None
        while (after := page(after)) is not None:
            pass
    _finish()


@step(name="reindex_documents", retries_allowed=True, max_attempts=5)
def _index_documents(after: str | None) -> str | None:
    """Indexes the documents behind `after`; the last one's id, None when there are no more."""
    house = workshop()
    with house.database.read() as connection:
        rows = knowledge.page_of_all(connection, after=after, limit=_PAGE)
    for tenant_id, document_id in rows:
        index_stored_chunks(house, tenant_id, document_id)
    return rows[-1][1] if rows else None


@step(name="reindex_communications", retries_allowed=True, max_attempts=5)
def _index_communications(after: str | None) -> str | None:
    house = workshop()
    with house.database.read() as connection:
        rows = communications.page_of_all(connection, after=after, limit=_PAGE)
    for tenant_id, communication_id in rows:
        index_communication(house, tenant_id, communication_id)
    return rows[-1][1] if rows else None


@step(name="finish_reindex")
def _finish() -> None:
    _marker(workshop()).touch()
    log.info("the index is complete again")
