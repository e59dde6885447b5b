"""Deadlines in words and figures, resolved against Tuesday, 10 March 2026, 11:20 in Moscow."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from ingest.analysis.rules.deadlines import Deadline, find_deadline, find_deadlines

MOSCOW = ZoneInfo("Europe/Moscow")
SAID_AT = datetime(2026, 3, 10, 8, 20, tzinfo=UTC)

RUSSIAN = [
    ("перезвоню завтра до обеда", "2026-03-11"),
    ("отправим до пятницы", "2026-03-13"),
    ("сделаем в течение двух часов", "2026-03-10T13:20"),
    ("пришлю к пятнадцатому", "2026-03-15"),
    ("пятнадцатого привезём", "2026-03-15"),
    ("на следующей неделе всё сделаем", "2026-03-20"),
    ("до конца месяца закроем", "2026-03-31"),
    ("наберу вас через полчаса", "2026-03-10T11:50"),
    ("завтра в 15:00", "2026-03-11T15:00"),
    ("в понедельник", "2026-03-16"),
    ("во вторник", "2026-03-17"),
    ("в четверг к трём часам дня", "2026-03-12T15:00"),
    ("послезавтра утром", "2026-03-12"),
    ("сегодня до конца дня", "2026-03-10"),
    ("в течение трёх рабочих дней", "2026-03-13"),
    ("в течение пяти рабочих дней", "2026-03-17"),
    ("через 3-5 рабочих дней", "2026-03-17"),
    ("через неделю", "2026-03-17"),
    ("двадцать первого марта", "2026-03-21"),
    ("к 15 апреля", "2026-04-15"),
    ("20 января подпишем", "2027-01-20"),
    ("15.04.2026 отгрузим", "2026-04-15"),
    ("завтра в половине третьего", "2026-03-11T14:30"),
    ("сегодня без четверти пять", "2026-03-10T16:45"),
    ("к шести вечера", "2026-03-10T18:00"),
    ("до шести напишу вам", "2026-03-10T18:00"),
    ("минут через двадцать", "2026-03-10T11:40"),
    ("в следующий вторник", "2026-03-17"),
    ("в среду на следующей неделе", "2026-03-18"),
    ("ближе к вечеру", "2026-03-10"),
    ("утром", "2026-03-11"),
    ("до двадцатого числа", "2026-03-20"),
    ("через полтора часа", "2026-03-10T12:50"),
    ("завтра с десяти до двенадцати", "2026-03-11T12:00"),
    ("завтра, одиннадцатого, к десяти утра", "2026-03-11T10:00"),
    ("через месяц", "2026-04-10"),
    ("в час дня", "2026-03-10T13:00"),
    ("в течение суток", "2026-03-11"),
    ("до конца недели", "2026-03-13"),
    ("сегодня или завтра", "2026-03-11"),
    ("Так и сделаем. 16-го напишу", "2026-03-16"),
    ("до пятнадцатого ограничения не будет", "2026-03-15"),
    ("к семи готова будет", "2026-03-10T19:00"),
    ("к выходным", "2026-03-13"),
    ("до ужина", "2026-03-10"),
]
ENGLISH = [
    ("by EOD Tuesday", "2026-03-17"),
    ("in half an hour", "2026-03-10T11:50"),
    ("within 3 business days", "2026-03-13"),
    ("by the 15th", "2026-03-15"),
    ("tomorrow before noon", "2026-03-11T12:00"),
    ("on Monday at 3 pm", "2026-03-16T15:00"),
    ("next Tuesday", "2026-03-17"),
    ("next week", "2026-03-20"),
    ("early next week", "2026-03-16"),
    ("by the end of the week", "2026-03-13"),
    ("in an hour and a half", "2026-03-10T12:50"),
    ("in a couple of days", "2026-03-12"),
    ("within 24 hours", "2026-03-11T11:20"),
    ("this afternoon", "2026-03-10"),
    ("tonight", "2026-03-10"),
    ("the day after tomorrow", "2026-03-12"),
    ("the twenty-first of March", "2026-03-21"),
    ("Friday the thirteenth at ten", "2026-03-13T10:00"),
    ("by close of business Thursday", "2026-03-12"),
    ("at half past three", "2026-03-10T15:30"),
    ("between ten and two tomorrow", "2026-03-11T14:00"),
    ("a week from Friday", "2026-03-20"),
    ("first thing tomorrow", "2026-03-11"),
    ("within the hour", "2026-03-10T12:20"),
    ("Wednesday at three thirty", "2026-03-11T15:30"),
    ("over the weekend", "2026-03-15"),
    ("in 10 to 15 minutes", "2026-03-10T11:35"),
    ("by 5pm", "2026-03-10T17:00"),
    ("at nine", "2026-03-10T21:00"),
    ("at ten", "2026-03-11T10:00"),
    ("by the weekend", "2026-03-13"),
    ("ten thirty Friday morning", "2026-03-13T10:30"),
    ("for the eighteenth in the morning", "2026-03-18"),
    ("by six this evening", "2026-03-10T18:00"),
]
NONE = [
    "",
    "договор от 15 марта мы видели",
    "в прошлую пятницу",
    "два дня назад",
    "третий подъезд до пятого этажа",
    "к трём подъездам",
    "в скором времени",
    "заплатил пять тысяч",
    "не раньше пятницы",
    "позвонит за полчаса до приезда",
    "31 февраля",
    "last Friday",
    "two days ago",
    "soon",
    "I have five dogs",
    "we may march on the second floor",
    "in a second",
    "you can pay by card at 5 percent",
    "every Monday",
    "99:99",
    "за два дня после фото",
    "within three working days of the survey",
    "до десятого этажа",
    "the evening before",
]


def _found(text: str, zone: ZoneInfo = MOSCOW, said_at: datetime = SAID_AT) -> Deadline | None:
    return find_deadline(text, said_at, zone, "ru")


@pytest.mark.parametrize(("text", "expected"), RUSSIAN + ENGLISH)
def test_words_of_time_become_a_day_or_a_time(text: str, expected: str) -> None:
    found = _found(text)
    assert found is not None
    assert found.iso == expected + (":00+03:00" if "T" in expected else "")
    assert text[found.start : found.end] == found.text


@pytest.mark.parametrize("text", NONE)
def test_what_names_no_future_time_has_no_deadline(text: str) -> None:
    assert _found(text) is None


def test_times_are_local_and_follow_the_summer_time_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    before = datetime(2026, 3, 28, 10, 0, tzinfo=UTC)
    found = _found("tomorrow at 3 pm", berlin, before)
    assert found is not None
    assert found.iso == "2026-03-29T15:00:00+02:00"


def test_today_is_the_day_where_the_account_is() -> None:
    late = datetime(2026, 3, 10, 22, 30, tzinfo=UTC)
    assert (found := _found("сегодня", MOSCOW, late)) is not None
    assert found.iso == "2026-03-11"


def test_figures_with_a_slash_are_read_as_in_the_country() -> None:
    assert (there := _found("by 4/5", ZoneInfo("America/Chicago"))) is not None
    assert (here := _found("by 4/5", ZoneInfo("Europe/London"))) is not None
    assert (there.iso, here.iso) == ("2026-04-05", "2026-05-04")


def test_a_limit_is_taken_before_another_time() -> None:
    found = _found("сегодня поговорю с логистами и до пятницы напишу")
    assert found is not None
    assert (found.text, found.iso) == ("до пятницы", "2026-03-13")


def test_a_day_and_a_time_that_stand_apart_are_one_deadline() -> None:
    found = _found("в четверг привезём, с девяти до двенадцати")
    assert found is not None
    assert found.iso == "2026-03-12T12:00:00+03:00"


def test_working_days_leave_out_the_weekend_they_begin_on() -> None:
    saturday = datetime(2026, 3, 14, 9, 0, tzinfo=UTC)
    assert (found := _found("within 1 business day", MOSCOW, saturday)) is not None
    assert found.iso == "2026-03-16"


@pytest.mark.parametrize(
    "text",
    [
        "завтра \x00 в \u202e пятницу İ",
        "1" * 100_000,
        "завтра " * 20_000,
        "через 5 - 5 - " * 10_000,
        "twenty " * 20_000,
        "\ud800 tomorrow",
        "# 15 @ ₽ ¹²³ ٣ завтра",
        "9999 лет через 9999 месяцев 99.99.9999",
        "через 9999 лет",
    ],
)
def test_hostile_texts_end_in_days_that_exist(text: str) -> None:
    for found in find_deadlines(text, SAID_AT, MOSCOW, "ru"):
        assert text[found.start : found.end] == found.text
        assert date(2026, 3, 10) <= date.fromisoformat(found.iso[:10]) < date(2037, 1, 1)
