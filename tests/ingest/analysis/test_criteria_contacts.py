"""Contacts that are exchanged, and whose they are."""

from __future__ import annotations

import pytest

from ingest.analysis.catalogs import Language
from ingest.analysis.conversation import Company
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, says, talk, votes

SAID: list[tuple[str, Language, bool, list[str]]] = [
    (
        "contact_exchange",
        "ru",
        True,
        [
            "оставьте номерок",
            "по какому номеру вас набрать",
            "скину в ватсап",
            "наша почта инфо собака ромашка точка ру",
            "на этот номер перезвонить?",
            "можно ваш телефон",
            "восемь девятьсот двенадцать тридцать четыре пятьдесят шесть позвоните",
            "Номер у вас не изменился?",
            "в телеграм вам напишу",
            "куда вам лучше написать, на почту?",
            "продублируйте на почту нам",
        ],
    ),
    (
        "contact_exchange",
        "ru",
        False,
        [
            "номер заказа 445566",
            "мы вам позвоним",
            "курьер позвонит",
            "почта россии доставит",
            "экран телефона разбит",
            "номер вагона семь",
            "телефон какой модели",
            "ваш номер в очереди третий",
            "смартфон самсунг",
            "у вас тариф для телефона",
        ],
    ),
    (
        "contact_exchange",
        "en",
        True,
        [
            "what number can I reach you on",
            "is 555 0134 still good for a call",
            "shoot us an email at help@acme.example",
            "can I get a callback number",
            "text us at this number",
            "best email for you?",
            "our direct line is five five five zero one two two",
            "I have your cell as ending 22",
            "message us on WhatsApp",
        ],
    ),
    (
        "contact_exchange",
        "en",
        False,
        [
            "your order number is 5551234",
            "I will call you",
            "we will email you tomorrow",
            "the phone is out of stock",
            "phone screen is cracked",
            "order 4482910 shipped",
            "line two is down",
            "we got your email yesterday",
        ],
    ),
    (
        "official_contacts_only",
        "ru",
        False,
        [
            "Вот мой личный, запишите 8 900 000-11-22",
            "наберите меня на сотовый мой лучше",
            "пишите мне в личку в вк",
            "киньте на мой яндекс ящик",
            "мой вотсап такой же",
            "позвоните мне на домашний",
            "лучше сразу мне лично на мобильный",
            "скиньте мне в телегу",
            "моя почта ivan@mail.ru",
        ],
    ),
    (
        "official_contacts_only",
        "ru",
        True,
        [
            "зайдите в личный кабинет",
            "личный номер дать не могу",
            "ваш личный телефон указан",
            "напишите нам в ватсап компании",
            "мой рабочий номер 12",
            "мой добавочный 104",
            "ваш личный менеджер Инна",
            "пишите на общую почту",
            "пришлите в наш телеграм-бот",
            "лично вам позвоню",
            "это мой рабочий мобильный",
        ],
    ),
    (
        "official_contacts_only",
        "en",
        False,
        [
            "here is my personal cell",
            "just whatsapp me",
            "email me at bob@gmail.com",
            "hit me up on my own phone",
            "use my private email",
            "my home number is 555 0101",
            "call me on my mobile",
            "text my cell",
        ],
    ),
    (
        "official_contacts_only",
        "en",
        True,
        [
            "I can't give out personal numbers",
            "my work cell is 555 0101",
            "my extension is 12",
            "is that your personal email?",
            "call the office",
            "email me at bob@acme.example",
            "your home phone",
            "text us",
            "my direct line is 555 0133",
        ],
    ),
]
CASES = [(code, language, value, text) for code, language, value, texts in SAID for text in texts]


@pytest.mark.parametrize(("code", "language", "value", "text"), CASES)
def test_what_is_said_counts_and_what_looks_like_it_does_not(
    code: str, language: Language, value: bool, text: str
) -> None:
    kind = "email" if "\n" in text else "call"
    assert says(text, language, code, kind=kind) is value


def test_a_contact_that_the_client_gives_is_taken_down_with_the_operators_words_as_evidence() -> None:
    found = votes(talk((CLIENT, "Звоните на +7 900 000-12-34."), (OPERATOR, "Записала, спасибо.")))
    assert found["contact_exchange"].value is True
    assert found["contact_exchange"].quote is not None
    assert found["contact_exchange"].quote.text == "Записала, спасибо."


def test_a_signature_of_the_clients_mail_is_no_exchange() -> None:
    mail = "Where is it?\n\nGail\n+1 555 0100 22"
    found = votes(talk((CLIENT, mail), (OPERATOR, "Shipped."), kind="email", language="en"))
    assert found["contact_exchange"].value is False


def test_the_breach_itself_is_quoted() -> None:
    found = votes(talk((CLIENT, "ok"), (OPERATOR, "Sure. Text me on my own cell, 555 0137. Bye."), language="en"))
    vote = found["official_contacts_only"]
    assert vote.value is False
    assert vote.quote is not None
    assert vote.quote.text == "Text me on my own cell, 555 0137."


def test_the_companys_own_mailbox_at_a_public_provider_is_official() -> None:
    company = Company(("Ромашка",), contacts=("romashka@mail.ru",))
    said = [(CLIENT, "куда писать"), (OPERATOR, "Пишите на romashka@mail.ru")]
    assert votes(talk(*said, company=company))["official_contacts_only"].value is True
    assert votes(talk(*said))["official_contacts_only"].value is False


def test_the_clients_own_address_said_back_is_no_breach() -> None:
    said = talk((CLIENT, "мой адрес lena77@mail.ru"), (OPERATOR, "Отправлю на lena77@mail.ru"))
    assert votes(said)["official_contacts_only"].value is True


@pytest.mark.parametrize(
    ("language", "lines", "value"),
    [
        ("en", ("can i text it or is email better", "email", "okay"), True),
        ("en", ("Craig will text you, is it this number?", "Yes.", "Brilliant."), True),
        ("en", ("Shall he ring you?", "Landline's better, 555 0177.", "He'll have it tonight."), True),
        ("en", ("Anything else?", "it's jolene at shear genius dot example dot com", "got it"), True),
        ("en", ("What is the account number?", "555 0177 4", "Thanks."), False),
        ("ru", ("мастер за полчаса наберёт на какой", "пятьсот пятьдесят пять ноль один сорок", "хорошо"), True),
        ("ru", ("Телефон у вас прежний?", "Да.", "Хорошо."), True),
        ("ru", ("Назовите ИНН и цифры телефона.", "770000012345", "Сходится."), False),
        ("ru", ("Вход по номеру телефона.", "Ясно.", "Хорошо."), False),
    ],
)
def test_how_the_talk_came_to_figures_tells_whether_they_are_a_phone(
    language: Language, lines: tuple[str, str, str], value: bool
) -> None:
    asked, given, taken = lines
    said = talk((OPERATOR, asked), (CLIENT, given), (OPERATOR, taken), language=language)
    assert votes(said)["contact_exchange"].value is value


def test_a_phone_in_the_text_of_a_mail_is_taken_down_by_the_answer() -> None:
    said = talk(
        (CLIENT, "Hello,\n\nPlease send it to the broker in George Town, 555 0183.\n\nH. Gill"),
        (OPERATOR, "Dear Ms Gill,\n\nIt goes out tonight.\n\nKind regards,\nVanessa"),
        language="en",
        kind="email",
    )
    assert votes(said)["contact_exchange"].value is True
