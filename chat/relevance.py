"""How well passages answer a question: in what order they stand, and whether the first is an answer at all.

What speaks for a passage is read off its words and off cosines of the encoder. A word of the question counts as said
where the passage has it, a form or a relative of it, or a word close in meaning: single words tell a paraphrase from a
matter of which nothing is said better than the cosine of the whole. Two linear rules weigh the evidence, both for the
multilingual encoder; another encoder needs a fit of its own. `ORDER` was fitted to choose the right one of a question's
passages, on the questions in `demo`, `bench/questions/development.toml`, `development_far.toml` and XQuAD (a twentieth
of the weight each). `ANSWERS` (a logistic regression) tells answered questions from unanswerable ones; it was fitted on
`demo`, `development` and `bench/knowledge`, and a fit with `development_far` was no better. Its bound is 0.2 below the
fitted one, by choice: on `development` fewer answers were refused so. `python -m bench.relevance_fit` fits both anew,
with `bench/knowledge` in the place of XQuAD.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from chat.contract import Passage
from rag.text_terms import query_terms, terms

MAX_SENTENCES = 12  # of one passage, those with the most of the question
MAX_WORDS = 400  # of all passages together
MAX_QUESTION_WORDS = 16
_MAX_CHARS = 400
_FILLER_SHARE = 0.25
_UNLIKE, _ALIKE = 0.45, 0.75  # between these likenesses a word counts in part
_NAME_LIKENESS = 0.6  # from where on a name counts as said
_LEAST_STEM = 4

_WORD = re.compile(r"\w+")
_SENTENCE_END = ".!?…:;\n"
_QUOTED = re.compile(r"[«“\"]([^»”\"]+)[»”\"]")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LETTER = re.compile(r"[a-zа-яё]", re.IGNORECASE)
_FILLERS = frozenset(
    terms(
        "здравствуйте привет добрый доброе день вечер утро подскажите скажите пожалуйста спасибо хочу хотим хотел "
        "понять знать узнать интересует нужно сейчас просто вообще теперь нибудь "
        "hello hi good morning afternoon evening please thanks tell know want wanted like need let us get exactly now"
    )
)
_NUMBER = re.compile(
    r"\d|\b(?:од(?:ин|н[аоу])|дв[аеу]\w*|тр(?:и|[её]х)\w*|четыр\w+|пят[ьи]\w*|шест[ьи]\w*|сем[ьи]\w*|вос[еь]м\w*"
    r"|девят\w+|десят\w+|сорок\w*|сто|двест\w+|тысяч\w*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)\b",
    re.IGNORECASE,
)
_DURATION = (
    r"минут|час|\bд(?:ень|ня|ней|ни)\b|сут|недел|месяц|\bгод|\bлет\b|секунд|minute|hour|\bday|week|month|year|second"
)
_TIME = (
    r"\d[:.]\d\d|понедельник|вторник|сред[уа]\b|четверг|пятниц|суббот|воскресен|\w+day\b|январ|феврал|март|апрел|\bма[йя]\b"
    r"|июн|июл|август|сентябр|октябр|ноябр|декабр|january|february|march|april|june|july|august|september|october"
    r"|november|december|o'clock|\b[ap]\.?m\b|утр|вечер|будн|завтра|tomorrow"
)
# What a question asks for, and what has to stand where it is answered.
_KINDS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(answer, flags))
    for asked, answer, flags in (
        (
            r"сколько\s+(?:\S+\s+){0,3}?(?:стои|плат|заплат|обойд|выйд|доплат|денег)|\bпоч[её]м\b|\bцен[аеуы]\b"
            r"|стоимост|how much (?:is|are|does|do|would|will) |\bprices?\b|\bcosts?\b|\bfee\b|\bпен[яию]\b"
            r"|штраф|penalty|зарплат",
            r"₽|руб|\brub|\broubles?|\$|€|тысяч|thousand|%|процент|percent|бесплатн|\bfree\b",
            re.IGNORECASE,
        ),
        (
            r"как (?:долго|давно|часто)|how (?:long|often|soon)|долго ли|за сколько|через сколько"
            r"|\bкогда\b|во сколько|до скольк|как(?:ого|ое) числ|как(?:ой|ие|им) д(?:ень|ни|ням)|\bwhen\b"
            r"|what (?:time|hour|date|day)|which days?\b|до какого (?:час|врем)",
            f"{_DURATION}|{_TIME}",
            re.IGNORECASE,
        ),
        (
            r"скольк\w+|how (?:many|much|old|loud|tight|big|tall|wide|heavy)|\bномер|number\b|\bкод\b|\bcode\b|\bpin\b",
            _NUMBER.pattern,
            re.IGNORECASE,
        ),
        (
            r"\bкто\b|\bкому\b|\bкого\b|как зовут|\bwho\b|\bwhom\b|name of|фамили",
            r"(?<![.!?:\n«\"] )(?<!^)(?<!\n)\b[А-ЯA-Z][а-яa-z]{2,}",
            re.MULTILINE,
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one passage. All but `matched` are shares or cosines, and so comparable between searches."""

    coverage: float  # as the search says
    cosine: float  # as the search says
    said: float  # share of the question's words, by weight, that the passage says in whatever word
    matched: float  # the same as a sum of weights: much of a long question says more than much of a short one
    names: float  # share of the question's names, numbers and quoted words
    missing: float  # weight of those that are missing, as a share of all words' weight
    titled: float  # best cosine of the question with a sentence under the title
    stretch: float  # of the best two sentences that hold what is asked for: half words, half meaning
    together: float  # share of the question's words, by weight, that two sentences say together in whatever words
    foreign: float  # 1: in another script than the question


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights of `Evidence`, by its fields; `bound` is what the sum has to reach."""

    weights: Mapping[str, float]
    bound: float = 0.0

    def __call__(self, evidence: Evidence) -> float:
        return sum(weight * float(getattr(evidence, name)) for name, weight in self.weights.items()) - self.bound


ORDER = Linear({"coverage": 4.01, "cosine": 6.19, "stretch": 12.45, "together": 5.17, "foreign": -4.14})
ANSWERS = Linear(
    {"said": 2.357, "matched": 0.063, "names": 0.632, "missing": -1.152, "titled": 2.414},
    bound=3.52,
)
FIELDS = tuple(field.name for field in fields(Evidence))


@dataclass(frozen=True, slots=True)
class _Read:
    passage: Passage
    sentences: list[str]
    windows: list[str]  # each sentence with the one after it: in a dialogue the answer
    window_stems: list[list[int]]  # places in `stems`
    title_stems: list[int]
    stems: list[str]
    likeness: NDArray[np.float64]  # `term_likeness` of the question's terms and `stems`
    words: list[str]  # one for each of `stems`


@dataclass(frozen=True, slots=True)
class Reading:
    """A question and its passages, read once; `queries` and `texts` are what cosines are wanted of."""

    question: str
    weights: dict[str, float]
    names: frozenset[str]
    queries: list[str]
    texts: list[str]
    _parts: list[_Read]
    _words: list[str]

    def judge(self, cosines: Sequence[Sequence[float]]) -> list[tuple[Passage, Evidence]]:
        """The passages with their evidence. `cosines` has a row for each of `queries`, a column for each of `texts`."""
        matrix = np.asarray(cosines, dtype=np.float64).reshape(len(self.queries), len(self.texts))
        count = len(self.texts) - len(self._words)
        places = {word: place for place, word in enumerate(self._words)}
        found, start = [], 0
        for part in self._parts:
            end = start + len(part.sentences)
            found.append((part.passage, self._evidence(part, matrix[0, start:end], matrix[1:, count:], places)))
            start = end
        return found

    def _evidence(
        self, part: _Read, cosines: NDArray[np.float64], alike: NDArray[np.float64], places: Mapping[str, int]
    ) -> Evidence:
        """`alike`: cosines of the question's words with the passages' words, whose columns `places` tells."""
        weights = np.array(list(self.weights.values()))
        total = float(weights.sum()) or 1.0
        known = [(stem, places[word]) for stem, word in enumerate(part.words) if word in places]
        meant = part.likeness.copy()
        if known:
            stems, columns = map(list, zip(*known, strict=True))
            meant[:, stems] = np.maximum(meant[:, stems], alike[:, columns])
        meant = np.clip((meant - _UNLIKE) / (_ALIKE - _UNLIKE), 0.0, 1.0)
        matched = float(weights @ _most(meant))
        said = dict(zip(self.weights, _most(part.likeness), strict=True))
        named = sum(self.weights[name] for name in self.names)
        missing = sum(self.weights[name] for name in self.names if said[name] < _NAME_LIKENESS)
        kinds = [answer for asked, answer in _KINDS if asked.search(self.question)]
        stretch, together = 0.0, 0.0
        for window, own, cosine in zip(part.windows, part.window_stems, cosines.tolist(), strict=True):
            together = max(together, float(weights @ _most(meant[:, own])) / total)
            if not kinds or any(answer.search(window) for answer in kinds):
                covered = float(weights @ _most(part.likeness[:, [*own, *part.title_stems]])) / total
                stretch = max(stretch, 0.5 * cosine + 0.5 * covered)
        return Evidence(
            coverage=part.passage.coverage or 0.0,
            cosine=part.passage.cosine or 0.0,
            said=matched / total,
            matched=matched,
            names=sum(self.weights[name] * said[name] for name in self.names) / named if named else 1.0,
            missing=missing / total,
            titled=float(cosines.max()) if len(cosines) else 0.0,
            stretch=stretch,
            together=together,
            foreign=float(_is_cyrillic(self.question) != _is_cyrillic(part.passage.text)),
        )


def _most(likeness: NDArray[np.float64]) -> NDArray[np.float64]:
    """(terms, stems) to (terms,): how well each term is said by the one that says it best."""
    best: NDArray[np.float64] = likeness.max(axis=1, initial=0.0)
    return best


def read(question: str, passages: Sequence[Passage], sentences: Sequence[Sequence[str]]) -> Reading:
    """`sentences` are those of each passage. Takes a few milliseconds: not for the event loop's thread."""
    assert len(passages) == len(sentences)
    asked = query_terms(question)
    term_sets = [[frozenset(terms(sentence)) for sentence in group] for group in sentences]
    known = passages[0].term_weights if passages else {}
    weights = _weights(asked, known, [there for group in term_sets for there in group])
    parts = []
    for passage, group, own in zip(passages, sentences, term_sets, strict=True):
        parts.append(_read_passage(passage, group, own, weights))
    names = names_in(question) & weights.keys()
    words = list(dict.fromkeys(word for part in parts for word in part.words))[:MAX_WORDS]
    titled = [f"{part.passage.title}\n{sentence}"[:_MAX_CHARS] for part in parts for sentence in part.sentences]
    return Reading(
        question,
        weights,
        frozenset(names),
        [question, *_forms(question, weights)],
        [*titled, *words],
        parts,
        words,
    )


