"""Pictures of pages for the tests, drawn by Pillow, with texts of our own."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from ingest.documents import ocr
from store.settings import load_settings
from tests.ingest.documents.files import CYRILLIC_FONT

RUSSIAN = [
    "Покупатель вправе вернуть товар в течение четырнадцати дней,",
    "если сохранены его упаковка и чек. Деньги возвращаются на карту",
    "за десять рабочих дней. Для возврата позвоните по телефону",
    "8 800 555-35-35 и назовите номер заказа.",
]
ENGLISH = [
    "Every new colleague receives a laptop, a badge and access to the",
    "shared drive on the first working day. Please sign the acceptance",
    "form and return it to the office manager within 48 hours.",
]


def models() -> Path:
    """The folder of the installed models; skips the test where there are none."""
    folder = ocr.find_models(load_settings())
    if folder is None:
        pytest.skip("text recognition is not installed: run `parley models pull tesseract-rus-eng`")
    return folder


def picture(
    lines: Sequence[str | tuple[str, int]], size: int = 34, width: int = 1500, height: int = 900, ink: int = 20
) -> Image.Image:
    """A grey page with each line of text, which may carry its size in pixels."""
    if not CYRILLIC_FONT.exists():
        pytest.skip("no font with Cyrillic letters: install fonts-dejavu-core")
    image = Image.new("L", (width, height), 252)
    draw = ImageDraw.Draw(image)
    top = 60
    for line in lines:
        text, pixels = line if isinstance(line, tuple) else (line, size)
        draw.text((80, top), text, font=ImageFont.truetype(str(CYRILLIC_FONT), pixels), fill=ink)
        top += round(pixels * 1.5)
    return image


def as_bytes(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def pdf_of_pictures(images: Sequence[Image.Image]) -> bytes:
    """A PDF as a scanner writes it: a picture a page, no text."""
    return as_bytes(images[0], "PDF", save_all=True, append_images=list(images[1:]), resolution=300)
