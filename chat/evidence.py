"""What in the found passages speaks for an answer: whether they fit the question at all, and their best sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from anyio import to_thread

from chat.contract import Message, Passage, Retrieve, Scorer
from chat.relevance import ANSWERS, ORDER, Reading, read
from rag.sentences import sentence_ends
from rag.text_terms import query_terms, terms

_NO_HEADING = re.compile(r"[.!?…;:,|\t]$|\d|[|\t]| [—–-] |^[-*•–—]")
MAX_SENTENCE_CHARS = 400
FOLLOW_UP_TERMS = 3
MAX_PASSAGES = 5
MAX_JUDGED = 8
BESIDE = 0.5  # how much less than an answer may speak for what is shown beside one
MAX_SENTENCES = 60  # of one passage; runs are tried within them
_SENTENCES_BEFORE = 20  # how many of them may stand before the best one
_COSINE_SHARE = 0.35
_PLACE_COST = 0.05
_SENTENCE_COST = 0.02
_NUMBER_BONUS = 0.12
_ASKS_FOR_NUMBER = re.compile(
    r"\b(скольк\w+|когда|цена|почём|номер|телефон\w*|how (much|many|long|often|soon)|when|price|phone)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RelevanceRule:
    """When a passage counts as an answer's source: enough of the question's rare words, or fewer and close in meaning.

    For searches without a scorer, which have no more to go by; `chat.relevance` knows better where there is one. Chosen
    by hand for the multilingual encoder's cosines, from a dozen questions.
    """

    sure_coverage: float = 0.62
    least_coverage: float = 0.34
    least_cosine: float = 0.36
    sure_cosine: float = 0.50

    def holds(self, coverage: float, cosine: float | None) -> bool:
        if coverage >= self.sure_coverage:
            return True
        if cosine is None:
            return coverage >= (self.sure_coverage + self.least_coverage) / 2
        return cosine >= self.sure_cosine or (coverage >= self.least_coverage and cosine >= self.least_cosine)


@dataclass(frozen=True, slots=True)
class Extract:
    """Consecutive sentences of a passage; `score` compares extracts of one question."""

    passage: Passage
    text: str
    score: float


def split_sentences(text: str) -> list[str]:
    """Sentences, and lines of a dialogue, in their order; none over `MAX_SENTENCE_CHARS`."""
    sentences: list[str] = []
    for line in text.splitlines():
        for sentence in _cut_at(line, sentence_ends(line)):
            while len(sentence) > MAX_SENTENCE_CHARS:
                cut = sentence.rfind(" ", 0, MAX_SENTENCE_CHARS)
                cut = cut if cut > 0 else MAX_SENTENCE_CHARS
                sentences.append(sentence[:cut])
                sentence = sentence[cut:].strip()
            if sentence:
                sentences.append(sentence)
    return sentences


def _cut_at(line: str, ends: Iterable[int]) -> list[str]:
    borders = [0, *ends, len(line)]
    return [line[start:end].strip() for start, end in pairwise(borders)]


def term_weights(question: str, texts: Sequence[str]) -> dict[str, float]:
    """How much each term of the question tells texts apart (IDF over them; a term in none weighs most)."""
    return _weights(question, [set(terms(text)) for text in texts])


def _weights(question: str, term_sets: Sequence[Set[str]]) -> dict[str, float]:
    present = Counter(term for there in term_sets for term in there)
    return {term: math.log(1 + (len(term_sets) + 1) / (present[term] + 0.5)) for term in query_terms(question)}


def coverage(weights: dict[str, float], text: str) -> float:
    """Share of the weight of the question's terms that `text` contains, 0 to 1."""
    return _share(weights, set(terms(text)))


def _share(weights: dict[str, float], there: Set[str]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in there) / total if total else 0.0


def relevant_passages(question: str, passages: Sequence[Passage], rule: RelevanceRule) -> list[Passage]:
    """The passages that fit the question, in the order of the search."""
    weights = term_weights(question, [passage.text for passage in passages])
    chosen = []
    for passage in passages:
        covered = passage.coverage
        if covered is None:
            covered = coverage(weights, f"{passage.title}\n{passage.text}")
        if rule.holds(covered, passage.cosine):
            chosen.append(passage)
    return chosen


