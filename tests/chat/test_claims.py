"""Names and days that an answer states and its sources lack."""

from __future__ import annotations

import pytest

from chat.claims import Support, unsupported_days, unsupported_names
from chat.numbers import numbers_in, unsupported_numbers

RUSSIAN = Support.of(
    [
        "Доставка и оплата",
        "Звонили Андрей и Павел, Лев спросил Игоря и Илью. Самовывоз — со склада на улице Маячной в Нижнем Новгороде.\n"
        "Окружающая среда. Счёт до 05.03.2026. Склад открыт пн–чт, в выходные закрыт. Кофемашины Arctic Owl.",
    ],
    ["Что сказал Пётр?"],
)
ENGLISH = Support.of(
    ["Opening hours", "The workshop is open on weekdays. On 3 May it closes at noon. Ask Sarah of Polar Owl."]
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Спросите Андрея, Павла, Льва, Игорем, Ильи или Петра.",
        "Самовывоз с улицы Маячная, Нижний Новгород [1].",
        "Ответ: Гостевая парковка открыта.",
        "- Парковка у склада.",
        "**Парковка** у склада.",
        "2. Парковка у склада.",
        "«Парковка» у склада.",
        "Об этом Вам и Вашей семье скажет Андрей.",
        "В понедельник Андрей на складе.",
        "Кофемашину Arctic owl везёт Павел.",
        "Это входит в Доставку и Оплату.",
    ],
)
def test_a_name_that_is_there_counts_in_any_case_and_a_sentences_first_word_is_none(sentence: str) -> None:
    assert unsupported_names(sentence, RUSSIAN) == []


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Спросите Марину Иванову [1].", ["Марину", "Иванову"]),
        ("Самовывоз в городе Москве.", ["Москве"]),
        ("Заказ везёт DHL.", ["DHL"]),
        ("Это кофемашина «Полюс».", ["Полюс"]),
        ("Андрей и Антон на складе.", ["Антон"]),
        ("Сидоров отвечает за доставку [1].", ["Сидоров"]),
        ("Ответственная: Смирнова [1].", ["Смирнова"]),
    ],
)
def test_a_name_that_no_source_has_is_found(sentence: str, missing: list[str]) -> None:
    assert unsupported_names(sentence, RUSSIAN) == missing


def test_english_names_are_looked_for_too() -> None:
    assert unsupported_names("Ask Sarah's team at Polar Owls, I think.", ENGLISH) == []
    assert unsupported_names("Please ask Bob Miller.", ENGLISH) == ["Bob", "Miller"]


def test_names_may_be_spelled_in_the_letters_of_another_language() -> None:
    assert unsupported_names("Об этом скажет Сара из Полярной Совы.", ENGLISH) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Склад открыт с понедельника по четверг, и во вторник, и в среду.",
        "Счёт оплатите до 5 марта.",
        "Склад закрыт в субботу и воскресенье.",
        "Мы бережём природу в окружающей среде и по средам.",
    ],
)
def test_a_day_counts_however_its_source_spells_it(sentence: str) -> None:
    assert unsupported_days(sentence, RUSSIAN) == []


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Склад открыт и в пятницу.", ["пятницу"]),
        ("Счёт оплатите до 5 апреля, а не в мае.", ["апреля", "мае"]),
        ("Счёт оплатите до 7 марта.", ["марта 7"]),
    ],
)
def test_a_day_that_no_source_has_is_found(sentence: str, missing: list[str]) -> None:
    assert unsupported_days(sentence, RUSSIAN) == missing


def test_english_days_are_no_other_words() -> None:
    assert unsupported_days("You may march in on Tuesday. May is fine.", ENGLISH) == []
    assert unsupported_days("It is open on Tuesday and Sunday in June.", ENGLISH) == ["Sunday", "June"]
    assert unsupported_days("Мастерская открыта во вторник, а 3 мая до полудня.", ENGLISH) == []
    assert unsupported_days("We close in March.", ENGLISH) == ["March"]


def test_a_dates_number_belongs_to_its_month() -> None:
    support = Support.of(["Отпуск с 12 по 15 марта, праздник 3 мая.", "Closed on June 1-4 and 7/20."])
    assert unsupported_days("Отпуск 14 марта, праздник 3 мая, закрыто 2 июня и 20 июля.", support) == []
    assert unsupported_days("Возврат 12 мая.", support) == ["мая 12"]
    assert unsupported_days("It is on June 12th.", support) == ["June 12"]


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Доставка занимает семь дней.", ["семь"]),
        ("Цена двадцать тысяч рублей.", ["двадцать тысяч"]),
        ("The rental is at least seven days.", ["seven"]),
        ("Три дня, а с доставкой пять тысяч двести рублей; one of them is free.", []),
    ],
)
def test_a_number_in_words_needs_a_source_too(sentence: str, missing: list[str]) -> None:
    assert unsupported_numbers(sentence, numbers_in(["От 3 дней, 5 200 рублей, 20 чашек, тысяча мелочей."])) == missing
