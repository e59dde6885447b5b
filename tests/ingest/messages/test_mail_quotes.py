from __future__ import annotations

import pytest

from ingest.messages.mail_html import to_text
from ingest.messages.mail_quotes import Earlier, own_text


def answer(text: str, earlier: Earlier | None = None, *, is_reply: bool = True, is_forward: bool = False) -> str:
    return own_text(text, "ivan@roof.example", earlier or Earlier(), is_reply=is_reply, is_forward=is_forward)


def earlier_mail(text: str) -> Earlier:
    earlier = Earlier()
    earlier.add(text, "anna@client.example")
    return earlier


HISTORIES = {
    "gmail": "On Tue, 3 Mar 2026 at 10:15, Kate Brown <kate@client.example> wrote:\n> Can you come?\n> Kate",
    "gmail, wrapped": "On Tue, 3 Mar 2026 at 10:15, Katherine Brown\n<kate@client.example> wrote:\n\n> Can you?",
    "outlook": "From: Kate <kate@client.example>\nSent: March 3, 2026 10:15 AM\nTo: Tom\nSubject: Roof\n\nCan you?",
    "outlook, old": "-----Original Message-----\nFrom: kate@client.example\nSent: today\n\nCan you?",
    "outlook, rule": "________________________________\nОт: Анна <a@b.example>\nДата: 3 марта\nКому: Том\n\nДа?",
    "gmail, russian": "вт, 3 мар. 2026 г. в 10:15, Анна Петрова <anna@client.example>:\n\n> Приедете?",
    "thunderbird": "03.03.2026 10:15, Анна Петрова пишет:\n> Приедете?",
    "yandex": '03.03.2026, 10:15, "Анна Петрова" <anna@client.example>:\nПриедете?',
    "mail.ru": "> Вторник, 3 марта 2026, 10:15 +03:00 от Анна <anna@client.example>:\n> \n> Приедете?",
    "mail.ru, unmarked": "Вторник, 3 марта 2026, 10:15 +03:00 от Анна <anna@client.example>:\n\nПриедете?",
    "apple": "3 марта 2026 г., в 10:15, Анна <anna@client.example> написал(а):\n\n> Приедете?",
    "the bat": "Вы писали 3 марта 2026 г., 10:15:\n\nАП> Приедете?",
    "signature": "-- \nИван\n+7 495 000-00-00",
    "telephone": "Отправлено с iPhone\n\n> 3 марта 2026 г., в 10:15, Анна <a@b.example> написал(а):\n> \n> Приедете?",
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=list(HISTORIES))
def test_what_an_earlier_mail_said_is_taken_away(history: str) -> None:
    assert answer(f"Да, приедем в пятницу.\n\nИван\n\n{history}") == "Да, приедем в пятницу.\n\nИван"


def test_answers_between_quoted_lines_stay() -> None:
    assert answer("> Приедете?\nДа.\n> Сколько?\n2 000 рублей.") == "Да.\n2 000 рублей."


@pytest.mark.parametrize(
    "text",
    [
        "Вот что писал клиент 3 марта:\nкрыша течёт.",
        "On 3 March the supplier wrote to us:\nthe price is the same.",
        "От: нас нужен замерщик.\nКому: решим.",
        "Price from: 10:15 to 12:30:\nall fine",
        "Смета\n--------------------\nкрыша 5\n\nС уважением,\nИван",
    ],
)
def test_text_that_only_looks_a_little_like_history_stays(text: str) -> None:
    assert answer(text) == text


def test_quoted_lines_of_a_mail_that_answers_none_stay() -> None:
    assert answer("They say:\n> closed on Monday", is_reply=False) == "They say:\nclosed on Monday"


def test_a_forward_keeps_its_original_unless_the_thread_has_it() -> None:
    original = "Крыша течёт с понедельника, приезжайте скорее, вода на кухне."
    text = f"Посмотри\n\n-------- Пересылаемое сообщение --------\n03.03.2026, 10:15, Анна <a@b.example>:\n\n{original}"
    assert answer(text, is_reply=False, is_forward=True) == text
    assert answer(text, earlier_mail(original), is_reply=False, is_forward=True) == "Посмотри"


def test_an_earlier_text_at_the_end_is_taken_away_though_nothing_marks_it() -> None:
    question = "Добрый день, сколько будет стоить забор длиной сорок метров?"
    assert answer(f"Сто тысяч.\n\n{question}", earlier_mail(question)) == "Сто тысяч."
    assert answer(f"Сто тысяч.\n\n{question}") == f"Сто тысяч.\n\n{question}"


def test_a_mail_of_nothing_but_quotation_keeps_it_where_it_is_not_known() -> None:
    assert answer("> Приедете в эту пятницу?") == "Приедете в эту пятницу?"
    assert answer("> Приедете в эту пятницу?", earlier_mail("Приедете в эту пятницу?")) == ""


@pytest.mark.parametrize(
    "quote",
    [
        '<blockquote type="cite">Приедете?</blockquote>',
        '<div class="gmail_quote"><div>вт, 3 мар. 2026 г. в 10:15, Анна &lt;a@b.example&gt;:</div>'
        '<blockquote style="border-left:1px solid">Приедете?<blockquote>А?</blockquote></blockquote></div>',
        '<div id="divRplyFwdMsg"><b>От:</b> Анна &lt;a@b.example&gt;<br><b>Отправлено:</b> 3 марта 2026 г. 10:15<br>'
        "<b>Кому:</b> Иван<br><b>Тема:</b> Крыша</div><div>Приедете?</div>",
        '<div style="border:none;border-top:solid #E1E1E1 1.0pt"><p><b>From:</b> Kate<br><b>Sent:</b> today<br>'
        "<b>To:</b> Tom<br><b>Subject:</b> x</p></div><p>Приедете?</p>",
        '<div class="gmail_signature">Иван Орлов<br>+7 495 000-00-00</div>',
    ],
)
def test_quotations_in_html_are_taken_away(quote: str) -> None:
    assert answer(to_text(f"<html><body><p>Да, приедем.</p>{quote}</body></html>")) == "Да, приедем."


def test_an_indented_paragraph_in_html_is_no_quotation() -> None:
    html = '<p>Смета:</p><blockquote style="margin:0 0 0 40px;border:none;padding:0px">крыша</blockquote>'
    assert answer(to_text(html)).split() == ["Смета:", "крыша"]


def test_the_rest_of_html_after_a_quotation_is_the_writers_own() -> None:
    assert answer(to_text("<blockquote>Приедете?</blockquote><p>Да.</p>")) == "Да."
