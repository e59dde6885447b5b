"""Names and days that an answer states and its sources lack.

A name is a capitalised word within a sentence, or one that begins it and is nothing but a Russian name; it is looked
for by its stem, so that "Андрея" is found in "Андрей". A day is a month or a day of the week, in Russian or English, by
whichever of its spellings, and a date's number belongs to its month.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from chat.citations import CITATION
from chat.numbers import unsupported_numbers
from ingest.analysis.rules.morphology import read
from rag.text_terms import terms

_WORD = re.compile(r"[^\W\d_]{2,}")
# What a sentence, a line, a list's item or a quotation after a colon begins with says nothing by its capital.
_START = re.compile(r"(?:^|[.!?…:;\n])[\s*_#>•–—\-\"'«“„(\[]*(?:\d{1,3}[.)]\s*)?[\s*_\"'«“„(]*$")
_POLITE = frozenset({"вы", "вас", "вам", "вами", "ваш"})
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_VOWELS_AT_END = re.compile(r"[аеёиоуыэюяйьъ]+$")
_FLEETING = re.compile(r"[еоь](?=[^аеёиоуыэюяьъ]$)")
_LEAST_SHARE = 0.2
_LEAST_PREFIX = 4
_LONGEST_ENDING = 2
_NAME_SHARE = 0.99  # of a word's readings

_MONTHS = (
    "январ(?:[ьяюе]|ём|ем|ями?)|january|jan",
    "феврал(?:[ьяюе]|ём|ем)|february|feb",
    "март(?:а|у|е|ом)?|march|mar",
    "апрел(?:[ьяюе]|ем)|april|apr",
    "ма(?:й|я|ю|е|ем)|may",
    "июн(?:[ьяюе]|ем)|june|jun",
    "июл(?:[ьяюе]|ем)|july|jul",
    "август(?:а|у|е|ом)?|august|aug",
    "сентябр(?:[ьяюе]|ём|ем)|september|sept?",
    "октябр(?:[ьяюе]|ём|ем)|october|oct",
    "ноябр(?:[ьяюе]|ём|ем)|november|nov",
    "декабр(?:[ьяюе]|ём|ем)|december|dec",
)
# "Среда" is the environment too, and only some of its cases are a day alone.
_WEEKDAYS = (
    "понедельник(?:а|у|е|ом|и|ам|ами|ов|ах)?|пн|mondays?|mon",
    "вторник(?:а|у|е|ом|и|ам|ами|ов|ах)?|вт|tuesdays?|tue",
    "среду|средам|ср|wednesdays?|wed",
    "четверг(?:а|у|е|ом|и|ам|ами|ов|ах)?|чт|thursdays?|thu",
    "пятниц(?:а|ы|е|у|ей|ам|ами|ах)?|пт|fridays?|fri",
    "суббот(?:а|ы|е|у|ой|ам|ами|ах)?|сб|saturdays?|sat",
    "воскресень(?:е|я|ю|ем|ям|ями|ях)|вс|sundays?|sun",
)
_DAYS = re.compile(
    r"\b(?:" + "|".join(f"(?P<m{n}>{forms})" for n, forms in enumerate(_MONTHS))
    + "|" + "|".join(f"(?P<d{n}>{forms})" for n, forms in enumerate(_WEEKDAYS)) + r")\b",
    re.IGNORECASE,
)  # fmt: skip
# English words that are no day where they are written small, or begin a sentence.
_ALSO_WORDS = frozenset({"may", "march", "mar", "sun", "sat", "wed"})
_RANGE = re.compile(r"\s*(?:[-–—]|по|до|to|through|till|until)\s*", re.IGNORECASE)
_IN_FIGURES = re.compile(r"\b(?:\d{4}-(\d\d)\b|\d{1,2}\.(\d\d)(?!\d)|(\d{1,2})/(\d{1,2})(?!\d))")
_NUMBER_BEFORE = re.compile(
    r"(?:\b(\d{1,2})(?:-?\w{1,2})?\s*(?:[-–—]|по|до|to|till|until|and|и)\s*)?\b(\d{1,2})(?:-?(?:го|е|st|nd|rd|th))?"
    r"\s+(?:of\s+)?$",
    re.IGNORECASE,
)
_NUMBER_AFTER = re.compile(r"\s+(\d{1,2})(?:st|nd|rd|th)?\b(?![:.]\d)(?:\s*[-–—]\s*(\d{1,2})\b)?", re.IGNORECASE)
_DATE_IN_FIGURES = re.compile(r"\b(?:\d{4}-(\d\d)-(\d\d)|(\d{1,2})[./](\d{1,2})(?!\d))")
_LONGEST_BEFORE = 40
_SEVERAL = (
    (
        re.compile(r"\bбудн\w+|\bрабочи[ехм]\w* дн\w+|\bworking days?\b|\bbusiness days?\b|\bweekdays?\b", re.I),
        range(5),
    ),
    (re.compile(r"\bвыходн\w+|\bweekends?\b", re.I), range(5, 7)),
    (re.compile(r"\bежедневн\w+|\bкажд\w+ день\b|\bбез выходных\b|\bdaily\b|\bevery day\b|\b24/7\b", re.I), range(7)),
)


@dataclass(frozen=True, slots=True)
class Support:
    """What an answer may name. `days` are "m0" to "m11" for months and "d0" to "d6" for days of the week; `dates` pair
    a day with its month; `has_cyrillic` and `has_latin` say what the sources are written in."""

    names: frozenset[str]
    days: frozenset[str]
    dates: frozenset[tuple[int, str]]
    has_cyrillic: bool
    has_latin: bool

    @classmethod
    def of(cls, sources: Iterable[str], spoken: Iterable[str] = ()) -> Support:
        """`spoken` is what was asked and wished: its names count too."""
        told = "\n".join(sources)
        asked = "\n".join(spoken)
        share = _cyrillic_share(told)
        return cls(
            names=frozenset(_key(term) for term in terms(f"{told}\n{asked}")),
            days=frozenset(_days_supported(told) | _days_supported(asked)),
            dates=frozenset(_dates_supported(told) | _dates_supported(asked)),
            has_cyrillic=share > _LEAST_SHARE,
            has_latin=share < 1 - _LEAST_SHARE,
        )


def without_source(sentence: str, numbers: set[str], support: Support) -> str:
    """What a sentence states and neither `numbers` nor the support has, in words for the log; empty for nothing."""
    missing = {
        "numbers": unsupported_numbers(sentence, numbers),
        "names": unsupported_names(sentence, support),
        "days": unsupported_days(sentence, support),
    }
    return "; ".join(f"{what} without a source: {', '.join(found)}" for what, found in missing.items() if found)


def unsupported_names(sentence: str, support: Support) -> list[str]:
    """The names of a sentence that the support lacks, as they stand there.

    None of a sentence in a script that the sources are not written in: its names may be theirs, spelled otherwise.
    """
    plain = CITATION.sub(" ", sentence)
    if not (support.has_cyrillic if _cyrillic_share(plain) >= 0.5 else support.has_latin):
        return []
    missing = []
    for word in _WORD.finditer(plain):
        text = word[0]
        if not text[0].isupper() or _DAYS.fullmatch(text):
            continue
        if _START.search(plain, 0, word.start()) and not _is_a_name_alone(text):
            continue
        keys = [_key(term) for term in terms(text)]
        if keys and keys[0] not in _POLITE and not _is_known(keys[0], support.names):
            missing.append(text)
    return missing


def unsupported_days(sentence: str, support: Support) -> list[str]:
    """The months, dates and days of the week of a sentence that the support lacks, as they stand there."""
    plain = CITATION.sub(" ", sentence)
    missing = []
    for found in _DAYS.finditer(plain):
        if found[0].lower() in _ALSO_WORDS and (found[0].islower() or _START.search(plain, 0, found.start())):
            continue
        if found.lastgroup not in support.days:
            missing.append(found[0])
            continue
        numbers = [number for number in _numbers_of(plain, found) if (number, found.lastgroup) not in support.dates]
        missing += [f"{found[0]} {number}" for number in numbers]
    return missing


def _cyrillic_share(text: str) -> float:
    words = _WORD.findall(text)
    return sum(_CYRILLIC.match(word) is not None for word in words) / max(len(words), 1)


def _days_supported(text: str) -> set[str]:
    found = list(_DAYS.finditer(text))
    days = {str(each.lastgroup) for each in found}
    for first, last in pairwise(found):
        begin, end = str(first.lastgroup), str(last.lastgroup)
        if begin[0] == end[0] and _RANGE.fullmatch(text, first.end(), last.start()):
            count = 12 if begin[0] == "m" else 7
            span = (int(end[1:]) - int(begin[1:])) % count
            days |= {f"{begin[0]}{(int(begin[1:]) + step) % count}" for step in range(span)}
    for date in _IN_FIGURES.finditer(text):
        days |= {f"m{int(number) - 1}" for number in date.groups() if number and 1 <= int(number) <= 12}
    for pattern, numbers in _SEVERAL:
        if pattern.search(text):
            days |= {f"d{number}" for number in numbers}
    return days


def _dates_supported(text: str) -> set[tuple[int, str]]:
    """Of a range, `12–15 мая`, each of its days."""
    dates = set()
    for found in _DAYS.finditer(text):
        numbers = _numbers_of(text, found)
        dates |= (
            {(number, str(found.lastgroup)) for number in range(min(numbers), max(numbers) + 1)} if numbers else set()
        )
    for date in _DATE_IN_FIGURES.finditer(text):
        month, day, first, second = (int(number or 0) for number in date.groups())
        # 3/12 is in December here and in March there.
        for number, of in ((day, month), (first, second), (second, first)):
            if 1 <= of <= 12:
                dates.add((number, f"m{of - 1}"))
    return dates


def _numbers_of(text: str, found: re.Match[str]) -> list[int]:
    """The days of a month that stand before it, `с 12 по 15 мая`, or after an English one, `May 12`."""
    if not str(found.lastgroup).startswith("m"):
        return []
    near = text[max(0, found.start() - _LONGEST_BEFORE) : found.start()]
    match = _NUMBER_BEFORE.search(near)
    if match is None and found[0].isascii():
        match = _NUMBER_AFTER.match(text, found.end())
    return [int(number) for number in match.groups() if number] if match else []


def _is_a_name_alone(word: str) -> bool:
    """Whether a Russian word can be nothing but somebody's name: "Петров", and not "Вера"."""
    if not _CYRILLIC.match(word):
        return False
    found = read(word)
    return found.known and found.given + found.patronymic + found.surname > _NAME_SHARE


def _key(stem: str) -> str:
    """A Russian stem without what declension changes in names: "андре" and "андр", "павел" and "павл" are one."""
    if not _CYRILLIC.search(stem):
        return stem
    short = _VOWELS_AT_END.sub("", stem)
    return _FLEETING.sub("", short) or stem


def _is_known(key: str, names: frozenset[str]) -> bool:
    """Whether it is there, or differs by a short ending alone."""
    if key in names:
        return True
    if len(key) < _LEAST_PREFIX:
        return False
    shorter = {key[: len(key) - cut] for cut in range(1, _LONGEST_ENDING + 1) if len(key) - cut >= _LEAST_PREFIX}
    return bool(shorter & names) or any(
        name.startswith(key) and len(name) - len(key) <= _LONGEST_ENDING for name in names
    )
