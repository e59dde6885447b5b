"""Words of time in one alphabet for both languages: what the grammar of deadlines reads.

`#15` a number, `@15` an ordinal, `D5` Friday, `M3` March, `T1` tomorrow, `C15:00` a time on the clock, `X15.3` a date
in figures, `Uhour` a unit, `Pmorn` a part of the day. Other words stay as they are, in lower case, with ё as е.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?!\d)"
    r"|\d{1,2}:\d{2}(?!\d)"
    r"|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?(?![\d.]\d)"
    r"|\d+"
    r"|[ap]\.\s?m\b\.?"
    r"|[^\W\d_]+(?:['’][^\W\d_]+)?"
    r"|[^\w\s]"
)
_LONGEST_WORD = 24
_LONGEST_NUMBER = 4


def bag(words: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(words.split())


def _forms(words: str, endings: str) -> list[str]:
    return [stem + ending for stem in words.split() for ending in endings.split("|")]


def _table(rows: str) -> dict[str, str]:
    """`symbol: word word ...` by line."""
    table: dict[str, str] = {}
    for row in rows.strip().splitlines():
        symbol, _, words = row.partition(":")
        table.update(dict.fromkeys(words.split(), symbol.strip()))
    return table


SYMBOLS = _table(
    """
    T0: сегодня today
    T1: завтра tomorrow tmrw tmr tomorow
    T2: послезавтра
    Umin: минута минуту минуты минут минутку минуток минутах мин minute minutes min mins minutes'
    Uhour: час часа часу часов часик часика часиков часам ч hour hours hour's hours' hr hrs
    Uday: день дня дней дню дни денек днем сутки суток day days day's days'
    Unight: сутки суток суткам
    Uweek: неделя неделю недели недель неделе неделей недельку неделек нед week weeks week's weeks'
    Umonth: месяц месяца месяцев месяце месяцу month months month's months'
    Uquarter: квартал квартала кварталу квартале
    Uyear: год года году лет year years
    Wk: рабочий рабочего рабочих рабочему рабочем рабочие business working work
    Pmorn: утро утра утру утром morning mornin
    Paft: afternoon
    Peve: вечер вечера вечеру вечером вечерком evening night
    Pnight: ночь ночи ночью
    Pnoon: обед обеда обеду обедом lunch lunchtime
    """
) | {"quarter": "quarter", "пополудни": "pm", "pm": "pm", "am": "am", "a.m": "am", "p.m": "pm"}

for _number, _words in enumerate(
    (
        "понедельник понедельника понедельнику понедельнике пн monday mon",
        "вторник вторника вторнику вторнике вт tuesday tue tues",
        "среда среду среды среде ср wednesday weds",
        "четверг четверга четвергу четверге чт thursday thu thur thurs",
        "пятница пятницу пятницы пятнице пт friday fri",
        "суббота субботу субботы субботе сб saturday",
        "воскресенье воскресенья воскресенью вс sunday",
    ),
    1,
):
    SYMBOLS.update(dict.fromkeys(_words.split(), f"D{_number}"))
for _number, _words in enumerate(
    (
        "январь января январю январе янв january jan",
        "февраль февраля февралю феврале фев february feb",
        "март марта марту марте march mar",
        "апрель апреля апрелю апреле апр april apr",
        "май мая маю мае may",
        "июнь июня июню июне june jun",
        "июль июля июлю июле july jul",
        "август августа августу августе авг august aug",
        "сентябрь сентября сентябрю сентябре сен september sept sep",
        "октябрь октября октябрю октябре окт october oct",
        "ноябрь ноября ноябрю ноябре ноя november nov",
        "декабрь декабря декабрю декабре дек december dec",
    ),
    1,
):
    SYMBOLS.update(dict.fromkeys(_words.split(), f"M{_number}"))

CARDINALS: dict[str, float] = {"пара": 2, "пару": 2, "пары": 2, "парочку": 2, "couple": 2, "dozen": 12}
CARDINALS |= dict.fromkeys(("полтора", "полутора", "полторы"), 1.5)
for _value, _words in enumerate(
    (
        "ноль ноля zero oh",
        "один одна одно одного одной одному одним одну one",
        "два две двух двум двумя двое two",
        "три трех трем тремя трое three",
        "четыре четырех четырем четверо four",
        "пять пяти пятью five",
        "шесть шести six",
        "семь семи seven",
        "восемь восьми eight",
        "девять девяти nine",
        "десять десяти ten",
        "одиннадцать одиннадцати eleven",
        "двенадцать двенадцати twelve",
        "тринадцать тринадцати thirteen",
        "четырнадцать четырнадцати fourteen",
        "пятнадцать пятнадцати fifteen",
        "шестнадцать шестнадцати sixteen",
        "семнадцать семнадцати seventeen",
        "восемнадцать восемнадцати eighteen",
        "девятнадцать девятнадцати nineteen",
        "двадцать двадцати twenty",
    )
):
    CARDINALS.update(dict.fromkeys(_words.split(), _value))
for _value, _words in (
    (30, "тридцать тридцати thirty"),
    (40, "сорок сорока forty"),
    (50, "пятьдесят пятидесяти fifty"),
):
    CARDINALS.update(dict.fromkeys(_words.split(), _value))

ORDINALS: dict[str, int] = {"третьего": 3, "третьему": 3, "третьем": 3, "третье": 3, "третьей": 3}
_RUSSIAN_ORDINALS = (
    "перв втор . четверт пят шест седьм восьм девят десят одиннадцат двенадцат тринадцат четырнадцат пятнадцат "
    "шестнадцат семнадцат восемнадцат девятнадцат двадцат"
)
for _value, _stem in enumerate(_RUSSIAN_ORDINALS.split(), 1):
    ORDINALS.update(dict.fromkeys(_forms(_stem, "ого|ому|ом|ое|ой"), _value))
ORDINALS.update(dict.fromkeys(_forms("тридцат", "ого|ому|ом|ое"), 30))
_ENGLISH_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS.update({word: value for value, word in enumerate(_ENGLISH_ORDINALS.split(), 1)})
ORDINALS["thirtieth"] = 30
_SUFFIXES = bag("го му ого ому е ое ом й st nd rd th")


@dataclass(frozen=True, slots=True)
class Word:
    """A symbol and where its letters are in the text."""

    symbol: str
    start: int
    end: int


def lower(text: str) -> str:
    """In lower case with ё as е, of the same length: a few letters change theirs and are left."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    return low.replace("ё", "е").replace("’", "'")


