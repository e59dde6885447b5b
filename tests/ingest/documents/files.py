"""PDF files for the tests, made with reportlab."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

CYRILLIC_FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def font_for(text: str) -> str:
    """A font that shows the text; skips the test where it needs Cyrillic letters and no font has them."""
    if text.isascii():
        return "Helvetica"
    if not CYRILLIC_FONT.exists():
        pytest.skip("no font with Cyrillic letters: install fonts-dejavu-core")
    from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
    from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]

    if "DejaVu" not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont("DejaVu", str(CYRILLIC_FONT)))
    return "DejaVu"


def pdf_of_lines(
    pages: Sequence[Sequence[str | tuple[str, int]]],
    title: str = "",
    bookmarks: Sequence[tuple[int, str, int]] = (),
    password: str = "",
) -> bytes:
    """A PDF with each line where it is put; a line may carry its size. Bookmarks: page from 1, title, level from 0."""
    from reportlab.lib.pdfencrypt import StandardEncryption  # type: ignore[import-untyped]
    from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=StandardEncryption(password) if password else None)
    if title:
        canvas.setTitle(title)
    for number, lines in enumerate(pages, start=1):
        for at, text, level in bookmarks:
            if at == number:
                canvas.bookmarkPage(text)
                canvas.addOutlineEntry(text, text, level)
        height = 800.0
        for line in lines:
            text, size = line if isinstance(line, tuple) else (line, 11)
            height -= size * 1.6
            canvas.setFont(font_for(text), size)
            canvas.drawString(50, height, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def pdf_of_image() -> bytes:
    """A page as a scanner makes it: one picture, no text."""
    from reportlab.graphics.shapes import Drawing, Rect  # type: ignore[import-untyped]
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    drawing = Drawing(400, 600)
    drawing.add(Rect(0, 0, 400, 600))
    drawing.drawOn(canvas, 50, 50)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()