async def find_evidence(
    question: str, history: Sequence[Message], retrieve: Retrieve, rule: RelevanceRule, scorer: Scorer | None = None
) -> tuple[str, list[Passage]]:
    """The query that was searched and the passages that fit it, best first.

    A short question, or one that nothing fits, is searched again together with the user's turn before it.
    """
    found = await _fitting(question, await retrieve(question), rule, scorer)
    before = next((message.content for message in reversed(history) if message.role == "user"), "")
    if not before or (found and len(query_terms(question)) > FOLLOW_UP_TERMS):
        return question, found
    joined = f"{before[:500]}\n{question}"
    together = await _fitting(joined, await retrieve(joined), rule, scorer)
    known = {passage.id for passage in together}
    return joined, [*together, *(passage for passage in found if passage.id not in known)]


async def _fitting(
    question: str, passages: Sequence[Passage], rule: RelevanceRule, scorer: Scorer | None
) -> list[Passage]:
    """`relevant_passages`, or where meaning can be compared those that `chat.relevance` takes, in its order."""
    if scorer is None or not any(passage.cosine for passage in passages):
        return await to_thread.run_sync(relevant_passages, question, passages, rule)
    reading = await to_thread.run_sync(reading_of, question, passages)
    if not reading.texts:
        return []
    cosines = await scorer(reading.queries, reading.texts)
    return await to_thread.run_sync(_chosen, reading, cosines)


def reading_of(question: str, passages: Sequence[Passage]) -> Reading:
    """Of the passages that coverage and cosine put first: several searches come one after the other."""

    def place(passage: Passage) -> float:
        return -(passage.coverage or 0.0) - (passage.cosine or 0.0)

    first = sorted(passages, key=place)[:MAX_JUDGED]
    return read(question, first, [split_sentences(passage.text) for passage in first])


def _chosen(reading: Reading, cosines: Sequence[Sequence[float]]) -> list[Passage]:
    judged = sorted(reading.judge(cosines), key=lambda pair: -ORDER(pair[1]))
    if not judged or ANSWERS(judged[0][1]) < 0:
        return []
    certain = [replace(passage, certainty=ANSWERS(evidence)) for passage, evidence in judged]
    return [passage for passage in certain if passage.certainty is not None and passage.certainty >= -BESIDE]


async def best_extracts(
    question: str, passages: Sequence[Passage], scorer: Scorer | None, *, max_chars: int = 360
) -> list[Extract]:
    """The stretch of at most about `max_chars` that answers best, of each of the first passages.

    Best extract first; with a scorer in the order of the passages, for `chat.relevance` weighed more than a stretch
    shows.
    """
    asked, parts = await to_thread.run_sync(_read, question, passages[:MAX_PASSAGES])
    if not parts:
        return []
    flat = [sentence for part in parts for sentence in part.sentences]
    cosines: Sequence[float] = (await scorer([question], flat))[0] if scorer is not None else [0.0] * len(flat)
    assert len(cosines) == len(flat)
    extracts = await to_thread.run_sync(_stretches, asked, parts, cosines, max_chars)
    return extracts if scorer is not None else _ranked(extracts)


@dataclass(frozen=True, slots=True)
class _Asked:
    weights: dict[str, float]
    wants_number: bool

    def score(self, covered: float, cosine: float, has_number: bool) -> float:
        """How well a stretch answers; `has_number` is of the stretch without its heading."""
        number = _NUMBER_BONUS if self.wants_number and has_number else 0.0
        return covered * (1 - _COSINE_SHARE) + cosine * _COSINE_SHARE + number


@dataclass(frozen=True, slots=True)
class _Part:
    """At most `MAX_SENTENCES` of a passage in a row; the lists go with `sentences`. `terms` are the question's only."""

    passage: Passage
    title_terms: frozenset[str]
    sentences: list[str]
    terms: list[frozenset[str]]
    are_headings: list[bool]


def _read(question: str, passages: Sequence[Passage]) -> tuple[_Asked, list[_Part]]:
    """Takes the terms of every sentence once; passages without a sentence are left out."""
    split = [split_sentences(passage.text) for passage in passages]
    term_sets = [[frozenset(terms(sentence)) for sentence in group] for group in split]
    weights = _weights(question, [there for group in term_sets for there in group])
    parts = []
    for passage, sentences, group in zip(passages, split, term_sets, strict=True):
        if not sentences:
            continue
        there = [weights.keys() & own for own in group]
        first = _first_sentence(weights, there)
        sentences = sentences[first : first + MAX_SENTENCES]
        parts.append(
            _Part(
                passage,
                frozenset(weights.keys() & set(terms(passage.title))),
                sentences,
                [frozenset(own) for own in there[first : first + MAX_SENTENCES]],
                [_is_heading(sentences, index) for index in range(len(sentences))],
            )
        )
    return _Asked(weights, _ASKS_FOR_NUMBER.search(question) is not None), parts


