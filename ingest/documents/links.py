"""Where a document's bytes come from: an upload's blob, or a link that each run fetches into a blob of its own.

What a run fetches takes the place of the bytes before when its chunks do.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Any, NotRequired, TypedDict
from urllib.parse import unquote, urlsplit

from ingest.announced_blobs import note, take_in
from ingest.fetching import CannotFetch, FetchStopped, fetch_into_blob
from ingest.workshop import Workshop
from store import knowledge
from store.knowledge import Document

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_ENDINGS = {"text/markdown": ".md", "text/csv": ".csv", "text/tab-separated-values": ".tsv", "text/plain": ".txt"}
# Encodings of a character by one or two bytes. Python knows others, some of them quadratic.
_OLD_ENCODING = re.compile(r"(iso8859|cp|koi8|mac|shift_jis|euc|gb|big5|tis|hz|johab)[a-z0-9_-]*")
_MOST_RECODED_BYTES = 32 * 1024 * 1024
_PIECE_BYTES = 256 * 1024
_FETCHED = re.compile(r"[^/]+/documents/(?P<document_id>[^/.]+)\.(?P<run>[0-9]+)")  # as `fetched_key` makes them


class Fetched(TypedDict):
    """Where a run's bytes lie. `sha256` is None for an upload, whose bytes are as they were. `charset` is what the
    server says of a link's text."""

    error_code: str | None
    error_message: str | None
    blob_key: str
    file_name: str
    size_bytes: int
    sha256: str | None
    charset: NotRequired[str | None]


def as_uploaded(document: Document) -> Fetched:
    return Fetched(
        error_code=None,
        error_message=None,
        blob_key=document.blob_key,
        file_name=document.file_name,
        size_bytes=document.size_bytes,
        sha256=None,
    )


def fetch_link(house: Workshop, document: Document, *, go_on: Callable[[], bool]) -> Fetched | None:
    """Fetches what is at the document's link now. None where nobody waits for it any more.

    Raises ShuttingDown when the server stops meanwhile, and what the blob store raises.
    """
    assert document.url is not None
    key = fetched_key(document.tenant_id, document.id, document.run)
    if not keep(house, document.tenant_id, document.id, document.run, key):
        return None
    try:
        found = fetch_into_blob(
            house, document.url, key, max_bytes=house.settings.max_document_bytes, go_on=go_on, what="the link"
        )
    except FetchStopped:
        return None
    except CannotFetch as error:
        code = "too_large" if error.is_too_much else "fetch_failed"
        return Fetched(error_code=code, error_message=str(error), blob_key=key, file_name="", size_bytes=0, sha256=None)
    return Fetched(
        error_code=None,
        error_message=None,
        blob_key=key,
        file_name=_file_name(document.url, found.file_name, found.content_type),
        size_bytes=found.blob.size,
        sha256=found.blob.sha256,
        charset=_charset(found.content_type),
    )


def _file_name(url: str, given: str | None, content_type: str | None) -> str:
    """A name whose ending tells kinds of text apart, which their content does not."""
    name = given or PurePosixPath(unquote(urlsplit(url).path)).name or urlsplit(url).hostname or "document"
    kind = (content_type or "").partition(";")[0].strip().lower()
    ending = ".html" if kind in _HTML_TYPES else _ENDINGS.get(kind, "")
    has_ending = PurePosixPath(name).suffix.lower() in {ending, ".htm" if ending == ".html" else ending}
    # A server that says "text/plain" says no more than that it does not know.
    return name if not ending or has_ending or (ending == ".txt" and PurePosixPath(name).suffix) else name + ending


def _charset(content_type: str | None) -> str | None:
    message = Message()
    message["Content-Type"] = content_type or ""
    return message.get_content_charset() if message.get_content_maintype() == "text" else None


def in_unicode(path: Path, charset: str | None, folder: Path, max_bytes: int) -> Path:
    """The text in the encoding that its server named, with a byte order mark, which every reader here believes first.
    The file as it is where there is nothing to be told, and where the server cannot be right."""
    try:
        codec = codecs.lookup(charset or "utf-8").name
    except (LookupError, ValueError):
        return path
    if not _OLD_ENCODING.fullmatch(codec) or path.stat().st_size > _MOST_RECODED_BYTES:
        return path
    if _is_binary(path) or _reads_as(path, "utf-8"):
        return path
    folder.mkdir(parents=True, exist_ok=True)
    recoded = folder / "recoded"
    try:
        with recoded.open("wb") as file:
            file.write(codecs.BOM_UTF8)
            for text in _decoded(path, codec):
                file.write(text.encode())
    except UnicodeDecodeError:
        return path
    return recoded if recoded.stat().st_size <= max_bytes else path


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        if b"%PDF-" in file.read(1024):
            return True
        file.seek(0)
        return any(b"\0" in piece for piece in iter(lambda: file.read(_PIECE_BYTES), b""))


def _reads_as(path: Path, codec: str) -> bool:
    try:
        for _ in _decoded(path, codec):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _decoded(path: Path, codec: str) -> Iterator[str]:
    """In pieces: to decode all at once would hold up whatever else the server does."""
    decoder = codecs.getincrementaldecoder(codec)()
    with path.open("rb") as file:
        for piece in iter(lambda: file.read(_PIECE_BYTES), b""):
            yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def fetched_key(tenant_id: str, document_id: str, run: int) -> str:
    """Where a run keeps what it fetches."""
    return f"{tenant_id}/documents/{document_id}.{run}"


def keep(house: Workshop, tenant_id: str, document_id: str, run: int, blob_key: str) -> bool:
    """Notes what a run is about to fetch, and puts off its end while the run goes on, perhaps after a long stop of the
    server. False where the run is over: by a process that was given up, and does not know that another did it."""
    if blob_key != fetched_key(tenant_id, document_id, run):
        return True
    with house.database.write() as connection:
        # The row is locked with it: who ends the run takes the blob in after this, or has done so.
        if goes_on := knowledge.update_document(tenant_id, connection, document_id, run):
            note(tenant_id, connection, blob_key)
    return goes_on


def keeps(house: Workshop, tenant_id: str, blob_key: str) -> bool:
    """Whether the run that fetched the blob still waits for its turn with it, however long; its end is put off then."""
    fetched = _FETCHED.fullmatch(blob_key)
    return fetched is not None and keep(house, tenant_id, fetched["document_id"], int(fetched["run"]), blob_key)


def columns_of(fetched: Fetched) -> dict[str, Any]:
    """The document's when what was fetched becomes its bytes; nothing for an upload."""
    if fetched["sha256"] is None:
        return {}
    return {
        "blob_key": fetched["blob_key"],
        "size_bytes": fetched["size_bytes"],
        "file_name": fetched["file_name"][:300],
    }


def drop_fetched(house: Workshop, tenant_id: str, document_id: str, run: int) -> None:
    """Deletes what a run fetched in vain, and nothing that is the document's own."""
    key = fetched_key(tenant_id, document_id, run)
    with house.database.read() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
    if document is not None and document.blob_key == key:
        return
    house.blobs.delete(key)
    with house.database.write() as connection:
        take_in(tenant_id, connection, key)
