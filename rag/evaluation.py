"""How well search finds: questions whose passage is known, and the share of them that have it among the first k."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict


@dataclass(frozen=True, slots=True)
class Question:
    """`answer_id` is the id of the one passage that holds the answer."""

    text: str
    answer_id: str


@dataclass(frozen=True, slots=True)
class Quality:
    """`recall` maps k to the share of questions whose passage is among the first k; `mrr` is cut at the largest k."""

    questions: int
    recall: dict[int, float]
    mrr: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's answer: the ranks of the right passages in it, from 1, and how many there are to be found."""

    ranks: tuple[int, ...]
    right: int


class Measures(TypedDict):
    """Means over questions, each 0 to 1. `hit_rate` maps k to the share of questions with a right passage among the
    first k; `mrr` is the reciprocal of the first one's rank; `ndcg` rewards all of them, the earlier the more."""

    hit_rate: dict[str, float]
    mrr: float
    ndcg: float


def measure(judged: Sequence[Judged], depth: int = 10, ks: Sequence[int] = (1, 3, 5, 10)) -> Measures:
    """What comes after `depth` does not count. Zeros without questions."""
    count = max(len(judged), 1)
    firsts = [min((rank for rank in each.ranks if rank <= depth), default=0) for each in judged]
    return Measures(
        hit_rate={str(k): sum(0 < first <= k for first in firsts) / count for k in ks if k <= depth},
        mrr=sum(1 / first for first in firsts if first) / count,
        ndcg=sum(ndcg(each.ranks, each.right, depth) for each in judged) / count,
    )


def ndcg(ranks: Sequence[int], right: int, depth: int = 10) -> float:
    """Normalized discounted cumulative gain (Järvelin and Kekäläinen 2002) of passages that are right or not: `ranks`
    of the right ones in the answer, `right` of them to be found. 0 where there is none to be found."""
    ranks = sorted(rank for rank in set(ranks) if rank <= depth)
    assert all(rank >= 1 for rank in ranks), "ranks are counted from 1"
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(max(right, len(ranks)), depth) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / best if best else 0.0


def evaluate(
    questions: Sequence[Question], rank: Callable[[str], Sequence[str]], ks: Sequence[int] = (1, 5, 10)
) -> Quality:
    """`rank` gives passage ids for a question's text, best first. Raises ValueError without questions."""
    if not questions:
        raise ValueError("nothing to evaluate")
    found = dict.fromkeys(ks, 0)
    reciprocal = 0.0
    for question in questions:
        ranked = list(rank(question.text))[: max(ks)]
        if question.answer_id not in ranked:
            continue
        place = ranked.index(question.answer_id) + 1
        reciprocal += 1 / place
        for k in ks:
            found[k] += place <= k
    return Quality(
        questions=len(questions),
        recall={k: hits / len(questions) for k, hits in found.items()},
        mrr=reciprocal / len(questions),
    )


def read_squad(path: Path, passage_id: Callable[[int], str] = str) -> tuple[dict[str, str], list[Question]]:
    """Passages by id, and questions, out of a file in SQuAD's format: one passage a paragraph."""
    passages: dict[str, str] = {}
    questions: list[Question] = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            identifier = passage_id(len(passages))
            passages[identifier] = paragraph["context"]
            questions += [Question(entry["question"], identifier) for entry in paragraph["qas"]]
    return passages, questions
