"""A quotation is the turn's own words, or none."""

from __future__ import annotations

import pytest

from ingest.analysis.findings import Quote
from ingest.analysis.quotations import LONGEST, find, fold, is_verbatim
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, talk

SAID = talk(
    (CLIENT, "Алло, это «Ёлка»?  Я по поводу\nзаказа — пятьсот два."),
    (OPERATOR, "It's the  “blue” one, isn’t it? Всё верно!"),
    (CLIENT, "нет, интернет не работает"),
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('это "елка"? я по поводу заказа', "это «Ёлка»?  Я по поводу\nзаказа"),
        ("ЗАКАЗА - ПЯТЬСОТ ДВА", "заказа — пятьсот два"),
        ("...it's the 'blue'", None),
        ('it\'s the "blue" one!!!', "It's the  “blue” one"),
        ("isn't it", "isn’t it"),
        ("все верно.", "Всё верно"),
        ("«интернет не работает»", "интернет не работает"),
    ],
)
def test_the_original_words_are_found_whatever_their_case_quotes_dashes_and_spaces(
    text: str, words: str | None
) -> None:
    quote = find(SAID, text)
    assert (quote.text if quote else None) == words
    assert quote is None or is_verbatim(SAID, quote)


@pytest.mark.parametrize(
    "text", ["", " ", "?!", "да", "нет", "не раб", "тернет не работает", "заказа пятьсот два", "\0"]
)
def test_too_little_parts_of_words_and_words_left_out_are_no_quotation(text: str) -> None:
    assert find(SAID, text) is None


def test_only_the_given_labels_are_searched() -> None:
    assert find(SAID, "интернет не работает", {OPERATOR}) is None
    assert find(SAID, "интернет не работает", ()) is None
    found = find(SAID, "интернет не работает", {CLIENT})
    assert found == Quote("интернет не работает", 2, CLIENT)


def test_verbatim_is_byte_for_byte_in_that_turn_of_that_label() -> None:
    assert is_verbatim(SAID, Quote("интернет не работает", 2, CLIENT))
    assert not is_verbatim(SAID, Quote("Интернет не работает", 2, CLIENT))
    assert not is_verbatim(SAID, Quote("интернет не работает", 1, CLIENT))
    assert not is_verbatim(SAID, Quote("интернет не работает", 2, OPERATOR))
    assert not is_verbatim(SAID, Quote(" ", 2, CLIENT))


@pytest.mark.parametrize(
    "text", ["İstanbul İİ ёлка", "ΑΣ ß ﬁ", "\0\ud83d\ude42".encode("utf-16", "surrogatepass").decode("utf-16")]
)
def test_folding_keeps_the_length_so_that_positions_hold(text: str) -> None:
    assert len(fold(text)) == len(text)


def test_a_word_that_repeats_without_end_is_searched_in_one_pass() -> None:
    endless = talk((CLIENT, "ab" * 300_000 + " то самое место"))
    assert find(endless, "ab" * 1000) is None
    found = find(endless, "То самое место")
    assert found is not None
    assert found.text == "то самое место"
    assert find(endless, "а" * (LONGEST + 1)) is None


def test_without_turns_nothing_is_found() -> None:
    assert find(talk(), "что угодно здесь") is None
    assert not is_verbatim(talk(), Quote("что угодно", 0, None))
