from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from ingest.documents import images, ocr
from ingest.documents.parse import DocumentError, Limits, ParsedDocument
from ingest.documents.parsed import Outline
from tests.ingest.documents.pictures import ENGLISH, RUSSIAN, as_bytes, models, picture


@pytest.fixture
def session(tmp_path: Path) -> Iterator[None]:
    with ocr.use(ocr.Session(models())):
        yield


def read(tmp_path: Path, content: bytes, limits: Limits | None = None) -> ParsedDocument:
    path = tmp_path / "blob"
    path.write_bytes(content)
    return images.parse(path, "Скан.bin", Outline(limits or Limits()))


def words(document: ParsedDocument) -> set[str]:
    return {word for section in document.sections for word in section.text.split()}


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_every_kind_of_image_is_read(tmp_path: Path, kind: str) -> None:
    document = read(tmp_path, as_bytes(picture(RUSSIAN, height=360), kind))
    assert document.mime == f"image/{kind.lower()}"
    assert document.title == "Скан"
    assert {"Покупатель", "возвращаются", "назовите"} <= words(document)


@pytest.mark.usefixtures("session")
def test_pages_of_a_tiff_keep_their_numbers(tmp_path: Path) -> None:
    pages = [picture(ENGLISH), picture([]), picture(RUSSIAN, height=360)]
    document = read(tmp_path, as_bytes(pages[0], "TIFF", save_all=True, append_images=pages[1:]))
    assert document.pages == 3
    assert [section.page for section in document.sections] == [1, 3]


@pytest.mark.usefixtures("session")
def test_large_letters_make_headings(tmp_path: Path) -> None:
    document = read(tmp_path, as_bytes(picture([("Правила возврата", 80), *RUSSIAN]), "PNG"))
    assert document.sections[0].title_path == ("Правила возврата",)


def odd_images() -> Iterator[tuple[str, bytes]]:
    page = picture(ENGLISH, height=300)
    yield "cmyk", as_bytes(page.convert("RGB").convert("CMYK"), "JPEG")
    yield "palette", as_bytes(page.convert("P"), "PNG")
    yield "bilevel", as_bytes(page.convert("1", dither=Image.Dither.NONE), "TIFF", compression="group4")
    deep = Image.new("I;16", page.size)
    deep.putdata([value * 200 for value in page.tobytes()])
    yield "16 bit", as_bytes(deep, "PNG")
    for name, ink in (("black on nothing", 0), ("white on nothing", 255)):
        clear = Image.new("RGBA", page.size, (ink, ink, ink, 0))
        clear.putalpha(page.point(lambda value: 255 - value))
        yield name, as_bytes(clear, "PNG")
    yield "white on black", as_bytes(page.point(lambda value: 255 - value), "PNG")
    exif = Image.Exif()
    exif[0x0112] = 6
    yield "turned by its EXIF", as_bytes(page.rotate(90, expand=True), "JPEG", exif=exif)
    yield "small", as_bytes(page.resize((page.width * 2 // 5, page.height * 2 // 5)), "PNG")


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    "name",
    [
        "cmyk",
        "palette",
        "bilevel",
        "16 bit",
        "black on nothing",
        "white on nothing",
        "white on black",
        "turned by its EXIF",
        "small",
    ],
)
def test_odd_kinds_of_pixels_are_read(tmp_path: Path, name: str) -> None:
    assert {"colleague", "working", "manager"} <= words(read(tmp_path, dict(odd_images())[name]))


def png_that_claims(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("side", [10_100, 60_000])
def test_a_decompression_bomb_is_too_large_before_it_is_decoded(tmp_path: Path, side: int) -> None:
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, png_that_claims(side, side))
    assert caught.value.code == "too_large"


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
@pytest.mark.parametrize("share", [2, 40, 90])
def test_an_image_cut_short_ends_in_a_plain_error_or_what_it_shows(tmp_path: Path, kind: str, share: int) -> None:
    content = as_bytes(picture(ENGLISH, width=600, height=200, size=16), kind)
    try:
        assert read(tmp_path, content[: len(content) * share // 100]).sections
    except DocumentError as error:
        assert error.code in {"unreadable", "empty"}  # noqa: PT017 - either ending is right


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("size", [(1, 1), (5, 4000), (300, 200)])
def test_an_image_without_text_is_empty(tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, as_bytes(Image.new("RGB", size, "teal"), "PNG"))
    assert caught.value.code == "empty"


@pytest.mark.usefixtures("session")
def test_a_tiff_of_too_many_pages_is_too_large(tmp_path: Path) -> None:
    pages = [Image.new("1", (20, 20))] * 12
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, as_bytes(pages[0], "TIFF", save_all=True, append_images=pages), Limits(max_pages=10))
    assert caught.value.code == "too_large"


def test_without_models_an_image_is_empty_and_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="parley models pull tesseract-rus-eng") as caught:
        read(tmp_path, as_bytes(Image.new("L", (50, 50)), "PNG"))
    assert caught.value.code == "empty"


def test_huge_images_are_scaled_down_and_small_ones_up() -> None:
    huge, small = images.prepare(Image.new("L", (9000, 9000), 200)), images.prepare(Image.new("L", (400, 300), 200))
    assert huge is not None
    assert huge.width * huge.height <= images.WORKING_PIXELS * 1.01
    assert small is not None
    assert small.size == (1200, 900)
