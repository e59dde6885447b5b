"""Barcodes in pictures, made and photographed, and what a stream of them tells."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
import zxingcpp
from PIL import Image
from zxingcpp import BarcodeFormat

from ingest.vision.scenarios import barcodes
from ingest.vision.scenarios.barcodes import AWAY_S, Barcodes, Code, read_codes, safe_bytes, safe_text

Pixels = npt.NDArray[np.uint8]

PHOTOGRAPHS = Path(__file__).parents[4] / "shared" / "data" / "vision" / "barcodes"
with_photographs = pytest.mark.skipif(not PHOTOGRAPHS.is_dir(), reason="no photographs of barcodes here")


def made(content: str | bytes, form: BarcodeFormat = BarcodeFormat.QRCode, scale: int = 4) -> Pixels:
    """A picture of the code on white paper."""
    image = np.asarray(zxingcpp.create_barcode(content, form).to_image(scale=scale))
    paper = np.pad(image if image.shape[0] > 60 else np.repeat(image, 2, axis=0), 40, constant_values=255)
    return np.repeat(paper[..., None], 3, axis=2)


@pytest.mark.parametrize(
    ("form", "content"),
    [
        (BarcodeFormat.QRCode, "https://example.com/путь?a=1"),
        (BarcodeFormat.DataMatrix, "serial 0042"),
        (BarcodeFormat.Aztec, "boarding pass"),
        (BarcodeFormat.PDF417, "a driving licence"),
        (BarcodeFormat.Code128, "PALLET-000417"),
        (BarcodeFormat.EAN13, "4006381333931"),
        (BarcodeFormat.Code39, "SHELF 12"),
        (BarcodeFormat.ITF, "00012345678905"),
    ],
)
def test_a_code_of_each_common_kind_is_read_where_it_is(form: BarcodeFormat, content: str) -> None:
    image = made(content, form)
    (code,) = read_codes(image)
    assert code.text == content
    dark = np.argwhere(image[..., 0] < 128)
    assert code.box[0] == pytest.approx(dark[:, 1].min(), abs=12)
    assert code.box[2] == pytest.approx(dark[:, 1].max(), abs=12)
    assert dark[:, 0].min() - 12 <= code.box[1] < code.box[3] <= dark[:, 0].max() + 12


@pytest.mark.parametrize("angle", [17, 25, 45, 62, 90, 133, 180, 200])
@pytest.mark.parametrize("form", [BarcodeFormat.QRCode, BarcodeFormat.DataMatrix, BarcodeFormat.Code128])
def test_a_turned_noisy_code_is_read(angle: float, form: BarcodeFormat) -> None:
    image = made("PARLEY-2026", form)
    size = max(image.shape) + 100
    square = np.full((size, size, 3), 255, np.uint8)
    square[50 : 50 + image.shape[0], 50 : 50 + image.shape[1]] = image
    # A long code needs the diagonal; the paper around it is white.
    turn = cv2.getRotationMatrix2D((size / 2, size / 2), angle, 0.75)
    turned = cv2.warpAffine(square, turn, (size, size), borderValue=(255, 255, 255)).astype(np.float64)
    noisy = turned * 0.6 + 40 + np.random.default_rng(1).normal(0, 12, turned.shape)
    assert [code.text for code in read_codes(np.clip(noisy, 0, 255).astype(np.uint8))] == ["PARLEY-2026"]


def test_all_codes_in_a_picture_are_read_each_in_its_place() -> None:
    image = np.full((900, 1300, 3), 255, np.uint8)
    places = {"one": (50, 60), "two": (60, 700), "three": (500, 80), "four": (520, 720)}
    for text, (top, left) in places.items():
        code = made(text)
        image[top : top + code.shape[0], left : left + code.shape[1]] = code
    found = {code.text: code.box for code in read_codes(image)}
    assert found.keys() == places.keys()
    for text, (top, left) in places.items():
        assert found[text][0] == pytest.approx(left + 56, abs=20)
        assert found[text][1] == pytest.approx(top + 56, abs=20)


def test_a_code_that_the_first_look_misses_is_found_by_the_second_in_the_same_place() -> None:
    source = np.random.default_rng(2)
    clear = made("again", scale=6)
    noisy = np.clip(clear * 0.5 + 60 + source.normal(0, 70, clear.shape), 0, 255).astype(np.uint8)
    assert read_codes(noisy, thorough=False) == []
    (found,), (wanted,) = read_codes(noisy), read_codes(clear)
    assert found.text == "again"
    assert found.box == pytest.approx(wanted.box, abs=10)


def test_colours_do_not_hide_a_code() -> None:
    image = made("blue on yellow")
    dark = image[..., 0] < 128
    image[dark], image[~dark] = (20, 40, 200), (250, 230, 20)
    assert [code.text for code in read_codes(image)] == ["blue on yellow"]
    assert [code.text for code in read_codes(255 - made("light on dark"))] == ["light on dark"]


@pytest.mark.parametrize("picture", ["black", "white", "noise", "stripes", "tiny"])
def test_a_picture_without_a_code_has_none(picture: str) -> None:
    images = {
        "black": np.zeros((480, 640, 3), np.uint8),
        "white": np.full((480, 640, 3), 255, np.uint8),
        "noise": np.random.default_rng(3).integers(0, 256, (480, 640, 3), np.uint8),
        "stripes": np.repeat(np.tile(np.array([0, 0, 0, 255, 255, 255], np.uint8), (480, 100))[..., None], 3, axis=2),
        "tiny": np.zeros((1, 1, 3), np.uint8),
    }
    assert read_codes(images[picture]) == []


@pytest.mark.parametrize("shape", [(10, 10), (10, 10, 4), (0, 10, 3), (10, 10, 1)])
def test_what_is_no_picture_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="picture"):
        read_codes(np.zeros(shape, np.uint8))


def test_controls_in_a_code_are_named_and_nothing_is_lost() -> None:
    (code,) = read_codes(made("a\x00b\x1b[31m\nc\u202ed\x7f"))
    assert code.text == "a<NUL>b<U+001B>[31m<LF>c<U+202E>d<DEL>"
    assert code.text.isprintable()


def test_bytes_that_are_no_text_are_escaped() -> None:
    (code,) = read_codes(made(bytes([0, 255, 254, 128, 65, 200, 10])))
    assert code.text.isprintable()
    assert code.text == "<NUL><xFF><xFE><x80>A<xC8><LF>"
    assert safe_bytes("ключ".encode()) == "ключ"


def test_separators_of_gs1_can_be_read() -> None:
    assert safe_text("010950400059101210ABC\x1d21XYZ") == "010950400059101210ABC<GS>21XYZ"
    assert safe_text("\ud800\ue000\u200b") == "<U+D800><U+E000><U+200B>"


def test_a_very_long_code_is_kept_and_what_grows_beyond_all_codes_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "0123456789" * 300
    image = made(long, scale=3)
    (code,) = read_codes(image)
    assert code.text == long
    (finding,) = Barcodes().step(0.0, [code])
    assert finding.details["text"] == long
    assert len(finding.subject) < 150
    monkeypatch.setattr(barcodes, "MOST_CHARACTERS", 50)
    (code,) = read_codes(image)
    assert code.text == long[:49] + "…"


def code(text: str = "X", *, form: str = "QR Code", confidence: float = 0.999, is_weak: bool = False) -> Code:
    return Code(text, form, (1.0, 2.0, 3.0, 4.0), confidence, is_weak)


def test_a_code_in_view_is_one_event_and_comes_back_as_another() -> None:
    camera = Barcodes()
    findings = [camera.step(second / 2, [code()]) for second in range(120)]
    assert [len(each) for each in findings] == [1] + [0] * 119
    first = findings[0][0]
    assert (first.type, first.box) == ("barcode_read", (1.0, 2.0, 3.0, 4.0))
    assert first.details == {"text": "X", "format": "QR Code"}
    last_s = 119 / 2
    assert camera.step(last_s + AWAY_S, []) == []
    assert camera.step(last_s + AWAY_S, [code()]) == []
    (again,) = camera.step(last_s + 2 * AWAY_S + 0.1, [code()])
    assert again.subject != first.subject


def test_codes_are_told_apart_by_text_and_format() -> None:
    found = Barcodes().step(0.0, [code("1"), code("1"), code("2"), code("1", form="Aztec Code")])
    assert sorted((each.details["text"], each.details["format"]) for each in found) == [
        ("1", "Aztec Code"),
        ("1", "QR Code"),
        ("2", "QR Code"),
    ]
    assert len({each.subject for each in found}) == 3


def test_a_weak_code_needs_a_second_frame_and_is_then_surer() -> None:
    camera = Barcodes()
    weak = code("123456", form="ITF", confidence=0.6, is_weak=True)
    assert camera.step(0.0, [weak, weak]) == []
    (found,) = camera.step(0.2, [weak])
    assert found.confidence == pytest.approx(0.84)
    assert camera.step(0.4, [weak]) == []
    # Two sights that are far apart are not two frames of one visit.
    camera = Barcodes()
    assert camera.step(0.0, [weak]) == []
    assert camera.step(AWAY_S + 0.1, [weak]) == []


def test_which_kinds_are_weak_and_which_are_too_short() -> None:
    weak = {
        form: read_codes(made(content, form))[0].is_weak
        for form, content in (
            (BarcodeFormat.ITF, "123456"),
            (BarcodeFormat.Code39, "ABCD"),
            (BarcodeFormat.EAN8, "96385074"),
            (BarcodeFormat.EAN13, "4006381333931"),
            (BarcodeFormat.Code128, "AB"),
        )
    }
    assert [form for form, is_weak in weak.items() if is_weak] == [
        BarcodeFormat.ITF,
        BarcodeFormat.Code39,
        BarcodeFormat.EAN8,
    ]
    assert read_codes(made("1234", BarcodeFormat.ITF)) == []
    assert read_codes(made("AB", BarcodeFormat.Code39)) == []


def test_ever_new_codes_do_not_grow_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(barcodes, "_MOST_KEPT", 20)
    camera = Barcodes()
    for number in range(200):
        assert len(camera.step(number / 1000, [code(str(number))])) == 1
    assert len(camera._visits) <= 21
    assert camera.step(0.2, [code("199")]) == []  # the newest are kept
    many = camera.step(0.3, [code(f"new {number}") for number in range(barcodes.MOST_CODES + 50)])
    assert len(many) == barcodes.MOST_CODES


@with_photographs
def test_photographed_codes_are_read() -> None:
    read = in_all = 0
    for path in sorted(PHOTOGRAPHS.glob("*/*.txt")):
        picture = next(
            (path.with_suffix(end) for end in (".png", ".jpg", ".webp") if path.with_suffix(end).exists()), None
        )
        if picture is None:
            continue
        in_all += 1
        texts = [code.text for code in read_codes(np.asarray(Image.open(picture).convert("RGB")))]
        read += safe_text(path.read_bytes().decode()) in texts
    assert in_all > 100
    assert read / in_all >= 0.9


@with_photographs
def test_photographs_without_codes_have_none() -> None:
    pictures = [path for path in (PHOTOGRAPHS / "falsepositives-1").iterdir() if path.suffix != ".txt"]
    assert len(pictures) > 10
    assert [path.name for path in pictures if read_codes(np.asarray(Image.open(path).convert("RGB")))] == []
