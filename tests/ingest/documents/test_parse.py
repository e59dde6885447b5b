from __future__ import annotations

import contextlib
import io
import random
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.children import ChildPool
from ingest.documents.parse import _READERS, _TEXT_READERS, DocumentError, Limits, _reader, parse
from rag.chunking import chunk_sections, join_sections
from tests.ingest.documents.files import pdf_of_lines
from tests.ingest.documents.office_files import docx_of, element, ole_of, open_document_of, p, tbl, zip_of

PIECES = [
    b"<html>",
    b"<p>",
    b"</p>",
    b"<table>",
    b"<tr><td>",
    b"<th>",
    b"<ul><li>",
    b"<h2>",
    b"</h2>",
    b"<pre>",
    b"<a href=x>",
    b"# Title\n",
    b"- item\n",
    b"1. one\n",
    b"| a | b |\n|---|---|\n| c | d |\n",
    b"```\n",
    b"> ",
    b"[x](http://y)",
    b"\n\n",
    b"\n",
    b"    ",
    b"===\n",
    b"---\n",
    "Слово ".encode(),
    "слово".encode("cp1251"),
    b"word? ",
    b"\xff\xfe",
    b"\0",
    b"&amp;",
]


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=5)), max_size=40).map(b"".join),
    st.sampled_from(["x.txt", "x.md", "x.html"]),
)
def test_any_bytes_give_a_whole_document_or_a_document_error(content: bytes, name: str) -> None:
    with tempfile.NamedTemporaryFile() as file, contextlib.suppress(DocumentError):
        file.write(content)
        file.flush()
        document = parse(Path(file.name), name)
        full = join_sections(document.sections)
        assert document.characters == len(full)
        assert document.title
        assert any(character.isalnum() for character in full)
        assert chunk_sections(document.sections)


PDF = pdf_of_lines([["Plain words of the first page.", ("A heading", 20), "More words."], ["Second page."]])


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(PDF) - 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=12))
def test_a_damaged_pdf_gives_a_document_or_a_document_error(damages: list[tuple[int, bytes]]) -> None:
    content = bytearray(PDF)
    for at, damage in damages:
        content[at : at + len(damage)] = damage
    with tempfile.NamedTemporaryFile() as file, contextlib.suppress(DocumentError):
        file.write(content)
        file.flush()
        assert parse(Path(file.name), "x.pdf").sections


def test_a_document_is_parsed_in_a_child_and_comes_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(PDF)
    with ChildPool("documents", places=1, timeout_s=60, memory_bytes=2 * 1024**3) as pool:
        assert pool.run(parse, path, "manual.pdf") == parse(path, "manual.pdf")
        path.write_bytes(b"%PDF-1.7 broken")
        with pytest.raises(DocumentError) as caught:
            pool.run(parse, path, "manual.pdf")
    assert caught.value.code == "unreadable"


NOTES = element("w:footnotes", f'<w:footnote w:id="1">{p("note")}</w:footnote>')
DAMAGED = {
    "docx": docx_of(
        p("one ", '<w:r><w:footnoteReference w:id="1"/></w:r>', look='<w:outlineLvl w:val="0"/>')
        + tbl(("a", "b", "c"), ("1", "2", tbl(("x", "y"))))
        + p("two", look='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'),
        [("f", "footnotes", "footnotes.xml")],
        parts={"footnotes.xml": NOTES},
    ),
    "odt": open_document_of(
        '<text:h text:outline-level="1">one</text:h><text:p>two<text:s text:c="2"/></text:p>'
        "<table:table><table:table-row>"
        '<table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell></table:table-row>'
        "</table:table><text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
    ),
    "rtf": rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 A;}}\pard\outlinelevel0 one\par{\footnote x}"
    rb"\trowd\cellx1\pard\intbl a\cell b\cell\row\u1087?\uc2{\field{\*\fldinst HYPERLINK x}{\fldrslt y}}\par}",
    "ole": ole_of("Workbook", "More", inner=["Inner"]),
}
CODES = {"unsupported_type", "encrypted", "empty", "too_large", "unreadable"}


@pytest.mark.parametrize("kind", sorted(DAMAGED))
def test_a_damaged_office_file_gives_a_document_or_a_listed_error(tmp_path: Path, kind: str) -> None:
    """Both the file and, within an archive, the parts are damaged: the archive's checksums would hide the latter."""
    chance = random.Random(kind)
    whole = DAMAGED[kind]
    path = tmp_path / "blob"
    for _ in range(150):
        if whole.startswith(b"PK") and chance.random() < 0.8:
            with zipfile.ZipFile(io.BytesIO(whole)) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
            name = chance.choice(sorted(parts))
            parts[name] = damaged(parts[name], chance)
            path.write_bytes(zip_of(parts))
        else:
            path.write_bytes(damaged(whole, chance))
        try:
            assert parse(path, f"x.{kind}", Limits(max_seconds=20)).sections
        except DocumentError as error:
            assert error.code in CODES  # noqa: PT017


def damaged(content: bytes, chance: random.Random) -> bytes:
    """With a few bytes changed, digits made large, a piece left out or said twice."""
    start = chance.randrange(len(content) + 1)
    end = min(len(content), start + chance.randrange(60))
    kind = chance.randrange(4)
    if kind == 0:
        return content[:start] + content[end:]
    if kind == 1:
        return content[:end] + content[start:]
    if kind == 2:
        piece = bytes(chance.choice(b"0123456789-") if 48 <= byte < 58 else byte for byte in content[start:end])
        return content[:start] + piece.replace(b"1", b"9999999999") + content[end:]
    changed = bytearray(content)
    for _ in range(3):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def test_a_kind_whose_reader_is_imported_late_is_told_by_its_module() -> None:
    """A line of the registry that names no module would be found by the first customer only."""
    for name in {*_READERS.values(), *_TEXT_READERS.values()}:
        assert callable(_reader(name))
