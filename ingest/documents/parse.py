"""Reads a document of any supported kind into titled sections."""

from __future__ import annotations

from pathlib import Path

from ingest.documents import detect, html, markdown, pdf, plain_text
from ingest.documents.parsed import DocumentError, Limits, Outline, ParsedDocument

__all__ = ["DocumentError", "Limits", "ParsedDocument", "parse"]

# A new kind of document is one line here and one in `detect`.
_OF_PATH = {detect.PDF: pdf.parse}
_OF_BYTES = {detect.HTML: html.parse, detect.MARKDOWN: markdown.parse, detect.PLAIN: plain_text.parse}

# No encoding here takes more bytes for a character.
_BYTES_A_CHARACTER = 4


def parse(path: Path, declared_name: str, limits: Limits | None = None) -> ParsedDocument:
    """The document in the file. Its content decides what it is; `declared_name` gives a title where it has none.

    Raises DocumentError. Meant for a child process: hostile input can take time, memory or the process.
    """
    outline = Outline(limits or Limits())
    size = path.stat().st_size
    if size > outline.limits.max_bytes:
        raise DocumentError("too_large", f"It has {size:,} bytes; {outline.limits.max_bytes:,} is the most.")
    with path.open("rb") as file:
        head = file.read(detect.HEAD_BYTES)
    mime = detect.detect(head, declared_name)
    if mime in _OF_PATH:
        return _OF_PATH[mime](path, declared_name, outline)
    if mime != detect.HTML:
        outline.check_characters(size // _BYTES_A_CHARACTER)
    return _OF_BYTES[mime](path.read_bytes(), declared_name, outline)
