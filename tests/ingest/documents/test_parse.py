from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.children import ChildPool
from ingest.documents.parse import DocumentError, parse
from rag.chunking import chunk_sections, join_sections
from tests.ingest.documents.files import pdf_of_lines

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
