"""Names of people where they stand in a text, in Russian and English, with or without capitals."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ingest.analysis.rules.morphology import read
from ingest.analysis.rules.name_forms import (
    english_first_name,
    full_names,
    is_listed,
    is_said_patronymic,
    looks_like_patronymic,
    skeleton,
)

MOST_CHARACTERS = 30_000  # of a text that are searched for names
_WORD = re.compile(r"[^\W\d_]{1,60}(?:[-'’][^\W\d_]{1,60}){0,3}\.?")
_TITLES = frozenset(("mister", "mr", "mrs", "ms", "miss", "dr", "господин", "госпожа", "г-н", "г-жа"))
_ENDS = frozenset(".!?…\n⏎")
# Russian words whose reading as a name is the rare one: a capital inside of a sentence or a patronymic has to tell.
_RUSSIAN_WORDS_TOO_LIST = """
вера надежда любовь роман лев света слава роза мира рая ада мила поля лада майя мая август виола лика мари ким ли ян
тома дар рим бела лета эра ника тая гера серый рус дрон гога марго юг ура нева руна сила стела стая фея том дан бой
рой дай лин лия марка вити пол мало три дин ди эд яр ясен юла заря злата воля май март гаи софа муся толь валь оль
тань варь кать поль
"""
_NEVER_NAMES_LIST = """
сами сам сама само ага угу ого эй ой yeah yep yup nope nah uh um hmm wow sure right
да нет ну вот так там тут это вы вас вам мы нас нам он она они кто что как где да-да алло ало здравствуйте спасибо
пожалуйста хорошо ладно если или для при три пол дай дар бал the and you i we he she they hi hello hey thanks thank
sir madam ma'am maam mam сэр мадам
yes no ok okay please dear sorry good morning afternoon evening well so monday tuesday wednesday thursday friday
saturday sunday january february july september october november december
"""
_RUSSIAN_WORDS_TOO = frozenset(_RUSSIAN_WORDS_TOO_LIST.split())
NEVER_NAMES = frozenset(_NEVER_NAMES_LIST.split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word with where it stands. `first`: it begins a sentence, so that its capital says nothing."""

    text: str
    start: int
    end: int
    first: bool
    joined: bool  # to the word before by nothing but a space

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()

    @property
    def cyrillic(self) -> bool:
        return "а" <= self.text[:1].lower() <= "я" or self.text[:1].lower() == "ё"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the nominative or called, words `first` to `last` (exclusive). `sure`: it can be nothing else."""

    text: str
    start: int
    end: int
    first: int
    last: int
    sure: bool
    titled: bool = False


def words_of(text: str) -> list[Word]:
    """The words of the first `MOST_CHARACTERS`; the point of an abbreviation or initial stays with it."""
    found: list[Word] = []
    text = text[:MOST_CHARACTERS]
    before = 0
    for match in _WORD.finditer(text):
        word, end = match.group(), match.end()
        if word.endswith("."):
            bare = word[:-1]
            if len(bare) > 1 and bare.lower() not in _TITLES:
                word, end = bare, end - 1
        gap = text[before : match.start()]
        first = not found or any(sign in _ENDS for sign in gap)
        found.append(Word(word, match.start(), end, first, bool(found) and gap.strip(" \t") == "" and 0 < len(gap) < 4))
        before = end
    return found


def _given(word: Word, following: Word | None, known: Collection[str]) -> float:
    """How sure the word is somebody's first name as one calls it: 0 no, .3 perhaps, 1 sure."""
    lower = word.text.lower().rstrip(".")
    if lower in NEVER_NAMES or len(lower) < 2:
        return 0.0
    if known and not full_names(lower).isdisjoint(known) and not _is_oblique(word):
        return 1.0 if word.capital or len(lower) > 3 or _plain(word) else 0.3
    if not word.cyrillic:
        share = english_first_name(lower)
        return 1.0 if share and (share == 1 or (word.capital and not word.first)) else share
    return _russian_given(word, lower, following)


def _is_patronymic(word: str) -> bool:
    """As it is called; as it is said too ("Маратыч", "Ильинишна", "Сан Саныч")."""
    reading = read(word)
    return reading.patronymic_direct > 0.5 or (not reading.known and is_said_patronymic(word))


