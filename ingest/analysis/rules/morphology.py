"""Russian morphology: which parts of speech and cases a word may be, by the dictionary of OpenCorpora (pymorphy3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pymorphy3

_RUSSIAN_WORD = re.compile("[А-Яа-яЁё-]+")
_MOST_CHARACTERS = 40  # no word worth knowing is longer


@lru_cache(maxsize=1)
def analyser() -> pymorphy3.MorphAnalyzer:
    """Loaded once per process: a tenth of a second, 20 MB."""
    import pymorphy3

    return pymorphy3.MorphAnalyzer(lang="ru")


_CASES = ("nomn", "gent", "datv", "accs", "ablt", "loct")


def name_forms(name: str) -> frozenset[str]:
    """A name in all cases, each of its words in the same one; as it is written alone where it is no Russian name."""
    words = name.split()
    forms = {name, " ".join(words)}
    for gender in ("masc", "femn"):
        for case in _CASES:
            forms.add(" ".join(_inflected(word, gender, case) for word in words))
    return frozenset(forms | {form.replace("ё", "е").replace("Ё", "Е") for form in forms})


def _inflected(word: str, gender: str, case: str) -> str:
    if not _RUSSIAN_WORD.fullmatch(word):
        return word
    for parse in analyser().parse(word):
        is_name = any(grammeme in parse.tag for grammeme in ("Name", "Patr", "Surn"))
        if is_name and gender in parse.tag and {"nomn", "sing"} in parse.tag:
            form = parse.inflect({case, "sing"})
            if form is not None:
                return "-".join(part.capitalize() for part in form.word.split("-"))
    return word


@dataclass(frozen=True, slots=True)
class Reading:
    """Shares of a word's readings, 0 to 1. `direct` are names in the nominative or called; `lemmas` those of names."""

    known: bool
    given: float = 0.0
    given_direct: float = 0.0
    patronymic: float = 0.0
    patronymic_direct: float = 0.0
    surname: float = 0.0
    surname_direct: float = 0.0
    lemmas: frozenset[str] = frozenset()
    part: str = ""
    person: str = ""  # of the likeliest reading: 1per, 2per, 3per
    mood: str = ""  # impr, indc
    tense: str = ""
    case: str = ""
    normal: str = ""


@lru_cache(maxsize=50_000)
def read(word: str) -> Reading:
    """The word's readings, whatever its capitals."""
    word = word.lower()
    if not word or len(word) > _MOST_CHARACTERS:
        return Reading(known=False)
    parses = analyser().parse(word)
    shares = dict.fromkeys(("Name", "Patr", "Surn"), 0.0)
    direct = dict(shares)
    lemmas = set()
    for parse in parses:
        for grammeme in shares:
            if grammeme in parse.tag:
                shares[grammeme] += parse.score
                lemmas.add(parse.normal_form)
                # "Марин", "Ольг": called by, or a genitive plural, which no one says of names.
                if {"nomn", "sing"} in parse.tag or "voct" in parse.tag or {"plur", "gent"} in parse.tag:
                    direct[grammeme] += parse.score
                break
    best = parses[0].tag
    return Reading(
        known=analyser().word_is_known(word),
        given=shares["Name"],
        given_direct=direct["Name"],
        patronymic=shares["Patr"],
        patronymic_direct=direct["Patr"],
        surname=shares["Surn"],
        surname_direct=direct["Surn"],
        lemmas=frozenset(lemmas),
        part=best.POS or "",
        person=best.person or "",
        mood=best.mood or "",
        tense=best.tense or "",
        case=best.case or "",
        normal=parses[0].normal_form,
    )
