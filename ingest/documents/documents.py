"""Documents of the knowledge base: taken in, indexed anew, removed. What a run of indexing does is `document_job`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import structlog

from ingest import announced_blobs
from ingest.documents import recording_charges
from ingest.documents.document_job import start
from ingest.timelines import do_index_work
from ingest.workshop import delete_unless_recorded, start_or_leave, workshop
from store import audit, index_work, kb_spaces, knowledge
from store.blobs import BlobInfo, Blobs
from store.database import Connection, Database
from store.errors import NotFound
from store.index_work import FORGET_DOCUMENT
from store.knowledge import Document

log = structlog.get_logger(__name__)

Also = Callable[[Connection, Document, bool], None]


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
    blob: BlobInfo | None = None,
    url: str | None = None,
    key_id: str | None = None,
    also: Also | None = None,
) -> tuple[Document, bool]:
    """Takes a blob that was announced, or a link, in as a document: (its record, whether there is work to be begun on
    it).

    The same bytes, or the same link, in the same space are the document that is there; if that one ended in error it is
    tried once more. `also` runs in the same transaction, with the record and whether it is new. The sweeper starts the
    job, if nobody does before. Raises NotFound where the space went away meanwhile.
    """
    assert (blob is None) != (url is None)
    document: Document | None = None
    is_new = begins = False
    with database.write() as connection:
        if kb_spaces.hold_space(tenant_id, connection, space_id):
            document, is_new = knowledge.add_document(
                tenant_id,
                connection,
                document_id=document_id,
                space_id=space_id,
                title=title,
                file_name=file_name,
                size_bytes=0 if blob is None else blob.size,
                sha256=None if blob is None else blob.sha256,
                blob_key=blob_key,
                url=url,
                key_id=key_id,
            )
            begins = is_new
            if is_new and blob is not None:
                announced_blobs.take_in(tenant_id, connection, blob_key)
            if document.status == "error":
                document, begins = _begin_again(tenant_id, connection, document.id), True
            if also is not None:
                also(connection, document, is_new)
    if not is_new and blob is not None:
        announced_blobs.discard(database, blobs, tenant_id, blob_key)
    if document is None:
        raise NotFound("No such space.")
    return document, begins


def _begin_again(tenant_id: str, connection: Connection, document_id: str) -> Document:
    knowledge.begin_reindex(tenant_id, connection, document_id)
    document = knowledge.get_document(tenant_id, connection, document_id)
    if document is None:
        raise NotFound("No such document.")
    recording_charges.release(tenant_id, connection, document_id, document.run - 1)
    return document


def accept(tenant_id: str, **values: object) -> Document:
    """`record`, then the job's start."""
    house = workshop()
    blob_key, document_id = str(values["blob_key"]), str(values["document_id"])
    try:
        document, begins = record(house.database, house.blobs, tenant_id, **values)  # type: ignore[arg-type]
    except NotFound:  # `record` deleted the blob
        raise
    # Whatever kept the row from being written, the blob belongs to none.
    except BaseException:
        delete_unless_recorded(
            house,
            blob_key,
            lambda connection: knowledge.get_document(tenant_id, connection, document_id) is not None,
        )
        raise
    if begins:
        start_or_leave(document.id, start, document)
    return document


def reindex(tenant_id: str, document_id: str, *, actor: str) -> Document:
    """Starts a new run of a document's job; links are fetched anew. Raises NotFound."""
    with workshop().database.write() as connection:
        document = _begin_again(tenant_id, connection, document_id)
        audit.add(tenant_id, connection, actor=actor, action="document.reindexed", subject=document_id)
    start_or_leave(document.id, start, document)
    return document


def remove_space(tenant_id: str, space_id: str, *, actor: str) -> None:
    """Deletes a space with all that belongs to its documents."""
    house = workshop()
    while True:
        with house.database.read() as connection:
            rows, _ = knowledge.list_documents(tenant_id, connection, space_id, limit=100)
        for row in rows:
            with suppress(NotFound):  # another request may delete the same document
                remove(tenant_id, row.id, actor=actor)
        with house.database.write() as connection:
            # Only when it is empty: a document that came in meanwhile has a blob and passages of its own.
            if kb_spaces.delete_empty_space(tenant_id, connection, space_id):
                audit.add(tenant_id, connection, actor=actor, action="space.deleted", subject=space_id)
                return


def remove(tenant_id: str, document_id: str, *, actor: str) -> None:
    """Takes a document out of the store at once, and out of index and blobs now or, where they are away, later.
    Raises NotFound."""
    house = workshop()
    with house.database.write() as connection:
        document = knowledge.delete_document(tenant_id, connection, document_id)
        if document is None:
            raise NotFound("No such document.")
        recording_charges.release(tenant_id, connection, document_id, document.run)
        details = {"space_id": document.space_id}
        audit.add(tenant_id, connection, actor=actor, action="document.deleted", subject=document_id, details=details)
        work = index_work.add(
            tenant_id, connection, action=FORGET_DOCUMENT, subject_id=document_id, blob_key=document.blob_key
        )
    try:
        do_index_work(house, work)
    # The document is gone for everybody: searches look at the store too. The sweeper clears the rest.
    except Exception:
        log.exception("a deleted document is not out of the index yet", document_id=document_id)
