"""How well search finds: questions whose passage is known, and the share of them that have it among the first k."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


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
