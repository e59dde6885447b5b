"""The durable job of a document: parse, chunk, embed, index. Each step may run twice."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

import structlog

from accounts import webhooks
from ingest.children import ChildDied, ChildOutOfMemory, ChildTimedOut
from ingest.documents.parse import DocumentError, parse
from ingest.documents.parsed import Limits
from ingest.timelines import do_index_work
from ingest.workshop import (
    DOCUMENTS_QUEUE,
    Workshop,
    delete_unless_recorded,
    run_or_shut_down,
    start_or_leave,
    workshop,
)
from rag.chunking import Chunk, chunk_sections
from rag.index import Point
from store import index_work, knowledge
from store.blobs import BlobInfo, Blobs
from store.database import Connection, Database
from store.errors import NotFound
from store.index_work import FORGET_DOCUMENT
from store.jobs import ENDED_BADLY, step, workflow
from store.knowledge import Document, StoredChunk

log = structlog.get_logger(__name__)

_EMBED_BATCH = 48
_INTERNAL = "internal_error"


class Parsed(TypedDict):
    """What parsing came to: `error_code` and `error_message`, or a type, a title and a number of chunks."""

    error_code: str | None
    error_message: str | None
    mime: str | None
    title: str | None
    chunk_count: int


def start(document: Document) -> None:
    """Starts the job of a document's run; starting it twice is harmless."""
    _enqueue(document.tenant_id, document.id, document.run)


def _enqueue(tenant_id: str, document_id: str, run: int) -> None:
    job_id = workflow_id(document_id, run)
    workshop().jobs.enqueue(DOCUMENTS_QUEUE, job_id, index_document, tenant_id, document_id, run)


def workflow_id(document_id: str, run: int) -> str:
    return f"{document_id}.{run}"


def record(
    database: Database,
    blobs: Blobs,
    tenant_id: str,
    *,
    document_id: str,
    space_id: str,
    title: str,
    file_name: str,
    blob_key: str,
    blob: BlobInfo,
    key_id: str | None = None,
    also: Callable[[Connection, Document, bool], None] | None = None,
) -> tuple[Document, bool]:
    """Takes an uploaded blob in as a document: (its record, whether it is new). The same bytes in the same space are
    the document that is there. `also` runs in the same transaction. The sweeper starts the job, if nobody does before.

    Raises NotFound where the space went away meanwhile.
    """
    document: Document | None = None
    is_new = False
    with database.write() as connection:
        if knowledge.hold_space(tenant_id, connection, space_id):
            document, is_new = knowledge.add_document(
                tenant_id,
                connection,
                document_id=document_id,
                space_id=space_id,
                title=title,
                file_name=file_name,
                size_bytes=blob.size,
                sha256=blob.sha256,
                blob_key=blob_key,
                key_id=key_id,
            )
            if also is not None:
                also(connection, document, is_new)
    if not is_new:
        blobs.delete(blob_key)
    if document is None:
        raise NotFound("No such space.")
    return document, is_new


def accept(tenant_id: str, **values: Any) -> tuple[Document, bool]:
    """`record`, then the job's start."""
    house = workshop()
    try:
        document, is_new = record(house.database, house.blobs, tenant_id, **values)
    except NotFound:  # `record` deleted the blob
        raise
    # Whatever kept the row from being written, the blob belongs to none.
    except BaseException:
        delete_unless_recorded(
            house,
            values["blob_key"],
            lambda connection: knowledge.get_document(tenant_id, connection, values["document_id"]) is not None,
        )
        raise
    if is_new:
        start_or_leave(document.id, start, document)
    return document, is_new


def reindex(tenant_id: str, document_id: str) -> Document:
    """Starts a new run of a document's job. Raises NotFound."""
    with workshop().database.write() as connection:
        knowledge.begin_reindex(tenant_id, connection, document_id)
        document = knowledge.get_document(tenant_id, connection, document_id)
    if document is None:
        raise NotFound("No such document.")
    start_or_leave(document.id, start, document)
    return document


def remove_space(tenant_id: str, space_id: str) -> None:
    """Deletes a space with all that belongs to its documents."""
    house = workshop()
    while True:
        with house.database.read() as connection:
            rows, _ = knowledge.list_documents(tenant_id, connection, space_id, limit=100)
        if not rows:
            break
        for row in rows:
            with suppress(NotFound):  # another request may delete the same document
                remove(tenant_id, row.id)
    with house.database.write() as connection:
        knowledge.delete_space(tenant_id, connection, space_id)


