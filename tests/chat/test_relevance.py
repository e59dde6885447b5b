"""What speaks for a passage: words by stem, by kinship and by meaning, names, and the kind of answer asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from chat.contract import Passage
from chat.evidence import RelevanceRule, find_evidence, split_sentences
from chat.relevance import MAX_SENTENCES, MAX_WORDS, Evidence, names_in, read, term_likeness
from rag.text_terms import terms
from tests.chat.passages import DELIVERY, HOURS, UNRELATED, Search


def judged(
    question: str, passages: Sequence[Passage], alike: dict[tuple[str, str], float] | None = None
) -> list[Evidence]:
    reading = read(question, passages, [split_sentences(passage.text) for passage in passages])
    cosines = [[(alike or {}).get((query, text), 0.0) for text in reading.texts] for query in reading.queries]
    return [evidence for _, evidence in reading.judge(cosines)]


def test_a_form_a_relative_or_a_misspelling_is_like_the_word_and_another_number_is_not() -> None:
    there = set(terms("доставка гарантийный дистиллят 5093"))
    (delivery,), (warranty,), (typo,) = terms("доставить"), terms("гарантия"), terms("дистилят")
    assert min(term_likeness(term, there) for term in (delivery, warranty, typo)) > 0.5
    assert term_likeness("5094", there) == 0.0
    assert term_likeness("пианин", there) == 0.0


def test_a_surname_is_known_in_every_case() -> None:
    (nominative,), (genitive,) = terms("Рогов"), terms("Рогова")
    assert term_likeness(genitive, {nominative}) == term_likeness(nominative, {genitive}) == 1.0


def test_names_are_capitals_within_a_sentence_quotations_numbers_and_latin_in_russian() -> None:
    assert names_in("Есть ли филиал в Казани?") == set(terms("Казани"))
    assert names_in("цена «филина»") == set(terms("филина"))
    assert names_in("чините jura E4?") == {*terms("jura"), *terms("E4")}
    assert names_in("Where is it?") == set()


def test_a_word_close_in_meaning_counts_as_said() -> None:
    (without,) = judged("Сколько стоит транспортировка?", [DELIVERY])
    (beside,) = judged("Сколько стоит транспортировка?", [DELIVERY], {("транспортировка", "доставка"): 0.9})
    assert beside.said > without.said
    assert beside.matched > without.matched


def test_a_name_that_no_passage_has_speaks_against_it() -> None:
    (there,) = judged("Где самовывоз на Маячной?", [DELIVERY])
    (elsewhere,) = judged("Где самовывоз на Садовой?", [DELIVERY])
    assert there.missing == 0.0
    assert elsewhere.missing > 0.0
    assert elsewhere.names < there.names


def test_a_stretch_without_the_kind_of_thing_asked_for_does_not_answer() -> None:
    question = "Сколько стоит доставка?"
    priced = replace(DELIVERY, text="Доставка стоит 450 рублей.")
    unpriced = replace(DELIVERY, text="Доставка стоит дорого.")
    with_price, without = judged(question, [priced, unpriced])
    assert with_price.stretch > without.stretch == 0.0


def test_what_is_compared_is_bounded() -> None:
    long = replace(DELIVERY, text="\n".join(f"слово{number} есть здесь." for number in range(2000)))
    reading = read("слово " * 500, [long], [split_sentences(long.text)])
    assert len(reading.texts) <= MAX_SENTENCES + MAX_WORDS


def test_with_a_scorer_the_fitting_passage_comes_first_and_other_matters_are_refused() -> None:
    async def scorer(queries: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        return [[float(bool(set(terms(query)) & set(terms(text)))) * 0.9 for text in texts] for query in queries]

    search = Search([UNRELATED, HOURS, replace(DELIVERY, coverage=0.8)])
    rule = RelevanceRule()
    _, found = asyncio.run(find_evidence("Сколько стоит доставка по городу?", [], search, rule, scorer))
    assert found[0].id == DELIVERY.id
    _, nothing = asyncio.run(find_evidence("Кто написал «Мёртвые души»?", [], search, rule, scorer))
    assert nothing == []
