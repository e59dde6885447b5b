"""The Public layer's knowledge base: spaces and their documents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.fields import UtcTime
from api.http import Body, Call, NoInput, Operation, json_response, parse_json, read_body
from api.multipart import is_multipart, receive_form
from api.paging import PageQuery, Pagination, pagination
from ingest.documents import documents
from store import knowledge
from store.blobs import BlobInfo
from store.errors import InvalidRequest, NotFound
from store.ids import new_id
from store.knowledge import Document, Space

TEXT_CHARACTERS = 500_000

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Field(max_length=2000)]


class SpaceBody(Body):
    name: Name
    description: Description = ""


class SpacePatch(Body):
    name: Name | None = None
    description: Description | None = None


class SpaceRecord(BaseModel):
    id: str
    name: str
    description: str
    document_count: int
    created_at: UtcTime
    updated_at: UtcTime


class SpaceList(BaseModel):
    items: list[SpaceRecord]
    pagination: Pagination


class DocumentRecord(BaseModel):
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
    created_at: UtcTime
    updated_at: UtcTime


class DocumentList(BaseModel):
    items: list[DocumentRecord]
    pagination: Pagination


class DocumentText(BaseModel):
    """A document by its text. `url` is documented and comes with a later version."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: Annotated[str, Field(min_length=1, max_length=300, pattern=r"\S")] | None = None
    text: Annotated[str, Field(min_length=1, max_length=TEXT_CHARACTERS)] | None = None
    url: str | None = None


class ChunkRecord(BaseModel):
    id: str
    idx: int
    text: str
    title_path: list[str]
    page: int | None
    start_char: int
    end_char: int


class ChunkList(BaseModel):
    items: list[ChunkRecord]
    pagination: Pagination


def _space(row: Space) -> SpaceRecord:
    return SpaceRecord.model_validate(row, from_attributes=True)


def _document(row: Document) -> DocumentRecord:
    return DocumentRecord.model_validate(row, from_attributes=True)


def list_spaces(call: Call[PageQuery, NoInput]) -> SpaceList:
    with call.services.database.read() as connection:
        rows, total = knowledge.list_spaces(
            call.tenant_id, connection, limit=call.query.limit, offset=call.query.offset
        )
    return SpaceList(items=[_space(row) for row in rows], pagination=pagination(call.query, len(rows), total))


def create_space(call: Call[NoInput, SpaceBody]) -> SpaceRecord:
    with call.services.database.write() as connection:
        row = knowledge.create_space(
            call.tenant_id, connection, name=call.body.name.strip(), description=call.body.description
        )
        answer = _space(row)
        call.keep(connection, answer, 201)
    return answer


def _require_space(call: Call[Any, Any]) -> Space:
    with call.services.database.read() as connection:
        row = knowledge.get_space(call.tenant_id, connection, call.path_id("space_id", "space"))
    if row is None:
        raise NotFound("No such space.")
    return row


def read_space(call: Call[NoInput, NoInput]) -> SpaceRecord:
    return _space(_require_space(call))


def update_space(call: Call[NoInput, SpacePatch]) -> SpaceRecord:
    space = _require_space(call)
    values = call.body.model_dump(exclude_none=True)
    if values:
        with call.services.database.write() as connection:
            knowledge.update_space(call.tenant_id, connection, space.id, **values)
    return _space(_require_space(call))


def delete_space(call: Call[NoInput, NoInput]) -> Response:
    space = _require_space(call)
    documents.remove_space(call.tenant_id, space.id)
    return Response(status_code=204)


def list_documents(call: Call[PageQuery, NoInput]) -> DocumentList:
    space = _require_space(call)
    with call.services.database.read() as connection:
        rows, total = knowledge.list_documents(
            call.tenant_id, connection, space.id, limit=call.query.limit, offset=call.query.offset
        )
    return DocumentList(items=[_document(row) for row in rows], pagination=pagination(call.query, len(rows), total))


async def add_document(call: Call[NoInput, NoInput]) -> Response:
    space = await run_in_threadpool(_require_space, call)
    document_id = new_id()
    key = f"{call.tenant_id}/documents/{document_id}"
    if is_multipart(call.request):
        title, file_name, blob = await _receive_file(call, key)
    else:
        title, file_name, blob = await _receive_text(call, key)
    try:
        await run_in_threadpool(call.identify, title, file_name, blob.sha256)
    # Answered before, or refused: the bytes belong to no row.
    except BaseException:
        await run_in_threadpool(call.services.workshop.blobs.delete, key)
        raise
    document, is_new = await run_in_threadpool(
        documents.accept,
        call.tenant_id,
        document_id=document_id,
        space_id=space.id,
        title=title,
        file_name=file_name,
        blob_key=key,
        blob=blob,
        key_id=call.principal.key.id,
        also=lambda connection, document, _is_new: call.keep(connection, _document(document), 202),
    )
    assert is_new or document.blob_key != key
    return json_response(_document(document), 202)