def remove(tenant_id: str, document_id: str) -> None:
    """Takes a document out of the store at once, and out of index and blobs now or, where they are away, later.
    Raises NotFound."""
    house = workshop()
    with house.database.write() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
        if document is None or not knowledge.delete_document(tenant_id, connection, document_id):
            raise NotFound("No such document.")
        work = index_work.add(
            tenant_id, connection, action=FORGET_DOCUMENT, subject_id=document_id, blob_key=document.blob_key
        )
    try:
        do_index_work(house, work)
    # The document is gone for everybody: searches look at the store too. The sweeper clears the rest.
    except Exception:
        log.exception("a deleted document is not out of the index yet", document_id=document_id)


def parse_and_chunk(path: Path, name: str, max_bytes: int) -> tuple[str, str | None, list[Chunk]]:
    """(type, title, chunks) of a file; runs in a child process. Raises DocumentError."""
    parsed = parse(path, name, Limits(max_bytes=max_bytes))
    return parsed.mime, parsed.title, chunk_sections(parsed.sections)


@workflow(name="index_document")
def index_document(tenant_id: str, document_id: str, run: int) -> None:
    """Ends without a word where the document was deleted or a newer run has begun."""
    parsed = _parse(tenant_id, document_id, run)
    if parsed is None:
        return
    if parsed["error_code"]:
        _fail(tenant_id, document_id, run, parsed["error_code"], parsed["error_message"] or "")
        return
    for first in range(0, parsed["chunk_count"], _EMBED_BATCH):
        if not _index(tenant_id, document_id, run, first, parsed["chunk_count"]):
            return
    _finish(tenant_id, document_id, run, parsed["chunk_count"])


@step(name="parse_document", retries_allowed=True, max_attempts=3)
def _parse(tenant_id: str, document_id: str, run: int) -> Parsed | None:
    """None where the run is over: it ended, the document was deleted, or a newer run has begun."""
    house = workshop()
    with house.database.write() as connection:
        if not knowledge.update_document(tenant_id, connection, document_id, run, status="processing", progress=0.05):
            return None
        document = knowledge.get_document(tenant_id, connection, document_id)
    assert document is not None
    with house.blobs.as_file(document.blob_key) as path:
        try:
            mime, title, chunks = _parse_in_child(house, path, document.file_name)
        except DocumentError as error:
            return _failed(error.code, error.message)
        except ChildDied:
            return _failed("unreadable", "Reading the document crashes the reader.")
        except ChildTimedOut:
            return _failed("too_large", "Reading the document takes longer than is allowed.")
        except ChildOutOfMemory:
            return _failed("too_large", "Reading the document takes more memory than is allowed.")
    if not chunks:
        return _failed("empty", "The document holds no text.")
    rows = [
        StoredChunk(
            id=str(uuid.uuid5(uuid.UUID(document_id), str(chunk.index))),
            idx=chunk.index,
            text=chunk.text,
            title_path=list(chunk.title_path),
            page=chunk.page,
            start_char=chunk.start,
            end_char=chunk.end,
        )
        for chunk in chunks
    ]
    values: dict[str, Any] = {"mime": mime, "progress": 0.3}
    if title and document.title == document.file_name:
        values["title"] = title[:300]
    with house.database.write() as connection:
        if not knowledge.update_document(tenant_id, connection, document_id, run, **values):
            return None
        knowledge.replace_chunks(tenant_id, connection, document_id, rows)
    house.index.delete(tenant_id, document_id=document_id)
    return Parsed(error_code=None, error_message=None, mime=mime, title=title, chunk_count=len(rows))


def _parse_in_child(house: Workshop, path: Path, name: str) -> tuple[str, str | None, list[Chunk]]:
    """Twice where the child dies: it may have been somebody else's doing."""
    arguments = (parse_and_chunk, path, name, house.settings.max_document_bytes)
    try:
        return run_or_shut_down(house.pools.documents, *arguments)
    except ChildDied:
        return run_or_shut_down(house.pools.documents, *arguments)


