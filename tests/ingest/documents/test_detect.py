from __future__ import annotations

import gzip
import io
import os
import pickle
import zipfile
from collections.abc import Callable

import pytest

from ingest.documents.detect import detect
from ingest.documents.parse import DocumentError, ParsedDocument

Read = Callable[..., ParsedDocument]


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", "<w:p>text</w:p>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(100), "JPEG"),
        (zipped(), "ZIP"),
        (gzip.compress(b"text"), "gzip"),
        (b"RIFF\x24\x08\0\0WAVEfmt ", "audio"),
        (b"\0\0\0\x20ftypisom" + bytes(64), "video"),
        (b"\x7fELF" + bytes(64), "program"),
        (b"MZ\x90\0\x03" + bytes(64), "program"),
        (b"{\\rtf1\\ansi text}", "RTF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64), "Office"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "XML"),
        (b"Received: from a\r\nMessage-ID: <1>\r\nFrom: a@b\r\nTo: c@d\r\nSubject: x\r\n\r\nHello", "mail"),
        (os.urandom(5000), "text"),
        (bytes(range(256)) * 20, "text"),
        (b"\0" * 20 + b"\x01\x02\x03" * 50, "text"),
    ],
)
@pytest.mark.parametrize("name", ["notes.txt", "notes.md", "notes.html", "notes.pdf", ""])
def test_what_is_not_a_supported_document_is_refused_whatever_its_name(
    read: Read, content: bytes, word: str, name: str
) -> None:
    with pytest.raises(DocumentError, match=word) as caught:
        read(content, name=name)
    assert caught.value.code == "unsupported_type"


BILLION_LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;">]>
<lolz>&lol2;</lolz>"""


def test_entities_of_xml_are_never_expanded(read: Read) -> None:
    with pytest.raises(DocumentError) as caught:
        read(BILLION_LAUGHS)
    assert caught.value.code == "unsupported_type"
    page = BILLION_LAUGHS.replace(b"<lolz>", b"<html><p>words ").replace(b"DOCTYPE lolz", b"DOCTYPE html")
    assert len(read(page).sections[0].text) < 200


@pytest.mark.parametrize(
    ("content", "name", "mime"),
    [
        (b"%PDF-1.4 ...", "x.txt", "application/pdf"),
        (b"junk before\n%PDF-1.7", "x", "application/pdf"),
        (b"<!DOCTYPE html><p>x", "x.txt", "text/html"),
        (b"<!-- a --> <!-- b -->\n<HTML><body>x", "x.md", "text/html"),
        (b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>', "x", "text/html"),
        ("<p>Привет</p>".encode("cp1251"), "x.htm", "text/html"),
        (b"no tags here", "x.html", "text/plain"),
        (b"# Title", "README.MD", "text/markdown"),
        (b"# Title", "readme.txt", "text/plain"),
        (b"BMW is a car", "x.txt", "text/plain"),
        (b"MZ is a company", "x", "text/plain"),
        ("Привет".encode("utf-16"), "x.txt", "text/plain"),
        (b"From: me\nI write to you about " + b"many things " * 20, "letter.txt", "text/plain"),
    ],
)
def test_content_decides_and_the_name_chooses_between_kinds_of_text(content: bytes, name: str, mime: str) -> None:
    assert detect(content, name) == mime


@pytest.mark.parametrize(
    "content", [b"<!-- x -->" * 6000 + b"y", b"<!--" * 16000, b"From: a\n" * 3 + b" b\n" * 20000 + b"x"]
)
def test_no_beginning_makes_detection_try_many_ways(content: bytes) -> None:
    assert detect(content[: 64 * 1024], "x.txt") in {"text/plain", "text/html"}


def test_the_error_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(DocumentError("encrypted", "It is locked.")))
    assert (error.code, error.message, str(error)) == ("encrypted", "It is locked.", "It is locked.")
