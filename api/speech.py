"""The Speech layer: audio in, a task and a communication out."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from accounts.outbound import check_url
from api.fields import FormBoolean, Moment, UtcTime
from api.http import Call, NoInput, Operation, json_response, parse_values
from api.multipart import Form, is_multipart, receive_form
from ingest import calls
from ingest.call_charges import believable_ms
from ingest.speech.decode import AudioInfo, Undecodable
from store import transcriptions
from store.database import now
from store.errors import InvalidRequest, NotFound, RateLimited, UpstreamFailed
from store.ids import new_id
from store.transcriptions import Task

RECORD_ID_CHARACTERS = 30
URL_CHARACTERS = 4096
PROMPT_CHARACTERS = 64_000
SYNC_POLL_S = 0.1


class TranscriptionForm(BaseModel):
    """The fields beside `file`. What is documented and not done yet is refused by name, never ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    mode: Literal["sync", "async"] = "async"
    diarize: FormBoolean = False
    channel_speakers: FormBoolean = True
    timestamp_detail: Literal["segment", "word"] = "segment"
    language: Literal["ru", "en"] | None = None
    summary: FormBoolean = False
    user_summary: str | None = Field(None, max_length=PROMPT_CHARACTERS)
    record_id: str | None = Field(None, max_length=RECORD_ID_CHARACTERS)
    direction: Literal["in", "out"] | None = None
    speakers: str | None = Field(None, description="A JSON array of speakers.")
    occured_at: Moment | None = None
    webhook_url: str | None = Field(None, max_length=URL_CHARACTERS)


class Upload(TranscriptionForm):
    """The multipart body."""

    file: str = Field(json_schema_extra={"format": "binary"})


class Accepted(BaseModel):
    task_id: str
    communication_id: str


class Word(BaseModel):
    word: str
    start: float


class Segment(BaseModel):
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
    id: str
    communication_id: str
    transcription_status: Literal["pending", "processing", "success", "error"]
    transcription_result_body: TranscriptionResult | None
    transcription_error_message: str | None
    occured_at: UtcTime
    progress: float


