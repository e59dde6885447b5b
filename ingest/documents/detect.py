"""What kind of document bytes are. Their content decides; the name only chooses between kinds of text."""

from __future__ import annotations

import re
from pathlib import PurePath

from ingest.documents.parsed import DocumentError
from ingest.documents.plain_text import decode

PDF = "application/pdf"
HTML = "text/html"
MARKDOWN = "text/markdown"
PLAIN = "text/plain"

HEAD_BYTES = 64 * 1024
_PDF_HEAD_BYTES = 1024
_SUPPORTED = "Text, Markdown, HTML and PDF are supported."

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"BM", "a BMP image"),
    (0, b"RIFF", "an audio, video or image file"),
    (0, b"OggS", "an audio file"),
    (0, b"fLaC", "an audio file"),
    (0, b"ID3", "an audio file"),
    (4, b"ftyp", "a video, audio or image file"),
    (0, b"\x1aE\xdf\xa3", "a video file"),
    (0, b"PK\x03\x04", "an Office document or a ZIP archive"),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
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
    (0, b"{\\rtf", "an RTF document"),
    (0, b"%!PS", "a PostScript document"),
    (0, b"AT&TFORM", "a DjVu document"),
)
# "BM" and "MZ" may begin a text: they count only where what follows is not text.
_SHORT_MAGIC = 2
# Atomic and possessive, so that no input makes them try many ways.
_HTML_START = re.compile(
    r"(?>\s*(?:<!--.*?-->|<\?xml[^>]*>))*+\s*<(?:!doctype\s+html|html|head|body|meta|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_XML_START = re.compile(r"\s*<(?:\?xml|!doctype|svg|rss|feed)\b", re.I)
_TAG = re.compile(r"<(?:p|div|span|h[1-6]|ul|ol|li|table|tr|td|a|b|i|br|section|article|main|body|html)\b[^<>]*>", re.I)
_MAIL_START = re.compile(
    r"(?:(?:Received|Return-Path|Delivered-To|MIME-Version|Message-ID|DKIM-Signature|X-[\w-]+|Date|From|To|Subject)"
    r":[^\n]*\n(?:[ \t][^\n]*\n)*){4}",
    re.I,
)
_MAIL_SIGN = re.compile(r"^(?:Received|Message-ID|MIME-Version):", re.I | re.M)
_MAX_CONTROL_SHARE = 0.02
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")


def detect(head: bytes, declared_name: str) -> str:
    """The media type of a document by its first HEAD_BYTES. Raises DocumentError `unsupported_type` or `empty`."""
    if not head.strip(b" \t\r\n\0\xef\xbb\xbf\xff\xfe"):
        raise DocumentError("empty", "There is nothing in it.")
    if b"%PDF-" in head[:_PDF_HEAD_BYTES]:
        return PDF
    for offset, magic, kind in _MAGIC:
        if head.startswith(magic, offset) and (len(magic) > _SHORT_MAGIC or b"\0" in head):
            raise _unsupported(f"It is {kind}.")
    text = decode(_whole_characters(head))
    controls = len(_CONTROL.findall(text))
    if controls > len(text) * _MAX_CONTROL_SHARE:
        raise _unsupported("It is not text.")
    suffix = PurePath(declared_name.lower()).suffix
    if _HTML_START.match(text) or (suffix in {".html", ".htm", ".xhtml"} and _TAG.search(text)):
        return HTML
    if _XML_START.match(text):
        raise _unsupported("It is an XML file.")
    if _MAIL_START.match(text) and _MAIL_SIGN.search(text):
        raise _unsupported("It is a mail message.")
    return MARKDOWN if suffix in {".md", ".markdown", ".mdown", ".mkd"} else PLAIN


def _whole_characters(head: bytes) -> bytes:
    """Without a UTF-8 character that the end of the sample cut in two."""
    if len(head) >= HEAD_BYTES:
        for cut in range(1, 4):
            if head[-cut] >= 0xC0:
                return head[:-cut]
    return head


def _unsupported(what: str) -> DocumentError:
    return DocumentError("unsupported_type", f"{what} {_SUPPORTED}")
