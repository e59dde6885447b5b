"""Russian morphology: which parts of speech and cases a word may be, by the dictionary of OpenCorpora (pymorphy3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pymorphy3

_MOST_CHARACTERS = 40  # no word worth knowing is longer


@lru_cache(maxsize=1)
def analyser() -> pymorphy3.MorphAnalyzer:
    """Loaded once per process: a tenth of a second, 20 MB."""
    import pymorphy3

    return pymorphy3.MorphAnalyzer(lang="ru")


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
