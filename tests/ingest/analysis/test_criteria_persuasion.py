"""What is done about a client who leaves, complains or objects; what is offered; which step comes next."""

from __future__ import annotations

import pytest

from ingest.analysis.catalogs import Language
from ingest.analysis.findings import Value
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, says, talk, votes


@pytest.mark.parametrize(
    ("language", "client", "text", "value"),
    [
        ("ru", "Снимите бронь, мы не поедем.", "Жаль. Что-то случилось или не устроили условия?", True),
        ("ru", "Снимите бронь, мы не поедем.", "Снял.", False),
        ("ru", "больше не буду ходить на йогу", "а что не понравилось", True),
        ("ru", "Хотим забрать предоплату.", "Вот почему просим паспорт.", False),
        ("ru", "Алло, слушаю.", "Вы давно не заходили, мы вас чем-то обидели?", True),
        ("en", "i want out of my contract", "sure may i ask what changed", True),
        ("en", "kill my membership please", "That's why I'm here. Done.", False),
        ("en", "We left our old supplier, I cancelled that in March.", "Right.", None),
        ("en", "The boiler is banging.", "Since when?", None),
    ],
)
def test_the_reason_is_asked_of_who_leaves_or_complains(
    language: Language, client: str, text: str, value: Value
) -> None:
    assert says(text, language, "ask_reason", client=client) is value


@pytest.mark.parametrize(
    ("language", "offer", "client", "answer", "value"),
    [
        (
            "ru",
            "Выезд тысяча двести.",
            "А чего это тысяча двести?",
            "Можно и дешевле, если оформить пакет на год.",
            True,
        ),
        ("ru", "Миллион шестьсот.", "Миллион шестьсот?! Денег нет.", "Ну, это вы сами решайте.", False),
        ("ru", "Приедем завтра.", "Опять мне ждать целый день?", "Мастер наберёт за час, чтобы вы не ждали.", True),
        (
            "ru",
            "Запишу на восемь.",
            "Это рано, я на другом конце города.",
            "Тогда можно сегодня вечером, в семь.",
            True,
        ),
        ("en", "It's £34 for the pair.", "34 is steep on a pension.", "There's a bursary that takes 40% off.", True),
        ("en", "It's £34 for the pair.", "34 is steep on a pension.", "Yeah, totally fair.", False),
        ("en", "It's thirty days' notice.", "nobody told me that", "that's the policy sir", False),
        (
            "en",
            "Free inspection?",
            "how can i trust you guys",
            "there's no contract on the day so you can say no",
            True,
        ),
        ("en", "It's £34 for the pair.", "Lovely, thanks.", "Great, see you then.", None),
    ],
)
def test_an_objection_is_answered_by_an_argument_and_not_by_sympathy_alone(
    language: Language, offer: str, client: str, answer: str, value: Value
) -> None:
    said = talk((OPERATOR, offer), (CLIENT, client), (OPERATOR, answer), (CLIENT, "ok"), language=language)
    assert votes(said)["handle_objection"].value is value


def test_an_answer_to_a_later_question_is_no_answer_to_the_objection() -> None:
    said = talk(
        (OPERATOR, "The last payment is in September."),
        (CLIENT, "Wait, I pay for September anyway? That's silly."),
        (OPERATOR, "It is what it is, I'm afraid."),
        (CLIENT, "Hm. Fine. And what about my guest passes?"),
        (OPERATOR, "Those stay good, and you can pass them on if you like."),
        language="en",
    )
    assert votes(said)["handle_objection"].value is False


@pytest.mark.parametrize(
    ("language", "client", "text", "value"),
    [
        ("ru", "Почём консультация?", "Две восемьсот, с проверкой зрения.", True),
        ("ru", "Уберите старый шкаф.", "Есть такая услуга, 2 500 ₽.", True),
        ("ru", "Не успеваем всё съедать.", "Можно поставить на паузу до осени.", True),
        ("ru", "Что там с оплатой?", "У вас долг 14 000 рублей.", False),
        ("en", "How much is a service?", "Ninety-five pounds, parts on top.", True),
        ("en", "The kit is lost.", "A fresh one leaves today, no charge.", True),
        ("en", "What's this letter?", "Your balance of $141 is past due.", False),
    ],
)
def test_a_price_or_terms_make_an_offer_and_a_debt_does_not(
    language: Language, client: str, text: str, value: Value
) -> None:
    assert says(text, language, "offer_presented", client=client) is value


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("ru", "Я терапевта до приёма об этом предупрежу.", True),
        ("ru", "Управляющая ответит вам лично.", True),
        ("ru", "Скажу честно, не сделаем.", False),
        ("ru", "Система предложит отменить приказ.", False),
        ("en", "I'm leaving a note for whoever is on shift.", True),
        ("en", "The original goes with our driver on Friday.", True),
        ("en", "itll be with you tomorrow", True),
        ("en", "That will cost ten pounds.", False),
    ],
)
def test_any_verb_of_what_comes_next_is_a_step(language: Language, text: str, value: Value) -> None:
    assert says(text, language, "next_step_stated") is value
