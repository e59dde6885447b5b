"""Reading in real child processes, as the job of a document does."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from ingest.children import ChildPool
from ingest.documents import child_work, ocr, reading
from ingest.documents.parsed import DocumentError
from store.settings import Settings, load_settings
from tests.ingest.documents.files import pdf_of_lines
from tests.ingest.documents.pictures import RUSSIAN, as_bytes, models, pdf_of_pictures, picture


def scans(count: int) -> bytes:
    return pdf_of_pictures([page(n) for n in range(1, count + 1)])


def page(number: int) -> Image.Image:
    line = f"Contract number {number * 1117}"
    return picture([line, "is signed by both parties"], size=40, width=900, height=300)


Reader = Callable[..., reading.Read]


@pytest.fixture
def pool() -> Iterator[ChildPool]:
    with ChildPool("documents", 1, 120.0, 4096 * 1024 * 1024) as opened:
        yield opened


@pytest.fixture
def read(tmp_path: Path, pool: ChildPool) -> Reader:
    def run(
        content: bytes,
        name: str = "document.pdf",
        settings: Settings | None = None,
        go_on: Callable[[], bool] = lambda: True,
        progress: Callable[[float], None] = lambda _: None,
    ) -> reading.Read:
        path = tmp_path / "blob"
        path.write_bytes(content)
        pools = SimpleNamespace(documents=pool)
        house: Any = SimpleNamespace(settings=settings or load_settings(), pools=pools)
        return reading.read_document(house, "tenant", path, name, tmp_path / "work", go_on=go_on, progress=progress)

    return run


def test_a_text_is_read_at_once(read: Reader, tmp_path: Path) -> None:
    told: list[float] = []
    found = read("# Доставка\n\nПривезём за два дня.".encode(), "guide.md", progress=told.append)
    assert (found.mime, found.title) == ("text/markdown", "Доставка")
    assert "Привезём" in found.chunks[0].text
    assert told == [1.0]
    assert not (tmp_path / "work").exists()


def test_a_scanned_pdf_is_read_page_by_page_and_goes_on_where_it_was(read: Reader, tmp_path: Path) -> None:
    models()
    content = scans(10)
    told: list[float] = []
    answers = iter([True, True, False])
    with pytest.raises(reading.ReadingStopped):
        read(content, go_on=lambda: next(answers), progress=told.append)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "work" / "pages").iterdir()}
    assert sorted(path.name for path in kept) == ["1.json", "2.json", "3.json", "4.json"]
    found = read(content, progress=told.append)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert told[-1] == 1.0
    assert all(0 <= value <= 1 for value in told)
    assert sorted({chunk.page for chunk in found.chunks if chunk.page}) == list(range(1, 11))
    assert all(f"number {chunk.page * 1117} is" in " ".join(chunk.text.split()) for chunk in found.chunks if chunk.page)


def test_pages_with_text_and_scanned_ones_stand_in_their_order(read: Reader, tmp_path: Path) -> None:
    models()
    from reportlab.lib.utils import ImageReader  # type: ignore[import-untyped]
    from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

    file = tmp_path / "mixed.pdf"
    canvas = Canvas(str(file))
    for kind in ("text", "scan", "text"):
        if kind == "text":
            canvas.drawString(50, 700, "Typed words that stand in the text layer of their page.")
        else:
            canvas.drawImage(ImageReader(picture(RUSSIAN)), 20, 300, 560, 336)
            canvas.drawString(50, 20, "Scanned by a machine")
        canvas.showPage()
    canvas.save()
    chunks = read(file.read_bytes()).chunks
    assert [chunk.page for chunk in chunks] == [1, 2, 3]
    assert "назовите номер заказа" in chunks[1].text
    assert "Typed words" in chunks[2].text


def test_pages_beyond_the_bound_are_left_out_and_the_document_says_so(read: Reader) -> None:
    models()
    content = scans(4)
    chunks = read(content, settings=load_settings(ocr_max_pages=2)).chunks
    assert [chunk.page for chunk in chunks] == [1, 2, 3]
    assert chunks[2].text.startswith("[2 more scanned pages were not recognised: 2 a document")


def test_a_document_without_models_is_empty_and_says_what_to_do(
    read: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "_SYSTEM_FOLDERS", ())
    settings = load_settings(cache_dir=tmp_path, models_dir=None)
    blank = Image.new("L", (800, 800), 200)
    for content in (pdf_of_pictures([blank]), as_bytes(blank, "PNG")):
        with pytest.raises(DocumentError, match="parley models pull") as caught:
            read(content, settings=settings)
        assert caught.value.code == "empty"


def test_a_scan_without_words_is_empty(read: Reader) -> None:
    models()
    with pytest.raises(DocumentError, match="no text was found") as caught:
        read(pdf_of_pictures([Image.new("L", (800, 800), 200)]))
    assert caught.value.code == "empty"


def test_a_file_that_cannot_be_read_ends_in_its_own_error(read: Reader) -> None:
    with pytest.raises(DocumentError) as caught:
        read(pdf_of_lines([["secret"]], password="12345"))
    assert caught.value.code == "encrypted"


def kill_the_child(pool: ChildPool) -> None:
    for pid in pool.child_pids:
        os.kill(pid, signal.SIGKILL)


def test_a_child_that_was_killed_from_outside_is_tried_again(read: Reader, pool: ChildPool) -> None:
    models()
    content = scans(6)
    calls = iter([False, True, False])

    def go_on() -> bool:
        if next(calls, False):
            kill_the_child(pool)
        return True

    assert len(read(content, go_on=go_on).chunks) == 6


def test_pages_that_hurt_the_child_are_left_empty_and_the_others_are_read(
    read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    models()
    ask = reading._in_child

    def hurt(house: Any, tenant_id: str, function: Any, *arguments: Any) -> Any:
        if function is child_work.recognise_batch and 3 in arguments[-1]:
            raise DocumentError("unreadable", "Reading the document crashes the reader.")
        return ask(house, tenant_id, function, *arguments)

    monkeypatch.setattr(reading, "_in_child", hurt)
    content = scans(6)
    assert [chunk.page for chunk in read(content).chunks] == [1, 2, 4, 5, 6]
