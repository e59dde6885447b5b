"""How well a space's passages are found: questions that its owner keeps, and evaluations over them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from starlette.responses import Response

from api.fields import UtcTime, Uuid
from api.http import Body, Call, NoInput
from api.knowledge import kb_operation, require_space
from api.paging import PageQuery, Pagination, pagination
from ingest import evaluations as evaluating
from store import evaluations, kb_spaces, knowledge
from store.database import Connection
from store.errors import Conflict, InvalidRequest, NotFound
from store.evaluations import Evaluation, Question

Text = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
Quote = Annotated[str, Field(max_length=4000)]


class QuestionBody(Body):
    """The passage that should be found: by words of it, or by its id; without either any passage of the document."""

    text: Text
    document_id: Uuid
    quote: Quote | None = None
    chunk_id: Uuid | None = None


class QuestionPatch(Body):
    text: Text | None = None
    document_id: Uuid | None = None
    quote: Quote | None = None
    chunk_id: Uuid | None = None


class QuestionRecord(BaseModel):
    """`document_id` is null where the document was deleted: PATCH gives the question another one."""

    id: str
    space_id: str
    text: str
    document_id: str | None
    quote: str
    created_at: UtcTime
    updated_at: UtcTime


class QuestionList(BaseModel):
    items: list[QuestionRecord]
    pagination: Pagination


class EvaluationBody(Body):
    label: Annotated[str, Field(max_length=200)] = ""


class EvaluationSetup(BaseModel):
    """With what the questions were searched."""

    label: str = ""
    embedding_model: str | None = None
    reranker_model: str | None = None
    documents: int | None = None
    chunks: int | None = None


class EvaluationMetrics(BaseModel):
    """Over the first ten passages of each answer. `stale` questions, whose passage no document holds any more, are left
    out of the rest. `hit_rate` maps k to the share of questions with a right passage among the first k."""

    questions: int
    stale: int
    hit_rate: dict[str, float]
    mrr: float
    ndcg: float


class EvaluationRecord(BaseModel):
    id: str
    space_id: str
    status: Literal["pending", "processing", "success", "error"]
    error_message: str | None
    setup: EvaluationSetup | None
    metrics: EvaluationMetrics | None
    created_at: UtcTime
    updated_at: UtcTime


class EvaluationList(BaseModel):
    items: list[EvaluationRecord]
    pagination: Pagination


class QuestionResult(BaseModel):
    """`ranks` of the right passages among the first ten, from 1; `right`: how many there are to find."""

    question_id: str
    text: str
    ranks: list[int]
    right: int
    is_stale: bool


class EvaluationDetails(EvaluationRecord):
    """`previous` is the evaluation before it; `better` and `worse` are the questions that changed since."""

    results: list[QuestionResult]
    previous: EvaluationRecord | None
    better: list[str]
    worse: list[str]


def _question(row: Question) -> QuestionRecord:
    return QuestionRecord.model_validate(row, from_attributes=True)


def _evaluation(row: Evaluation) -> EvaluationRecord:
    return EvaluationRecord.model_validate(row, from_attributes=True)


def list_questions(call: Call[PageQuery, NoInput]) -> QuestionList:
    space = require_space(call)
    with call.services.database.read() as connection:
        rows, total = evaluations.list_questions(
            call.tenant_id, connection, space.id, limit=call.query.limit, offset=call.query.offset
        )
    return QuestionList(items=[_question(row) for row in rows], pagination=pagination(call.query, len(rows), total))


def create_question(call: Call[NoInput, QuestionBody]) -> QuestionRecord:
    space = require_space(call)
    with call.services.database.write() as connection:
        if not kb_spaces.hold_space(call.tenant_id, connection, space.id):
            raise NotFound("No such space.")
        _, total = evaluations.list_questions(call.tenant_id, connection, space.id, limit=1)
        if total >= evaluating.MOST_QUESTIONS:
            raise Conflict(f"A space keeps at most {evaluating.MOST_QUESTIONS:,} questions.")
        quote = _quote(call, connection, space.id, call.body.document_id, call.body.quote, call.body.chunk_id)
        row = evaluations.add_question(
            call.tenant_id,
            connection,
            space_id=space.id,
            text=call.body.text.strip(),
            document_id=call.body.document_id,
            quote=quote,
        )
        call.note(connection, "question.created", row.id)
        answer = _question(row)
        call.keep(connection, answer, 201)
    return answer


def _quote(
    call: Call[Any, Any],
    connection: Connection,
    space_id: str,
    document_id: str,
    quote: str | None,
    chunk_id: str | None,
) -> str:
    """The words of the passage. Raises InvalidRequest where the document does not hold it."""
    document = knowledge.get_document(call.tenant_id, connection, document_id)
    if document is None or document.space_id != space_id:
        raise InvalidRequest("document_id: no such document in this space.", param="document_id")
    if chunk_id is not None:
        found = knowledge.current_chunks(call.tenant_id, connection, [chunk_id]).get(chunk_id)
        if found is None or found.document_id != document_id:
            raise InvalidRequest("chunk_id: no such passage in this document.", param="chunk_id")
        return found.text
    text = (quote or "").strip()
    if text and not evaluating.words_of(text):
        raise InvalidRequest("quote: holds no word.", param="quote")
    return text


def _require_question(call: Call[Any, Any]) -> Question:
    question_id = call.path_id("question_id", "question")
    with call.services.database.read() as connection:
        row = evaluations.get_question(call.tenant_id, connection, question_id)
    if row is None:
        raise NotFound("No such question.")
    require_space(call, row.space_id, "question")
    return row


def update_question(call: Call[NoInput, QuestionPatch]) -> QuestionRecord:
    question = _require_question(call)
    body = call.body
    values: dict[str, Any] = {} if body.text is None else {"text": body.text.strip()}
    with call.services.database.write() as connection:
        if body.document_id is not None or body.quote is not None or body.chunk_id is not None:
            document_id = body.document_id or question.document_id
            if document_id is None:
                raise InvalidRequest("document_id: is required, since the document was deleted.", param="document_id")
            quote = question.quote if body.quote is None else body.quote
            values["quote"] = _quote(call, connection, question.space_id, document_id, quote, body.chunk_id)
            values["document_id"] = document_id
        if values:
            evaluations.update_question(call.tenant_id, connection, question.id, **values)
            call.note(connection, "question.changed", question.id, {"fields": sorted(values)})
        row = evaluations.get_question(call.tenant_id, connection, question.id)
    if row is None:
        raise NotFound("No such question.")
    return _question(row)


def delete_question(call: Call[NoInput, NoInput]) -> Response:
    question = _require_question(call)
    with call.services.database.write() as connection:
        if not evaluations.delete_question(call.tenant_id, connection, question.id):
            raise NotFound("No such question.")
        call.note(connection, "question.deleted", question.id)
    return Response(status_code=204)


def begin_evaluation(call: Call[NoInput, EvaluationBody]) -> EvaluationRecord:
    space = require_space(call)

    def also(connection: Connection, evaluation: Evaluation) -> None:
        call.note(connection, "evaluation.begun", evaluation.id, {"space_id": space.id})
        call.keep(connection, _evaluation(evaluation), 202)

    return _evaluation(evaluating.begin(call.tenant_id, space.id, call.body.label.strip(), also=also))


def list_evaluations(call: Call[PageQuery, NoInput]) -> EvaluationList:
    space = require_space(call)
    with call.services.database.read() as connection:
        rows, total = evaluations.list_newest(
            call.tenant_id, connection, space.id, limit=call.query.limit, offset=call.query.offset
        )
    items = [_evaluation(row) for row in rows]
    return EvaluationList(items=items, pagination=pagination(call.query, len(rows), total))


def read_evaluation(call: Call[NoInput, NoInput]) -> EvaluationDetails:
    evaluation_id = call.path_id("evaluation_id", "evaluation")
    with call.services.database.read() as connection:
        row = evaluations.get(call.tenant_id, connection, evaluation_id)
        before = evaluations.get_previous(call.tenant_id, connection, row) if row is not None else None
    if row is None:
        raise NotFound("No such evaluation.")
    require_space(call, row.space_id, "evaluation")
    return details(row, before)


def details(row: Evaluation, before: Evaluation | None) -> EvaluationDetails:
    """An evaluation beside the one before it."""
    better, worse = evaluating.changes([] if before is None else before.results or [], row.results or [])
    return EvaluationDetails(
        **_evaluation(row).model_dump(),
        results=[QuestionResult.model_validate(each) for each in row.results or []],
        previous=None if before is None else _evaluation(before),
        better=better,
        worse=worse,
    )


_SPACE = "/v1/kb/spaces/{space_id}"
_QUESTION = "/v1/kb/questions/{question_id}"
_READ = (401, 403, 404)
_WRITE = (400, 401, 403, 404)


OPERATIONS = (
    kb_operation(
        "GET", _SPACE + "/questions", list_questions, "List questions", QuestionList, query=PageQuery, errors=_WRITE
    ),
    kb_operation(
        "POST",
        _SPACE + "/questions",
        create_question,
        "Keep a question with the passage that it should find",
        QuestionRecord,
        body=QuestionBody,
        status=201,
        errors=(*_WRITE, 409),
        idempotent=True,
        audited=("question.created",),
    ),
    kb_operation(
        "PATCH",
        _QUESTION,
        update_question,
        "Change a question",
        QuestionRecord,
        body=QuestionPatch,
        errors=_WRITE,
        audited=("question.changed",),
    ),
    kb_operation(
        "DELETE",
        _QUESTION,
        delete_question,
        "Delete a question",
        None,
        status=204,
        errors=_READ,
        audited=("question.deleted",),
    ),
    kb_operation(
        "GET",
        _SPACE + "/evaluations",
        list_evaluations,
        "List evaluations, newest first",
        EvaluationList,
        query=PageQuery,
        errors=_WRITE,
    ),
    kb_operation(
        "POST",
        _SPACE + "/evaluations",
        begin_evaluation,
        "Search all questions of the space and count what is found",
        EvaluationRecord,
        body=EvaluationBody,
        status=202,
        errors=_WRITE,
        idempotent=True,
        audited=("evaluation.begun",),
    ),
    kb_operation(
        "GET",
        "/v1/kb/evaluations/{evaluation_id}",
        read_evaluation,
        "Read an evaluation beside the one before it",
        EvaluationDetails,
        errors=_READ,
    ),
)
