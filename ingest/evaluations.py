"""The durable job of a retrieval evaluation: a space's questions are searched as agents search, and their passages'
ranks are counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from ingest.outages import lasting_step
from ingest.workshop import EVALUATIONS_QUEUE, Workshop, start_or_leave, workshop
from rag.evaluation import Judged, measure
from rag.index import Filter
from store import evaluations, kb_spaces, knowledge, meters, rounds
from store.database import Connection, Database
from store.errors import NotFound
from store.evaluations import Evaluation, Question
from store.jobs import ENDED_BADLY, workflow
from store.rounds import Round

log = structlog.get_logger(__name__)

MOST_QUESTIONS = 1000
MOST_KEPT = 200
DEPTH = 10
"""How many passages of an answer are looked at."""

_PAGE = 200
_GRAM = 3
_SHARE = 0.6


def words_of(text: str) -> list[str]:
    """What counts when a quotation is looked for: letters and digits, whatever their case and what stands between."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("ё", "е")
    return "".join(character if character.isalnum() else " " for character in plain).split()


def holds(text: str, quote: str) -> bool:
    """Whether a passage says what the quotation says: all of it, or most of it where a border of passages cuts it."""
    return _hold(words_of(text), words_of(quote))


def _hold(there: Sequence[str], wanted: Sequence[str]) -> bool:
    if not wanted:
        return True
    if f" {' '.join(wanted)} " in f" {' '.join(there)} ":
        return True
    grams = {tuple(wanted[at : at + _GRAM]) for at in range(len(wanted) - _GRAM + 1)}
    found = {tuple(there[at : at + _GRAM]) for at in range(len(there) - _GRAM + 1)}
    return bool(grams) and len(grams & found) >= _SHARE * len(grams)


def order(
    database: Database,
    tenant_id: str,
    space_id: str,
    label: str = "",
    also: Callable[[Connection, Evaluation], None] | None = None,
) -> Evaluation:
    """Notes that a space is to be evaluated: the sweeper begins, if nobody does before. One that has not ended is the
    one that is ordered; of those that have, the newest are kept. `also` runs in the same
    transaction. Raises NotFound where the space is gone."""
    with database.write() as connection:
        if not kb_spaces.hold_space(tenant_id, connection, space_id):
            raise NotFound("No such space.")
        evaluation = evaluations.get_unfinished(tenant_id, connection, space_id)
        if evaluation is None:
            evaluations.forget_old(tenant_id, connection, space_id, keep=MOST_KEPT - 1)
            evaluation = evaluations.add(tenant_id, connection, space_id=space_id, label=label)
        if also is not None:
            also(connection, evaluation)
    return evaluation


def begin(
    tenant_id: str,
    space_id: str,
    label: str = "",
    also: Callable[[Connection, Evaluation], None] | None = None,
) -> Evaluation:
    """`order`, then the job's start."""
    evaluation = order(workshop().database, tenant_id, space_id, label, also)
    start_or_leave(evaluation.id, start, tenant_id, evaluation.id)
    return evaluation


def start(tenant_id: str, evaluation_id: str) -> None:
    """Starts the job of an evaluation; twice is harmless."""
    workshop().jobs.enqueue(
        EVALUATIONS_QUEUE, evaluation_id, evaluate_space, tenant_id, evaluation_id, partition=tenant_id
    )


@workflow(name="evaluate_space")
def evaluate_space(tenant_id: str, evaluation_id: str) -> None:
    _search_questions(tenant_id, evaluation_id)


@lasting_step("search_questions")
def _search_questions(tenant_id: str, evaluation_id: str) -> None:
    evaluate(workshop(), tenant_id, evaluation_id)


def evaluate(house: Workshop, tenant_id: str, evaluation_id: str) -> None:
    """Does it; nothing where it has ended. Raises what searching raises."""
    with house.database.write() as connection:
        evaluation = evaluations.get(tenant_id, connection, evaluation_id)
        if evaluation is None or not evaluations.update(tenant_id, connection, evaluation_id, status="processing"):
            return
        asked, _ = evaluations.list_questions(tenant_id, connection, evaluation.space_id, limit=MOST_QUESTIONS)
    judged, results = [], []
    passages = _Passages(house, tenant_id)
    # Those of one document after another: each is read once.
    for question in sorted(asked, key=lambda each: each.document_id or ""):
        answer = _ask(house, tenant_id, question, passages)
        results.append({"question_id": question.id, "text": question.text, **answer})
        if not answer["is_stale"]:
            judged.append(Judged(ranks=tuple(answer["ranks"]), right=answer["right"]))
    metrics = {"questions": len(asked), "stale": len(asked) - len(judged), **measure(judged, depth=DEPTH)}
    with house.database.write() as connection:
        setup = (evaluation.setup or {}) | _setup(house, tenant_id, connection, evaluation.space_id)
        ended = evaluations.update(
            tenant_id, connection, evaluation_id, status="success", setup=setup, metrics=metrics, results=results
        )
    if ended:
        meters.ended("evaluation", "success")