def read(text: str) -> list[Word]:
    """The text as symbols; numbers of two words ("двадцать первого", "twenty-first") are one."""
    words: list[Word] = []
    for found in _TOKEN.finditer(lower(text)):
        symbol = _symbol(found.group())
        last = words[-1] if words else None
        if last is not None and last.symbol[0] == "#" and found.group() in _SUFFIXES:
            # 15-го, 15 го, 15th: a dash between was dropped below.
            words[-1] = Word("@" + last.symbol[1:], last.start, found.end())
            continue
        if symbol[0] in "#@" and last is not None and found.group()[0].isalpha():
            tens, units = last, float(symbol[1:])
            if tens.symbol in ("#20", "#30", "#40", "#50") and 1 <= units <= 9 and not text[tens.end - 1].isdigit():
                words[-1] = Word(f"{symbol[0]}{float(tens.symbol[1:]) + units:g}", tens.start, found.end())
                continue
        if (
            symbol in "-–—"
            and last is not None
            and last.symbol[0] == "#"
            and text[found.end() : found.end() + 1].isalpha()
        ):
            continue
        words.append(Word(symbol, found.start(), found.end()))
    return words


def _symbol(written: str) -> str:
    if written[0].isdigit():
        if ":" in written:
            return f"C{written}"
        if "." in written or "/" in written or "-" in written:
            return f"X{written}"
        return f"#{int(written)}" if len(written) <= _LONGEST_NUMBER and written.isascii() else "0"
    if len(written) > _LONGEST_WORD or written in "#@":
        return "~"
    if written in CARDINALS:
        return f"#{CARDINALS[written]:g}"
    if written in ORDINALS:
        return f"@{ORDINALS[written]}"
    return SYMBOLS.get(written.rstrip("."), SYMBOLS.get(written.replace(" ", "").rstrip("."), written))
