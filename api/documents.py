"""The Public layer's documents of the knowledge base: uploads, links and texts, what became of them, their passages."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from accounts.outbound import AddressRefused, parse_url
from api.fields import UtcTime, Uuid
from api.http import Call, NoInput, json_response, parse_json, read_body
from api.knowledge import kb_operation, require_space, space_is_open
from api.media import FILE_ANSWER, StoredFile, send_file
from api.multipart import is_multipart, receive_form, refuse_when_many_wait, store
from api.paging import PageQuery, Pagination, pagination
from ingest import announced_blobs
from ingest.documents import documents
from store import knowledge
from store.blobs import BlobInfo
from store.database import Connection
from store.errors import InvalidRequest, NotFound
from store.ids import new_id
from store.knowledge import Document

TEXT_CHARACTERS = 500_000
URL_CHARACTERS = 2000


class DocumentRecord(BaseModel):
    """`url` is where a link's document is fetched from; null for the others."""

    id: str
    space_id: str
    title: str
    mime: str | None
    size_bytes: int
    status: Literal["pending", "processing", "success", "error"]
    progress: float
    error_code: str | None
    error_message: str | None
    chunk_count: int
    url: str | None
    created_at: UtcTime
    updated_at: UtcTime


class DocumentQuery(PageQuery):
    """`status`: `working` are those that are waiting or in work. `title` is a part of it."""

    status: Literal["working", "success", "error"] | None = None
    title: Annotated[str, Field(min_length=1, max_length=300)] | None = None


class DocumentList(BaseModel):
    items: list[DocumentRecord]
    pagination: Pagination


class DocumentBody(BaseModel):
    """A document by its text, with a title, or by a link to it. A link is fetched again whenever it is reindexed."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: Annotated[str, Field(min_length=1, max_length=300, pattern=r"\S")] | None = None
    text: Annotated[str, Field(min_length=1, max_length=TEXT_CHARACTERS)] | None = None
    url: Annotated[str, Field(min_length=1, max_length=URL_CHARACTERS)] | None = None


class ChunkQuery(PageQuery):
    """With `chunk_id` the page is the one around that passage, whatever `offset` says; `pagination` tells where it
    begins."""

    chunk_id: Uuid | None = None


class ChunkRecord(BaseModel):
    """A passage: its place in the document's full text, its page, and when it is said in a recording."""

    id: str
    idx: int
    text: str
    title_path: list[str]
    page: int | None
    start_char: int
    end_char: int
    start_ms: int | None
    end_ms: int | None


class ChunkList(BaseModel):
    items: list[ChunkRecord]
    pagination: Pagination


def _document(row: Document) -> DocumentRecord:
    return DocumentRecord.model_validate(row, from_attributes=True)


def list_documents(call: Call[DocumentQuery, NoInput]) -> DocumentList:
    space, asked = require_space(call), call.query.status
    statuses = knowledge.UNFINISHED if asked == "working" else None if asked is None else (asked,)
    with call.services.database.read() as connection:
        rows, total = knowledge.list_documents(
            call.tenant_id,
            connection,
            space.id,
            limit=call.query.limit,
            offset=call.query.offset,
            statuses=statuses,
            title=call.query.title,
        )
    return DocumentList(items=[_document(row) for row in rows], pagination=pagination(call.query, len(rows), total))


async def add_document(call: Call[NoInput, NoInput]) -> Response:
    space = await run_in_threadpool(require_space, call)
    house = call.services.workshop
    document_id = new_id()
    key = f"{call.tenant_id}/documents/{document_id}"
    blob: BlobInfo | None
    url: str | None = None
    try:
        if is_multipart(call.request):
            title, file_name, blob = await _receive_file(call, key)
        else:
            title, file_name, blob, url = await _receive_json(call, key)
        await run_in_threadpool(call.identify, title, file_name, blob.sha256 if blob is not None else url or "")
    # Refused, or answered before: the bytes belong to no row.
    except BaseException:
        await run_in_threadpool(announced_blobs.discard, house.database, house.blobs, call.tenant_id, key)
        raise
    document = await run_in_threadpool(
        documents.accept,
        call.tenant_id,
        document_id=document_id,
        space_id=space.id,
        title=title,
        file_name=file_name,
        blob_key=key,
        blob=blob,
        url=url,
        key_id=call.principal.key_id,
        also=partial(_note_added, call),
    )
    return json_response(_document(document), 202)


def _note_added(call: Call[NoInput, NoInput], connection: Connection, document: Document, is_new: bool) -> None:
    if is_new:
        call.note(connection, "document.added", document.id, {"space_id": document.space_id})
    call.keep(connection, _document(document), 202)


async def _receive_file(call: Call[NoInput, NoInput], key: str) -> tuple[str, str, BlobInfo]:
    house = call.services.workshop
    await run_in_threadpool(announced_blobs.announce, house.database, call.tenant_id, key)
    writer = await run_in_threadpool(house.blobs.writer, key)
    form = await receive_form(call.request, writer, max_file_bytes=call.services.settings.max_document_bytes)
    if form.file is None:
        raise InvalidRequest("There is no file.", code="missing_file", param="file")
    if form.file.size == 0:
        raise InvalidRequest("The file is empty.", param="file")
    file_name = form.file_name.replace("\\", "/").rsplit("/", 1)[-1].strip()[:300] or "document"
    title = form.fields.get("title", "").strip()[:300]
    return title or file_name, file_name, form.file


