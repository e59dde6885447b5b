"""Reads a document of any supported kind into titled sections."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from ingest.documents import detect
from ingest.documents.parsed import DocumentError, Limits, Outline, ParsedDocument

__all__ = ["DocumentError", "Limits", "ParsedDocument", "parse"]

# A new kind of document is one line here, its module in this folder with a `parse(path, declared_name, outline)`, and
# one in `detect`. Modules are imported when a document of their kind comes.
_READERS = {
    detect.PDF: "pdf",
    detect.DOCX: "word",
    detect.PPTX: "slides",
    detect.ODT: "open_document",
    detect.ODP: "open_document",
    detect.RTF: "rich_text",
    detect.XLSX: "sheets",
    detect.XLSB: "sheets",
    detect.XLS: "sheets",
    detect.ODS: "sheets",
    detect.CSV: "delimited",
    detect.TSV: "delimited",
    detect.EPUB: "epub",
    detect.EML: "mail",
    **dict.fromkeys(detect.IMAGES, "images"),
}
# Modules whose `parse` takes the bytes.
_TEXT_READERS = {detect.HTML: "html", detect.MARKDOWN: "markdown", detect.PLAIN: "plain_text"}

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
    mime = detect.detect_file(path, declared_name)
    try:
        if mime in _READERS:
            return _reader(_READERS[mime])(path, declared_name, outline)
        if detect.is_recording(mime):
            raise detect.IsRecording("unsupported_type", f"It is a recording, {mime}.")
        if mime not in _TEXT_READERS:
            raise detect.unsupported(f"It is of type {mime}.")
        if mime != detect.HTML:
            outline.check_characters(size // _BYTES_A_CHARACTER)
        return _reader(_TEXT_READERS[mime])(path.read_bytes(), declared_name, outline)
    except RecursionError:
        raise DocumentError("unreadable", "Its elements nest too deep.") from None


def _reader(name: str) -> Callable[..., ParsedDocument]:
    reader: Callable[..., ParsedDocument] = import_module(f"ingest.documents.{name}").parse
    return reader