def _weights(asked: Sequence[str], known: Mapping[str, float], term_sets: Sequence[Set[str]]) -> dict[str, float]:
    """The index's IDF, or where it is not known that over sentences; greetings and the like weigh little."""
    present = Counter(term for there in term_sets for term in there)
    count = len(term_sets)
    return {
        term: known.get(term, math.log(1 + (count + 1) / (present[term] + 0.5)))
        * (_FILLER_SHARE if term in _FILLERS else 1.0)
        for term in asked[:MAX_QUESTION_WORDS]
    }


def _read_passage(
    passage: Passage, sentences: Sequence[str], term_sets: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> _Read:
    by_weight = sorted(
        range(len(sentences)), key=lambda place: -sum(weights.get(term, 0.0) for term in term_sets[place])
    )
    chosen = sorted(by_weight[:MAX_SENTENCES])
    by_stem = _plain_words(passage)
    places = {stem: place for place, stem in enumerate(by_stem)}
    nothing: frozenset[str] = frozenset()
    there = [nothing.union(*term_sets[place : place + 2]) for place in chosen]
    return _Read(
        passage,
        [sentences[place] for place in chosen],
        ["\n".join(sentences[place : place + 2]) for place in chosen],
        [[places[stem] for stem in own if stem in places] for own in there],
        [places[stem] for stem in set(terms(passage.title)) if stem in places],
        list(by_stem),
        np.array([[term_likeness(term, {stem}) for stem in by_stem] for term in weights]).reshape(
            len(weights), len(by_stem)
        ),
        list(by_stem.values()),
    )


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("ё", "е")


def _plain_words(passage: Passage) -> dict[str, str]:
    """Words of title and text that carry meaning, one for each stem."""
    by_stem: dict[str, str] = {}
    for word in _WORD.findall(_plain(f"{passage.title}\n{passage.text}")):
        for stem in terms(word):
            by_stem.setdefault(stem, word)
    return by_stem


def _forms(question: str, weights: Mapping[str, float]) -> list[str]:
    """The question's words as it writes them, in the order of `weights`."""
    forms: dict[str, str] = {}
    for word in _WORD.findall(_plain(question)):
        for stem in terms(word):
            forms.setdefault(stem, word)
    return [forms.get(term, term) for term in weights]


def names_in(question: str) -> set[str]:
    """Terms that name one thing: capitalised within a sentence, quoted, with a digit, Latin in a Russian question."""
    found: set[str] = set()
    is_cyrillic = _is_cyrillic(question)
    for match in _WORD.finditer(question):
        word, before = match.group(), question[: match.start()].rstrip()
        begins = not before or before[-1] in _SENTENCE_END
        capital = word[0].isupper() and len(word) > 1 and not begins
        if word[0].isdigit() or capital or (is_cyrillic and word[0].isascii() and word[0].isalpha()):
            found.update(terms(word))
    for quoted in _QUOTED.findall(question):
        found.update(terms(quoted))
    return found


def _is_cyrillic(text: str) -> bool:
    return len(_CYRILLIC.findall(text)) * 2 > len(_LETTER.findall(text))


def term_likeness(term: str, there: Set[str]) -> float:
    """1 where `there` has the stem; else up to 1 for one that begins alike, or shares most of its letters (a typing
    error); 0 for short stems and numbers, which would be others."""
    if term in there or any(_without_ending(term, there)):
        return 1.0
    if len(term) < _LEAST_STEM or any(map(str.isdigit, term)):
        return 0.0
    best = 0.0
    own = {term[place : place + 3] for place in range(len(term) - 2)}
    for other in there:
        if len(other) < _LEAST_STEM:
            continue
        longer = max(len(term), len(other))
        shared = _shared_start(term, other)
        if shared >= _LEAST_STEM and shared * 2 >= longer:
            best = max(best, 0.5 + 0.5 * shared / longer)
        elif len(term) > 5 and len(other) > 5 and term[0] == other[0]:
            theirs = {other[place : place + 3] for place in range(len(other) - 2)}
            dice = 2 * len(own & theirs) / (len(own) + len(theirs))
            best = max(best, dice if dice >= _NAME_LIKENESS else 0.0)
    return best


def _without_ending(term: str, there: Set[str]) -> Iterator[bool]:
    """The stemmer takes the end of "Рогов" for that of a case, and leaves it in "Рогова"."""
    for ending in ("ов", "ев", "ин"):
        yield f"{term}{ending}" in there
        yield term.endswith(ending) and term.removesuffix(ending) in there


def _shared_start(one: str, other: str) -> int:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))
