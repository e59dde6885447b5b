"""The Public layer's media: a call's own audio and the files of messages, whole or in part, streamed out of the blob
store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from api.errors import error_response
from api.http import Call, NoInput, Operation
from api.services import Services
from api.speech_tasks import CACHE_CONTROL, matches
from store import media, transcriptions
from store.blobs import BlobMissing
from store.errors import NotFound, ParleyError

# One range; of several the whole file is an answer too.
_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,19})-([0-9]{0,19})[ \t]*", re.IGNORECASE)
# What a browser may show under our name, or save: nothing that it would run, and no SVG, which is a page.
_MEDIA_TYPE = re.compile(
    r"(audio|video)/[a-z0-9.+-]+|image/(png|jpeg|gif|webp|avif|heic|heif|bmp|tiff)|application/(pdf|zip)"
)
_UNKNOWN_TYPE = "application/octet-stream"
_UNSAFE = re.compile(r'[^ -~]|["\\/%;]')
_MAX_NAME_CHARACTERS = 150


class RangeNotSatisfiable(ParleyError):
    status = 416
    type = "invalid_request_error"
    default_code = "range_not_satisfiable"


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes `start` up to, not including, `end` of a file of `size`."""

    start: int
    end: int
    size: int

    @property
    def content_range(self) -> str:
        return f"bytes {self.start}-{self.end - 1}/{self.size}"


def part_of(header: str | None, size: int) -> Part | None:
    """What a Range header asks for; None for the whole file, which is the answer to what is no single range of bytes.

    Raises RangeNotSatisfiable where nothing of the range is in the file.
    """
    asked = _RANGE.fullmatch(header.strip()) if header is not None else None
    if asked is None or not (asked[1] or asked[2]):
        return None
    if asked[1]:
        start, last = int(asked[1]), int(asked[2]) if asked[2] else size - 1
        if asked[2] and last < start:
            return None
    else:
        start, last = max(size - int(asked[2]), 0), size - 1
    if start >= size:
        raise RangeNotSatisfiable(f"The file has {size} bytes.", param="Range")
    return Part(start, min(last, size - 1) + 1, size)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file to be answered with. `id` changes with its content."""

    id: str
    blob_key: str
    mime: str
    name: str
    is_attachment: bool = False


def read_media(call: Call[NoInput, NoInput]) -> Response:
    return send_file(call.services, call.request, _file(call), _unknown())


def send_file(services: Services, asked: Request, file: StoredFile, unknown: NotFound) -> Response:
    """The file, a part of it, or that it is as the caller knows it. Raises `unknown` where its bytes are gone."""
    blobs = services.workshop.blobs
    try:
        size = blobs.size(file.blob_key)
        headers = _headers(file, size)
        request = asked.headers
        if matches(request.get("if-none-match"), headers["ETag"]):
            return Response(status_code=304, headers={name: headers[name] for name in ("ETag", "Cache-Control")})
        # A part of an older file is no part of this one.
        of_this = request.get("if-range", headers["ETag"]) == headers["ETag"]
        part = part_of(request.get("range") if of_this else None, size)
        first, end = (part.start, part.end) if part else (0, size)
        if part:
            headers["Content-Range"] = part.content_range
        headers["Content-Length"] = str(end - first)
        status = 206 if part else 200
        if asked.method == "HEAD":
            return Response(status_code=status, headers=headers)
        return StreamingResponse(blobs.stream(file.blob_key, first, end), status_code=status, headers=headers)
    except BlobMissing:
        raise unknown from None
    except RangeNotSatisfiable as error:
        answer = error_response(error, asked.scope["path"])
        answer.headers["Content-Range"] = f"bytes */{size}"
        return answer


def _unknown() -> NotFound:
    return NotFound("No such media.")


def _file(call: Call[NoInput, NoInput]) -> StoredFile:
    """A communication's id names its audio, any other ref a file of a message."""
    ref = call.path_id("ref", "media")
    with call.services.database.read() as connection:
        uploaded = media.get(call.tenant_id, connection, ref)
        if uploaded is not None:
            return StoredFile(uploaded.id, uploaded.blob_key, uploaded.mime, uploaded.name or "file")
        newest = transcriptions.newest_of(call.tenant_id, connection, ref)
        task = transcriptions.get(call.tenant_id, connection, newest[0]) if newest else None
    if task is None:
        raise _unknown()
    mime = task.media_type or ""
    is_sound = mime.startswith(("audio/", "video/"))
    return StoredFile(task.id, task.blob_key, mime if is_sound else "", task.file_name or "recording")


def _headers(file: StoredFile, size: int) -> dict[str, str]:
    """What the file is follows from its content, and a browser that opens it runs nothing of it."""
    is_shown = _MEDIA_TYPE.fullmatch(file.mime) is not None
    return {
        "ETag": f'"{file.id}.{size}"',
        "Cache-Control": CACHE_CONTROL,
        "Accept-Ranges": "bytes",
        "Content-Type": file.mime if is_shown else _UNKNOWN_TYPE,
        "Content-Disposition": disposition(file.name, "attachment" if file.is_attachment else "inline"),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }


def disposition(file_name: str, kind: str = "inline") -> str:
    """`inline`, or to be saved, under the file's name: in ASCII for old programs, and whole as RFC 6266 has it."""
    name = re.split(r"[/\\]", file_name)[-1]
    name = "".join(each for each in name if each.isprintable())[-_MAX_NAME_CHARACTERS:] or "recording"
    plain = _UNSAFE.sub("_", name)
    whole = quote(name.encode("utf-8", "replace"), safe="")
    return f'{kind}; filename="{plain}"' + (f"; filename*=UTF-8''{whole}" if plain != name else "")


FILE_ANSWER: dict[str, Any] = {
    "content": "*/*",
    "other_answers": {206: None, 304: None},
    "request_headers": {
        "Range": "A single range of bytes, such as `bytes=0-1023`.",
        "If-Range": "The ETag that the range belongs to.",
        "If-None-Match": "The ETag of an earlier answer.",
    },
    "answer_headers": {
        200: {"ETag": "Names this file.", "Accept-Ranges": "`bytes`.", "Content-Disposition": "The file's name."},
        206: {"ETag": "Names this file.", "Content-Range": "Which bytes these are, of how many."},
        304: {"ETag": "Names this file."},
    },
}
"""How an operation that answers with `send_file` is described."""

OPERATIONS = (
    Operation(
        "GET",
        "/v1/media/{ref}",
        read_media,
        "Read a call's audio or a message's file",
        response=None,
        **FILE_ANSWER,
        errors=(401, 404, 416),
    ),
)
