"""How a request is handled: clarified, identified, confirmed, answered, offered, and what happens next."""

from __future__ import annotations

import pytest

from ingest.analysis.catalogs import Language
from ingest.analysis.findings import Value
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, says, talk, votes


@pytest.mark.parametrize(
    ("code", "language", "client", "text", "value"),
    [
        ("need_clarified", "ru", "Не работает кран.", "А где он стоит, на кухне?", True),
        ("need_clarified", "ru", "не работает кран помогите", "какой модели кран и давно течёт", True),
        ("need_clarified", "ru", "Не работает кран.", "Чем могу помочь? Как к вам обращаться?", False),
        ("need_clarified", "en", "I need a van.", "Sure. What size are you after?", True),
        ("need_clarified", "en", "I need a van.", "Done. Anything else?", False),
        ("need_clarified", "en", "Mm.", "Wrong number.", None),
        ("identify_entity", "ru", "Где мой заказ 5581?", "Смотрю.", True),
        ("identify_entity", "ru", "накладная девять ноль сорок четыре шестнадцать", "вижу", True),
        ("identify_entity", "ru", "Где мой заказ?", "Едет.", False),
        ("identify_entity", "ru", "Вы до скольки?", "До восьми.", None),
        ("identify_entity", "en", "It's about invoice INV-20771.", "Got it.", True),
        ("identify_entity", "en", "Where is my order?", "It's late.", False),
        ("identify_entity", "en", "Are you open?", "Till eight.", None),
        ("confirm_details", "ru", "Улица Малышева, сто один, квартира восемь.", "Малышева, сто один, верно?", True),
        ("confirm_details", "ru", "Улица Малышева, сто один, квартира восемь.", "Хорошо, ждите.", False),
        ("confirm_details", "ru", "Привет.", "Привет.", None),
        ("confirm_details", "en", "It's jw at example dot com.", "jw at example dot com, got it.", True),
        ("confirm_details", "en", "2240 Olive Court, Tuesday at nine.", "Fine.", False),
        ("next_step_stated", "ru", "Когда?", "Курьер привезёт завтра до обеда.", True),
        ("next_step_stated", "ru", "Когда?", "Понятия не имею.", False),
        ("next_step_stated", "en", "When?", "You'll receive the papers by Friday.", True),
        ("next_step_stated", "en", "When?", "No idea.", False),
        ("ask_reason", "ru", "Отмените подписку.", "А что случилось, почему уходите?", True),
        ("ask_reason", "ru", "Отмените подписку.", "Отменил.", False),
        ("ask_reason", "ru", "Продлите подписку.", "Продлил.", None),
        ("ask_reason", "en", "Please cancel my plan.", "May I ask what made you decide?", True),
        ("ask_reason", "en", "Please cancel my plan.", "Cancelled.", False),
        ("offer_presented", "ru", "А есть что-нибудь?", "Могу предложить пакет за 900 рублей со скидкой.", True),
        ("offer_presented", "ru", "Вы до скольки?", "До восьми вечера.", False),
        ("offer_presented", "en", "Any deals?", "We have a plan at $29 a month.", True),
        ("offer_presented", "en", "Are you open?", "Till eight.", False),
    ],
)
def test_handling_is_judged_by_what_both_say(
    code: str, language: Language, client: str, text: str, value: Value
) -> None:
    assert says(text, language, code, client=client) is value


@pytest.mark.parametrize(
    ("language", "objection", "answer", "value"),
    [
        ("ru", "Дорого, у других дешевле.", "Понимаю, зато доставка и гарантия входят в цену.", True),
        ("ru", "Дорого, у других дешевле.", "Ну да.", False),
        ("ru", "Хорошо, беру.", "Отлично.", None),
        ("en", "That's a lot of money.", "I hear you, but the warranty is included for ten years.", True),
        ("en", "That's a lot of money.", "Yep.", False),
        ("en", "Great, deal.", "Lovely.", None),
    ],
)
def test_an_objection_needs_an_argument_or_an_alternative(
    language: Language, objection: str, answer: str, value: Value
) -> None:
    offer = "Стоит пять тысяч." if language == "ru" else "It costs five hundred."
    said = talk((OPERATOR, offer), (CLIENT, objection), (OPERATOR, answer), language=language)
    assert votes(said)["handle_objection"].value is value


def test_the_number_that_the_client_names_proves_the_entity() -> None:
    said = talk(
        (OPERATOR, "Назовите номер договора."), (CLIENT, "Семьдесят четыре, двенадцать, ноль."), (OPERATOR, "Да.")
    )
    vote = votes(said)["identify_entity"]
    assert vote.value is True
    assert vote.quote is not None
    assert vote.quote.label == CLIENT
