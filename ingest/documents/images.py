"""Images of documents: scans, photographs, screenshots. What is written on them is read by `ocr`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.documents import ocr
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument

if TYPE_CHECKING:
    from PIL.Image import Image

MIMES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "TIFF": "image/tiff",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "GIF": "image/gif",
}

MAX_PIXELS = 100_000_000  # that are decoded
WORKING_PIXELS = 18_000_000  # that are looked at: an A3 page at 250 dpi
_SMALL_PIXELS = 4_000_000
_MAX_ENLARGEMENT = 3.0
_MIN_SIDE = 12
_FLAT = 24  # levels of grey between the darkest and the lightest point
_DARK = 110


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    """Raises DocumentError, PagesToRecognise."""
    if not ocr.is_available():
        raise DocumentError("empty", f"It is an image. {ocr.MISSING}")
    with _opened(path) as image:
        mime = MIMES.get(image.format or "", "image/jpeg")  # a JPEG of several pictures calls itself MPO
        pages = _count(image, outline.limits.max_pages) if mime == "image/tiff" else 1

    bound = ocr.max_pages(path)
    found = ocr.recognise_pages(path, list(range(1, min(pages, bound) + 1)), partial(_render, path))
    add_pages(found, outline, numbered=mime == "image/tiff")
    if not any(found.values()):
        raise DocumentError("empty", "No text was found in the image.")
    if pages > bound:
        outline.begin_page(bound + 1)
        outline.block(left_out(bound, pages - bound))
    return outline.finish(mime, declared_name, pages)


def recognise(path: Path, pages: list[int]) -> None:
    """Reads pages ahead of `parse`, from 1. Raises DocumentError."""
    ocr.recognise_and_keep(path, pages, partial(_render, path))


def _render(path: Path, page: int) -> Image | None:
    with _opened(path) as image:
        image.seek(page - 1)
        return prepare(image)


def add_pages(found: dict[int, list[ocr.Paragraph]], outline: Outline, *, numbered: bool) -> None:
    for page, paragraphs in sorted(found.items()):
        if numbered and paragraphs:
            outline.begin_page(page)
        for paragraph in paragraphs:
            if paragraph.size > 1.0 and len(paragraph.text) <= 120:
                outline.heading(1 if paragraph.size >= 1.8 else 2, paragraph.text)
            else:
                outline.block(paragraph.text)


def left_out(bound: int, count: int) -> str:
    return f"[{count:,} more scanned pages were not recognised: {bound:,} a document is the bound of this server.]"


@contextmanager
def _opened(path: Path) -> Iterator[Image]:
    """The image with its size known and nothing decoded. Raises DocumentError for whatever is wrong, here or later."""
    import PIL.Image
    from PIL import UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the bound on pixels is ours; odd metadata does no harm
            with PIL.Image.open(path, formats=tuple(MIMES)) as image:
                yield image
    except PIL.Image.DecompressionBombError:
        raise DocumentError("too_large", f"It has more than {MAX_PIXELS:,} pixels.") from None
    except UnidentifiedImageError:
        raise DocumentError("unreadable", "It is no image that can be opened.") from None
    # Its decoders raise all of these for broken files.
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError) as error:
        raise DocumentError("unreadable", f"The image is damaged: {error}.") from None


def _count(image: Image, most: int) -> int:
    """Pages of a TIFF, each found from the one before."""
    count = 0
    try:
        while count <= most:
            image.seek(count)
            count += 1
    except EOFError:
        return count
    raise DocumentError("too_large", f"It has more than {most:,} pages.")


def prepare(image: Image) -> Image | None:
    """The image upright, dark on light grey, in a size at which letters are read best; None where it is too small."""
    import PIL.Image
    from PIL import ImageOps

    if image.width * image.height > MAX_PIXELS:
        raise DocumentError("too_large", f"It has {image.width} x {image.height} pixels; {MAX_PIXELS:,} is the most.")
    if min(image.width, image.height) < _MIN_SIDE:
        return None
    if image.format in ("JPEG", "MPO") and image.width * image.height > 2 * WORKING_PIXELS:
        share = (WORKING_PIXELS / (image.width * image.height)) ** 0.5
        image.draft("L", (int(image.width * share), int(image.height * share)))  # decodes a part of the data only
    grey = _grey(ImageOps.exif_transpose(image))
    pixels = grey.width * grey.height
    factor = 1.0
    if pixels > WORKING_PIXELS:
        factor = (WORKING_PIXELS / pixels) ** 0.5
    elif pixels < _SMALL_PIXELS:
        factor = min(_MAX_ENLARGEMENT, (_SMALL_PIXELS / pixels) ** 0.5)
    if factor != 1.0:
        size = (max(1, round(grey.width * factor)), max(1, round(grey.height * factor)))
        grey = grey.resize(size, PIL.Image.Resampling.LANCZOS)
    if min(grey.size) < _MIN_SIDE:
        return None
    histogram = grey.histogram()
    if sum(histogram[:_DARK]) > sum(histogram[_DARK:]):
        grey = ImageOps.invert(grey)
    return grey


def _grey(image: Image) -> Image:
    """What is transparent is shown on white, or on black where nothing is seen on white."""
    import PIL.Image
    from PIL import ImageOps

    if image.mode.startswith("I") or image.mode == "F":
        low, high = (float(each) for each in image.convert("F").getextrema())  # type: ignore[arg-type]
        scale = 255.0 / (high - low) if high > low else 0.0
        return image.convert("F").point(lambda value: value * scale - low * scale).convert("L")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        for ground in ("white", "black"):
            shown = PIL.Image.alpha_composite(PIL.Image.new("RGBA", layer.size, ground), layer).convert("L")
            darkest, lightest = shown.getextrema()
            if lightest - darkest > _FLAT:  # type: ignore[operator]
                break
        return shown
    grey = image.convert("L")
    return ImageOps.autocontrast(grey, cutoff=0.5) if image.mode != "1" else grey
