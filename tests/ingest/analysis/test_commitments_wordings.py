"""Unusual wordings of promises, what only sounds like one, and deadlines that hang on what was agreed.

Calls are on Tuesday, 10 March 2026, 11:20 in Moscow.
"""

from __future__ import annotations

import pytest

from ingest.analysis.findings import Commitment, Sides
from ingest.analysis.rules.commitments import find_commitments
from tests.ingest.analysis.talk import talk

PROMISES = [
    ("с меня звонок в четверг", "2026-03-12"),
    ("за мной акт сверки, завтра будет у вас", "2026-03-11"),
    ("ждите до конца дня письмо", "2026-03-10"),
    ("завтра до одиннадцати Олег у вас", "2026-03-11T11:00"),
    ("всё, договорились, в пятницу счёт у вас", "2026-03-13"),
    ("завтра отзвонится вам курьер", "2026-03-11"),
    ("завтра до двенадцати бригада будет на месте", "2026-03-11T12:00"),
    ("ваучер будет в личном кабинете к двадцатому", "2026-03-20"),
    ("держим за вами бронь до четверга", "2026-03-12"),
    ("цена до конца месяца не поменяется", "2026-03-31"),
    ("подъём сделаем за наш счёт", ""),
    ("пересчёт бухгалтерия сделает за два дня после фото", ""),
    ("ответ вам дадут до пятницы", "2026-03-13"),
    ("я спрошу у тренера и завтра вам отпишусь, может перенесёт", "2026-03-11"),
    ("Счёт я сегодня до четырёх занесу, подпишете?", "2026-03-10T16:00"),
    ("Он предупредит вас заранее", ""),
    ("понедельник, 16 марта, 16:15, наберу Марка", "2026-03-16T16:15"),
    ("You'll hear from us by Thursday", "2026-03-12"),
    ("Consider it done by five", "2026-03-10T17:00"),
    ("A replacement is going out to you tomorrow", "2026-03-11"),
    ("You have my word, it ships tomorrow", "2026-03-11"),
    ("We will hold that price for you until the end of the month", "2026-03-31"),
    ("Let me chase that up and come back to you by Friday", "2026-03-13"),
    ("I owe you a call on Monday", "2026-03-16"),
    ("I'll see to it that the fee is waived", ""),
    ("I will personally look after this", ""),
    ("Our driver will give you a ring half an hour before", ""),
    ("the engineer'll call you tomorrow", "2026-03-11"),
    ("I'm couriering it at my own cost", ""),
    ("You'll have a written quote within three working days of the survey", ""),
]
NO_PROMISES = [
    "При заказе до двух доставим в тот же день",
    "Может быть завтра получится отправить, но обещать не буду",
    "если пришлёте показания мы пересчитаем это не проблема",
    "Давайте замерщик приедет завтра",
    "Я отгружаю в шесть утра",
    "попробую согласовать пятьдесят на пятьдесят",
    "Разберёмся.",
    "буду в офисе до шести",
    "Перезвоню вам завтра или лучше в среду?",
    "Our shop will be closed on Monday",
    "The office will be open until six",
    "You'll have to pay by Thursday",
    "We can't guarantee it'll arrive by Friday",
    "I'll be on holiday until Monday",
    "The price will go up on the first of April",
    "Could I send it tomorrow, is that okay?",
]


def _found(lines: str, kind: str = "call") -> tuple[Commitment, ...]:
    """E is of the company, C the client; everybody is of the company in a meeting."""
    conversation = talk(lines, kind=kind)
    labels = {turn.label for turn in conversation.turns if turn.label}
    if kind != "meeting":
        labels.add("C")
    sides = Sides({label: "client" if label == "C" else "employee" for label in labels}, 1.0)
    return find_commitments(conversation, sides)


def _deadlines(lines: str, kind: str = "call") -> list[str]:
    return [(one.deadline or "")[:16] for one in _found(lines, kind)]


