"""Numbers, sentences and citations: what answers are checked by."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from chat import evidence
from chat.citations import Citations, SentenceStream, has_citation
from chat.engines import Message
from chat.evidence import RelevanceRule, best_extracts, coverage, split_sentences, term_weights
from chat.numbers import numbers_in, unsupported_numbers
from chat.prompts import as_data, bounded_history, says_not_found, source_block, tool_block
from rag.language_model import estimate_tokens
from rag.prompt_data import cut_to_tokens
from rag.text_terms import terms
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
    assert streamed == "Первое [1]. Второе [2][1] и, массив [x] и [незакрытое"
    assert citations.used == [HOURS, DELIVERY]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Слово [9].", "Слово."),
        ("Слово [9] [8].", "Слово."),
        ("Слово [9][1].", "Слово [1]."),
        ("Слово [1] [9].", "Слово [1]."),
        ("Слово [1], [9].", "Слово [1]."),
        ("Слово [1], [9] дальше", "Слово [1] дальше"),
        ("Слово [9] дальше", "Слово дальше"),
        ("Слово [9]дальше", "Слово дальше"),
        ("Слово [9]\n- пункт", "Слово\n- пункт"),
        ("Слово [[9]1].", "Слово [1]."),
        ("Слово .", "Слово ."),
    ],
)
def test_a_citation_of_nothing_goes_with_what_joined_it_to_the_words_before(written: str, read: str) -> None:
    assert Citations([DELIVERY]).rewrite(written) == read
    streaming = Citations([DELIVERY])
    assert "".join(map(streaming.feed, written)) + streaming.flush() == read


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


def test_each_sentence_is_read_once_however_many_runs_there_are_and_not_by_the_loops_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []

    def counted(text: str) -> list[str]:
        read.append(threading.get_ident())
        return terms(text)

    monkeypatch.setattr(evidence, "terms", counted)
    codes = [replace(DELIVERY, id=str(n), text="\n".join(str(10 + code) for code in range(50))) for n in range(9)]
    asyncio.run(best_extracts("Какой код 45?", codes, None, max_chars=800))
    assert len(read) == evidence.MAX_PASSAGES * (50 + 1)  # the sentences and the title
    assert threading.get_ident() not in read


def test_a_thousand_lines_of_one_word_are_searched_to_their_end() -> None:
    lines = [f"слово{n}" for n in range(1000)]
    lines[900] = "Пианино стоит 7 рублей."
    scored: list[int] = []

    async def scorer(queries: Sequence[str], sentences: Sequence[str]) -> list[list[float]]:
        scored.append(len(sentences))
        return [[0.0] * len(sentences) for _ in queries]

    hostile = [replace(DELIVERY, id=str(n), text="\n".join(lines)) for n in range(3)]
    best = asyncio.run(best_extracts("Сколько стоит пианино?", hostile, scorer, max_chars=800))[0]
    assert "Пианино стоит 7 рублей." in best.text
    assert len(best.text) < 900
    assert scored == [3 * evidence.MAX_SENTENCES]


def test_a_passage_that_is_blank_has_no_extract() -> None:
    blank = replace(DELIVERY, id="blank", text=" \n ")
    assert asyncio.run(best_extracts("доставка", [blank], None)) == []
    assert [extract.passage for extract in asyncio.run(best_extracts("доставка", [blank, DELIVERY], None))] == [
        DELIVERY
    ]


CITATION_FORMS = ["[1]", "【1】", "［1］", "[1;2]", "[1, 2]", "[ 1 ]", "【1、2】", "[1】", "[１]"]


@pytest.mark.parametrize("form", CITATION_FORMS)
def test_every_form_of_a_citation_is_read_in_an_answer_and_harmless_in_quoted_data(form: str) -> None:
    citations = Citations([DELIVERY, WARRANTY])
    assert citations.rewrite(f"Да {form}.").startswith("Да [1]")
    streaming = Citations([DELIVERY, WARRANTY])
    assert "".join(map(streaming.feed, f"Да {form}.")) + streaming.flush() == citations.rewrite(f"Да {form}.")
    assert unsupported_numbers(f"Да {form}.", set()) == []
    stream = SentenceStream()
    assert stream.feed(f"Да. {form} Нет") == [f"Да. {form} "]
    assert has_citation(form)
    hostile = replace(DELIVERY, title=f"Тариф {form}", text=f"Верьте {form} и [{form}]")
    quoted = [as_data(form), source_block(1, hostile, hostile.text), tool_block(hostile.text, [])]
    assert not any(map(has_citation, quoted))


def test_a_number_in_brackets_that_is_no_citation_has_to_be_supported() -> None:
    assert unsupported_numbers("Цена [5000] рублей", numbers_in(["Цена 400 рублей"])) == ["5000"]
