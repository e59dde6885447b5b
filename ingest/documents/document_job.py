"""The durable job of a document's run: fetch a link, read, chunk, embed, index, and take the last version's place.

Each step may run twice. A run writes its chunks beside the version that is found, and one transaction puts it in that
one's place. A run that finds itself over (deleted, or overtaken by a newer one) leaves nothing of its own behind.
A recording goes on in a job of its own, since it takes its time: those who wait with a text are not to wait for it.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypedDict

import structlog

from accounts import webhooks
from ingest import announced_blobs
from ingest.documents import links, recording_charges, run_folders
from ingest.documents.detect import IsRecording
from ingest.documents.links import Fetched
from ingest.documents.parsed import DocumentError
from ingest.documents.passages import document_passages
from ingest.documents.reading import OF_CHILDREN, Read, ReadingStopped, read_document
from ingest.documents.recording_charges import Heard
from ingest.documents.recordings import UNPAID, Recording, hear_document
from ingest.outages import closing_step, lasting_step
from ingest.timelines import do_index_work
from ingest.workshop import DOCUMENTS_QUEUE, FETCHES_QUEUE, RECORDINGS_QUEUE, Workshop, workshop
from rag.chunking import Chunk
from store import index_work, knowledge, meters, rounds
from store.database import Connection
from store.index_work import DELETE_BLOB, SETTLE_DOCUMENT, IndexWork
from store.jobs import ENDED_BADLY, workflow
from store.knowledge import Document, StoredChunk
from store.rounds import Round

log = structlog.get_logger(__name__)

_BATCH = 128
_READ, _HEARD, _INDEXED = 0.5, 0.95, 0.99
"""Progress when a document is read, when a recording is recognised, and when it is indexed."""
_TELL_S = 1.0


class Parsed(TypedDict):
    """What reading came to: `error_code` and `error_message`, or a number of chunks.

    `is_recording`: it is not read yet. `heard`: it was, and is to be charged."""

    error_code: str | None
    error_message: str | None
    chunk_count: int
    is_recording: NotRequired[bool]
    heard: NotRequired[Heard | None]


def start(document: Document) -> None:
    """Starts the job of a document's run; starting it twice is harmless."""
    _enqueue(document.tenant_id, document.id, document.run, is_link=document.url is not None)


def _enqueue(tenant_id: str, document_id: str, run: int, *, is_link: bool) -> None:
    # A slow server at the end of a link takes a place among fetches, and none of those that read documents.
    queue = FETCHES_QUEUE if is_link else DOCUMENTS_QUEUE
    job_id = workflow_id(document_id, run)
    workshop().jobs.enqueue(queue, job_id, index_document, tenant_id, document_id, run, partition=tenant_id)


def workflow_id(document_id: str, run: int) -> str:
    return f"{document_id}.{run}"


def recording_workflow_id(document_id: str, run: int) -> str:
    return f"{document_id}.{run}.heard"


@workflow(name="index_document")
def index_document(tenant_id: str, document_id: str, run: int) -> None:
    fetched = _fetch(tenant_id, document_id, run)
    if fetched is None:
        _settle(tenant_id, document_id, run)
        return
    if fetched["error_code"]:
        _fail(tenant_id, document_id, run, fetched["error_code"], fetched["error_message"] or "")
        return
    parsed = _parse(tenant_id, document_id, run, fetched["blob_key"], fetched["file_name"], fetched.get("charset"))
    if parsed is not None and parsed.get("is_recording"):
        _hand_over(tenant_id, document_id, run, fetched)
        return
    _index_all(tenant_id, document_id, run, fetched, parsed)


@lasting_step("hand_over_recording")
def _hand_over(tenant_id: str, document_id: str, run: int, fetched: Fetched) -> None:
    job_id = recording_workflow_id(document_id, run)
    arguments = (tenant_id, document_id, run, fetched)
    workshop().jobs.enqueue(RECORDINGS_QUEUE, job_id, index_recording, *arguments, partition=tenant_id)


@workflow(name="index_recording")
def index_recording(tenant_id: str, document_id: str, run: int, fetched: Fetched) -> None:
    parsed = _hear(tenant_id, document_id, run, fetched["blob_key"], fetched["file_name"])
    _index_all(tenant_id, document_id, run, fetched, parsed)


