"""`parley eval`: how well the questions of a space find their passages, before and after a change."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

from api.evaluations import EvaluationDetails, EvaluationRecord, details
from ingest import evaluations as evaluating
from ingest.workshop import open_workshop
from rag.index import IndexLocked
from store import evaluations, kb_spaces, knowledge
from store.database import Connection, Database
from store.errors import InvalidRequest, NotFound, Unavailable
from store.evaluations import Evaluation
from store.ids import parse_id
from store.knowledge import Document
from store.migrate import open_current
from store.settings import Settings

_LOOK_S = 0.5
_LONGEST_S = 1800.0
_COLUMNS = ("question", "document", "quote")


def evaluate_space(settings: Settings, space: str, label: str, questions: Path | None) -> EvaluationDetails:
    """Searches all questions of a space, by a running server where there is one. `questions` is a CSV file with the
    columns question, document (id, title or file name) and quote, whose rows are kept first, each once.

    Raises NotFound, InvalidRequest, or Unavailable where nobody does the work.
    """
    with open_current(settings) as database:
        space_id = parse_id(space)
        with database.read() as connection:
            tenant_id = kb_spaces.tenant_of(connection, space_id) if space_id else None
        if space_id is None or tenant_id is None:
            raise NotFound(f"no space {space}")
        if questions is not None:
            _keep_questions(database, tenant_id, space_id, questions)
        with database.read() as connection:
            if not evaluations.list_questions(tenant_id, connection, space_id, limit=1)[1]:
                raise InvalidRequest("the space has no questions yet: --questions FILE, or POST .../questions")
        ordered = evaluating.order(database, tenant_id, space_id, label)
        _have_done(settings, database, ordered)
        with database.read() as connection:
            row = evaluations.get(tenant_id, connection, ordered.id)
            assert row is not None, "an evaluation ends with its space alone, and that was there"
            before = evaluations.get_previous(tenant_id, connection, row)
    if row.status == "error":
        raise Unavailable(row.error_message or "The evaluation failed.")
    return details(row, before)


def _have_done(settings: Settings, database: Database, ordered: Evaluation) -> None:
    try:
        house = open_workshop(settings, takes=())
    except (IndexLocked, Unavailable):
        # A server owns the index and does it.
        _wait(database, ordered)
        return
    try:
        evaluating.evaluate(house, ordered.tenant_id, ordered.id)
    finally:
        house.close()


def _wait(database: Database, ordered: Evaluation) -> None:
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        with database.read() as connection:
            row = evaluations.get(ordered.tenant_id, connection, ordered.id)
        if row is None:
            raise NotFound("the space was deleted meanwhile")
        if row.status not in evaluations.UNFINISHED:
            return
        time.sleep(_LOOK_S)
    raise Unavailable("the server did not come to it; it will, and GET .../evaluations shows it then")


def _keep_questions(database: Database, tenant_id: str, space_id: str, path: Path) -> None:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidRequest(f"{path}: cannot be read as CSV in UTF-8 ({error})") from None
    with database.write() as connection:
        known, _ = evaluations.list_questions(tenant_id, connection, space_id, limit=evaluating.MOST_QUESTIONS)
        kept = {(row.text, row.document_id, row.quote) for row in known}
        documents = _documents(tenant_id, connection, space_id)
        for number, row in enumerate(rows, start=2):
            text, name, quote = ((row.get(column) or "").strip() for column in _COLUMNS)
            if not text:
                raise InvalidRequest(f"{path}, line {number}: no question")
            if name not in documents:
                raise InvalidRequest(f"{path}, line {number}: no document {name!r} in the space")
            entry = (text, documents[name].id, quote)
            if entry in kept:
                continue
            if len(kept) >= evaluating.MOST_QUESTIONS:
                raise InvalidRequest(f"a space keeps at most {evaluating.MOST_QUESTIONS:,} questions")
            kept.add(entry)
            evaluations.add_question(
                tenant_id, connection, space_id=space_id, text=text, document_id=entry[1], quote=quote
            )


def _documents(tenant_id: str, connection: Connection, space_id: str) -> dict[str, Document]:
    """By id, title and file name; the newest of those that share one."""
    found: dict[str, Document] = {}
    offset = 0
    while True:
        rows, total = knowledge.list_documents(tenant_id, connection, space_id, limit=500, offset=offset)
        for row in rows:
            for name in (row.id, row.title, row.file_name):
                found.setdefault(name, row)
        offset += len(rows)
        if not rows or offset >= total:
            return found


def metric_rows(found: EvaluationDetails) -> list[dict[str, Any]]:
    """A line a figure: before and now."""
    before = found.previous
    names = [f"hit_rate@{k}" for k in (found.metrics.hit_rate if found.metrics else {})] + ["mrr", "ndcg"]
    return [
        {"figure": name, "before": _figure(before, name), "now": _figure(found, name)}
        for name in ["questions", "stale", *names]
    ]


def _figure(record: EvaluationRecord | None, name: str) -> str:
    if record is None or record.metrics is None:
        return ""
    kind, _, k = name.partition("@")
    value = record.metrics.hit_rate.get(k) if k else getattr(record.metrics, kind)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def lost_rows(found: EvaluationDetails) -> list[dict[str, Any]]:
    """The questions whose passage was not among the first ten, was found lower than before, or is gone."""
    rows = []
    for each in found.results:
        state = "passage gone" if each.is_stale else "" if each.ranks else "not found"
        if not state and each.question_id in found.worse:
            state = f"lower than before, now {min(each.ranks)}"
        if state:
            rows.append({"question": each.text, "state": state})
    return rows
