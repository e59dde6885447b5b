"""Greeting, introduction, names, thanks and goodbye: the words that people use, and those that only look alike."""

from __future__ import annotations

import pytest

from ingest.analysis.catalogs import Language
from ingest.analysis.conversation import Company
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, says, talk, votes

SAID: list[tuple[str, Language, bool, list[str]]] = [
    (
        "greeting",
        "ru",
        True,
        [
            "здравствуйте вы позвонили в ромашку",
            "Доброе утро, коллеги из закупок!",
            "добрый вечерок",
            "Здравия желаю!",
            "Приветствуем вас в чате",
            "Мария, рад вас слышать, добрый",
            "Здравствуй, Паша",
            "доброго вечера, это ромашка",
            "Уважаемая Ольга Петровна!",
            "вечер добрый",
        ],
    ),
    (
        "greeting",
        "ru",
        False,
        [
            "да слушаю",
            "Алло, говорите",
            "Ромашка, оператор Света",
            "передавайте привет мужу",
            "Чем помочь?",
            "приветственный бонус вам начислен",
            "вам повезло, добрый человек нашел",
            "Сегодня добрых новостей нет",
            "каждое доброе дело",
        ],
    ),
    (
        "greeting",
        "en",
        True,
        [
            "Hey Sam, got a sec",
            "Good mornin, Acme",
            "Hello and welcome to Acme",
            "Dear Mr Jones,\nplease find",
            "Evening, what can I do for you",
            "hiya love",
            "G'day, Bloom here",
            "Good afternoon",
        ],
    ),
    (
        "greeting",
        "en",
        False,
        [
            "Acme, how can I help",
            "Yes?",
            "This afternoon works",
            "He will be there in the morning",
            "hi-fi systems are downstairs",
            "I said hello to him yesterday",
            "Speaking.",
            "It is a high price",
        ],
    ),
    (
        "thanks",
        "ru",
        True,
        [
            "благодарю за ожидание",
            "спасибочки",
            "Спс, принял",
            "премного благодарны",
            "Спасибо вам огромное",
            "благодарим за терпение",
        ],
    ),
    (
        "thanks",
        "ru",
        False,
        [
            "не за что",
            "пожалуйста",
            "не благодарите",
            "благодаря этому тарифу вы экономите",
            "скажите спасибо что живы",
        ],
    ),
    (
        "thanks",
        "en",
        True,
        [
            "I appreciate your patience",
            "thanks a bunch",
            "Thank you kindly",
            "ta very much",
            "much appreciated",
            "We are grateful for your business",
        ],
    ),
    (
        "thanks",
        "en",
        False,
        ["no worries", "you are welcome", "thanksgiving hours apply", "no thanks to you", "thankfully it works"],
    ),
    (
        "farewell",
        "ru",
        True,
        [
            "всего хорошего",
            "до связи",
            "хорошего вечера вам",
            "до понедельника",
            "ну давайте, пока",
            "Всего!",
            "Хороших выходных!",
            "до свиданья",
            "С наилучшими пожеланиями,\nИрина",
            "счастливо оставаться",
            "до встречи в среду",
            "увидимся в четверг",
            "С ув., Инна",
            "доброй ночи",
            "хорошей дороги",
        ],
    ),
    (
        "farewell",
        "ru",
        False,
        [
            "пока не знаю",
            "пока ждем",
            "до понедельника сделаем",
            "пишите если что",
            "удачи в этом нет",
            "всего три штуки",
            "до завтра подготовлю документ",
            "хорошего качества мебель",
            "приятного аппетита любителям",
        ],
    ),
    (
        "farewell",
        "en",
        True,
        [
            "have a good one",
            "bye now",
            "cheers, bye",
            "See you Friday",
            "take it easy",
            "Enjoy your weekend",
            "Warm regards,\nAnn",
            "All the best,\nTom",
            "talk soon",
            "Have a blessed day",
            "Best,\nTom",
            "Catch you later",
            "speak soon",
            "night night",
            "Cheers,\nDan",
        ],
    ),
    (
        "farewell",
        "en",
        False,
        [
            "let me know",
            "standby mode is on",
            "by and by we will see",
            "I will take care of it",
            "the best option is this",
            "we had a good day",
            "it says goodbye windows",
            "see you need a plan",
        ],
    ),
    (
        "ask_client_name",
        "ru",
        True,
        [
            "подскажите как ваше имя отчество",
            "а звать вас как",
            "На чьё имя оформляем?",
            "фамилию назовите пожалуйста",
            "и как я могу обращаться",
            "Как вас по имени?",
            "Могу узнать ваше имя?",
            "а вы у нас кто",
            "Можно ваше имя?",
            "с кем имею честь?",
        ],
    ),
    (
        "ask_client_name",
        "ru",
        False,
        [
            "как называется фирма",
            "имя файла какое",
            "назовите номер заказа",
            "как зовут вашу собаку",
            "введите имя пользователя",
            "как вас найти",
        ],
    ),
    (
        "ask_client_name",
        "en",
        True,
        [
            "and who am I speaking to",
            "can I take a name",
            "what was the name again",
            "Your last name please",
            "Could I get your first and last name",
            "may I ask who is calling",
            "What do I call you?",
            "and you are",
            "who is this for",
            "name please",
        ],
    ),
    (
        "ask_client_name",
        "en",
        False,
        [
            "what is the name of your dog",
            "what is your address",
            "name your price",
            "who is your provider",
            "what is the file name",
        ],
    ),
    (
        "brand_mention",
        "ru",
        True,
        ["ромашка слушаю", "компания ромашка", "это из ромашки", "клиника Ромашка, Инна", "звоню от ромашки"],
    ),
    (
        "operator_self_intro",
        "ru",
        True,
        [
            "меня зовут Жанна",
            "Менеджер Кирилл, слушаю",
            "это Света из ромашки",
            "Оператор Зинаида",
            "моё имя Антон",
            "Ромашка, Инна, слушаю",
            "вас приветствует Олег",
            "вас беспокоит Дарья",
            "Я Никита, ваш менеджер",
            "зовут меня Эльвира",
        ],
    ),
    (
        "operator_self_intro",
        "ru",
        False,
        ["это ромашка", "слушаю вас", "менеджер перезвонит", "я оператор", "соединю с Кириллом"],
    ),
    (
        "operator_self_intro",
        "en",
        True,
        [
            "this is Priyanka",
            "Marco here",
            "my name is Oluwaseun",
            "Acme, Bob speaking",
            "I'm Dana with Acme",
            "you are through to Tiff",
            "Hi its jen from acme",
            "Name is Walt",
            "Dana at the front desk here",
            "Thanks for calling Acme, this is Xochitl, how can I help",
        ],
    ),
    (
        "operator_self_intro",
        "en",
        False,
        [
            "this is acme",
            "this is ridiculous",
            "speaking",
            "Bob will call you",
            "I am the manager",
            "this is a recorded line",
        ],
    ),
]
SAID += [
    ("greeting", "ru", True, ["Вас приветствует Акме, оператор Екатерина.", "вас приветствует ромашка"]),
    ("greeting", "ru", False, ["Никаких приветствий", "Без здравствуйте, сразу к делу"]),
    ("greeting", "en", False, ["No greetings.", "without any greetings", "I won't say hello"]),
    ("thanks", "en", False, ["I won't thank you.", "I'm not going to thank you", "No thanks to you", "don't thank me"]),
    ("thanks", "en", True, ["I can't thank you enough.", "no problem, thank you", "no, thank you"]),
    ("thanks", "ru", False, ["Я вас не благодарю.", "я не благодарю вас", "никакого спасибо", "без благодарности"]),
    ("thanks", "ru", True, ["не вопрос, благодарю"]),
    ("farewell", "en", False, ["No goodbye.", "without a goodbye"]),
]
CASES = [(code, language, value, text) for code, language, value, texts in SAID for text in texts]


