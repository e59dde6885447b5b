"""Passages that say what another one says: the same text in two documents, or stretches of one text that overlap."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

_WORDS_A_SHINGLE = 3
_SHARE = 0.9
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class _Words:
    all: frozenset[str]
    shingles: frozenset[tuple[str, ...]]
    telling: frozenset[str]
    """Words that tell two texts of one pattern apart, however alike these are: numbers and names."""


def _read(text: str) -> _Words:
    written = _WORD.findall(unicodedata.normalize("NFKC", text).replace("ё", "е").replace("Ё", "Е"))
    words = [word.casefold() for word in written]
    size = min(_WORDS_A_SHINGLE, len(words))
    shingles = zip(*(words[start:] for start in range(size)), strict=False)
    telling = (word for word, plain in zip(written, words, strict=True) if word[0] != plain[0] or _DIGIT.search(word))
    return _Words(frozenset(words), frozenset(shingles), frozenset(word.casefold() for word in telling))


class Distinct:
    """Takes passages, the best first, and tells which of them one before it says already.

    A passage is left out where nine tenths of its shingles (Broder 1997, of three words) stand in one that was kept,
    and no number or name of it is missing there: price lists that differ in a price are two. Only passages of one
    `group` are compared. A shingle is looked up, not compared, so that the work grows with the text alone.
    """

    def __init__(self) -> None:
        self._holders: defaultdict[tuple[Hashable, tuple[str, ...]], list[str]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}

    def find_original(self, id: str, text: str, group: Hashable) -> str | None:
        """The id of the kept passage that says all of this one; None where there is none, and this one is kept."""
        words = _read(text)
        shared: Counter[str] = Counter()
        for shingle in words.shingles:
            shared.update(self._holders.get((group, shingle), ()))
        needed = _SHARE * len(words.shingles)
        for holder, count in shared.most_common():
            if count < needed:
                break
            if words.telling <= self._words[holder]:
                return holder
        for shingle in words.shingles:
            self._holders[group, shingle].append(id)
        self._words[id] = words.all
        return None