class SyncPlaces:
    """How many sync transcriptions this process still takes."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = threading.Lock()

    def take(self) -> None:
        """Raises RateLimited sync_backpressure when no place is free."""
        with self._lock:
            if self._free < 1:
                raise RateLimited("Too many sync transcriptions at once.", code="sync_backpressure", retry_after_s=5)
            self._free -= 1

    def give_back(self) -> None:
        with self._lock:
            self._free += 1


async def transcribe(call: Call[NoInput, NoInput]) -> Response:
    if not is_multipart(call.request):
        raise _not_multipart(call)
    services, house = call.services, call.services.workshop
    await run_in_threadpool(_refuse_when_full, call)
    task_id = new_id()
    key = f"{call.tenant_id}/audio/{task_id}"
    writer = await run_in_threadpool(house.blobs.writer, key)
    form = await receive_form(
        call.request,
        writer,
        max_file_bytes=services.settings.max_audio_bytes,
        known=TranscriptionForm.model_fields.keys(),
    )
    if form.file is None:
        raise InvalidRequest("There is no file.", code="missing_file", param="file")
    try:
        fields = parse_values(TranscriptionForm, {name: text for name, text in form.fields.items() if text != ""})
        _refuse_unsupported(fields)
        if fields.webhook_url is not None:
            check_url(fields.webhook_url, param="webhook_url")
        await run_in_threadpool(call.identify, form.file.sha256, fields.model_dump_json())
        info = await run_in_threadpool(_probe, call, key, form)
        sync = fields.mode == "sync" and _fits_sync(call, form, info)
        places: SyncPlaces = call.request.app.state.sync_places
        if sync:
            places.take()
    # Whatever refused the upload, its bytes belong to no row.
    except BaseException:
        await run_in_threadpool(house.blobs.delete, key)
        raise
    try:
        task = await run_in_threadpool(_accept, call, task_id, key, form, fields, info, sync)
        if sync:
            return await _finished(call, task)
    finally:
        if sync:
            places.give_back()
    return json_response(_accepted(task), 202)


def _not_multipart(call: Call[NoInput, NoInput]) -> InvalidRequest:
    if call.request.headers.get("content-type", "").lower().startswith("application/json"):
        return InvalidRequest("fileUrl is not supported yet: send the file as multipart/form-data.", param="fileUrl")
    return InvalidRequest("Send the audio as multipart/form-data, field file.", code="missing_file", param="file")


def _refuse_when_full(call: Call[NoInput, NoInput]) -> None:
    with call.services.database.read() as connection:
        waiting = transcriptions.count_unfinished(connection)
    if waiting >= call.services.settings.max_queued_calls:
        raise RateLimited("Too many calls are waiting.", code="sync_backpressure", retry_after_s=30)


def _refuse_unsupported(fields: TranscriptionForm) -> None:
    asked: dict[str, object] = {
        "diarize": fields.diarize,
        "summary": fields.summary,
        "user_summary": fields.user_summary,
        "speakers": fields.speakers not in (None, "[]"),
    }
    for name, value in asked.items():
        if value:
            raise InvalidRequest(f"{name} is not supported yet.", param=name)


def _probe(call: Call[NoInput, NoInput], key: str, form: Form) -> AudioInfo:
    assert form.file is not None
    if form.file.size == 0:
        raise InvalidRequest("The file is empty.", param="file")
    try:
        return calls.probe_blob(key)
    except Undecodable as error:
        raise InvalidRequest(f"The file cannot be transcribed: {error}", param="file") from None


def _fits_sync(call: Call[NoInput, NoInput], form: Form, info: AudioInfo) -> bool:
    assert form.file is not None
    settings = call.services.settings
    long = info.duration_ms is not None and info.duration_ms > settings.sync_max_seconds * 1000
    return form.file.size <= settings.sync_max_bytes and not long


def _accept(
    call: Call[NoInput, NoInput],
    task_id: str,
    key: str,
    form: Form,
    fields: TranscriptionForm,
    info: AudioInfo,
    sync: bool,
) -> Task:
    occured_at: datetime = fields.occured_at or now()
    parameters: dict[str, Any] = {
        "language": fields.language,
        "channel_speakers": fields.channel_speakers,
        "words": fields.timestamp_detail == "word",
        "sync": sync,
        "webhook_url": fields.webhook_url,
        "key_id": call.principal.key.id,
    }
    assert form.file is not None
    return calls.accept(
        call.tenant_id,
        task_id=task_id,
        blob_key=key,
        file_name=form.file_name,
        occured_at=occured_at,
        request_record_id=fields.record_id,
        direction=fields.direction,
        expected_ms=believable_ms(info, form.file.size),
        parameters=parameters,
        also=lambda connection, task: call.keep(connection, _accepted(task), 202),
    )


def _accepted(task: Task) -> Accepted:
    return Accepted(task_id=task.id, communication_id=task.communication_id)


async def _finished(call: Call[NoInput, NoInput], task: Task) -> Response:
    deadline = time.monotonic() + call.services.settings.child_timeout_s
    while task.status in transcriptions.UNFINISHED:
        if time.monotonic() > deadline:
            raise UpstreamFailed("Recognition takes too long; its task goes on.")
        await asyncio.sleep(SYNC_POLL_S)
        task = await run_in_threadpool(_read_task, call, task.id)
    headers = {"X-Task-Id": task.id, "X-Communication-Id": task.communication_id}
    if task.status != "success" or task.result is None:
        raise UpstreamFailed(task.error_message or "Recognition failed.")
    return json_response(_result(task.result), 200, **headers)


def _read_task(call: Call[Any, Any], task_id: str) -> Task:
    with call.services.database.read() as connection:
        task = transcriptions.get(call.tenant_id, connection, task_id)
    if task is None:
        raise NotFound("No such task.")
    return task


def _result(result: dict[str, Any]) -> dict[str, Any]:
    return TranscriptionResult.model_validate(result).model_dump(exclude_none=True)


def read_task(call: Call[NoInput, NoInput]) -> Response:
    task = _read_task(call, call.path_id("task_id", "task"))
    etag = f'"{task.id}.{task.version}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if _matches(call.request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
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
        body["transcription_result_body"] = _result(result)
    return json_response(body, 200, **headers)


def _matches(if_none_match: str | None, etag: str) -> bool:
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


OPERATIONS = (
    Operation(
        "POST",
        "/v1/audio/transcriptions",
        transcribe,
        "Transcribe an audio file",
        response=Accepted,
        form=Upload,
        status=202,
        other_answers={200: TranscriptionResult},
        errors=(400, 401, 403, 413, 429, 502),
        paused=False,
        bearer_only=True,
        idempotent=True,
    ),
    Operation(
        "GET",
        "/v1/audio/transcriptions/tasks/{task_id}",
        read_task,
        "Read a transcription task",
        response=TaskRecord,
        other_answers={304: None},
        errors=(401, 403, 404),
        paused=False,
        bearer_only=True,
    ),
)