def _index_all(tenant_id: str, document_id: str, run: int, fetched: Fetched, parsed: Parsed | None) -> None:
    """What is left to do when a document is read."""
    if parsed is None:
        _settle(tenant_id, document_id, run)
        return
    if parsed["error_code"]:
        _fail(tenant_id, document_id, run, parsed["error_code"], parsed["error_message"] or "")
        return
    for first in range(0, parsed["chunk_count"], _BATCH):
        if not _index(tenant_id, document_id, run, first, parsed["chunk_count"]):
            _settle(tenant_id, document_id, run)
            return
    if not _finish(tenant_id, document_id, run, parsed["chunk_count"], fetched, parsed.get("heard")):
        _settle(tenant_id, document_id, run)


@lasting_step("fetch_document")
def _fetch(tenant_id: str, document_id: str, run: int) -> Fetched | None:
    """Where the document's bytes lie. None where the run is over."""
    house = workshop()
    document = _begin(house, tenant_id, document_id, run)
    if document is None:
        return None
    if document.url is None:
        return links.as_uploaded(document)
    return links.fetch_link(house, document, go_on=lambda: _is_wanted(house, tenant_id, document_id, run))


def _begin(house: Workshop, tenant_id: str, document_id: str, run: int) -> Document | None:
    with house.database.write(durable=False) as connection:
        if not knowledge.update_document(tenant_id, connection, document_id, run, status="processing"):
            return None
        return knowledge.get_document(tenant_id, connection, document_id)


def _is_wanted(house: Workshop, tenant_id: str, document_id: str, run: int) -> bool:
    with house.database.read() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
    return document is not None and document.run == run and document.status in knowledge.UNFINISHED


@lasting_step("parse_document")
def _parse(
    tenant_id: str, document_id: str, run: int, blob_key: str, file_name: str, charset: str | None = None
) -> Parsed | None:
    """None where the run is over."""
    house = workshop()
    telling = _Telling(house, tenant_id, document_id, run)

    def read() -> Read:
        if not links.keep(house, tenant_id, document_id, run, blob_key):
            raise ReadingStopped
        work_folder = run_folders.folder_of(house, workflow_id(document_id, run))
        with house.blobs.as_file(blob_key) as path:
            return read_document(
                house,
                tenant_id,
                links.in_unicode(path, charset, work_folder, house.settings.max_document_bytes),
                file_name,
                work_folder,
                go_on=lambda: _is_wanted(house, tenant_id, document_id, run),
                progress=lambda share: telling.tell(share * _READ),
            )

    return _take_in(house, tenant_id, document_id, run, read, _READ)


@lasting_step("hear_document")
def _hear(tenant_id: str, document_id: str, run: int, blob_key: str, file_name: str) -> Parsed | None:
    """`_parse`, of a recording."""
    house = workshop()
    telling = _Telling(house, tenant_id, document_id, run)

    def hear() -> Read:
        if not links.keep(house, tenant_id, document_id, run, blob_key):
            raise ReadingStopped
        with house.blobs.as_file(blob_key) as path:
            work_folder = run_folders.folder_of(house, workflow_id(document_id, run))
            return hear_document(
                house,
                Recording(tenant_id, document_id, run, path, file_name, work_folder),
                go_on=lambda: _is_wanted(house, tenant_id, document_id, run),
                progress=lambda share: telling.tell(share * _HEARD),
            )

    return _take_in(house, tenant_id, document_id, run, hear, _HEARD)


def _take_in(
    house: Workshop, tenant_id: str, document_id: str, run: int, reader: Callable[[], Read], progress: float
) -> Parsed | None:
    """Reads the document and writes its chunks down. None where the run is over."""
    try:
        read = reader()
    except ReadingStopped:
        return None
    except IsRecording:
        return Parsed(error_code=None, error_message=None, chunk_count=0, is_recording=True)
    except DocumentError as error:
        return Parsed(error_code=error.code, error_message=error.message, chunk_count=0)
    if not read.chunks:
        return Parsed(error_code="empty", error_message="The document holds no text.", chunk_count=0)
    rows = stored_chunks(document_id, read.chunks)
    with house.database.write() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
        values: dict[str, Any] = {"mime": read.mime, "progress": progress}
        if read.title and document is not None and document.title in (document.file_name, document.url):
            values["title"] = read.title[:300]
        if not knowledge.update_document(tenant_id, connection, document_id, run, **values):
            return None
        knowledge.put_chunks(tenant_id, connection, document_id, run, rows)
    return Parsed(error_code=None, error_message=None, chunk_count=len(rows), heard=read.heard)