def _ask(house: Workshop, tenant_id: str, question: Question, passages: _Passages) -> dict[str, Any]:
    """The ranks of the question's passages, and how many there are to find; stale where its document says none of it
    any more."""
    if question.document_id is None:
        return {"ranks": [], "right": 0, "is_stale": True}
    right = passages.count(question.document_id, question.quote)
    wanted = Filter(kinds=("document",), space_ids=(question.space_id,))
    found = house.retriever.find(tenant_id, question.text, wanted, DEPTH)
    ranks = [
        rank
        for rank, passage in enumerate(found, start=1)
        if passage.payload.get("document_id") == question.document_id and holds(passage.text, question.quote)
    ]
    return {"ranks": ranks, "right": max(right, len(ranks)), "is_stale": not right and not ranks}


class _Passages:
    """The words of a document's passages, kept while questions about it are asked."""

    def __init__(self, house: Workshop, tenant_id: str) -> None:
        self._house = house
        self._tenant_id = tenant_id
        self._document_id = ""
        self._words: list[list[str]] = []

    def count(self, document_id: str, quote: str) -> int:
        """How many passages of the document say what the quotation says."""
        if document_id != self._document_id:
            self._document_id, self._words = document_id, self._read(document_id)
        wanted = words_of(quote)
        return sum(_hold(words, wanted) for words in self._words)

    def _read(self, document_id: str) -> list[list[str]]:
        found: list[list[str]] = []
        while True:
            with self._house.database.read() as connection:
                rows, total = knowledge.list_chunks(
                    self._tenant_id, connection, document_id, limit=_PAGE, offset=len(found)
                )
            found += [words_of(row.text) for row in rows]
            if not rows or len(found) >= total:
                return found


def _setup(house: Workshop, tenant_id: str, connection: Connection, space_id: str) -> dict[str, Any]:
    _, embedder = house.indexes.serving
    documents, chunks = knowledge.count_found(tenant_id, connection, space_id)
    return {
        "embedding_model": embedder.name if embedder else None,
        "reranker_model": house.retriever.reranker_name,
        "documents": documents,
        "chunks": chunks,
    }


def changes(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Ids of the questions whose first right passage came nearer to the top, and of those where it fell behind."""
    ranks = {row["question_id"]: _first(row) for row in before}
    known = [
        (row["question_id"], ranks[row["question_id"]], _first(row)) for row in after if row["question_id"] in ranks
    ]
    better = [question_id for question_id, old, new in known if new < old]
    return better, [question_id for question_id, old, new in known if new > old]


def _first(row: dict[str, Any]) -> int:
    ranks: list[int] = row["ranks"]
    return min(ranks, default=DEPTH + 1)


class EvaluationSweep:
    """A process's. Goes round the evaluations that have not ended."""

    def __init__(self) -> None:
        self._round = Round()

    def sweep(self) -> None:
        """Starts evaluations that a crash left unstarted, and ends those whose job ended without telling."""
        house = workshop()
        with house.database.read() as connection:
            waiting = evaluations.list_unfinished(
                connection, older_than_s=house.settings.sweep_s, limit=rounds.AT_ONCE, after=self._round.after
            )
        self._round.go_on([(evaluation.since, evaluation.id) for evaluation in waiting])
        statuses = house.jobs.statuses([evaluation.id for evaluation in waiting])
        for tenant_id, evaluation_id, _ in waiting:
            status = statuses.get(evaluation_id)
            if status is None:
                start(tenant_id, evaluation_id)
            elif status in ENDED_BADLY:
                with house.database.write() as connection:
                    message = "The evaluation failed; it can be started again."
                    values = {"status": "error", "error_message": message}
                    ended = evaluations.update(tenant_id, connection, evaluation_id, **values)
                if ended:
                    meters.ended("evaluation", "error")