async def _receive_file(call: Call[NoInput, NoInput], key: str) -> tuple[str, str, BlobInfo]:
    house = call.services.workshop
    writer = await run_in_threadpool(house.blobs.writer, key)
    form = await receive_form(call.request, writer, max_file_bytes=call.services.settings.max_document_bytes)
    if form.file is None:
        raise InvalidRequest("There is no file.", code="missing_file", param="file")
    if form.file.size == 0:
        await run_in_threadpool(house.blobs.delete, key)
        raise InvalidRequest("The file is empty.", param="file")
    file_name = form.file_name.replace("\\", "/").rsplit("/", 1)[-1].strip() or "document"
    title = form.fields.get("title", "").strip()[:300]
    return title or file_name, file_name, form.file


async def _receive_text(call: Call[NoInput, NoInput], key: str) -> tuple[str, str, BlobInfo]:
    limit = max(call.services.settings.max_json_bytes, TEXT_CHARACTERS * 6)
    body = parse_json(DocumentText, await read_body(call.request, limit))
    if body.url is not None:
        raise InvalidRequest("url is not supported yet: upload the file or send its text.", param="url")
    if body.title is None or body.text is None:
        missing = "title" if body.title is None else "text"
        raise InvalidRequest(f"{missing}: is required with a JSON body.", param=missing)
    if not body.text.strip():
        raise InvalidRequest("text: is empty.", param="text")
    raw = body.text.encode()
    blob = await run_in_threadpool(call.services.workshop.blobs.put, key, raw)
    return body.title.strip(), "text.txt", blob


def _require_document(call: Call[Any, Any]) -> Document:
    with call.services.database.read() as connection:
        row = knowledge.get_document(call.tenant_id, connection, call.path_id("document_id", "document"))
    if row is None:
        raise NotFound("No such document.")
    return row


def read_document(call: Call[NoInput, NoInput]) -> DocumentRecord:
    return _document(_require_document(call))


def delete_document(call: Call[NoInput, NoInput]) -> Response:
    documents.remove(call.tenant_id, call.path_id("document_id", "document"))
    return Response(status_code=204)


def reindex_document(call: Call[NoInput, NoInput]) -> DocumentRecord:
    document = _require_document(call)
    return _document(documents.reindex(call.tenant_id, document.id))


def list_chunks(call: Call[PageQuery, NoInput]) -> ChunkList:
    document = _require_document(call)
    with call.services.database.read() as connection:
        rows, total = knowledge.list_chunks(
            call.tenant_id, connection, document.id, limit=call.query.limit, offset=call.query.offset
        )
    items = [ChunkRecord.model_validate(row, from_attributes=True) for row in rows]
    return ChunkList(items=items, pagination=pagination(call.query, len(rows), total))


class DocumentUpload(BaseModel):
    """The multipart body."""

    file: str = Field(json_schema_extra={"format": "binary"})
    title: str | None = None


_SPACES = "/v1/kb/spaces"
_SPACE = "/v1/kb/spaces/{space_id}"
_DOCUMENT = "/v1/kb/documents/{document_id}"
_READ = (401, 403, 404)
_WRITE = (400, 401, 403, 404)


def _operation(method: str, path: str, handler: Any, summary: str, response: Any, **options: Any) -> Operation:
    paused = method == "GET"
    return Operation(method, path, handler, summary, response=response, feature="kb", paused=paused, **options)


OPERATIONS = (
    _operation("GET", _SPACES, list_spaces, "List spaces", SpaceList, query=PageQuery, errors=(400, 401, 403)),
    _operation(
        "POST",
        _SPACES,
        create_space,
        "Create a space",
        SpaceRecord,
        body=SpaceBody,
        status=201,
        errors=(400, 401, 403),
        idempotent=True,
    ),
    _operation("GET", _SPACE, read_space, "Read a space", SpaceRecord, errors=_READ),
    _operation("PATCH", _SPACE, update_space, "Change a space", SpaceRecord, body=SpacePatch, errors=_WRITE),
    _operation("DELETE", _SPACE, delete_space, "Delete a space and its documents", None, status=204, errors=_READ),
    _operation(
        "GET", _SPACE + "/documents", list_documents, "List documents", DocumentList, query=PageQuery, errors=_WRITE
    ),
    _operation(
        "POST",
        _SPACE + "/documents",
        add_document,
        "Add a document",
        DocumentRecord,
        form=DocumentUpload,
        form_alternative=DocumentText,
        status=202,
        errors=(*_WRITE, 413),
        idempotent=True,
    ),
    _operation("GET", _DOCUMENT, read_document, "Read a document", DocumentRecord, errors=_READ),
    _operation("DELETE", _DOCUMENT, delete_document, "Delete a document", None, status=204, errors=_READ),
    _operation(
        "POST", _DOCUMENT + "/reindex", reindex_document, "Index again", DocumentRecord, status=202, errors=_READ
    ),
    _operation("GET", _DOCUMENT + "/chunks", list_chunks, "List chunks", ChunkList, query=PageQuery, errors=_WRITE),
)