@pytest.mark.parametrize(("text", "deadline"), PROMISES)
def test_a_promise_in_unusual_words_is_found_with_its_deadline(text: str, deadline: str) -> None:
    assert _deadlines(f"E: {text}\nC: да") == [deadline]


@pytest.mark.parametrize("text", NO_PROMISES)
def test_policies_doubts_habits_and_states_are_no_promises(text: str) -> None:
    assert _found(f"E: {text}\nC: да") == ()


@pytest.mark.parametrize(
    ("lines", "deadlines"),
    [
        ("C: переезд двадцать первого марта\nE: водитель за час позвонит", ["2026-03-21"]),
        ("E: завтра с десяти до двух\nC: он спит до одиннадцати\nE: мастер за полчаса наберёт", ["2026-03-11"]),
        ("C: приём у нас пятого апреля\nE: накануне пришлём вам сообщение", ["2026-04-04"]),
        ("E: окошко есть сегодня в шесть\nC: подходит\nE: врача до приёма об этом предупрежу", ["2026-03-10"]),
        ("E: Остальное заменим до 23 марта, брак заберём тем же рейсом.", ["2026-03-23", "2026-03-23"]),
        ("E: Во вторник приедет мастер.\nE: Смету пришлю в тот же вечер.", ["2026-03-17", "2026-03-17"]),
        ("E: The survey is on the eighteenth.\nE: He'll give you a bell the day before.", ["2026-03-17"]),
        ("C: Monday is best.\nE: Craig will text you when he's twenty minutes away.", ["2026-03-16"]),
        ("C: I'd pay on Friday.\nE: I'll hold the late fee until then.", []),
        ("E: I'll swing by your shop at noon and I'll bring the samples.", ["2026-03-10T12:00", "2026-03-10T12:00"]),
    ],
)
def test_a_deadline_that_hangs_on_an_agreed_day_is_that_day(lines: str, deadlines: list[str]) -> None:
    assert _deadlines(lines) == deadlines


def test_a_notice_with_no_day_agreed_has_no_deadline() -> None:
    assert _deadlines("E: водитель за час вам позвонит\nC: ладно") == [""]


@pytest.mark.parametrize(
    "settled", ["friday morning then, about ten thirty", "ten thirty friday morning then", "okay, friday at 10:30"]
)
def test_a_time_that_is_settled_just_after_is_the_deadline(settled: str) -> None:
    lines = f"E: i'm gonna call you back friday afternoon\nC: mornings are better for me\nE: {settled}"
    assert _deadlines(lines) == ["2026-03-13T10:30"]


def test_what_else_is_said_after_moves_no_deadline() -> None:
    lines = "E: Завтра позвоню вам.\nC: Хорошо.\nE: Тогда следующая встреча у нас в понедельник в десять."
    assert _deadlines(lines) == ["2026-03-11"]


def test_what_is_done_once_something_comes_has_no_day_of_the_sentence_before() -> None:
    lines = "A: Счёт я сегодня до четырёх занесу, подпишешь?\nB: Подпишу, как только увижу."
    assert [one.deadline for one in _found(lines, "meeting") if one.quote.label == "B"] == [None]


def test_a_day_that_is_booked_is_no_deadline_of_the_booking() -> None:
    assert _deadlines("E: Машину закажу на субботу, на восемь утра.") == [""]


def test_steps_of_one_promise_are_one_and_two_things_are_two() -> None:
    assert _deadlines("A: К среде сделаю, пришлю в общий чат.\nB: Ок.", "meeting") == ["2026-03-11"]
    lines = "E: The $336 will be credited by Friday, and you'll get a corrected copy from me tomorrow."
    assert _deadlines(lines) == ["2026-03-13", "2026-03-11"]


def test_an_announced_meeting_is_no_promise_of_who_announces_it() -> None:
    assert _found("A: Встречаемся в следующий понедельник.\nB: Ок.", "meeting") == ()
