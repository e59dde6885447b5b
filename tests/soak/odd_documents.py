"""Broken, hostile and odd documents, made by chance from valid ones of every kind, and by hand."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable

from tests.contract import material
from tests.contract.recordings import encoded, png, tone, wav
from tests.ingest.documents.files import pdf_of_image, pdf_of_lines
from tests.ingest.documents.office_files import docx_of, ole_of, open_document_of, p, tbl, zip_of
from tests.ingest.documents.test_epub import book, page
from tests.ingest.documents.test_mail import mail
from tests.ingest.documents.test_slides import pptx_of, shape, slide
from tests.ingest.documents.workbooks import Sheet, ods, xlsx

File = tuple[str, bytes]
"""Name and content."""

WORDS = "Склад открыт с девяти до шести, ключ у охраны. "


def valid_files() -> list[File]:
    docx = docx_of(p("Склад") + tbl(["Полка", "Коробок"], ["7", "12"]) + p(WORDS * 5))
    rows: list[list[str | int]] = [["сова", number] for number in range(50)]
    workbook = xlsx({"Лист": Sheet([["Товар", "Цена"], *rows])})
    return [
        ("a.docx", docx),
        ("a.pptx", pptx_of(slide(shape("Склад", "title"), shape(WORDS)), slide(shape("Ключ")))),
        ("a.xlsx", workbook),
        ("a.odt", open_document_of(f"<text:h>Склад</text:h><text:p>{WORDS}</text:p>")),
        ("a.ods", ods("<table:table-row><table:table-cell><text:p>сова</text:p></table:table-cell></table:table-row>")),
        ("a.epub", book({"a.xhtml": page(f"<h1>Склад</h1><p>{WORDS}</p>")})),
        ("a.pdf", pdf_of_lines([[WORDS], ["Second page"]])),
        ("scan.pdf", pdf_of_image()),
        ("a.html", material.RETURNS.encode()),
        ("a.md", material.FILTERS.encode()),
        ("a.csv", "товар;цена\n".encode() + "сова;2 340\n".encode() * 40),
        ("a.txt", (WORDS * 30).encode("cp1251")),
        ("a.eml", mail(WORDS, [("a.docx", docx), ("a.xlsx", workbook)])),
        ("a.rtf", rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Arial;}}\f0 " + "Склад открыт.".encode("cp1251") + rb"\par}"),
        ("a.png", png()),
        ("a.wav", wav(tone(0.5))),
        ("a.mp3", encoded(tone(0.5), "mp3", "mp3")),
        ("a.doc", ole_of("WordDocument")),
    ]


def _truncated(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(1, len(content))]


def _flipped(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 8, 64))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut_out(content: bytes, chance: random.Random) -> bytes:
    first = chance.randrange(len(content))
    return content[:first] + content[first + chance.randrange(1, 200) :] or b"x"


def _repeated(content: bytes, chance: random.Random) -> bytes:
    first = chance.randrange(len(content))
    return content[:first] + content[first : first + 300] * chance.choice((2, 50, 400)) + content[first:]


def _joined(content: bytes, chance: random.Random) -> bytes:
    return content + chance.choice((bytes(1000), content, b"%PDF-1.7\n", b"PK\x03\x04" + bytes(40), b"<html>"))


def _changed_inside(content: bytes, chance: random.Random) -> bytes:
    """A part of the archive is broken, and the archive is whole."""
    if content[:2] != b"PK":
        return _flipped(content, chance)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(sorted(name for name, part in parts.items() if part))
    change = chance.choice((_truncated, _flipped, _cut_out, _repeated))
    parts[name] = change(bytes(parts[name]), chance)  # type: ignore[arg-type]
    return zip_of(parts)


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _truncated, _flipped, _changed_inside, _cut_out, _repeated, _joined,
)  # fmt: skip
_NAMES = ("a.pdf", "a.docx", "a.txt", "a.csv", "a.html", "a.png", "a.mp3", "a", ".", "a.exe", "a.xlsx", "../../a.md")


def hostile_files() -> list[File]:
    def laughing(part: str) -> str:
        entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
        return part.replace("<w:document", f'<!DOCTYPE w [<!ENTITY l0 "lol">{entities}]><w:document', 1).replace(
            "Склад", "&l9;"
        )

    whole = docx_of(p("Склад"))
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    main = bytes(parts["word/document.xml"]).decode()  # type: ignore[arg-type]
    nested = zip_of({"a.zip": zip_of({"b.zip": zip_of({"c": bytes(1_000_000)})})})
    bomb = zip_of({**parts, "word/document.xml": main.replace("Склад", "a" * 300_000_000)})
    deep = "<w:p>" * 100_000
    sender = b"Subject: a\r\nMIME-Version: 1.0\r\nFrom: a\r\n"
    many_parts = sender + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\n" * 50_000
    outside = {"mimetype": "application/epub+zip", "../../../etc/passwd": "x", "META-INF/container.xml": "<a/>"}
    huge = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + b"\x00\x01\x86\xa0" * 2 + b"\x08\x02" + bytes(7)
    loop = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 99999>>"
    return [
        ("laughs.docx", zip_of({**parts, "word/document.xml": laughing(main)})),
        ("bomb.docx", bomb),
        ("bomb.xlsx", bomb),
        ("deep.docx", zip_of({**parts, "word/document.xml": main.replace("<w:p>", deep, 1)})),
        ("entries.docx", zip_of({**parts, **{f"x/{number}": "" for number in range(70_000)}})),
        ("nested.zip", nested),
        ("up.epub", zip_of(outside)),
        ("divs.html", b"<div>" * 200_000 + b"text"),
        ("tags.html", b"<html><" * 300_000),
        ("svg.svg", b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
        ("quotes.md", b"> " * 100_000 + b"text"),
        ("lists.md", b"".join(b" " * number + b"- a\n" for number in range(2000))),
        ("brackets.md", b"[" * 100_000),
        ("emphasis.md", b"*a_" * 60_000),
        ("quote.csv", b'a,b\n"' + b"x," * 50_000),
        ("wide.csv", b"a;" * 20_000 + b"\n" + b"1;" * 20_000),
        ("braces.rtf", rb"{\rtf1" + b"{" * 300_000),
        ("parts.eml", many_parts),
        ("zeros.bin", bytes(200_000)),
        ("nul.txt", b"a\0b\0" * 5000),
        ("marks.txt", b"\xff\xfe" + bytes(range(256)) * 40),
        ("line.txt", "оченьдлинноеслово".encode() * 6_000),
        ("signs.txt", "‮‏﻿́".encode() * 5_000),
        ("claims.png", huge),
        ("pages.pdf", pdf_of_lines([["x"]] * 400)),
        ("loop.pdf", loop + b"endobj\ntrailer<</Root 1 0 R>>"),
        ("locked.pdf", pdf_of_lines([["Secret"]], password="s3cret")),
        ("locked.docx", ole_of("EncryptedPackage", "EncryptionInfo")),
        ("list.m3u8", b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"),
        ("playlist.mp4", b"ffconcat version 1.0\nfile /etc/passwd\n"),
    ]  # fmt: skip


def odd_files(count: int, chance: random.Random) -> list[File]:
    """As many: valid ones of each kind, hostile ones, and the rest by chance; no two of the same content."""
    valid = valid_files()
    fixed = [*valid, *hostile_files()]
    if count < len(fixed) + len(valid):
        chance.shuffle(fixed)
        fixed = fixed[: count // 2]
    files = {content: name for name, content in fixed}
    while len(files) < count:
        name, content = valid[len(files) % len(valid)]
        changed = chance.choice(_CHANGES)(content, chance)
        files.setdefault(changed, chance.choice(_NAMES) if chance.random() < 0.3 else name)
    return [(name, content) for content, name in files.items() if content]
