"""Answers without a model: quotes with sources, in the question's language."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from chat.engines import Done, Message, Status
from chat.extractive_engine import ExtractiveEngine
from chat.language import PHRASES, detect_language, language_of
from tests.chat.passages import DELIVERY, HOURS, UNRELATED, WARRANTY, Search, all_events, ask

ENGINE = ExtractiveEngine()


def answer(question: str, search: Search, *history: Message) -> Done:
    return asyncio.run(ask(ENGINE, question, search, history=history))


def test_a_russian_question_is_answered_with_the_sentence_quoted_and_numbered() -> None:
    done = answer("Сколько стоит доставка по городу?", Search([DELIVERY, UNRELATED]))
    assert done.found
    assert "Нашлось в документе «Доставка и оплата», с. 2:" in done.markdown
    assert "> Доставка по городу стоит 450 рублей." in done.markdown
    assert done.markdown.rstrip().endswith("[1]")
    assert done.used_passages == [DELIVERY]
    assert done.usage.model_calls == 0


def test_an_english_question_gets_english_words_around_the_quote() -> None:
    done = answer("When is the workshop open on Saturday?", Search([HOURS]))
    assert done.markdown.startswith("Found in the document “Opening hours”:")
    assert "On Saturday it closes at 14:00." in done.markdown


def test_a_question_quoted_from_a_call_is_followed_by_what_was_answered() -> None:
    done = answer("Сколько длится гарантия на машину?", Search([WARRANTY]))
    assert "в разговоре «Звонок о протечке», 1:23" in done.markdown
    assert "Гарантия длится два года." in done.markdown


def test_several_sources_are_numbered_in_the_order_in_which_they_are_quoted() -> None:
    other = replace(DELIVERY, id="chunk-2", title="Тарифы", text="Срочная доставка по городу стоит 900 рублей.")
    done = answer("Сколько стоит доставка по городу?", Search([DELIVERY, other]))
    assert "[1]" in done.markdown
    assert "[2]" in done.markdown
    assert {passage.id for passage in done.used_passages} == {"chunk-delivery", "chunk-2"}


def test_what_does_not_fit_is_not_quoted_and_that_nothing_was_found_is_said_in_both_languages() -> None:
    for question, language in (("Кто президент Франции?", "ru"), ("Who won the football cup?", "en")):
        done = answer(question, Search([UNRELATED]))
        assert (done.found, done.used_passages) == (False, [])
        assert done.markdown == PHRASES[detect_language(question)].not_found
        assert detect_language(done.markdown) == language
    assert not answer("Что угодно?", Search([])).found


def test_a_follow_up_is_searched_together_with_the_turn_before_it() -> None:
    search = Search([DELIVERY])
    history = [Message("user", "Сколько стоит доставка?"), Message("assistant", "450 рублей [1].")]
    assert answer("А бесплатно?", search, *history).found
    assert search.queries == ["А бесплатно?", "Сколько стоит доставка?\nА бесплатно?"]


def test_links_tags_and_citations_of_a_source_are_shown_as_text() -> None:
    hostile = replace(
        DELIVERY,
        title="Тариф [7] <b>",
        text="Доставка стоит 450 рублей ![x](http://evil.example/?q=1) <script>alert(1)</script> [2].",
    )
    done = answer("Сколько стоит доставка?", Search([hostile]))
    assert "\\[x\\]" in done.markdown
    assert "\\<script>" in done.markdown
    assert "«Тариф \\[7\\] \\<b>»" in done.markdown


def test_it_says_that_it_searches_before_anything_else() -> None:
    events = asyncio.run(all_events(ENGINE, "Сколько стоит доставка?", Search([DELIVERY])))
    assert events[0] == Status("search")


def test_likeness_in_meaning_chooses_between_sentences_with_the_same_words() -> None:
    async def scorer(queries: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        return [[0.9 if "вторник" in text else 0.1 for text in texts] for _ in queries]

    filler = "Здесь стоит длинное предложение о чём-то совсем другом, чтобы обе строки не попали в одну цитату никогда."
    text = "\n".join(["Доставка едет в понедельник.", *[filler] * 5, "Доставка едет во вторник."])
    search = Search([replace(DELIVERY, text=text)])
    done = asyncio.run(ask(ExtractiveEngine(scorer), "В какой день доставка?", search))
    assert "вторник" in done.markdown
    assert "понедельник" not in done.markdown


def test_the_language_is_that_of_most_words_and_product_names_do_not_change_it() -> None:
    assert detect_language("Как очистить Sova 60 Pro Max?") == "ru"
    assert detect_language("How do I clean the Сова?") == "en"
    assert detect_language("12345?", default="en") == "en"


@pytest.mark.parametrize(
    ("asked", "before", "language"),
    [
        ("ok", "Сколько стоит аренда?", "ru"),
        ("SOVA-60?", "Сколько стоит аренда?", "ru"),
        ("42?", "What does the rent cost?", "en"),
        ("Цена?", "What does the rent cost?", "ru"),
        ("And for how long?", "Сколько стоит аренда?", "en"),
    ],
)
def test_a_question_of_few_letters_is_in_the_language_of_those_before(asked: str, before: str, language: str) -> None:
    assert language_of(asked, [Message("user", before), Message("assistant", "Fine, хорошо.")]) == language
