from __future__ import annotations

import gzip
import io
import pickle
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.documents.detect import DOCX, EPUB, ODP, ODS, ODT, PPTX, XLS, XLSB, XLSX, detect, detect_file, is_recording
from ingest.documents.parse import DocumentError, ParsedDocument
from tests.ingest.documents.office_files import docx_of, odf_element, ole_of, open_document_of, p, package_of, zip_of

Read = Callable[..., ParsedDocument]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (zip_of({"notes.txt": "text"}), "Unpack"),
        (zip_of({"Index/Document.iwa": "x"}), "iWork"),
        (zip_of({"AndroidManifest.xml": "x"}), "program"),
        (
            package_of("visio/document.xml", "application/vnd.ms-visio.drawing.main+xml", {"visio/document.xml": ""}),
            "Office",
        ),
        (open_document_of("", "graphics"), "OpenDocument"),
        (ole_of("WordDocument", "1Table"), "docx"),
        (ole_of("PowerPoint Document"), "pptx"),
        (ole_of("__properties_version1.0"), "eml"),
        (ole_of("WordDocument", inner=["Workbook", "EncryptedPackage"]), "docx"),
        (ole_of("Other"), "old program"),
        (gzip.compress(b"text", mtime=0), "gzip"),
        (b"\0\0\0\x20ftypheic" + bytes(64), "JPEG"),
        (b"\x7fELF" + bytes(64), "program"),
        (b"MZ\x90\0\x03" + bytes(64), "program"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "XML"),
        (random.Random(1).randbytes(5000), "text"),
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


WORD, POINT, EXCEL = (
    "application/vnd.openxmlformats-officedocument." + kind
    for kind in ("wordprocessingml.", "presentationml.", "spreadsheetml.")
)


@pytest.mark.parametrize(
    ("content", "mime"),
    [
        (package_of("word/document.xml", WORD + "document.main+xml", {"word/document.xml": "x"}), DOCX),
        (package_of("word/document.xml", WORD + "template.main+xml", {"word/document.xml": "x"}), DOCX),
        (
            package_of("a.xml", "application/vnd.ms-word.document.macroEnabled.main+xml", {"a.xml": "x"}),
            DOCX,
        ),
        (package_of("a.xml", POINT + "slideshow.main+xml", {"a.xml": "x"}), PPTX),
        (package_of("a.xml", "application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml", {"a.xml": "x"}), PPTX),
        (package_of("a.xml", EXCEL + "sheet.main+xml", {"a.xml": "x", "word/document.xml": "x"}), XLSX),
        (package_of("a.xml", "application/vnd.ms-excel.sheet.macroEnabled.main+xml", {"a.xml": "x"}), XLSX),
        (package_of("a.bin", "application/vnd.ms-excel.sheet.binary.macroEnabled.main", {"a.bin": "x"}), XLSB),
        (zip_of({"[Content_Types].xml": "<a/>", "ppt/presentation.xml": "x"}), PPTX),
        (open_document_of("", "text"), ODT),
        (open_document_of("", "presentation"), ODP),
        (open_document_of("", "spreadsheet"), ODS),
        (zip_of({"mimetype": "application/vnd.oasis.opendocument.text-template", "content.xml": "x"}), ODT),
        (zip_of({"mimetype": "application/epub+zip", "x": "y"}), EPUB),
        (zip_of({"META-INF/container.xml": "x", "mimetype": ""}), EPUB),
        (
            zip_of(
                {
                    "META-INF/manifest.xml": odf_element(
                        "manifest:manifest",
                        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{ODS}"/>',
                    ),
                    "content.xml": "x",
                }
            ),
            ODS,
        ),
        (ole_of("Workbook"), XLS),
        (ole_of("x", "y", "Book", inner=["WordDocument"]), XLS),
    ],
)
@pytest.mark.parametrize("name", ["report.pdf", "report.txt", ""])
def test_a_container_is_what_it_holds_whatever_its_name(tmp_path: Path, content: bytes, mime: str, name: str) -> None:
    path = tmp_path / "blob"
    path.write_bytes(content)
    assert detect_file(path, name) == mime