def _first_sentence(weights: dict[str, float], term_sets: Sequence[Set[str]]) -> int:
    """Where to begin in a passage of too many sentences: a little before the one with the most of the question."""
    if len(term_sets) <= MAX_SENTENCES:
        return 0
    best = max(range(len(term_sets)), key=lambda index: sum(weights[term] for term in term_sets[index]))
    return min(max(best - _SENTENCES_BEFORE, 0), len(term_sets) - MAX_SENTENCES)


def _stretches(asked: _Asked, parts: Sequence[_Part], cosines: Sequence[float], max_chars: int) -> list[Extract]:
    """The best stretch of each part. `cosines` go with the sentences of all parts in their order."""
    extracts: list[Extract] = []
    start = 0
    for part in parts:
        end = start + len(part.sentences)
        extracts.append(_best_stretch(part, cosines[start:end], asked, max_chars))
        start = end
    return extracts


def _ranked(extracts: Sequence[Extract]) -> list[Extract]:
    """Best first; the search's own order speaks for what it put first."""
    ranked = sorted(enumerate(extracts), key=lambda pair: pair[0] * _PLACE_COST - pair[1].score)
    return [extract for _, extract in ranked]


def _is_heading(sentences: Sequence[str], index: int) -> bool:
    """A line marked as one, or a few words without an end mark above a whole sentence. Rows of tables are none."""
    line = sentences[index]
    if line.startswith("#"):
        return True
    if index + 1 == len(sentences) or len(line) > 60 or _NO_HEADING.search(line):
        return False
    below = sentences[index + 1]
    return len(below) > 60 or below[-1] in ".!?…;:"


def _best_stretch(part: _Part, cosines: Sequence[float], asked: _Asked, max_chars: int) -> Extract:
    """Tries every run of sentences that fits; the words of the heading above it and of the title count as its own.

    A run is scored from the one before it, so that its sentences are not read again.
    """
    sentences = part.sentences
    have_numbers = [any(map(str.isdigit, sentence)) for sentence in sentences]
    context = part.title_terms
    best: tuple[float, int, int] | None = None
    for first in range(len(sentences)):
        if part.are_headings[first]:
            context = part.title_terms | part.terms[first]
            continue
        there, covered = context, _share(asked.weights, context)
        length, cosine, has_number = 0, cosines[first], False
        for last in range(first, len(sentences)):
            length += len(sentences[last]) + 1
            if last > first and (length > max_chars or part.are_headings[last]):
                break
            if not part.terms[last] <= there:
                there = there | part.terms[last]
                covered = _share(asked.weights, there)
            cosine = max(cosine, cosines[last])
            has_number = has_number or have_numbers[last]
            score = asked.score(covered, cosine, has_number) - _SENTENCE_COST * (last - first)
            if best is None or score > best[0]:
                best = (score, first, last)
    if best is None:  # headings alone
        covered = _share(asked.weights, frozenset().union(*part.terms))
        return Extract(part.passage, " ".join(sentences), asked.score(covered, max(cosines), False))
    score, first, last = best
    last = _with_answer(sentences, last, max_chars)
    first, last = _widened(part, first, last, max_chars)
    separator = "\n" if "\n" in part.passage.text else " "
    return Extract(part.passage, separator.join(sentences[first : last + 1]), score)


def _with_answer(sentences: Sequence[str], last: int, max_chars: int) -> int:
    """A stretch that ends in a question goes on with what answers it."""
    if not sentences[last].rstrip("»\"' ").endswith("?"):
        return last
    room = max_chars
    while last + 1 < len(sentences) and room > 0:
        last += 1
        room -= len(sentences[last])
        if not sentences[last].endswith("?") and len(sentences[last]) > 30:
            break
    return last


def _widened(part: _Part, first: int, last: int, max_chars: int) -> tuple[int, int]:
    """A short stretch takes in what stands around it, up to its heading: the answer often follows the best match."""
    sentences = part.sentences
    length = sum(map(len, sentences[first : last + 1]))
    for _ in range(len(sentences)):
        if length >= max_chars // 2:
            break
        after = last + 1 < len(sentences) and not part.are_headings[last + 1]
        before = first > 0 and not part.are_headings[first - 1]
        if after and length + len(sentences[last + 1]) <= max_chars:
            last += 1
            length += len(sentences[last])
        elif before and length + len(sentences[first - 1]) <= max_chars:
            first -= 1
            length += len(sentences[first])
        else:
            break
    return first, last
