"""Numbers, sentences and citations: what answers are checked by."""

from __future__ import annotations

import pytest

from chat.citations import Citations, SentenceStream
from chat.engines import Message
from chat.evidence import RelevanceRule, coverage, split_sentences, term_weights
from chat.numbers import numbers_in, unsupported_numbers
from chat.prompts import bounded_history, cut_to_tokens, says_not_found
from rag.language_model import estimate_tokens
from tests.chat.passages import DELIVERY, HOURS, WARRANTY


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("Цена 1 500 рублей", "Стоит 1500 рублей"),
        ("Price: 1,500 RUB", "It costs 1500"),
        ("Скидка 2,5 %", "2.5 percent"),
        ("Дата 05.03.2026", "5 марта 2026"),
        ("Звоните +7 (495) 123-45-67", "телефон 8 или 7 495 123-45-67".replace("8 или ", "")),
        ("пять тысяч двести рублей", "5 200 рублей"),
        ("двадцать одну тысячу семьсот рублей", "21700 рублей"),
        ("two hundred and fifty", "250"),
        ("Открыто с 09:00", "с 9:00"),
        ("ничего", "1. Первый пункт [3]\n2. Второй"),
    ],
)
def test_a_number_is_the_same_however_it_is_written(source: str, answer: str) -> None:
    assert unsupported_numbers(answer, numbers_in([source])) == []


@pytest.mark.parametrize(
    ("source", "answer"),
    [("Цена 1 500 рублей", "1 600 рублей"), ("2,5 %", "25 %"), ("пять дней", "6 дней"), ("в 2025 году", "в 2026 году")],
)
def test_another_number_is_not_supported(source: str, answer: str) -> None:
    assert unsupported_numbers(answer, numbers_in([source]))


def test_sentences_end_where_they_should() -> None:
    text = "Офис на ул. Ленина, д. 5. Цена 2.5 тыс. рублей!\nАННА: Здравствуйте. Как дела?"
    assert split_sentences(text) == [
        "Офис на ул. Ленина, д. 5.",
        "Цена 2.5 тыс. рублей!",
        "АННА: Здравствуйте.",
        "Как дела?",
    ]
    assert max(map(len, split_sentences("слово " * 500))) <= 400


def test_a_stream_is_cut_into_sentences_without_losing_anything() -> None:
    text = "Цена 2.5 рубля. [1] Срок — два дня [2]. Итак:\n- один;\n- два [1, 3]"
    stream = SentenceStream()
    pieces = [piece for character in text for piece in stream.feed(character)]
    assert pieces == ["Цена 2.5 рубля. [1] ", "Срок — два дня [2]. ", "Итак:\n", "- один;\n"]
    assert "".join(pieces) + stream.flush() == text


def test_citations_that_arrive_in_pieces_are_renumbered_by_first_use() -> None:
    citations = Citations([DELIVERY, WARRANTY, HOURS])
    text = "Первое [3]. Второе [1, 3] и [12], массив [x] и [незакрытое"
    streamed = "".join(citations.feed(character) for character in text) + citations.flush()
    assert streamed == "Первое [1]. Второе [2][1] и , массив [x] и [незакрытое"
    assert citations.used == [HOURS, DELIVERY]


def test_rare_terms_weigh_more_and_terms_that_nothing_has_weigh_most() -> None:
    weights = term_weights("доставка пианино", ["доставка по городу", "доставка за город"])
    common, missing = weights.values()
    assert missing > common
    assert coverage(weights, "Доставки") == pytest.approx(common / (common + missing))


def test_a_passage_needs_the_questions_words_or_fewer_and_its_meaning() -> None:
    rule = RelevanceRule()
    assert rule.holds(0.9, None)
    assert rule.holds(0.9, 0.0)
    assert not rule.holds(0.1, None)
    assert not rule.holds(0.2, 0.3)
    assert rule.holds(rule.least_coverage, rule.least_cosine)
    assert rule.holds(0.0, rule.sure_cosine)


def test_cut_text_fits_and_says_that_it_was_cut() -> None:
    cut = cut_to_tokens("слово " * 1000, 50)
    assert estimate_tokens(cut) <= 52
    assert cut.endswith("…")
    assert cut_to_tokens("коротко", 50) == "коротко"


def test_history_keeps_the_newest_turns_that_fit() -> None:
    history = [Message("user", f"вопрос {n}") for n in range(40)]
    kept = bounded_history(history, 60, longest_chars=100)
    assert kept[-1]["content"] == "вопрос 39"
    assert 1 < len(kept) < 10


@pytest.mark.parametrize("said", ["Не найдено.", "NOT_FOUND", "**Not found**", "Ответа нет.", "No information."])
def test_saying_that_there_is_no_answer_is_understood(said: str) -> None:
    assert says_not_found(said)


@pytest.mark.parametrize("said", ["Не найденный товар заменят [1].", "Notes: open at 9 [1].", "Нет, нельзя [1]."])
def test_an_answer_is_not_taken_for_its_absence(said: str) -> None:
    assert not says_not_found(said)
