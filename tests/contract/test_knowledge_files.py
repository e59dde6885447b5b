"""What becomes of each kind of file: its text is found, or its document ends in the documented error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract import material
from tests.contract.mcp import found_by
from tests.contract.recordings import multipart, png
from tests.ingest.documents.files import pdf_of_image, pdf_of_lines
from tests.ingest.documents.office_files import zip_of
from tests.support.server import Account, RunningServer

OVER_THE_CHARACTERS = 10_000_001

READ: list[object] = [
    pytest.param("a.txt", material.PARKING.encode(), "text/plain", "gate seven", id="txt",
                 marks=pytest.mark.proves("knowledge.documents.txt")),
    pytest.param("a.txt", "Шлагбаум открывает охрана.".encode("cp1251"), "text/plain", "охрана", id="txt in cp1251",
                 marks=pytest.mark.proves("knowledge.documents.txt")),
    pytest.param("a.md", material.FILTERS.encode(), "text/markdown", "2 340 рублей", id="md",
                 marks=pytest.mark.proves("knowledge.documents.md")),
    pytest.param("a.html", material.RETURNS.encode(), "text/html", "fourteen days", id="html",
                 marks=pytest.mark.proves("knowledge.documents.html")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "raw", "mime", "fact"), READ)
def test_a_text_file_is_indexed(account: Account, name: str, raw: bytes, mime: str, fact: str) -> None:
    record = account.add_document(account.new_space(), raw, name)
    assert (record["status"], record["mime"], record["error_code"]) == ("success", mime, None)
    items = found_by(account, "search_documents", query=fact)["items"]
    assert fact in items[0]["snippet"]
    assert items[0]["document_id"] == record["id"]
    assert items[0]["page"] is None
    assert "<" not in items[0]["snippet"]


@pytest.mark.proves("knowledge.documents.pdf")
def test_a_pdf_is_indexed_with_its_pages(account: Account) -> None:
    record = account.add_document(account.new_space(), material.handbook_pdf(), "handbook.pdf")
    assert (record["status"], record["mime"], record["title"]) == (
        "success", "application/pdf", "Field engineer handbook",
    )  # fmt: skip
    chunks = account.get(f"/public/v1/kb/documents/{record['id']}/chunks").json()["items"]
    pages = {chunk["page"]: chunk["text"] for chunk in chunks}
    assert set(pages) == {1, 2}
    assert "two spare gaskets" in pages[1]
    assert material.HANDBOOK_ANSWER in pages[2]
    best = found_by(account, "search_documents", query="boiler bolts torque")["items"][0]
    assert (best["page"], best["document_id"]) == (2, record["id"])


def test_a_russian_pdf_is_read(account: Account) -> None:
    pdf = pdf_of_lines([["Гарантия на мельницу длится восемнадцать месяцев."]])
    record = account.add_document(account.new_space(), pdf, "garantiya.pdf")
    assert record["status"] == "success", record
    assert "восемнадцать" in found_by(account, "search_documents", query="гарантия на мельницу")["items"][0]["snippet"]


BROKEN_ZIP = b"PK\x03\x04\x14\x00\x06\x00\x08\x00" + b"word/document.xml" + bytes(400)
PROGRAM = b"\x7fELF" + bytes(300)

ENDS: list[object] = [
    pytest.param("a.bin", lambda: PROGRAM, "unsupported_type", id="program",
                 marks=pytest.mark.proves("knowledge.error.unsupported-type")),
    pytest.param("a.txt", lambda: PROGRAM, "unsupported_type", id="program named text",
                 marks=pytest.mark.proves("knowledge.error.unsupported-type")),
    pytest.param("a.docx", lambda: zip_of({"a.bin": PROGRAM}), "unsupported_type", id="zip",
                 marks=pytest.mark.proves("knowledge.error.unsupported-type")),
    pytest.param("a.docx", lambda: BROKEN_ZIP, "unreadable", id="broken zip",
                 marks=pytest.mark.proves("knowledge.error.unreadable")),
    pytest.param("a.png", lambda: png(), "empty", id="picture without words",
                 marks=pytest.mark.proves("knowledge.error.empty")),
    pytest.param("a.pdf", lambda: pdf_of_lines([["Secret"]], password="s3cret"), "encrypted", id="password",
                 marks=pytest.mark.proves("knowledge.error.encrypted")),
    pytest.param("a.txt", lambda: b" \n\t\n ", "empty", id="white space",
                 marks=pytest.mark.proves("knowledge.error.empty")),
    pytest.param("a.html", lambda: b"<html><body><script>1</script></body></html>", "empty", id="page without text",
                 marks=pytest.mark.proves("knowledge.error.empty")),
    pytest.param("a.pdf", pdf_of_image, "empty", id="scan",
                 marks=pytest.mark.proves("knowledge.error.empty")),
    pytest.param("a.pdf", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 9, "unreadable", id="damaged",
                 marks=pytest.mark.proves("knowledge.error.unreadable")),
    pytest.param("a.pdf", lambda: material.handbook_pdf()[:200], "unreadable", id="first bytes",
                 marks=pytest.mark.proves("knowledge.error.unreadable")),
    pytest.param("a.txt", lambda: b"coffee " * (OVER_THE_CHARACTERS // 7 + 1), "too_large", id="characters",
                 marks=pytest.mark.proves("knowledge.error.too-large")),
]  # fmt: skip


@pytest.mark.proves("knowledge.documents.status")
@pytest.mark.parametrize(("name", "make", "code"), ENDS)
def test_a_file_that_cannot_be_read_ends_in_its_error(
    account: Account, name: str, make: Callable[[], bytes], code: str
) -> None:
    record = account.add_document(account.new_space(), make(), name)
    assert (record["status"], record["error_code"], record["chunk_count"]) == ("error", code, 0)
    assert record["error_message"]
    assert str(account.server.data_dir) not in record["error_message"]
    assert found_by(account, "search_documents", query="coffee")["items"] == []


@pytest.mark.proves("knowledge.error.internal-error")
def test_an_unexpected_failure_ends_in_internal_error(model_server: RunningServer) -> None:
    """The stored file disappears, as on a broken disk; put back, the document can be indexed again."""
    account = model_server.new_client("internal error")
    record = account.add_document(account.new_space(), material.PARKING.encode(), "parking.txt")
    (stored,) = [path for path in model_server.data_dir.rglob("*") if path.is_file() and record["id"] in path.name]
    aside = Path(f"{stored}.aside")
    stored.rename(aside)
    assert account.post(f"/public/v1/kb/documents/{record['id']}/reindex").status_code == 202
    failed = account.finished_document(record["id"])
    assert (failed["status"], failed["error_code"]) == ("error", "internal_error")
    assert "aside" not in failed["error_message"]
    assert str(model_server.data_dir) not in failed["error_message"]
    aside.rename(stored)
    account.post(f"/public/v1/kb/documents/{record['id']}/reindex")
    assert account.finished_document(record["id"])["status"] == "success"


def test_a_body_without_a_file_is_refused(account: Account) -> None:
    path = f"/public/v1/kb/spaces/{account.new_space()}/documents"
    for body, code in (
        (multipart(("title", b"x", "")), "missing_file"),
        (multipart(("file", b"", "empty.txt")), "invalid_request_error"),
    ):
        answer = account.post(path, **body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
        assert answer.json()["error"]["param"] == "file"
    for body in (multipart(("file", b"x", "x.txt"), end=False), {"content": b"{broken"}, {"content": b""}):
        assert account.post(path, **body).status_code == 400
    assert account.get(path).json()["items"] == []


def test_an_upload_over_the_limit_is_413(model_server: RunningServer) -> None:
    account = model_server.new_client("large document")
    space_id = account.new_space()
    answer = account.upload_document(space_id, b"x" * 20_001, "large.txt")
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "file_too_large")
    assert account.get(f"/public/v1/kb/spaces/{space_id}").json()["document_count"] == 0
    assert account.upload_document(space_id, b"x" * 20_000, "fits.txt").status_code == 202
