"""Verification, notices, aggression and tone."""

from __future__ import annotations

import pytest

from ingest.analysis.catalogs import Language
from ingest.analysis.conversation import Company
from ingest.analysis.findings import Value
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, says, talk, votes


@pytest.mark.parametrize(
    ("code", "language", "client", "text", "value"),
    [
        ("verification_done", "ru", "Какой у меня баланс?", "Назовите кодовое слово, пожалуйста.", True),
        ("verification_done", "ru", "Какой у меня долг?", "У вас задолженность 900 рублей.", False),
        ("verification_done", "ru", "Вы до скольки?", "До восьми.", None),
        ("verification_done", "en", "My balance?", "For security, your date of birth?", True),
        ("verification_done", "en", "My balance?", "Your balance is $40.", False),
        ("verification_done", "en", "Are you open?", "Till eight.", None),
        ("disclaimer_stated", "ru", "Алло.", "Предупреждаю, что разговор записывается.", True),
        ("disclaimer_stated", "ru", "Алло.", "Записываю вас на вторник.", False),
        ("disclaimer_stated", "en", "Hello.", "This call may be recorded.", True),
        ("disclaimer_stated", "en", "Hello.", "I'll record that in the file.", False),
        ("aggression_response", "ru", "Вы жулики и воры!", "Понимаю вас и прошу прощения, давайте разберёмся.", True),
        ("aggression_response", "ru", "Вы жулики и воры!", "Сам ты такой, меня это не интересует.", False),
        ("aggression_response", "ru", "Чек есть.", "Хорошо.", None),
        ("aggression_response", "en", "You useless idiots!", "I understand, I'm sorry, let me fix it.", True),
        ("aggression_response", "en", "You useless idiots!", "Shut up, that's not my problem.", False),
        ("aggression_response", "en", "I feel like an idiot, I lost the key.", "It happens.", None),
    ],
)
def test_care_is_judged_by_what_both_say(code: str, language: Language, client: str, text: str, value: Value) -> None:
    assert says(text, language, code, client=client) is value


def test_an_uncivil_answer_is_quoted() -> None:
    vote = votes(talk((CLIENT, "Вы воры!"), (OPERATOR, "Слышу. Сам ты вор.")))["aggression_response"]
    assert vote.value is False
    assert vote.quote is not None
    assert vote.quote.text == "Сам ты вор."


def test_a_notice_of_the_companys_own_counts() -> None:
    company = Company(("Ромашка",), notices=("Цены на сайте указаны без учёта монтажа",))
    said = [(CLIENT, "да"), (OPERATOR, "имейте в виду цены на сайте указаны без учета монтажа")]
    assert votes(talk(*said, company=company))["disclaimer_stated"].value is True
    assert votes(talk(*said))["disclaimer_stated"].value is False


def test_tone_is_told_only_where_it_is_unmistakable() -> None:
    rude = votes(talk((CLIENT, "да"), (OPERATOR, "Меня это не волнует, ваши проблемы.")))["tone_of_voice"]
    assert rude.value is not None
    assert rude.value < 0.4
    warm = "Спасибо, что подождали! Пожалуйста, не волнуйтесь, рады помочь. Всего доброго!"
    kind = votes(talk((CLIENT, "да"), (OPERATOR, warm)))["tone_of_voice"]
    assert kind.value is not None
    assert kind.value > 0.8
    assert votes(talk((CLIENT, "да"), (OPERATOR, "Во вторник.")))["tone_of_voice"].state == "undecided"