def stored_chunks(document_id: str, chunks: Sequence[Chunk]) -> list[StoredChunk]:
    """With ids made of the texts, so that what a new version leaves as it was keeps its id."""
    seen: Counter[bytes] = Counter()
    rows = []
    for chunk in chunks:
        digest = hashlib.sha256(chunk.text.encode()).digest()
        number = seen[digest]
        seen[digest] += 1
        rows.append(
            StoredChunk(
                id=str(uuid.uuid5(uuid.UUID(document_id), f"{digest.hex()}.{number}")),
                idx=chunk.index,
                text=chunk.text,
                title_path=list(chunk.title_path),
                page=chunk.page,
                start_char=chunk.start,
                end_char=chunk.end,
                start_ms=chunk.start_ms,
                end_ms=chunk.end_ms,
            )
        )
    return rows


class _Telling:
    """Writes progress down, about once a second, and never less than before."""

    def __init__(self, house: Workshop, tenant_id: str, document_id: str, run: int) -> None:
        self._house = house
        self._which = (document_id, run)
        self._tenant_id = tenant_id
        self._told = 0.0
        self._at = time.monotonic()

    def tell(self, progress: float) -> None:
        if progress <= self._told or time.monotonic() < self._at + _TELL_S:
            return
        self._told, self._at = progress, time.monotonic()
        with self._house.database.write(durable=False) as connection:
            knowledge.advance(self._tenant_id, connection, *self._which, progress)


@lasting_step("index_chunks")
def _index(tenant_id: str, document_id: str, run: int, first: int, total: int) -> bool:
    """False where the run is over."""
    house = workshop()
    with house.database.read() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
        if document is None:
            return False
        rows, _ = knowledge.list_chunks(tenant_id, connection, document_id, limit=_BATCH, offset=first, run=run)
    house.indexes.put(tenant_id, document_passages(document, rows))
    progress = min(_READ + (_INDEXED - _READ) * (first + len(rows)) / total, _INDEXED)
    with house.database.write(durable=False) as connection:
        return knowledge.advance(tenant_id, connection, document_id, run, progress)


@closing_step("finish_document")
def _finish(
    tenant_id: str, document_id: str, run: int, chunk_count: int, fetched: Fetched, heard: Heard | None = None
) -> bool:
    """False where the run is over."""
    house = workshop()
    works: list[IndexWork] = []
    delivery = None
    with house.database.write() as connection:
        before = knowledge.get_document(tenant_id, connection, document_id)
        columns = links.columns_of(fetched)
        if done := knowledge.switch_version(tenant_id, connection, document_id, run, chunk_count, **columns):
            assert before is not None, "what was switched was there"
            announced_blobs.take_in(tenant_id, connection, fetched["blob_key"])
            if heard is not None:
                recording_charges.charge(tenant_id, connection, document_id, run, heard)
            # Of a first run too: an index that came into use in the middle of it lacks what was put in before.
            works.append(index_work.add(tenant_id, connection, action=SETTLE_DOCUMENT, subject_id=document_id))
            if before.blob_key != fetched["blob_key"]:
                blob_id = announced_blobs.blob_id(before.blob_key)
                works.append(
                    index_work.add(
                        tenant_id, connection, action=DELETE_BLOB, subject_id=blob_id, blob_key=before.blob_key
                    )
                )
            delivery = _emit(tenant_id, connection, document_id, run)
    if done:
        meters.ended("document", "success")
    webhooks.start(delivery)
    for work in works:
        _do(house, work)
    run_folders.clear(house, workflow_id(document_id, run))
    return done or _has_ended_well(house, tenant_id, document_id, run)


def _has_ended_well(house: Workshop, tenant_id: str, document_id: str, run: int) -> bool:
    """Whether an earlier try of the step did it."""
    with house.database.read() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
    return document is not None and document.version == run


