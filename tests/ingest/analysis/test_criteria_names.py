"""Names: the operator's own, and how often the client is called by theirs."""

from __future__ import annotations

import pytest

from ingest.analysis.conversation import Person
from ingest.analysis.findings import Sides
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, says, talk, votes


def test_each_call_by_name_counts_and_speaking_of_somebody_does_not() -> None:
    people = [Person("1", "Марина Сергеевна Козлова", "client"), Person("2", "Игорь", "support")]
    said = talk(
        (CLIENT, "Игорь, у меня нет интернета. Это Марина Сергеевна."),
        (OPERATOR, "Марина Сергеевна, продиктуйте номер."),
        (CLIENT, "Семь."),
        (OPERATOR, "Я передам мастеру, что Марина Сергеевна ждёт. Спасибо, Марина Сергеевна!"),
        people=people,
    )
    assert votes(said)["address_by_name"].value == 2


def test_the_name_given_when_asked_is_the_clients_whatever_it_is() -> None:
    said = talk(
        (OPERATOR, "Hi! Whom am I speaking with?"),
        (CLIENT, "Bronwyn. It's about the lamp."),
        (OPERATOR, "Bronwyn, could you tell me more?"),
        (CLIENT, "It broke."),
        (OPERATOR, "I'm sorry, Bronwyn. Take care."),
        language="en",
    )
    assert votes(said)["address_by_name"].value == 2


def test_colleagues_who_are_called_by_name_are_not_the_client() -> None:
    sides = Sides({CLIENT: "client", OPERATOR: "employee", "SPEAKER_02": "employee"}, 1.0)
    said = talk(
        (CLIENT, "This is Lek Suwan, the till is dead."),
        (OPERATOR, "Let me bring in my lead. Nadia, can you join?"),
        ("SPEAKER_02", "Hi there. Lek, I need one more thing."),
        (CLIENT, "Sure."),
        (OPERATOR, "Thanks, Lek."),
        language="en",
    )
    assert votes(said, sides)["address_by_name"].value == 2


def test_the_signature_of_a_mail_gives_a_name_and_closes() -> None:
    mail = "Накладные отправили.\n\nС уважением,\nО. Пахомов"
    found = votes(talk((CLIENT, "Где накладные?"), (OPERATOR, mail), kind="email"))
    assert found["operator_self_intro"].value is True
    assert found["farewell"].value is True
    assert found["greeting"].value is False


def test_asking_for_the_client_by_name_is_a_call_even_without_a_question_mark() -> None:
    people = [Person("1", "Тимур Валеев", "client")]
    said = talk((CLIENT, "алло да"), (OPERATOR, "это тимур валеев"), (CLIENT, "ну допустим"), people=people)
    assert votes(said)["address_by_name"].value == 1


@pytest.mark.parametrize(
    "text",
    [
        "Hello, Acme Lamps, I'm Kate, how can I help?",
        "Hello, this is Kate of Acme Lamps.",
        "Hello, Kate from Acme Lamps.",
    ],
)
def test_an_operator_introduces_themselves_with_the_companys_name(text: str) -> None:
    assert says(text, "en", "operator_self_intro") is True


def test_an_operator_introduces_themselves_by_role_and_name() -> None:
    assert says("Акме, оператор Екатерина, слушаю", "ru", "operator_self_intro") is True


@pytest.mark.parametrize(
    "text",
    [
        "Good morning sir. Could you give me the order number, please? Thank you sir.",
        "sir could you give me the order number please thank you madam",
        "Sir, one moment. Yes, ma'am.",
    ],
)
def test_a_title_alone_is_no_name(text: str) -> None:
    assert says(text, "en", "address_by_name", client="Hi, my name is Sarah.") == 0


def test_who_is_thanked_for_calling_is_called_by_the_name_behind() -> None:
    said = says("Спасибо, что позвонили Марина.", "ru", "address_by_name", client="Меня зовут Марина.")
    assert said == 1
