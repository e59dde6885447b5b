"""Plates and container numbers: what their formats allow, and one reading out of many."""

from __future__ import annotations

import random

import pytest

from ingest.vision.scenarios.container_numbers import check_digit, read_container_number
from ingest.vision.scenarios.plate_formats import FORMATS, read_plate
from ingest.vision.scenarios.plate_votes import Votes


@pytest.mark.parametrize(
    ("read", "text", "country", "kind"),
    [
        ("А123ВС77", "A123BC77", "RU", "car"),
        ("a 123 bc 777", "A123BC777", "RU", "car"),
        ("A1Z3BC77", "A123BC77", "RU", "car"),
        ("A123B077", "A123BO77", "RU", "car"),
        ("AB12377", "AB12377", "RU", "taxi"),
        ("1234AB77", "1234AB77", "RU", "motorcycle"),
        ("AB12CDE", "AB12CDE", "GB", "car"),
        ("1234-BCD", "1234BCD", "ES", "car"),
        ("B MW 1234", "BMW1234", "DE", "car"),
        ("KRA 12345", "KRA12345", "PL", "car"),
    ],
)
def test_a_plate_is_read_as_its_format_has_it(read: str, text: str, country: str, kind: str) -> None:
    plate = read_plate(read)
    assert plate is not None
    assert (plate.text, plate.country, plate.kind) == (text, country, kind)


@pytest.mark.parametrize("read", ["", "SHELL", "A000BC777", "A123BC00", "TAXI24H7", "1", "ЖШЩ"])
def test_what_is_no_plate_is_none(read: str) -> None:
    assert read_plate(read, countries=("RU",)) is None


def test_the_format_with_the_fewest_changes_is_taken() -> None:
    as_it_is, changed = read_plate("AB123CD"), read_plate("A8123CD")
    assert (as_it_is and as_it_is.changes, changed and changed.changes) == (0, 1)
    assert read_plate("AB123CD", countries=("FR",)) != read_plate("AB123CD", countries=("IT",))


def test_each_format_reads_what_it_makes() -> None:
    source = random.Random(5)
    for form in FORMATS:
        for _ in range(20):
            made = "".join(
                source.choice(form.letters) if each == "L" else source.choice("123456789") for each in form.pattern
            )
            plate = read_plate(made, countries=(form.country,))
            assert plate is not None, (form, made)
            assert (plate.text, plate.changes) == (made, 0)


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