def _do(house: Workshop, work: IndexWork) -> None:
    try:
        do_index_work(house, work)
    # It is noted: the sweeper does it.
    except Exception:
        log.exception("what a document's version left behind is not cleared yet", document_id=work.subject_id)


@closing_step("fail_document")
def _fail(tenant_id: str, document_id: str, run: int, code: str, message: str) -> None:
    house = workshop()
    # First: who sees the error finds nothing left of the run.
    links.drop_fetched(house, tenant_id, document_id, run)
    mark_failed(tenant_id, document_id, run, code, message)
    run_folders.clear(house, workflow_id(document_id, run))


def mark_failed(tenant_id: str, document_id: str, run: int, code: str, message: str) -> None:
    """Ends a run in `error`, unless it came to an end before. What was found before it is found on."""
    house = workshop()
    delivery = work = None
    values = {"status": "error", "error_code": code, "error_message": message, "progress": 1.0}
    with house.database.write() as connection:
        if ends := knowledge.update_document(tenant_id, connection, document_id, run, **values):
            knowledge.drop_chunks(tenant_id, connection, document_id, run)
            recording_charges.release(tenant_id, connection, document_id, run)
            work = index_work.add(tenant_id, connection, action=SETTLE_DOCUMENT, subject_id=document_id)
            delivery = _emit(tenant_id, connection, document_id, run)
    if ends:
        # The contract has no code of its own for a recording that the balance does not cover.
        is_ours = message in OF_CHILDREN or (code == "internal_error" and message != UNPAID)
        meters.ended("document", "error" if is_ours else "refused")
    webhooks.start(delivery)
    if work is not None:
        _do(house, work)


def _emit(tenant_id: str, connection: Connection, document_id: str, run: int) -> Any:
    """Tells of a run's end, in the transaction that ends it: once, however often the step runs."""
    document = knowledge.get_document(tenant_id, connection, document_id)
    assert document is not None, "what was updated is there"
    fields = {"document_id": document.id, "space_id": document.space_id}
    failed = {} if document.error_code is None else {"error_code": document.error_code}
    return webhooks.emit(
        tenant_id,
        connection,
        event="kb.failed" if failed else "kb.completed",
        subject=workflow_id(document_id, run),
        fields=fields | failed,
        key_id=document.key_id,
    )


@closing_step("settle_document")
def _settle(tenant_id: str, document_id: str, run: int) -> None:
    """Takes away what a run that is over has left."""
    house = workshop()
    with house.database.write() as connection:
        knowledge.drop_chunks(tenant_id, connection, document_id, run)
        recording_charges.release(tenant_id, connection, document_id, run)
        # The index may be away for longer than this step is tried.
        work = index_work.add(tenant_id, connection, action=SETTLE_DOCUMENT, subject_id=document_id)
    _do(house, work)
    links.drop_fetched(house, tenant_id, document_id, run)
    run_folders.clear(house, workflow_id(document_id, run))


def sweep_ended() -> None:
    """Removes what runs left on this machine's disk that ended, elsewhere perhaps."""
    run_folders.sweep(workshop(), workflow_id)


class DocumentSweep:
    """A process's. Goes round the documents that have not ended."""

    def __init__(self) -> None:
        self._round = Round()

    def sweep(self) -> None:
        """Starts documents that a crash left unstarted, and ends those whose job ended without telling."""
        house = workshop()
        with house.database.read() as connection:
            waiting = knowledge.list_unfinished(
                connection, older_than_s=house.settings.sweep_s, limit=rounds.AT_ONCE, after=self._round.after
            )
        self._round.go_on([(row.updated_at, row.id) for row in waiting])
        names = {row.id: (recording_workflow_id(row.id, row.run), workflow_id(row.id, row.run)) for row in waiting}
        statuses = house.jobs.statuses([name for both in names.values() for name in both])
        for row in waiting:
            # The later of its two jobs tells.
            status = next((statuses[name] for name in names[row.id] if name in statuses), None)
            if status is None:
                log.info("starting a document that was left unstarted", document_id=row.id)
                start(row)
            elif status in ENDED_BADLY:
                message = "Indexing failed; it can be started again."
                mark_failed(row.tenant_id, row.id, row.run, "internal_error", message)
