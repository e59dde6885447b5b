"""Pictures for trying cameras without one: parcels with codes on a conveyor belt, drawn on the spot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageDraw

from ingest.vision.yolo import Pixels

WIDTH, HEIGHT, FPS = 1280, 720, 10
_PARCEL = 420
_PAUSE = 25
_STEP = 24
_BELT = (96, 98, 104)
_ROLLER = (74, 76, 82)


def belt() -> Iterator[Pixels]:
    """Pictures of 1280 x 720 (RGB) without end, ten a second: a parcel with a QR code and an EAN passes, then the belt
    stands still for a while. Every parcel has a number of its own."""
    number = 0
    while True:
        number += 1
        parcel = _parcel(number)
        for left in range(-_PARCEL, WIDTH, _STEP):
            yield _picture(parcel, left, left)
        rest = _picture(None, 0, WIDTH)
        for _ in range(_PAUSE):
            yield rest


def _picture(parcel: Image.Image | None, left: int, moved: int) -> Pixels:
    picture = Image.new("RGB", (WIDTH, HEIGHT), (198, 203, 209))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 120, WIDTH, 620), fill=_BELT)
    for roller in range(moved % 80 - 80, WIDTH, 80):
        draw.rectangle((roller, 120, roller + 8, 620), fill=_ROLLER)
    if parcel is not None:
        picture.paste(parcel, (left, (HEIGHT - parcel.height) // 2))
    return np.asarray(picture, np.uint8)


def _parcel(number: int) -> Image.Image:
    parcel = Image.new("RGB", (_PARCEL, 400), (201, 164, 112))
    draw = ImageDraw.Draw(parcel)
    draw.rectangle((190, 0, 230, 400), fill=(222, 196, 150))
    draw.rectangle((20, 30, 400, 370), fill=(250, 250, 248))
    parcel.paste(code_picture(f"PARCEL-{number:06d}", "QRCode", 5), (40, 40))
    parcel.paste(code_picture(str(460_000_000_000 + number), "EAN13", 2), (160, 225))
    return parcel


def code_picture(text: str, kind: str, scale: int) -> Image.Image:
    """A code as it is printed; `kind` is ZXing's name of the symbology, `scale` pixels a module."""
    import zxingcpp

    drawn = zxingcpp.create_barcode(text, zxingcpp.barcode_format_from_str(kind)).to_image(scale=scale)
    return Image.fromarray(np.asarray(drawn, np.uint8)).convert("RGB")
