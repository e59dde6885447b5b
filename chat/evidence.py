"""What in the found passages speaks for an answer: whether they fit the question at all, and their best sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chat.contract import Message, Passage, Retrieve, Scorer
from rag.sentences import sentence_ends
from rag.text_terms import query_terms, terms

_NO_HEADING = re.compile(r"[.!?…;:,|\t]$|\d|[|\t]| [—–-] |^[-*•–—]")
MAX_SENTENCE_CHARS = 400
FOLLOW_UP_TERMS = 3
MAX_PASSAGES = 5
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

    Chosen by hand for the multilingual encoder's cosines, from a dozen questions; other encoders need other bounds.
    `python -m bench.chat` shows what they do.
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
    present = Counter(term for text in texts for term in set(terms(text)))
    return {term: math.log(1 + (len(texts) + 1) / (present[term] + 0.5)) for term in query_terms(question)}


def coverage(weights: dict[str, float], text: str) -> float:
    """Share of the weight of the question's terms that `text` contains, 0 to 1."""
    total = sum(weights.values())
    if not total:
        return 0.0
    there = set(terms(text))
    return sum(weight for term, weight in weights.items() if term in there) / total


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
    question: str, history: Sequence[Message], retrieve: Retrieve, rule: RelevanceRule
) -> tuple[str, list[Passage]]:
    """The query that was searched and the passages that fit it, best first.

    A short question, or one that nothing fits, is searched again together with the user's turn before it.
    """
    found = relevant_passages(question, await retrieve(question), rule)
    before = next((message.content for message in reversed(history) if message.role == "user"), "")
    if not before or (found and len(query_terms(question)) > FOLLOW_UP_TERMS):
        return question, found
    joined = f"{before[:500]}\n{question}"
    together = relevant_passages(joined, await retrieve(joined), rule)
    known = {passage.id for passage in together}
    return joined, [*together, *(passage for passage in found if passage.id not in known)]


async def best_extracts(
    question: str, passages: Sequence[Passage], scorer: Scorer | None, *, max_chars: int = 360
) -> list[Extract]:
    """The stretch of at most about `max_chars` of each of the first passages that answers best, best extract first."""
    passages = passages[:MAX_PASSAGES]
    split = [split_sentences(passage.text) for passage in passages]
    flat = [sentence for group in split for sentence in group]
    if not flat:
        return []
    weights = term_weights(question, flat)
    cosines: Sequence[float] = await scorer(question, flat) if scorer is not None else [0.0] * len(flat)
    assert len(cosines) == len(flat)
    asked = _Asked(weights, _ASKS_FOR_NUMBER.search(question) is not None)
    extracts: list[Extract] = []
    start = 0
    for passage, group in zip(passages, split, strict=True):
        if group:
            extracts.append(_best_stretch(passage, group, cosines[start : start + len(group)], asked, max_chars))
        start += len(group)
    # The search's own order speaks for what it put first.
    ranked = sorted(enumerate(extracts), key=lambda pair: pair[0] * _PLACE_COST - pair[1].score)
    return [extract for _, extract in ranked]


@dataclass(frozen=True, slots=True)
class _Asked:
    weights: dict[str, float]
    wants_number: bool

    def score(self, words: str, said: str, cosine: float) -> float:
        """How well a stretch answers; `words` count for the terms, `said` is the stretch without its heading."""
        number = self.wants_number and any(character.isdigit() for character in said)
        covered = coverage(self.weights, words)
        return covered * (1 - _COSINE_SHARE) + cosine * _COSINE_SHARE + (_NUMBER_BONUS if number else 0.0)


def _is_heading(sentences: Sequence[str], index: int) -> bool:
    """A line marked as one, or a few words without an end mark above a whole sentence. Rows of tables are none."""
    line = sentences[index]
    if line.startswith("#"):
        return True
    if index + 1 == len(sentences) or len(line) > 60 or _NO_HEADING.search(line):
        return False
    below = sentences[index + 1]
    return len(below) > 60 or below[-1] in ".!?…;:"


def _best_stretch(
    passage: Passage, sentences: Sequence[str], cosines: Sequence[float], asked: _Asked, max_chars: int
) -> Extract:
    """Tries every run of sentences that fits; the words of the heading above it and of the title count as its own."""
    heading = ""
    best: tuple[float, int, int] | None = None
    for first, sentence in enumerate(sentences):
        if _is_heading(sentences, first):
            heading = sentence
            continue
        context = f"{passage.title}\n{heading}"
        length = 0
        for last in range(first, len(sentences)):
            length += len(sentences[last]) + 1
            if last > first and (length > max_chars or _is_heading(sentences, last)):
                break
            said = " ".join(sentences[first : last + 1])
            cosine = max(cosines[first : last + 1])
            score = asked.score(f"{context}\n{said}", said, cosine) - _SENTENCE_COST * (last - first)
            if best is None or score > best[0]:
                best = (score, first, last)
    if best is None:  # headings alone
        return Extract(passage, " ".join(sentences), asked.score(" ".join(sentences), "", max(cosines)))
    score, first, last = best
    first, last = _widened(sentences, first, _with_answer(sentences, last, max_chars), max_chars)
    separator = "\n" if "\n" in passage.text else " "
    return Extract(passage, separator.join(sentences[first : last + 1]), score)


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


def _widened(sentences: Sequence[str], first: int, last: int, max_chars: int) -> tuple[int, int]:
    """A short stretch takes in what stands around it, up to its heading: the answer often follows the best match."""
    length = sum(map(len, sentences[first : last + 1]))
    for _ in range(len(sentences)):
        if length >= max_chars // 2:
            break
        after = last + 1 < len(sentences) and not _is_heading(sentences, last + 1)
        before = first > 0 and not _is_heading(sentences, first - 1)
        if after and length + len(sentences[last + 1]) <= max_chars:
            last += 1
            length += len(sentences[last])
        elif before and length + len(sentences[first - 1]) <= max_chars:
            first -= 1
            length += len(sentences[first])
        else:
            break
    return first, last
