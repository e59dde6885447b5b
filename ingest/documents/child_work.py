"""What a child process does with a document: parses it, and packs its chunks for the way back.

Like all that children run it imports nothing of the server's, no database and no jobs: each child would take half a
second and 80 MB for that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from ingest.documents import images, ocr, pdf
from ingest.documents.parse import parse
from ingest.documents.parsed import DocumentError, Limits, ParsedDocument
from rag.chunking import Chunk, chunk_sections

_SLICE = 256


@dataclass(frozen=True, slots=True)
class Packed:
    """What a document came to, on its way to the server. In slices, since to unpack one holds up all that it does."""

    mime: str
    title: str
    slices: list[str]


def pack(parsed: ParsedDocument, limits: Limits) -> Packed:
    """Raises DocumentError `too_large` where they are too many."""
    chunks = chunk_sections(parsed.sections)
    if len(chunks) > limits.max_chunks:
        raise DocumentError("too_large", f"It has more than {limits.max_chunks:,} passages.")
    slices = [
        json.dumps([[getattr(chunk, each.name) for each in fields(Chunk)] for chunk in chunks[start : start + _SLICE]])
        for start in range(0, len(chunks), _SLICE)
    ]
    return Packed(parsed.mime, parsed.title, slices)


def parse_and_chunk(path: Path, name: str, max_bytes: int, session: ocr.Session) -> Packed | list[int]:
    """The document, or the pages that are to be recognised before."""
    limits = Limits(max_bytes=max_bytes)
    with ocr.use(session):
        try:
            parsed = parse(path, name, limits)
        except ocr.PagesToRecognise as waiting:
            return waiting.pages
    return pack(parsed, limits)


def recognise_batch(path: Path, name: str, max_bytes: int, session: ocr.Session, pages: list[int]) -> None:
    with path.open("rb") as file:
        is_pdf = b"%PDF-" in file.read(1024)
    with ocr.use(session):
        (pdf if is_pdf else images).recognise(path, pages)
