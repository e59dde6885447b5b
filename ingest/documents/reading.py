"""What the job of a document calls in the server process: from a file to its type, title and chunks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import structlog

from ingest.children import ChildDied, ChildOutOfMemory, ChildTimedOut
from ingest.documents import child_work, ocr
from ingest.documents.child_work import Packed
from ingest.documents.parsed import DocumentError
from ingest.documents.recording_charges import Heard
from ingest.workshop import TRIES, Workshop, run_or_shut_down
from rag.chunking import Chunk

log = structlog.get_logger(__name__)

Result = TypeVar("Result")
ForChild = tuple[Path, str, int, ocr.Session]

_BATCH_PAGES = 4
_MAX_HURT_PAGES = 20
_HURT = {"unreadable", "too_large"}  # what a child that died, ran too long or took too much memory is told as
_CRASHES = "Reading the document crashes the reader."
_TAKES_LONG = "Reading the document takes longer than is allowed."
_TAKES_MEMORY = "Reading the document takes more memory than is allowed."
OF_CHILDREN = frozenset({_CRASHES, _TAKES_LONG, _TAKES_MEMORY})
"""What is told of these may as well be the machine's fault as the document's."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a document came to; `heard` is there for a recording, which is charged."""

    mime: str
    title: str
    chunks: list[Chunk]
    heard: Heard | None = None


class ReadingStopped(Exception):
    """Nobody wants the document any more: `go_on` said so."""


def read_document(
    house: Workshop,
    tenant_id: str,
    path: Path,
    name: str,
    work_folder: Path,
    *,
    go_on: Callable[[], bool],
    progress: Callable[[float], None],
) -> Read:
    """Reads a document in child processes. `work_folder` keeps what a job that was killed need not do again; the
    caller deletes it at the end. `progress` is told 0 to 1.

    Raises DocumentError, of which IsRecording is for what `recordings` reads; ReadingStopped where `go_on` says no, and
    what ends the server's own work (ShuttingDown).
    """
    settings = house.settings
    session = ocr.Session(ocr.find_models(settings), path, work_folder / "pages", settings.ocr_max_pages)
    for_child = (path, name, settings.max_document_bytes, session)
    if not go_on():
        raise ReadingStopped
    read = _in_child(house, tenant_id, child_work.parse_and_chunk, *for_child)
    if isinstance(read, list):
        _recognise(house, tenant_id, for_child, read, go_on, progress)
        read = _in_child(house, tenant_id, child_work.parse_and_chunk, *for_child)
        if isinstance(read, list):
            raise DocumentError("internal_error", "Recognised pages went away while the document was put together.")
    progress(1.0)
    return unpack(read)


def _recognise(
    house: Workshop,
    tenant_id: str,
    for_child: ForChild,
    pages: list[int],
    go_on: Callable[[], bool],
    progress: Callable[[float], None],
) -> None:
    """Each batch stands in the line of the pool anew, so that other clients' documents get their turns. Pages that
    hurt a child are tried one by one, and left empty where they do it again."""
    folder = for_child[3].pages_folder
    assert folder is not None
    batches = [pages[first : first + _BATCH_PAGES] for first in range(0, len(pages), _BATCH_PAGES)]
    done = hurt = 0
    while batches:
        batch = batches.pop(0)
        if not go_on():
            raise ReadingStopped
        try:
            _in_child(house, tenant_id, child_work.recognise_batch, *for_child, batch)
        except DocumentError as error:
            if error.code not in _HURT:
                raise
            if len(batch) > 1:
                batches[:0] = [[page] for page in batch]
                continue
            hurt += 1
            if hurt > _MAX_HURT_PAGES:
                raise
            log.warning("a page could not be recognised", page=batch[0], problem=error.message)
            ocr.keep_page(folder, batch[0], [])
        done += len(batch)
        progress(0.05 + 0.9 * done / len(pages))


def unpack(packed: Packed) -> Read:
    chunks: list[Chunk] = []
    for piece in packed.slices:
        for values in json.loads(piece):
            chunk = Chunk(*values)
            chunks.append(replace(chunk, title_path=tuple(chunk.title_path)))
    return Read(packed.mime, packed.title, chunks)


def _in_child(house: Workshop, tenant_id: str, function: Callable[..., Result], *arguments: object) -> Result:
    try:
        return run_or_shut_down(house.pools.documents, function, *arguments, owner=tenant_id, tries=TRIES)
    except ChildDied:
        raise DocumentError("unreadable", _CRASHES) from None
    except ChildTimedOut:
        raise DocumentError("too_large", _TAKES_LONG) from None
    except ChildOutOfMemory:
        raise DocumentError("too_large", _TAKES_MEMORY) from None
