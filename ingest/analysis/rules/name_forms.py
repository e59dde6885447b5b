"""Which forms are one name (diminutives, transliterations), and which English words may be a name."""

from __future__ import annotations

import re
from functools import lru_cache

from ingest.analysis.rules.first_names import ENGLISH, OTHERS, RUSSIAN, WORDS_TOO

_WORDS_TOO = frozenset(WORDS_TOO.split())
_LATIN_OF = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        "a b v g d e e zh z i i k l m n o p r s t u f h c ch sh sh - i - e iu ia".split(),  # noqa: SIM905
        strict=True,
    )
)
_SAME_SOUND = (
    ("sch", "sh"),
    ("shch", "sh"),
    ("kh", "h"),
    ("ts", "c"),
    ("tz", "c"),
    ("ph", "f"),
    ("ck", "k"),
    ("x", "ks"),
    ("w", "v"),
    ("yu", "iu"),
    ("ya", "ia"),
    ("yo", "e"),
    ("ye", "e"),
    ("j", "i"),
    ("y", "i"),
    ("q", "k"),
    ("'", ""),
    ("’", ""),
    ("-", ""),
)
_DOUBLE = re.compile(r"([a-z])\1{1,20}")
_PATRONYMIC = re.compile(r"(?:[aeio]{0,3}v(?:ich|na)|in?ichna|inishna|nishna|ich)$")
_SAID_PATRONYMIC = re.compile(r"[а-я]{2}(?:[ыеи]ч|[иы]?нишна|[ое]вна)$")
_LONG_PATRONYMIC = re.compile(r"[a-z]{2}(?:[aeio]v(?:ich|na)|ichna)$")


def skeleton(word: str) -> str:
    """What a name sounds like, in Latin letters: "Юлия", "Yulia" and "Julia" are alike, and "ё" is "е"."""
    lower = word.lower()
    plain = "".join(_LATIN_OF.get(letter, letter) for letter in lower)
    for spelled, sound in _SAME_SOUND:
        plain = plain.replace(spelled, sound)
    plain = _DOUBLE.sub(r"\1", plain)
    return plain.replace("ii", "i") or lower


def looks_like_patronymic(word: str) -> bool:
    return bool(_LONG_PATRONYMIC.search(skeleton(word)))


def is_said_patronymic(word: str) -> bool:
    """ "Маратыч", "Ильинишна": how patronymics sound, which no dictionary has."""
    return _SAID_PATRONYMIC.search(word.lower().replace("ё", "е")) is not None


def father_of(patronymic: str) -> str:
    """What patronymics of one father have in common: "Михалыч", "Михайлович", "Михайловна"."""
    stem = _PATRONYMIC.sub("", skeleton(patronymic)).rstrip("aeiou")
    return stem.replace("i", "")


@lru_cache(maxsize=1)
def _names_by_form() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in (RUSSIAN + ENGLISH).split("\n"):
        forms = line.split()
        for form in forms:
            found.setdefault(skeleton(form), set()).add(skeleton(forms[0]))
    return {form: frozenset(names) for form, names in found.items()}


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    listed = (word.lower() for word in (RUSSIAN + ENGLISH + OTHERS).split())
    return frozenset(word for word in listed if word.isascii())


def full_names(form: str) -> frozenset[str]:
    """Skeletons of the names that a form in the nominative may stand for: itself where none is listed."""
    form = skeleton(form)
    return _names_by_form().get(form, frozenset()) | {form}


def is_listed(form: str) -> bool:
    return skeleton(form) in _names_by_form()


def english_first_name(word: str) -> float:
    """How likely a word in Latin letters is a first name, whatever its capitals: 1 is sure, .3 a word as well."""
    lower = word.lower()
    if lower not in _english():
        return 0.0
    return 0.3 if lower in _WORDS_TOO else 1.0
