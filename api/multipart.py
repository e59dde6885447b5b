"""Multipart bodies, streamed: the one file goes to a blob writer as it arrives, fields are bounded text.

`request.form()` would spool the whole body to disk first and measured six times slower (python-multipart's callbacks:
1.0 s a gigabyte), so the callback parser is used directly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anyio import to_thread
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from store.blobs import BlobInfo, BlobWriter
from store.errors import InvalidRequest, TooLarge, Unavailable

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MOST_FIELDS = 64
MOST_FIELD_BYTES = 400_000
MOST_HEADER_BYTES = 8 * 1024
WRITE_BYTES = 1024 * 1024
STORED_AT_ONCE, _MOST_WAITING = 40, 80


@dataclass(slots=True)
class Form:
    """What a multipart body held. `file` is None where it had no file part of the wanted name."""

    fields: dict[str, str] = field(default_factory=dict)
    file: BlobInfo | None = None
    file_name: str = ""
    file_type: str = ""


def is_multipart(request: Request) -> bool:
    return request.headers.get("content-type", "").lower().startswith("multipart/form-data")


async def receive_form(
    request: Request,
    writer: BlobWriter,
    *,
    max_file_bytes: int,
    file_field: str = "file",
    known: Collection[str] | None = None,
) -> Form:
    """Reads the whole body; the file is committed to `writer` when the body was whole.

    `known` names the fields that are kept; all others are read and forgotten. Raises Unavailable before it reads
    where too many wait for the blob store, InvalidRequest for a malformed body, and TooLarge as soon as the file
    (or what is forgotten) passes `max_file_bytes`; `writer` is aborted then, and also when the client goes away.
    """
    reader = _Reader(file_field, max_file_bytes, known)
    try:
        refuse_when_many_wait(request)
        _, options = parse_options_header(request.headers.get("content-type"))
        boundary = options.get(b"boundary")
        if not boundary:
            raise InvalidRequest("The multipart body names no boundary.")
        parser = MultipartParser(boundary, reader.callbacks())
        async for piece in request.stream():
            parser.write(piece)
            if len(reader.pending) >= WRITE_BYTES:
                await run_in_threadpool(writer.write, reader.take())
        parser.finalize()
        if not reader.ended:
            raise InvalidRequest("The multipart body ends before its last boundary.")
        if not reader.has_file:
            writer.abort()
            return reader.form
        await run_in_threadpool(writer.write, reader.take())
        reader.form.file = await store(request, writer.commit)
    except FormParserError as error:
        writer.abort()
        raise InvalidRequest("The multipart body is malformed.") from error
    # Also when the client goes away, which cancels this: no half upload stays behind.
    except BaseException:
        writer.abort()
        raise
    return reader.form


def refuse_when_many_wait(request: Request) -> None:
    """Before a body is read that could not be stored soon. Raises Unavailable."""
    if request.app.state.storing.statistics().tasks_waiting >= _MOST_WAITING:
        raise Unavailable("Too many uploads wait for the blob store.", retry_after_s=30)


async def store(request: Request, commit: Callable[[], BlobInfo]) -> BlobInfo:
    """In threads of their own, `STORED_AT_ONCE` of them, which a bucket may keep for as long as it lets wait."""
    return await to_thread.run_sync(commit, limiter=request.app.state.storing)


class _Reader:
    """Collects what the parser calls back with. `pending` are file bytes not written yet."""

    def __init__(self, file_field: str, max_file_bytes: int, known: Collection[str] | None) -> None:
        self.form = Form()
        self.pending = bytearray()
        self.has_file = False
        self.ended = False
        self._file_field = file_field
        self._max_file_bytes = max_file_bytes
        self._file_bytes = 0
        self._forgotten_bytes = 0
        self._known = known
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._headers: dict[str, bytes] = {}
        self._name = ""
        self._value: bytearray | None = None
        self._in_file = False
        self._names: set[str] = set()

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._part_begin,
            "on_header_field": self._on_header_name,
            "on_header_value": self._on_header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def take(self) -> bytes:
        taken = bytes(self.pending)
        self.pending.clear()
        return taken

    def _part_begin(self) -> None:
        self._headers = {}
        self._value = None
        self._in_file = False

    def _on_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        self._bound_headers()

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]
        self._bound_headers()

    def _bound_headers(self) -> None:
        if len(self._header_name) + len(self._header_value) > MOST_HEADER_BYTES:
            raise InvalidRequest("A header of a multipart part is too long.")

    def _header_end(self) -> None:
        if len(self._headers) >= 16:
            raise InvalidRequest("A multipart part has too many headers.")
        self._headers[self._header_name.decode("latin-1").lower()] = bytes(self._header_value)
        self._header_name.clear()
        self._header_value.clear()

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if not self._name:
            raise InvalidRequest("A multipart part has no name.")
        if len(self._names) >= MOST_FIELDS:
            raise InvalidRequest(f"The multipart body has more than {MOST_FIELDS} parts.")
        if self._name in self._names:
            raise InvalidRequest(f"{self._name[:100]} is given twice.", param=self._name[:100])
        self._names.add(self._name)
        if self._name == self._file_field:
            self._in_file = self.has_file = True
            self.form.file_name = options.get(b"filename", b"").decode("utf-8", "replace")[-300:].replace("\x00", "")
            self.form.file_type = self._headers.get("content-type", b"").decode("latin-1")[:100]
        elif self._known is None or self._name in self._known:
            self._value = bytearray()

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._file_bytes += end - start
            if self._file_bytes > self._max_file_bytes:
                raise TooLarge(f"The file is larger than {self._max_file_bytes} bytes.", param=self._file_field)
            self.pending += data[start:end]
        elif self._value is not None:
            self._value += data[start:end]
            if len(self._value) > MOST_FIELD_BYTES:
                raise InvalidRequest(f"{self._name[:100]} is too long.", param=self._name[:100])
        else:
            self._forgotten_bytes += end - start
            if self._forgotten_bytes > self._max_file_bytes:
                raise TooLarge(f"The body is larger than {self._max_file_bytes} bytes.", code="body_too_large")

    def _part_end(self) -> None:
        if self._value is None:
            return
        try:
            text = self._value.decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidRequest(f"{self._name[:100]} is not UTF-8.", param=self._name[:100]) from None
        if "\x00" in text:
            raise InvalidRequest(f"{self._name[:100]} holds a NUL character.", param=self._name[:100])
        self.form.fields[self._name] = text

    def _end(self) -> None:
        self.ended = True
