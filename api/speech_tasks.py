"""The Speech layer's tasks: how far a transcription is, its result, and calling it off."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel
from starlette.responses import Response

from api.fields import UtcTime, UuidText
from api.http import Call, NoInput, Operation, json_response
from ingest import calls
from store import transcriptions
from store.database import Connection
from store.errors import NotFound
from store.transcriptions import Task

CACHE_CONTROL = "private, no-cache"
_ETAG = "Names this state of the record."
_CACHE = f"`{CACHE_CONTROL}`."


class Word(BaseModel):
    """`start` in seconds."""

    word: str
    start: float


class Segment(BaseModel):
    """What one voice said in one go. `start` and `end` in seconds; `words` where they were asked for."""

    start: float
    end: float
    text: str
    speaker: str
    words: list[Word] | None = None


class TranscriptionResult(BaseModel):
    language: str
    text: str
    audio_duration_ms: int
    segments: list[Segment]


class TaskRecord(BaseModel):
    """The result is there once the status is success, the message once it is error. `progress` is 0 to 1."""

    id: UuidText
    communication_id: UuidText
    transcription_status: Literal["pending", "processing", "success", "error"]
    transcription_result_body: TranscriptionResult | None
    transcription_error_message: str | None
    occured_at: UtcTime
    progress: float


def get_task(call: Call[Any, Any], task_id: str) -> Task:
    """Raises NotFound."""
    with call.services.database.read() as connection:
        task = transcriptions.get(call.tenant_id, connection, task_id)
    if task is None:
        raise NotFound("No such task.")
    return task


def result_body(result: dict[str, Any]) -> dict[str, Any]:
    """A result as every answer shows it: without words where none were asked for."""
    return TranscriptionResult.model_validate(result).model_dump(exclude_none=True)


def read_task(call: Call[NoInput, NoInput]) -> Response:
    task = get_task(call, call.path_id("task_id", "task"))
    headers = _headers(task)
    if matches(call.request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return json_response(_record(task), 200, **headers)


def cancel_task(call: Call[NoInput, NoInput]) -> Response:
    def also(connection: Connection, task: Task) -> None:
        call.note(connection, "communication.cancelled", task.communication_id)

    task = calls.cancel(call.tenant_id, call.path_id("task_id", "task"), also=also)
    if task is None:
        raise NotFound("No such task.")
    return json_response(_record(task), 200, **_headers(task))


def _headers(task: Task) -> dict[str, str]:
    return {"ETag": f'"{task.id}.{task.version}"', "Cache-Control": CACHE_CONTROL}


def _record(task: Task) -> dict[str, Any]:
    # The result is stored a moment before the task has ended: it is shown with the end.
    result = task.result if task.status == "success" else None
    record = TaskRecord(
        id=task.id,
        communication_id=task.communication_id,
        transcription_status=task.status,  # type: ignore[arg-type]
        transcription_result_body=TranscriptionResult.model_validate(result) if result else None,
        transcription_error_message=task.error_message,
        occured_at=task.occured_at,
        progress=round(task.progress, 3),
    )
    body = record.model_dump(mode="json")
    if result:
        body["transcription_result_body"] = result_body(result)
    return body


def matches(if_none_match: str | None, etag: str) -> bool:
    """Whether an If-None-Match header names the ETag, by the weak comparison that it asks for."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


OPERATIONS = (
    Operation(
        "GET",
        "/v1/audio/transcriptions/tasks/{task_id}",
        read_task,
        "Read a transcription task",
        response=TaskRecord,
        other_answers={304: None},
        request_headers={"If-None-Match": "The ETag of an earlier answer."},
        answer_headers={200: {"ETag": _ETAG, "Cache-Control": _CACHE}, 304: {"ETag": _ETAG, "Cache-Control": _CACHE}},
        errors=(401, 403, 404),
        paused=False,
        bearer_only=True,
    ),
    Operation(
        "DELETE",
        "/v1/audio/transcriptions/tasks/{task_id}",
        cancel_task,
        "Cancel a transcription task",
        response=TaskRecord,
        answer_headers={200: {"ETag": _ETAG, "Cache-Control": _CACHE}},
        errors=(401, 403, 404),
        paused=False,
        bearer_only=True,
        audited=("communication.cancelled",),
    ),
)