@pytest.mark.parametrize(("code", "language", "value", "text"), CASES)
def test_what_is_said_counts_and_what_looks_like_it_does_not(
    code: str, language: Language, value: bool, text: str
) -> None:
    kind = "email" if "\n" in text else "call"
    assert says(text, language, code, kind=kind) is value


@pytest.mark.parametrize(
    ("name", "text", "language", "value"),
    [
        ("Северный Ветер", "вы звоните в Северном Ветре", "ru", True),
        ("УралЛинк", "служба поддержки урал линк слушаю", "ru", True),
        ("ООО «Ёлка»", "Это «Елка», добрый день", "ru", True),
        ("Клиника Айболит", "Айболит, регистратура", "ru", True),
        ("Tallyboard", "Hello from tally board", "en", True),
        ("Prairie Solar", "thanks for calling Prairie Solar", "en", True),
        ("Технопарк", "technopark, good morning", "en", True),
        ("Северный Ветер", "ветер сегодня северный был", "ru", False),
        ("Автосервис Колесо", "Снимем у вас заднее колесо", "ru", False),
        ("Bloom", "roses bloom in june so we plant them early and water them a lot", "en", False),
    ],
)
def test_a_brand_is_known_inflected_run_together_and_in_another_alphabet(
    name: str, text: str, language: Language, value: bool
) -> None:
    lines = [(OPERATOR, "да"), (OPERATOR, "вот"), (CLIENT, "да"), (OPERATOR, text)]
    if value:
        lines = lines[2:]
    found = votes(talk((CLIENT, "да"), *lines, language=language, company=Company((name,))))["brand_mention"]
    assert found.value is value


def test_a_line_check_in_the_middle_is_no_greeting() -> None:
    said = talk((OPERATOR, "Yes?"), (CLIENT, "It's Tom."), (OPERATOR, "Hello? Are you there?"), language="en")
    assert votes(said)["greeting"].value is False