def test_office_files_with_a_password_are_encrypted(read: Read) -> None:
    with pytest.raises(DocumentError) as caught:
        read(ole_of("EncryptionInfo", "EncryptedPackage"), name="report.docx")
    assert caught.value.code == "encrypted"


@pytest.mark.parametrize("cut", [8, 30, 76, 100, 511, 512, 700, 1024, 1100])
def test_a_cut_compound_file_is_refused(read: Read, cut: int) -> None:
    with pytest.raises(DocumentError) as caught:
        read(ole_of("Workbook")[:cut])
    assert caught.value.code in {"unreadable", "unsupported_type"}


def test_a_compound_file_whose_chains_are_circles_is_looked_through_once(read: Read) -> None:
    content = bytearray(ole_of("Other", "More", "Names", "Here", "And There"))
    content[512 + 4 : 512 + 8] = (1).to_bytes(4, "little")  # the directory's first sector goes on in itself
    content[1024 + 128 + 68 : 1024 + 128 + 72] = (1).to_bytes(4, "little")  # an entry is its own sibling
    with pytest.raises(DocumentError, match="old program"):
        read(bytes(content))


@pytest.mark.parametrize(
    ("content", "name", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n", "x.txt", "image/png"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "x.pdf", "image/jpeg"),
        (b"RIFF\x24\x08\0\0WEBPVP8 ", "x", "image/webp"),
        (b"GIF89a\x01\0\x01\0" + zip_of({"word/document.xml": "x"}), "x.docx", "image/gif"),
        (b"RIFF\x24\x08\0\0WAVEfmt ", "x.txt", "audio/wav"),
        (b"\0\0\0\x20ftypisom", "x.mp3", "video/mp4"),
        (b"ID3 tags are explained here", "x.txt", "text/plain"),
        (b"GIF89a is the name of a format", "x.txt", "text/plain"),
        ("яснее не скажешь, и точка, и всё".encode("cp1251"), "x.txt", "text/plain"),
        (b"{\\rtf1 x}", "x.doc", "application/rtf"),
        (b"Received: from a\r\nMessage-ID: <1>\r\nFrom: a@b\r\nTo: c@d\r\nSubject: x\r\n\r\nHi", "x", "message/rfc822"),
        (b"From: a@b\nSubject: x\n\nHi", "x.eml", "message/rfc822"),
        (b"From: a@b\nSubject: x\n\nHi", "x.txt", "text/plain"),
        (b"a;b\n1;2", "x.csv", "text/csv"),
        (b"a\tb\n1\t2", "x.tsv", "text/tab-separated-values"),
        (b"<html><table><tr><td>1</table>", "x.xls", "text/html"),
        (b"a;b;c\n" * 5, "x.txt", "text/csv"),
        (b"a\tb\tc\n" * 5, "", "text/tab-separated-values"),
        (b"one, two, three.\n" * 5, "x.txt", "text/plain"),
        (b"if (a) { b(); c(); d(); }\n" * 5, "x.js", "text/plain"),
        (b'{"a": [1, 2]}', "x.json", "text/plain"),
        (b"a:\n  - b\n", "x.yaml", "text/plain"),
    ],
)
def test_other_files_are_told_by_their_beginning(content: bytes, name: str, mime: str) -> None:
    assert detect(content, name) == mime
    assert is_recording(mime) == (mime[:5] in {"audio", "video"})


@pytest.mark.parametrize(
    "bomb", ['<!DOCTYPE x [<!ENTITY a "lol">]>', "<!DOCTYPE x [<!ENTITY % a SYSTEM 'http://127.0.0.1:9/'> %a;]>"]
)
@pytest.mark.parametrize(
    "part",
    ["[Content_Types].xml", "_rels/.rels", "word/_rels/document.xml.rels", "word/document.xml", "word/styles.xml"],
)
def test_no_part_of_an_office_document_may_declare_entities(read: Read, part: str, bomb: str) -> None:
    whole = docx_of(p("words"), [("s", "styles", "styles.xml")], parts={"styles.xml": "<s/>"})
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = bomb.encode() + parts[part]
    with pytest.raises(DocumentError, match="entities") as caught:
        read(zip_of(parts))
    assert caught.value.code == "unreadable"
