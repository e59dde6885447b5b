from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ingest.documents import ocr
from store.settings import load_settings
from tests.ingest.documents.pictures import ENGLISH, RUSSIAN, models, picture


@pytest.fixture(autouse=True)
def session() -> Iterator[None]:
    with ocr.use(ocr.Session(models())):
        yield


def text_of(image: Image.Image) -> str:
    return " ".join(" ".join(paragraph.text.split()) for paragraph in ocr.recognise(image))


def errors(wanted: str, found: str) -> float:
    """Words of `wanted` that were not found, as a share."""
    missing = set(wanted.split()) - set(found.split())
    return len(missing) / len(set(wanted.split()))


@pytest.mark.parametrize("lines", [RUSSIAN, ENGLISH, [*RUSSIAN, *ENGLISH]], ids=["russian", "english", "both"])
def test_a_noisy_skewed_scan_is_read(lines: list[str]) -> None:
    image = picture(lines).rotate(1.0, fillcolor=252, resample=Image.Resampling.BICUBIC)
    noisy = np.asarray(image) + np.random.default_rng(1).normal(0, 10, (image.height, image.width))
    found = text_of(Image.fromarray(noisy.clip(0, 255).astype("uint8")))
    assert errors(" ".join(lines), found) <= 0.05


def test_letters_that_look_alike_are_those_of_their_words() -> None:
    found = text_of(
        picture(["We have a cat, a house and a boat.", "А также мы с ним сели в автобус."], size=40, height=260)
    )
    latin, cyrillic = found.split(". ")
    assert latin.isascii()
    assert not any(letter.isascii() for letter in cyrillic if letter.isalpha())


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_that_was_scanned_turned_is_read(turn: int) -> None:
    page = picture([*RUSSIAN, *ENGLISH], height=520)
    assert errors(" ".join([*RUSSIAN, *ENGLISH]), text_of(page.rotate(turn, expand=True))) <= 0.05


def test_columns_are_read_one_after_the_other() -> None:
    page = Image.new("L", (2000, 900), 252)
    for left, lines in ((0, ENGLISH * 3), (1000, RUSSIAN * 3)):
        page.paste(picture(lines, size=25, width=1000), (left, 0))
    found = text_of(page)
    assert found.index("48 hours") < found.index("Покупатель")
    assert "access to the shared drive" in found


def test_lines_of_a_paragraph_are_joined_and_large_letters_stand_out() -> None:
    found = ocr.recognise(picture([("Возврат товара", 64), *RUSSIAN]))
    assert [(each.text, each.size > 1.3) for each in found[:1]] == [("Возврат товара", True)]
    assert "чек. Деньги возвращаются на карту за десять" in found[1].text


@pytest.mark.parametrize("seed", range(2))
def test_a_picture_without_text_gives_nothing(seed: int) -> None:
    chance = np.random.default_rng(seed)
    small = Image.fromarray(chance.integers(0, 255, (60, 80), dtype="uint8"))
    texture = np.asarray(small.resize((1200, 900), Image.Resampling.BICUBIC)) + chance.normal(0, 20, (900, 1200))
    assert ocr.recognise(Image.fromarray(texture.clip(0, 255).astype("uint8"))) == []


def test_an_empty_page_gives_nothing() -> None:
    assert ocr.recognise(Image.new("L", (1000, 1400), 255)) == []


def test_a_kept_page_is_not_read_again(tmp_path: Path) -> None:
    file = tmp_path / "scan.pdf"
    ocr.keep_page(tmp_path / "pages", 2, [ocr.Paragraph("Kept before.", 1.0)])
    asked: list[int] = []

    def render(page: int) -> Image.Image:
        asked.append(page)
        return picture(ENGLISH)

    with ocr.use(ocr.Session(models(), file, tmp_path / "pages")):
        first = ocr.recognise_pages(file, [1, 2], render)
        second = ocr.recognise_pages(file, [1, 2], render)
    assert asked == [1]
    assert first == second
    assert first[2] == [ocr.Paragraph("Kept before.", 1.0)]


def test_a_page_that_was_kept_by_halves_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text('[{"text": "Hal', encoding="utf-8")
    assert ocr.load_page(tmp_path, 1) is None


def test_many_pages_are_left_to_further_pieces_of_work(tmp_path: Path) -> None:
    file = tmp_path / "scan.pdf"
    with (
        ocr.use(ocr.Session(models(), file, tmp_path / "pages", 100)),
        pytest.raises(ocr.PagesToRecognise) as caught,
    ):
        ocr.recognise_pages(file, list(range(1, 31)), lambda _: None)
    assert caught.value.pages == list(range(1, 31))


def test_models_are_found_where_they_were_pulled_and_missed_where_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "_SYSTEM_FOLDERS", ())
    settings = load_settings(cache_dir=tmp_path, models_dir=None)
    assert ocr.find_models(settings) is None
    monkeypatch.setattr(ocr, "_SYSTEM_FOLDERS", (str(models()),))
    assert ocr.find_models(settings) == models()
