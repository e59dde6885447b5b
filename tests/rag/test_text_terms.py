"""Words of a text as BM25 sees them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from rag.text_terms import passage_vector, query_terms, query_vector, term_id, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("договорами", "Договор"),
        ("ещё зелёный", "зеленые"),
        ("returned items", "return item"),
        ("ＡＰＩ", "api"),  # letters of full width
        ("кол-центр, 5", "Кол центр 5"),
    ],
)
def test_forms_of_a_word_give_the_same_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


def test_russian_and_english_words_of_one_text_are_each_stemmed_in_their_language() -> None:
    assert terms("Настройки webhooks для клиентов") == ["настройк", "webhook", "клиент"]


def test_stop_words_and_punctuation_give_no_terms() -> None:
    assert terms("Что это и как? What is the, of!") == []
    assert terms("") == []


def test_a_query_has_each_term_once_and_at_most_64() -> None:
    assert query_terms("тариф тарифы тарифами оплата") == ["тариф", "оплат"]
    assert len(query_terms(" ".join(f"слово{n}" for n in range(1000)))) == 64


def test_passage_weights_grow_with_repetition_and_shrink_with_length() -> None:
    def weight(text: str) -> float:
        vector = passage_vector(text)
        return vector.values[vector.indices.index(term_id("тариф"))]

    assert weight("тариф тариф") > weight("тариф цена")
    assert weight("тариф") > weight("тариф " + " ".join(f"слово{n}" for n in range(50)))
    assert weight("тариф " * 1000) < 2.2  # k1 + 1


def test_vectors_are_ordered_by_index_without_doubles() -> None:
    for vector in (passage_vector("один два три два один"), query_vector(["b", "a", "b"])):
        assert vector.indices == sorted(set(vector.indices))
        assert len(vector.indices) == len(vector.values)


def test_threads_get_the_terms_that_one_thread_gets() -> None:
    words = [f"договоренностями{suffix} agreements{suffix}" for suffix in "абвгдежзиклмнопрст"] * 5
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(terms, words)) == [terms(word) for word in words]
