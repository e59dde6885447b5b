"""The Public layer's upload of media: files for messages that are posted afterwards."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from api.fields import UuidText
from api.http import Call, NoInput, Operation, json_response
from api.multipart import is_multipart, receive_form
from ingest import announced_blobs, import_media
from store.database import Connection
from store.errors import InvalidRequest, TooLarge
from store.ids import new_id
from store.media import Media

FORM_BYTES = 1024 * 1024
"""What a form's other fields and boundaries may add to a file."""

NoCall = Call[NoInput, NoInput]


class MediaUpload(BaseModel):
    """The multipart body."""

    file: str = Field(json_schema_extra={"format": "binary"})


class UploadedMedia(BaseModel):
    """`ref` is what `media` of a message names it by. `type` and `mime` are told by its content."""

    ref: UuidText
    type: Literal["audio", "image", "video", "file"]
    mime: str
    name: str
    size_bytes: int


async def upload_media(call: NoCall) -> Response:
    if not is_multipart(call.request):
        raise InvalidRequest("Send the file as multipart/form-data, field file.", code="missing_file", param="file")
    most = call.services.settings.max_document_bytes
    refuse_declared(call.request, most)
    house = call.services.workshop
    media_id = new_id()
    key = import_media.blob_key(call.tenant_id, media_id)
    await run_in_threadpool(announced_blobs.announce, house.database, call.tenant_id, key)
    try:
        writer = await run_in_threadpool(house.blobs.writer, key)
        form = await receive_form(call.request, writer, max_file_bytes=most, known=())
        if form.file is None:
            raise InvalidRequest("There is no file.", code="missing_file", param="file")
        if form.file.size == 0:
            raise InvalidRequest("The file is empty.", param="file")
        name = form.file_name.replace("\\", "/").rsplit("/", 1)[-1].strip() or "file"
        await run_in_threadpool(call.identify, form.file.sha256, name)
    # Refused or answered before: the bytes belong to no row.
    except BaseException:
        await run_in_threadpool(announced_blobs.discard, house.database, house.blobs, call.tenant_id, key)
        raise

    def keep(connection: Connection, row: Media) -> None:
        call.keep(connection, _answer(row), 201)

    row = await run_in_threadpool(
        import_media.add_upload, house, call.tenant_id, media_id=media_id, blob=form.file, name=name, also=keep
    )
    return json_response(_answer(row), 201)


def refuse_declared(request: Request, most: int) -> None:
    """Raises TooLarge for a body whose head says already that its file is too large."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most + FORM_BYTES:
        raise TooLarge(f"The file is larger than {most} bytes.", param="file")


def _answer(row: Media) -> UploadedMedia:
    return UploadedMedia(
        ref=row.id,
        type=row.type,  # type: ignore[arg-type]
        mime=row.mime,
        name=row.name,
        size_bytes=row.size_bytes,
    )


OPERATIONS = (
    Operation(
        "POST",
        "/v1/media",
        upload_media,
        "Upload a message's file",
        response=UploadedMedia,
        form=MediaUpload,
        status=201,
        errors=(400, 401, 403, 413),
        paused=False,
        idempotent=True,
        unaudited="A file is nothing to anybody until a message names it.",
    ),
)
