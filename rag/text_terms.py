"""Terms of a text for BM25: words without stop words, stemmed as Russian or English by their script.

Both index adapters store these sparse vectors and leave the IDF to the index, so that both rank alike.
"""

from __future__ import annotations

import re
import threading
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

_K1 = 1.2
_B = 0.75
# The length that BM25 compares a passage with. Fixed, since a stored weight cannot follow the corpus: between 80 and
# 256 recall moves by less than .003.
_USUAL_TERMS = 100
_MAX_TERM_CHARS = 64
_MAX_QUERY_TERMS = 64

_WORD = re.compile(r"\w+")
_CYRILLIC = re.compile(r"[а-я]")
_LATIN = re.compile(r"[a-z]")

_FUNCTION_WORDS = """
а без более больше будет будто бы был была были было быть в вам вами вас ваш ваша ваше ваши ведь во вот все всего
всех всю вы где да даже для до его ее если есть еще ж же за здесь и из или им ими их к как какая какие каким каких
какого какое какой каком какую ко когда кого кому кто куда ли либо лишь между меня мне мной мог могла могли могу
может можно мой моя мои мы на над надо нам нами нас наш наша наше наши не него нее ней нем нет ни них но ну о об
обо однако он она они оно от откуда очень по под почему при про с сам сама сами свой своего своей своих свои со
сколько так также такая такие такой там те тем теперь то тоже того той только том тот ту тут ты тебя тебе у уж уже
хотя чего чей чем чему что чтобы чье чья эта эти этим этих это этого этой этом этот эту я a about all also am an
and any are as at be been being but by can could did do does doing for from had has have having he her here him his
how i if in into is it its just me more most my no nor not of on or our out over she should so some such than that
the their them then there these they this those through to too under until up very was we were what when where
which while who whom whose why will with would you your
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

_stemmers = threading.local()  # a stemmer keeps the word it works on, so each thread has its own


def _stemmer(language: str) -> snowballstemmer.RussianStemmer | snowballstemmer.EnglishStemmer:
    found = getattr(_stemmers, language, None)
    if found is None:
        found = snowballstemmer.stemmer(language)
        setattr(_stemmers, language, found)
    return found


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    if _CYRILLIC.search(word):
        return str(_stemmer("russian").stemWord(word))
    return str(_stemmer("english").stemWord(word)) if _LATIN.search(word) else word


def terms(text: str) -> list[str]:
    """Stemmed words of `text` in their order, stop words left out, "ё" read as "е", letters of any width alike."""
    return [_stem(word) for word in _words(text) if word not in _STOP_WORDS]


def term_set(text: str) -> set[str]:
    """The different ones of `terms`."""
    return {_stem(word) for word in set(_words(text)) if word not in _STOP_WORDS}


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).lower().replace("ё", "е")
    return [word[:_MAX_TERM_CHARS] for word in _WORD.findall(plain)]


def query_terms(text: str) -> list[str]:
    """The first 64 different terms of a query, in their order."""
    return list(dict.fromkeys(terms(text)))[:_MAX_QUERY_TERMS]


@dataclass(frozen=True, slots=True)
class TermVector:
    """A sparse vector: `indices` are 32-bit hashes of terms, ascending; `values` their weights."""

    indices: list[int]
    values: list[float]


def term_id(term: str) -> int:
    return zlib.crc32(term.encode())


def _vector(weights: Iterable[tuple[str, float]]) -> TermVector:
    by_id: dict[int, float] = {}
    for term, weight in weights:
        by_id[term_id(term)] = weight
    ordered = sorted(by_id.items())
    return TermVector([index for index, _ in ordered], [value for _, value in ordered])


def passage_vector(text: str) -> TermVector:
    """BM25's term-frequency part (Robertson and Zaragoza 2009), k1 1.2 and b 0.75; the index multiplies the IDF."""
    counts = Counter(terms(text))
    norm = _K1 * (1 - _B + _B * counts.total() / _USUAL_TERMS)
    return _vector((term, count * (_K1 + 1) / (count + norm)) for term, count in counts.items())


def query_vector(query: Iterable[str]) -> TermVector:
    """The given terms, each with weight 1."""
    return _vector((term, 1.0) for term in query)
