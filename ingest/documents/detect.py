"""What kind of document a file is. Its content decides; the name only chooses between kinds of text.

JSON, YAML, logs and source code are text as they stand. XML is not: what its elements mean depends on a schema that we
do not have, so it is refused, with HTML, which is known, as the exception.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from ingest.documents.parsed import DocumentError
from ingest.documents.plain_text import decode
from ingest.media_types import media_type

PDF = "application/pdf"
HTML = "text/html"
MARKDOWN = "text/markdown"
PLAIN = "text/plain"
CSV = "text/csv"
TSV = "text/tab-separated-values"
EML = "message/rfc822"
RTF = "application/rtf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
XLS = "application/vnd.ms-excel"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
EPUB = "application/epub+zip"
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/tiff", "image/bmp", "image/webp"})

HEAD_BYTES = 64 * 1024
SUPPORTED = (
    "Text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, RTF, EPUB, CSV and mail files, pictures and "
    "recordings are supported."
)

_PDF_HEAD_BYTES = 1024
_PDF_START = re.compile(rb"%PDF-\d")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ", "an xz archive"),
    (0, b"7z\xbc\xaf", "a 7-Zip archive"),
    (0, b"Rar!", "a RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a program"),
    (0, b"\xca\xfe\xba\xbe", "a program"),
    (0, b"SQLite format 3\0", "a database"),
    (0, b"%!PS", "a PostScript document"),
    (0, b"AT&TFORM", "a DjVu document"),
)
# "BM" and "MZ" may begin a text: they count only where what follows is not text. So do the marks of recordings.
_SHORT_MAGIC = 2
_UNREAD_PICTURE = "It is a picture in a format that is not read here. Save it as PNG or JPEG."
# Atomic and possessive, so that no input makes them try many ways.
_HTML_START = re.compile(
    r"(?>\s*(?:<!--.*?-->|<\?xml[^>]*>))*+\s*<(?:!doctype\s+html|html|head|body|meta|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_XML_START = re.compile(r"\s*<(?:\?xml|!doctype|svg|rss|feed)\b", re.I)
_TAG = re.compile(r"<(?:p|div|span|h[1-6]|ul|ol|li|table|tr|td|a|b|i|br|section|article|main|body|html)\b[^<>]*>", re.I)
_HEADER = (
    r"(?:Received|Return-Path|Delivered-To|MIME-Version|Message-ID|DKIM-Signature|X-[\w-]+|Date|From|To|Cc|Subject"
    r"|Reply-To|Content-[\w-]+|ARC-[\w-]+|Authentication-Results)"
)
_HEADER_LINES = rf"(?:{_HEADER}:[^\n]*\n(?:[ \t][^\n]*\n)*+)"
_MAIL_START = re.compile(rf"(?:From [^\n]*\n)?{_HEADER_LINES}{{4}}", re.I)
_MAIL_SIGN = re.compile(r"^(?:Received|Message-ID|MIME-Version):", re.I | re.M)
_MAIL_FILE_START = re.compile(rf"(?:From [^\n]*\n)?{_HEADER_LINES}{{2}}", re.I)
_MAX_CONTROL_SHARE = 0.02
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_OF_SUFFIX = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".mdown": MARKDOWN,
    ".mkd": MARKDOWN,
    ".csv": CSV,
    ".tsv": TSV,
    ".tab": TSV,
}
_UNNAMED = frozenset({"", ".txt", ".dat", ".xls", ".xlsx"})  # spreadsheets are often exported as text with such names
_TABLE_LINES = 4


def detect_file(path: Path, declared_name: str) -> str:
    """The media type of the document in a file.

    Raises DocumentError `unsupported_type`, `empty`, `encrypted` for what a password protects, and for a container that
    cannot be looked into `unreadable` or `too_large`.
    """
    from ingest.documents import containers

    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(_ZIP):
        return containers.zip_kind(path)
    if head.startswith(_OLE):
        return containers.ole_kind(path)
    return detect(head, declared_name)


def detect(head: bytes, declared_name: str) -> str:
    """The media type of a document that is no container, by its first HEAD_BYTES. Raises DocumentError."""
    if not head.strip(b" \t\r\n\0\xef\xbb\xbf\xff\xfe"):
        raise DocumentError("empty", "There is nothing in it.")
    if head.startswith(b"{\\rtf"):
        return RTF
    if medium := _medium(head, declared_name):
        return medium
    if head.startswith(b"%PDF-") or _PDF_START.search(head, 0, _PDF_HEAD_BYTES):
        return PDF
    for offset, magic, kind in _MAGIC:
        if head.startswith(magic, offset) and (len(magic) > _SHORT_MAGIC or b"\0" in head):
            raise unsupported(f"It is {kind}.")
    text = decode(_whole_characters(head))
    controls = len(_CONTROL.findall(text))
    if controls > len(text) * _MAX_CONTROL_SHARE:
        raise unsupported("It is not text.")
    return _kind_of_text(text, PurePath(declared_name.lower()).suffix, is_cut=len(head) >= HEAD_BYTES)


class IsRecording(DocumentError):
    """It is for the speech engine (`recordings`). Within another document it is what that one cannot show."""


def is_recording(mime: str) -> bool:
    """Whether the speech engine reads it."""
    return mime.startswith(("audio/", "video/"))


def unsupported(what: str) -> DocumentError:
    return DocumentError("unsupported_type", f"{what} {SUPPORTED}")


def _medium(head: bytes, declared_name: str) -> str | None:
    """The type of a picture or recording; None for others. What begins like one, but goes on as text, is none."""
    kind, mime = media_type(head, declared_name)
    if kind == "file" or (b"\0" not in head and not head.startswith((b"\x89PNG", b"\xff\xd8\xff"))):
        return None
    if kind == "image" and mime not in IMAGES:
        raise DocumentError("unsupported_type", _UNREAD_PICTURE)
    return None if mime == "audio/midi" else mime


def _kind_of_text(text: str, suffix: str, *, is_cut: bool) -> str:
    if _HTML_START.match(text) or (suffix in {".html", ".htm", ".xhtml"} and _TAG.search(text)):
        return HTML
    if _XML_START.match(text):
        raise unsupported("It is an XML file.")
    if (_MAIL_START.match(text) and _MAIL_SIGN.search(text)) or (suffix == ".eml" and _MAIL_FILE_START.match(text)):
        return EML
    if suffix in _OF_SUFFIX:
        return _OF_SUFFIX[suffix]
    if suffix in _UNNAMED:
        lines = [line for line in text.splitlines() if line.strip()]
        return _table(lines[:-1] if is_cut else lines) or PLAIN
    return PLAIN


def _table(lines: list[str]) -> str | None:
    """The type of a table as text, by its separators: each line has the same number of them, two or more.

    Commas stand in sentences too, so they count only without a space after them.
    """
    if len(lines) < _TABLE_LINES:
        return None
    for separator, mime in (("\t", TSV), (";", CSV), (",", CSV)):
        counts = {line.count(separator) for line in lines}
        if (
            len(counts) == 1
            and min(counts) >= 2
            and (separator == "\t" or not any(f"{separator} " in x for x in lines))
        ):
            return mime
    return None


def _whole_characters(head: bytes) -> bytes:
    """Without a UTF-8 character that the end of the sample cut in two."""
    if len(head) >= HEAD_BYTES:
        for cut in range(1, 4):
            if head[-cut] >= 0xC0:
                return head[:-cut]
    return head
