"""What Russian words are: finite verbs and infinitives, and the forms they stand under in a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ingest.analysis.rules.commitments_clauses import Token
from ingest.analysis.rules.commitments_russian_words import FIRM, IMPERFECTIVE
from ingest.analysis.rules.morphology import analyser


class Verb(NamedTuple):
    """A finite verb or an infinitive. `normal` is its infinitive, in е for ё."""

    normal: str
    person: str
    plural: bool
    tense: str
    perfective: bool
    part: str


@lru_cache(maxsize=50_000)
def verb_of(word: str) -> Verb | None:
    """The likeliest verbal reading, None where the word is no verb first of all."""
    if len(word) < 3 or len(word) > 30 or not ("а" <= word[0] <= "я"):
        return None
    # "исправим" is a verb before it is "исправимый", and "держу" is of "держать" before it is of "дерзить".
    parses = sorted(
        analyser().parse(word)[:3],
        key=lambda parse: (
            parse.tag.POS == "ADJS",
            -round(parse.score, 1),
            not (parse.normal_form in IMPERFECTIVE or (parse.normal_form in FIRM and "perf" in parse.tag)),
        ),
    )
    for parse in parses:
        tag = parse.tag
        if tag.POS in ("VERB", "INFN", "PRTS", "ADJS"):
            if tag.POS == "VERB" and tag.mood == "impr":
                continue
            return Verb(
                parse.normal_form.replace("ё", "е"),
                tag.person or "",
                "plur" in tag,
                tag.tense or "",
                "perf" in tag,
                tag.POS,
            )
        if parse.score > 0.6:
            return None
    return None


def holds_verb(tokens: Sequence[Token]) -> bool:
    return any((verb := verb_of(one.text)) is not None and verb.part == "VERB" for one in tokens[-12:])


def is_promising(word: str) -> bool:
    verb = verb_of(word)
    return verb is not None and verb.person == "1per" and verb.tense == "futr"


@lru_cache(maxsize=50_000)
def lemma(word: str) -> str:
    return str(analyser().parse(word[:30])[0].normal_form).replace("ё", "е")


def lemmas(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(lemma(word) for word in words if len(word) > 2)