def _is_oblique(word: Word) -> bool:
    """A name in a case that nobody is called in: "Анне"."""
    reading = read(word.text) if word.cyrillic else None
    return reading is not None and reading.known and reading.given_direct < 0.3 * reading.given


def _plain(word: Word) -> bool:
    return word.cyrillic and read(word.text).given_direct >= 0.3


def _russian_given(word: Word, lower: str, following: Word | None) -> float:
    reading = read(lower)
    share = reading.given_direct
    if not reading.known:
        # The dictionary guesses: a name only where it is listed, or written as one.
        return 1.0 if is_listed(lower) else (0.3 if word.capital and not word.first and share > 0 else 0.0)
    if share < reading.given * 0.2:
        return 0.0
    if share < 0.01 and not (share > 0 and is_listed(lower)):
        return 0.0
    if following is not None and following.joined and _is_patronymic(following.text):
        return 1.0
    if word.capital and not word.first:
        return 1.0
    if lower in _RUSSIAN_WORDS_TOO or share < 0.3:
        return 0.3
    return 1.0


def _is_surname(word: Word, known: Collection[str]) -> bool:
    lower = word.text.lower()
    if lower in NEVER_NAMES:
        return False
    if known and skeleton(lower) in known:
        return True
    if not word.cyrillic:
        return word.capital and len(lower) > 1
    reading = read(lower)
    if reading.known:
        return reading.surname_direct > (0.02 if word.capital else 0.4)
    return word.capital and len(lower) > 2


def find_mentions(text: str, known: Collection[str] = ()) -> list[Mention]:
    """Names in the text that may be called or given, in their order. `known` are skeletons of names to expect."""
    words = words_of(text)
    found: list[Mention] = []
    index = 0
    while index < len(words):
        mention = _mention_at(text, words, index, known)
        if mention is None:
            index += 1
            continue
        found.append(mention)
        index = mention.last
    return found


def _mention_at(text: str, words: list[Word], index: int, known: Collection[str]) -> Mention | None:
    word = words[index]
    following = words[index + 1] if index + 1 < len(words) else None
    last = index + 1
    if word.text.lower().rstrip(".") in _TITLES:
        if (
            following is None
            or not (following.joined or word.text.endswith("."))
            or not _follows_title(following, known)
        ):
            return None
        last += 1
        while last < len(words) and words[last].joined and last - index < 4 and _continues(words[last], known):
            last += 1
        return Mention(
            text[following.start : words[last - 1].end], following.start, words[last - 1].end, index, last, True, True
        )
    sure = _given(word, following, known)
    if not sure and not _begins_with_surname(word, following, known):
        if not _is_lone_patronymic(word):
            return None
        sure = 1.0
    while last < len(words) and words[last].joined and last - index < 4 and _continues(words[last], known):
        last += 1
    start, end = word.start, words[last - 1].end
    return Mention(text[start:end], start, end, index, last, sure != 0.3)


def _follows_title(word: Word, known: Collection[str]) -> bool:
    return word.text.lower() not in NEVER_NAMES and (word.capital or not word.cyrillic or _is_surname(word, known))


def _begins_with_surname(word: Word, following: Word | None, known: Collection[str]) -> bool:
    """ "Иванов Пётр": the surname first, as in lists."""
    if known and skeleton(word.text) in known and len(word.text) > 3:
        return True
    if not (word.cyrillic and following is not None and following.joined):
        return False
    return word.capital and read(word.text).surname_direct > 0.3 and _given(following, None, known) == 1.0


def _is_lone_patronymic(word: Word) -> bool:
    if not word.cyrillic:
        return False
    reading = read(word.text)
    return reading.patronymic_direct > 0.6 and reading.known


def _continues(word: Word, known: Collection[str]) -> bool:
    if word.cyrillic:
        reading = read(word.text)
        if _is_patronymic(word.text) or (looks_like_patronymic(word.text) and reading.patronymic > 0):
            return True
        if word.capital and reading.given_direct > 0.5:
            return True
    return _is_surname(word, known)