@step(name="index_chunks", retries_allowed=True, max_attempts=5)
def _index(tenant_id: str, document_id: str, run: int, first: int, total: int) -> bool:
    """False where the run is over."""
    house = workshop()
    count = _index_batch(house, tenant_id, document_id, first)
    progress = min(0.3 + 0.7 * (first + count) / total, 0.99)
    with house.database.write(durable=False) as connection:
        return knowledge.update_document(tenant_id, connection, document_id, run, progress=progress)


def index_stored_chunks(house: Workshop, tenant_id: str, document_id: str) -> None:
    """Puts a document's stored chunks into the index in place of what was there of it."""
    house.index.delete(tenant_id, document_id=document_id)
    first = 0
    while count := _index_batch(house, tenant_id, document_id, first):
        first += count


def _index_batch(house: Workshop, tenant_id: str, document_id: str, first: int) -> int:
    """Embeds and indexes the chunks from `first` on; how many there were."""
    with house.database.read() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
        if document is None:
            return 0
        rows, _ = knowledge.list_chunks(tenant_id, connection, document_id, limit=_EMBED_BATCH, offset=first)
    # A chunk's text begins with its own heading; the headings above it are its context.
    texts = ["\n".join([*(title for title in row.title_path if title not in row.text), row.text]) for row in rows]
    points = [
        Point(
            id=row.id,
            vector=vector,
            text=row.text,
            payload={
                "kind": "document",
                "document_id": document_id,
                "space_id": document.space_id,
                "title": " › ".join(dict.fromkeys([document.title, *row.title_path])),
                "page": row.page,
                "idx": row.idx,
            },
        )
        for row, vector in zip(rows, house.passage_vectors(texts), strict=True)
    ]
    house.index.upsert(tenant_id, points)
    with house.database.read() as connection:
        if knowledge.get_document(tenant_id, connection, document_id) is None:
            # Deleted meanwhile, perhaps before these points were there to be deleted with it.
            house.index.delete(tenant_id, document_id=document_id)
            return 0
    return len(rows)


@step(name="finish_document")
def _finish(tenant_id: str, document_id: str, run: int, chunk_count: int) -> None:
    _end(tenant_id, document_id, run, status="success", progress=1.0, chunk_count=chunk_count)


@step(name="fail_document")
def _fail(tenant_id: str, document_id: str, run: int, code: str, message: str) -> None:
    mark_failed(tenant_id, document_id, run, code, message)


def mark_failed(tenant_id: str, document_id: str, run: int, code: str, message: str) -> None:
    """Ends a run in `error`, unless it came to an end before."""
    _end(tenant_id, document_id, run, status="error", error_code=code, error_message=message, progress=1.0)


def _end(tenant_id: str, document_id: str, run: int, **values: Any) -> None:
    """Ends a run and tells of it in one transaction: once, however often the step runs."""
    delivery = None
    with workshop().database.write() as connection:
        if knowledge.update_document(tenant_id, connection, document_id, run, **values):
            document = knowledge.get_document(tenant_id, connection, document_id)
            assert document is not None, "what was updated is there"
            fields = {"document_id": document.id, "space_id": document.space_id}
            failed = {} if document.error_code is None else {"error_code": document.error_code}
            delivery = webhooks.emit(
                tenant_id,
                connection,
                event="kb.failed" if failed else "kb.completed",
                subject=workflow_id(document_id, run),
                fields=fields | failed,
                key_id=document.key_id,
            )
    webhooks.start(delivery)


def _failed(code: str, message: str) -> Parsed:
    return Parsed(error_code=code, error_message=message, mime=None, title=None, chunk_count=0)


def sweep() -> None:
    """Starts documents that a crash left unstarted, and ends those whose job ended without telling."""
    house = workshop()
    with house.database.read() as connection:
        waiting = knowledge.list_unfinished(connection, older_than_s=house.settings.sweep_s)
    if not waiting:
        return
    statuses = house.jobs.statuses([workflow_id(document_id, run) for _, document_id, run in waiting])
    for tenant_id, document_id, run in waiting:
        status = statuses.get(workflow_id(document_id, run))
        if status is None:
            log.info("starting a document that was left unstarted", document_id=document_id)
            _enqueue(tenant_id, document_id, run)
        elif status in ENDED_BADLY:
            mark_failed(tenant_id, document_id, run, _INTERNAL, "Indexing failed; it can be started again.")
