"""What in the found passages speaks for an answer: whether they fit the question at all, and their best sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from chat.engines import Message, Passage, Retrieve, Scorer
from rag.text_terms import query_terms, terms

MAX_SENTENCE_CHARS = 400
FOLLOW_UP_TERMS = 3
_COSINE_SHARE = 0.4
_NUMBER_BONUS = 0.12
_ASKS_FOR_NUMBER = re.compile(
    r"\b(сколько|скольк\w+|когда|во сколько|какая цена|почём|номер|телефон\w*|how (much|many|long|often|soon)|when|price|phone)\b",
    re.IGNORECASE,
)
# Not after one letter or a usual abbreviation ("г. Москва", "т. д.", "Mr. Smith"), nor before a lower-case letter.
_SENTENCE_END = re.compile(
    r"(?<![\s(«\"][а-яa-z]\.)(?<!\bул\.)(?<!\bруб\.)(?<!\bстр\.)(?<!\bMr\.)(?<!\bDr\.)(?<=[.!?…])[»\")]*\s+(?=[^a-zа-яё\s])"
)


@dataclass(frozen=True, slots=True)
class RelevanceRule:
    """When a passage counts as an answer's source: enough of the question's rare words, or fewer and close in meaning.

    Tuned on the demo company's questions (`python -m bench.chat`), with the multilingual encoder's cosines.
    """

    sure_coverage: float = 0.62
    least_coverage: float = 0.34
    least_cosine: float = 0.42
    sure_cosine: float = 0.62

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
        for sentence in _SENTENCE_END.split(line.strip()):
            while len(sentence) > MAX_SENTENCE_CHARS:
                cut = sentence.rfind(" ", 0, MAX_SENTENCE_CHARS)
                cut = cut if cut > 0 else MAX_SENTENCE_CHARS
                sentences.append(sentence[:cut])
                sentence = sentence[cut:].strip()
            if sentence:
                sentences.append(sentence)
    return sentences


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
    question: str, passages: Sequence[Passage], scorer: Scorer | None, *, sentences: int = 2
) -> list[Extract]:
    """The best run of at most `sentences` sentences of each passage, best extract first."""
    split = [split_sentences(passage.text) for passage in passages]
    flat = [sentence for group in split for sentence in group]
    if not flat:
        return []
    weights = term_weights(question, flat)
    cosines: Sequence[float] = await scorer(question, flat) if scorer is not None else [0.0] * len(flat)
    assert len(cosines) == len(flat)
    share = _COSINE_SHARE if scorer is not None else 0.0
    wants_number = _ASKS_FOR_NUMBER.search(question) is not None
    extracts: list[Extract] = []
    start = 0
    for passage, group in zip(passages, split, strict=True):
        scores = [
            _sentence_score(coverage(weights, sentence), cosines[start + index] * share, sentence, wants_number)
            for index, sentence in enumerate(group)
        ]
        start += len(group)
        if group:
            extracts.append(_best_run(passage, group, scores, sentences))
    # The search's own order breaks ties and speaks for what it put first.
    ranked = sorted(enumerate(extracts), key=lambda pair: -(pair[1].score - 0.04 * pair[0]))
    return [extract for _, extract in ranked]


def _sentence_score(covered: float, similar: float, sentence: str, wants_number: bool) -> float:
    has_number = any(character.isdigit() for character in sentence)
    return covered * (1 - _COSINE_SHARE) + similar + (_NUMBER_BONUS if wants_number and has_number else 0.0)


def _best_run(passage: Passage, group: Sequence[str], scores: Sequence[float], length: int) -> Extract:
    best = max(range(len(group)), key=lambda index: scores[index])
    first, last = best, best
    if group[best].rstrip("»\"' ").endswith("?") and best + 1 < len(group):
        last = min(best + length, len(group) - 1)  # a question is answered by what follows it
    while last - first + 1 < length:
        before = scores[first - 1] if first > 0 else -1.0
        after = scores[last + 1] if last + 1 < len(group) else -1.0
        if max(before, after) < scores[best] * 0.4:
            break
        first, last = (first - 1, last) if before > after else (first, last + 1)
    text = "\n".join(group[first : last + 1]) if "\n" in passage.text else " ".join(group[first : last + 1])
    return Extract(passage, text, scores[best])