async def _receive_json(call: Call[NoInput, NoInput], key: str) -> tuple[str, str, BlobInfo | None, str | None]:
    """(title, file name, blob, url), of which either blob or url is there."""
    limit = max(call.services.settings.max_json_bytes, TEXT_CHARACTERS * 6)
    body = parse_json(DocumentBody, await read_body(call.request, limit))
    title = (body.title or "").strip()
    if body.url is not None:
        if body.text is not None:
            raise InvalidRequest("url: give a url or a text, not both.", param="url")
        url = _checked_url(body.url.strip())
        return title or url[:300], url[:300], None, url
    if not title or body.text is None:
        missing = "text" if title else "title"
        raise InvalidRequest(f"{missing}: is required with a JSON body that has no url.", param=missing)
    if not body.text.strip():
        raise InvalidRequest("text: is empty.", param="text")
    refuse_when_many_wait(call.request)
    house = call.services.workshop
    await run_in_threadpool(announced_blobs.announce, house.database, call.tenant_id, key)
    blob = await store(call.request, partial(house.blobs.put, key, body.text.encode()))
    return title, "text.txt", blob, None


def _checked_url(url: str) -> str:
    """In its canonical form. Whether its address may be called is asked when it is fetched."""
    try:
        found = str(parse_url(url))
    except AddressRefused as error:
        raise InvalidRequest(f"url: {error.message}", param="url") from None
    if len(found) > URL_CHARACTERS:
        raise InvalidRequest(f"url: has more than {URL_CHARACTERS} characters.", param="url")
    return found.partition("#")[0]  # a place in the page, which is no part of what is fetched


def _require_document(call: Call[Any, Any]) -> Document:
    with call.services.database.read() as connection:
        row = knowledge.get_document(call.tenant_id, connection, call.path_id("document_id", "document"))
        if row is None or not space_is_open(call, connection, row.space_id):
            raise NotFound("No such document.")
    return row


def read_document(call: Call[NoInput, NoInput]) -> DocumentRecord:
    return _document(_require_document(call))


def delete_document(call: Call[NoInput, NoInput]) -> Response:
    documents.remove(call.tenant_id, _require_document(call).id, actor=call.actor)
    return Response(status_code=204)


def reindex_document(call: Call[NoInput, NoInput]) -> DocumentRecord:
    document = _require_document(call)
    return _document(documents.reindex(call.tenant_id, document.id, actor=call.actor))


def read_file(call: Call[NoInput, NoInput]) -> Response:
    document = _require_document(call)
    name = f"{document.title[:100]}.txt" if document.file_name == "text.txt" else document.file_name
    file = StoredFile(
        f"{document.id}.{document.version}", document.blob_key, document.mime or "", name, is_attachment=True
    )
    return send_file(call.services, call.request, file, NotFound("The document was not fetched yet."))


def list_chunks(call: Call[ChunkQuery, NoInput]) -> ChunkList:
    document, query = _require_document(call), call.query
    with call.services.database.read() as connection:
        if query.chunk_id is not None:
            place = knowledge.place_of_chunk(call.tenant_id, connection, document.id, query.chunk_id)
            if place is None:
                raise NotFound("No such passage in the document as it is now.")
            query = query.model_copy(update={"offset": max(0, place - query.limit // 4)})
        rows, total = knowledge.list_chunks(
            call.tenant_id, connection, document.id, limit=query.limit, offset=query.offset
        )
    items = [ChunkRecord.model_validate(row, from_attributes=True) for row in rows]
    return ChunkList(items=items, pagination=pagination(query, len(rows), total))


class DocumentUpload(BaseModel):
    """The multipart body."""

    file: str = Field(json_schema_extra={"format": "binary"})
    title: str | None = None


_SPACE = "/v1/kb/spaces/{space_id}"
_DOCUMENT = "/v1/kb/documents/{document_id}"
_READ = (401, 403, 404)
_WRITE = (400, 401, 403, 404)


OPERATIONS = (
    kb_operation(
        "GET", _SPACE + "/documents", list_documents, "List documents", DocumentList, query=DocumentQuery, errors=_WRITE
    ),
    kb_operation(
        "POST",
        _SPACE + "/documents",
        add_document,
        "Add a document",
        DocumentRecord,
        form=DocumentUpload,
        form_alternative=DocumentBody,
        status=202,
        errors=(*_WRITE, 413),
        idempotent=True,
        audited=("document.added",),
    ),
    kb_operation("GET", _DOCUMENT, read_document, "Read a document", DocumentRecord, errors=_READ),
    kb_operation(
        "DELETE",
        _DOCUMENT,
        delete_document,
        "Delete a document",
        None,
        status=204,
        errors=_READ,
        audited=("document.deleted",),
    ),
    kb_operation(
        "POST",
        _DOCUMENT + "/reindex",
        reindex_document,
        "Index again; a link is fetched again",
        DocumentRecord,
        status=202,
        errors=_READ,
        audited=("document.reindexed",),
    ),
    kb_operation("GET", _DOCUMENT + "/chunks", list_chunks, "List chunks", ChunkList, query=ChunkQuery, errors=_WRITE),
    kb_operation(
        "GET", _DOCUMENT + "/file", read_file, "Read the document's file", None, errors=(*_READ, 416), **FILE_ANSWER
    ),
)
