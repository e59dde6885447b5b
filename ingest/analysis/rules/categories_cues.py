"""Words as evidence: a notation for phrases in which inflected languages stay readable, and where they occur.

A line is `weight: phrase, phrase`. In a phrase, a word of at least four letters (five in English) stands for all words
that begin so, a shorter one for itself; `*` makes a prefix of a short one and `=` an exact word of a long one; `a|b` is
a choice; `@` is any Russian infinitive, `%` a present tense, `^` one with "вы"; `_` lets up to three words stand
between. Every repetition is bounded, so matching is linear.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"\w+")
_APOSTROPHES = re.compile("(?<=[a-z])['’ʼ`](?=[a-z])")
_GAP = r"(?:\w{1,40} ){0,3}?"
_INFINITIVE = r"\w{2,20}(?:ть|ти|чь|ться|тись|чься)"
_YOU_DO = r"\w{2,20}(?:ете|ите|етесь|итесь)"
_PRESENT = r"\w{2,20}(?:ет|ит|ют|ят|ут|ат|ется|ится|ются|ятся|утся|атся)"
_PREFIX_FROM = {"ru": 4, "en": 5}


def plain(text: str) -> str:
    """Lower-case words with single spaces, "ё" read as "е", "don't" as "dont"; a space at either end."""
    lowered = unicodedata.normalize("NFKC", text).lower().replace("ё", "е")
    return f" {' '.join(_WORD.findall(_APOSTROPHES.sub('', lowered)))} "


@dataclass(frozen=True, slots=True)
class Cue:
    intent: str
    weight: float
    pattern: re.Pattern[str]

    def starts(self, text: str) -> Iterator[int]:
        """Where it begins in a text that `plain` made."""
        for found in self.pattern.finditer(text):
            yield found.start() + 1


def _word(word: str, prefix_from: int) -> str:
    if word == "@":
        return _INFINITIVE
    if word == "%":
        return _PRESENT
    if word == "^":
        return _YOU_DO
    if word.endswith("="):
        return re.escape(word[:-1])
    if word.endswith("*"):
        return rf"{re.escape(word[:-1])}\w{{0,30}}"
    return rf"{re.escape(word)}\w{{0,30}}" if len(word) >= prefix_from else re.escape(word)


def compile_phrase(phrase: str, language: str) -> re.Pattern[str]:
    """The pattern of one phrase, to be searched in what `plain` makes."""
    prefix_from = _PREFIX_FROM[language]
    parts = [""]
    for word in phrase.split():
        if word == "_":
            parts[-1] += _GAP
            continue
        choice = [_word(each, prefix_from) for each in word.split("|")]
        parts[-1] += choice[0] if len(choice) == 1 else f"(?:{'|'.join(choice)})"
        parts.append("")
    # The blank at the end is only looked at: it begins the next match.
    return re.compile(" " + " ".join(parts).rstrip() + "(?= )")


def compile_cues(table: Mapping[str, str], language: str) -> tuple[Cue, ...]:
    """`table` maps intents to lines in the notation above."""
    cues = []
    for intent, lines in table.items():
        for line in filter(None, map(str.strip, lines.splitlines())):
            weight, _, phrases = line.partition(":")
            for phrase in filter(None, map(str.strip, phrases.split(","))):
                # Several words together mean more than one alone.
                bonus = 1.0 + 0.15 * min(3, sum(word != "_" for word in phrase.split()) - 1)
                cues.append(Cue(intent, float(weight) * bonus, compile_phrase(phrase, language)))
    return tuple(cues)


@lru_cache(maxsize=16)
def phrases(lines: str, language: str) -> tuple[re.Pattern[str], ...]:
    """Phrases without weights, separated by commas and ends of lines."""
    listed = (phrase.strip() for line in lines.splitlines() for phrase in line.split(","))
    return tuple(compile_phrase(phrase, language) for phrase in listed if phrase)
