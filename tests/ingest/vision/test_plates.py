"""Plates and container numbers: what their formats allow, and one reading out of many."""

from __future__ import annotations

import random
import re

import pytest

from ingest.vision.scenarios.container_numbers import check_digit, read_container_number
from ingest.vision.scenarios.plate_formats import FORMATS, fits, normal_text
from ingest.vision.scenarios.plate_votes import Votes


@pytest.mark.parametrize(
    ("written", "country", "kind"),
    [
        ("А123ВС77", "RU", "car"),
        ("a 123 bc 777", "RU", "car"),
        ("AB12377", "RU", "taxi"),
        ("1234AB77", "RU", "motorcycle"),
        ("AB 123 C 77", "RU", "transit"),
        ("AB12CDE", "GB", "car"),
        ("1234-BCD", "ES", "car"),
        ("B MW 1234", "DE", "car"),
        ("M AB 123E", "DE", "electric or historic car"),
        ("HH A 1234 H", "DE", "electric or historic car"),
        ("KRA 12345", "PL", "car"),
        ("W 12345 X", "AT", "car"),
        ("ZH 123456", "CH", "car"),
        ("131 D 12345", "IE", "car"),
        ("151 KK 1234", "IE", "car"),
        ("B 123 ABC", "RO", "car"),
    ],
)
def test_plates_are_known_by_their_formats(written: str, country: str, kind: str) -> None:
    assert (country, kind) in {(form.country, form.kind) for form in FORMATS if fits(normal_text(written), form)}


@pytest.mark.parametrize("read", ["", "SHELL", "A000BC777", "A123BC00", "TAXI24H7", "1", "ЖШЩ"])
def test_what_is_no_plate_is_none(read: str) -> None:
    assert not any(fits(normal_text(read), form) for form in FORMATS if form.country == "RU")


def test_each_format_fits_what_it_makes_and_nothing_longer() -> None:
    source = random.Random(5)
    for form in FORMATS:
        for _ in range(20):
            made = "000"
            while not re.match(form.beginning, made) or "0" in made:
                made = "".join(source.choice(form.allowed(each)) for each in form.pattern)
            assert fits(made, form), (form, made)
            assert not fits(made + "1", form)


@pytest.mark.parametrize(
    ("text", "countries"),
    [
        ("AA1234BB", {"HR", "UA", "BG"}),
        ("ZG1234AB", {"HR"}),
        ("KA1234IB", {"HR", "UA"}),
        ("CJ12ABC", {"GB", "RO"}),
        ("AB12CDE", {"GB", "RO"}),
        ("XY12CDE", {"GB"}),
        ("ZH1234", {"CH", "LV", "DE"}),
        ("QQ123456", set()),
        ("133D12345", set()),
    ],
)
def test_a_text_has_all_countries_that_write_so(text: str, countries: set[str]) -> None:
    assert {form.country for form in FORMATS if fits(text, form)} == countries


@pytest.mark.parametrize("number", ["CSQU3054383", "MSKU9070323", "TGHU7599330"])
def test_container_numbers_by_their_check_digit(number: str) -> None:
    assert check_digit(number[:10]) == int(number[10])
    assert read_container_number(f"  {number[:4]} {number[4:10]}-{number[10]} 45G1") == number
    wrong = number[:10] + str((int(number[10]) + 1) % 10)
    assert read_container_number(wrong) is None


def test_mistaken_characters_of_a_container_number_are_put_right() -> None:
    assert read_container_number("C5QU3O5438З".replace("З", "3")) == "CSQU3054383"
    assert read_container_number("no number here") is None


def test_many_doubtful_readings_give_one_that_is_right() -> None:
    votes = Votes()
    assert votes.reading() is None
    for text, confidence in (
        ("A123BC77", 0.9),
        ("A128BC77", 0.5),
        ("A123BC7", 0.4),
        ("A123BG77", 0.3),
        ("A123BC77", 0.8),
    ):
        votes.add(text, confidence)
    votes.add("", 1.0)
    reading = votes.reading()
    assert reading is not None
    assert (reading.text, reading.votes) == ("A123BC77", 5)
    assert 0.6 < reading.confidence < 1
