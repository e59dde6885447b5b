"""Fits the weights in `chat/relevance.py` anew: `python -m bench.relevance_fit` prints them.

The order is fitted as a choice of the right passage among a question's, the answer as a logistic regression of answered
against unanswerable questions. A question whose right passages are taken away is one more that has no answer, with a
smaller weight, since others may answer it too. The held-out questions are not read.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import knowledge_set
from bench.chat import Knowledge, open_demo, passage_of, read_questions
from chat.contract import Passage
from chat.evidence import reading_of
from chat.relevance import Evidence
from rag.embedding import Embedder, choose_embedder
from rag.index import Filter
from rag.qdrant_edge_index import EdgeIndex
from rag.search import Searcher
from store import accounts
from store.database import Database
from store.migrate import migrate
from store.settings import load_settings

ORDER_FIELDS = ("coverage", "cosine", "stretch", "together", "foreign")
SETS = ("demo", "development", "development_far")
ANSWER_FIELDS = ("said", "matched", "names", "missing", "titled")
OTHER_CORPUS = 0.4
TAKEN_AWAY = 0.3
DEPTH = 16

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    evidence: list[Evidence]
    right: Array  # 1 for a passage that answers
    weight: float
    has_answer: bool

    def table(self, names: Sequence[str]) -> Array:
        return np.array([[getattr(each, name) for name in names] for each in self.evidence], dtype=np.float64)


async def _cases(
    knowledge: Knowledge, question: str, found: list[tuple[Passage, bool]], weight: float, *, answerable: bool
) -> list[Case]:
    kept = [found] if not answerable else [found, [pair for pair in found if not pair[1]]]
    cases = []
    for number, pairs in enumerate(kept):
        reading = reading_of(question, [passage for passage, _ in pairs])
        judged = reading.judge(await knowledge.score(reading.queries, reading.texts))
        right = {passage.id for passage, is_right in pairs if is_right}
        marks = np.array([float(passage.id in right) for passage, _ in judged])
        share = TAKEN_AWAY if number else 1.0
        cases.append(Case([each for _, each in judged], marks, weight * share, answerable and not number))
    return cases


async def _demo_cases(embedder: Embedder) -> list[Case]:
    cases = []
    with open_demo(embedder) as knowledge:
        for question in (question for name in SETS for question in read_questions(name)):
            found = (
                [
                    (each, each.context_item["source"] in question["source"].values())
                    for each in knowledge.search(question["question"], DEPTH)
                ]
                if question["answerable"]
                else [(each, False) for each in knowledge.search(question["question"], DEPTH)]
            )
            cases += await _cases(knowledge, question["question"], found, 1.0, answerable=question["answerable"])
    return cases


async def _knowledge_cases(embedder: Embedder) -> list[Case]:
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder) / "index", embedder.dimension)
        database = Database(load_settings().model_copy(update={"data_dir": Path(folder), "database_url": ""}))
        migrate(database)
        with database.write() as connection:
            tenant = accounts.create_tenant(connection, name="bench")
        assert tenant is not None
        asked, _ = knowledge_set.build(database, index, embedder, tenant.id)
        knowledge = Knowledge(Searcher(index, embedder), embedder, tenant.id)
        for each in asked:
            hits = knowledge.searcher.search(tenant.id, each.text, Filter(), DEPTH)
            found = [(replace(passage_of(hit), context_item={}), hit.id in each.right) for hit in hits]
            cases += await _cases(knowledge, each.text, found, OTHER_CORPUS, answerable=True)
        index.close()
        database.close()
    return cases


def fit_order(cases: Sequence[Case], *, steps: int = 300, rate: float = 0.1, decay: float = 1.0) -> Array:
    """Conditional logit over each question's passages, by gradient ascent on standardised columns."""
    groups = [case for case in cases if case.has_answer and 0 < case.right.sum() < len(case.right)]
    tables = [case.table(ORDER_FIELDS) for case in groups]
    spread: Array = np.vstack(tables).std(axis=0) + 1e-9
    weights = np.zeros(len(ORDER_FIELDS))
    for _ in range(steps):
        slope = -decay * weights
        for case, table in zip(groups, tables, strict=True):
            scores = table / spread @ weights
            chosen = np.exp(scores - scores.max())
            chosen /= chosen.sum()
            right = chosen * case.right / (chosen @ case.right)
            slope += case.weight * ((right - chosen) @ (table / spread))
        weights += rate * slope / 10
    return weights / spread


def fit_answers(cases: Sequence[Case], order: Array, *, decay: float = 33.0) -> tuple[Array, float]:
    """Logistic regression by Newton's method, both classes of equal weight; the weights and the bound."""
    firsts = [int(np.argmax(case.table(ORDER_FIELDS) @ order)) for case in cases]
    x = np.stack([case.table(ANSWER_FIELDS)[first] for case, first in zip(cases, firsts, strict=True)])
    y = np.array([float(case.has_answer) for case in cases])
    w = np.array([case.weight for case in cases])
    w = w * w.sum() / (2 * np.where(y == 1, w[y == 1].sum(), w[y == 0].sum()))
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    penalty = np.diag([decay] * len(ANSWER_FIELDS) + [0.0])
    weights = np.zeros(z.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-z @ weights))
        hessian = z.T @ (z * (w * p * (1 - p))[:, None]) + penalty
        weights += np.linalg.solve(hessian, z.T @ (w * (y - p)) - penalty @ weights)
    found: Array = weights[:-1] / spread
    return found, float(found @ mean - weights[-1])


async def fit() -> None:
    spec = choose_embedder(load_settings())
    if spec is None:
        print("no embedding model is installed: parley models pull")
        return
    embedder = spec.load(2)
    cases = [case for case in [*await _demo_cases(embedder), *await _knowledge_cases(embedder)] if case.evidence]
    order = fit_order(cases)
    answers, bound = fit_answers(cases, order)
    print("ORDER", {name: round(float(value), 2) for name, value in zip(ORDER_FIELDS, order, strict=True)})
    print("ANSWERS", {name: round(float(value), 3) for name, value in zip(ANSWER_FIELDS, answers, strict=True)})
    print(f"bound {bound:.2f}")


if __name__ == "__main__":
    asyncio.run(fit())
