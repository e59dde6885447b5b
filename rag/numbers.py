"""Numbers that a text states, in figures or in words, so that an answer's can be looked up in its sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SPACES = " \u00a0\u202f\u2009"
_NUMBER = re.compile(rf"\d+(?:[{_SPACES},.]\d{{3}}(?!\d))*(?:[.,]\d+)*")
_RUN = re.compile(r"\d+")
_LIST_MARK = re.compile(r"^\s*\d{1,2}[.)]\s", re.MULTILINE)
_WORD = re.compile(r"[a-zа-я]+")


def _forms() -> dict[str, int]:
    spelled = {
        1: "один одна одно одну одного одной одним one",
        2: "два две двух двум двумя two",
        3: "три трех трем тремя three",
        4: "четыре четырех четырем four",
        5: "пять пяти five",
        6: "шесть шести six",
        7: "семь семи seven",
        8: "восемь восьми eight",
        9: "девять девяти nine",
        10: "десять десяти ten",
        11: "одиннадцать одиннадцати eleven",
        12: "двенадцать двенадцати twelve",
        13: "тринадцать тринадцати thirteen",
        14: "четырнадцать четырнадцати fourteen",
        15: "пятнадцать пятнадцати fifteen",
        16: "шестнадцать шестнадцати sixteen",
        17: "семнадцать семнадцати seventeen",
        18: "восемнадцать восемнадцати eighteen",
        19: "девятнадцать девятнадцати nineteen",
        20: "двадцать двадцати twenty",
        30: "тридцать тридцати thirty",
        40: "сорок сорока forty",
        50: "пятьдесят пятидесяти fifty",
        60: "шестьдесят шестидесяти sixty",
        70: "семьдесят семидесяти seventy",
        80: "восемьдесят восьмидесяти eighty",
        90: "девяносто девяноста ninety",
        100: "сто ста hundred",
        200: "двести двухсот",
        300: "триста трехсот",
        400: "четыреста четырехсот",
        500: "пятьсот пятисот",
        600: "шестьсот шестисот",
        700: "семьсот семисот",
        800: "восемьсот восьмисот",
        900: "девятьсот девятисот",
        1000: "тысяча тысячи тысяч тысячу тысячей thousand",
        1_000_000: "миллион миллиона миллионов million",
    }
    return {form: value for value, forms in spelled.items() for form in forms.split()}


_FORMS = _forms()


def _plain(figures: str) -> str:
    return figures.lstrip("0") or "0"


def _canonical(written: str) -> str:
    """`1 500`, `1,500` and `1500` are one number, `2,5` and `2.5` another."""
    joined = re.sub(rf"[{_SPACES}]", "", written)
    if re.fullmatch(r"\d{1,3}(?:[,.]\d{3})+", joined):
        return _plain(re.sub(r"[,.]", "", joined))
    whole, separator, rest = joined.partition("," if "," in joined else ".")
    if separator and rest.isdigit():
        fraction = rest.rstrip("0")
        return f"{_plain(whole)}.{fraction}" if fraction else _plain(whole)
    return _plain(joined)


def _spelled(text: str) -> Iterator[tuple[list[str], list[int], int]]:
    """Every run of numbers spelled out, `пять тысяч двести`: its words, their values with that of each group that is
    done (5, 1000, 5000, 200), and its sum (5200)."""
    words: list[str] = []
    values: list[int] = []
    total = group = 0
    for word in [*_WORD.findall(text.lower().replace("ё", "е")), ""]:
        value = _FORMS.get(word)
        if value is None:
            if word == "and" and words:
                continue
            if words:
                yield words, values, total + group
            words, values, total, group = [], [], 0, 0
            continue
        words.append(word)
        values.append(value)
        if value >= 1000:
            total, group = total + max(group, 1) * value, 0
            values.append(total)
        elif value == 100 and 0 < group < 10:
            group *= 100
        else:
            group += value


def numbers_in(texts: Iterable[str]) -> set[str]:
    """What may be stated by somebody who knows these texts: numbers, their runs of figures, numbers in words."""
    allowed: set[str] = set()
    for text in texts:
        allowed.update(_canonical(match) for match in _NUMBER.findall(text))
        allowed.update(_plain(run) for run in _RUN.findall(text))
        for _, values, total in _spelled(text):
            allowed.update(map(str, [*values, total]))
    return allowed


def unsupported_numbers(answer: str, allowed: set[str]) -> list[str]:
    """Numbers in figures that `answer` states and `allowed` lacks; list marks do not count."""
    stated = _LIST_MARK.sub(" ", answer)
    return [
        written
        for written in _NUMBER.findall(stated)
        if _canonical(written) not in allowed and not all(_plain(run) in allowed for run in _RUN.findall(written))
    ]


def unsupported_spelled(answer: str, allowed: set[str]) -> list[str]:
    """Numbers in words that `answer` states and `allowed` lacks. One is none: it is a pronoun too."""
    return [
        " ".join(words)
        for words, values, total in _spelled(answer)
        if total != 1
        and str(total) not in allowed
        and not (max(values) < 100 and all(str(value) in allowed for value in values))
    ]
