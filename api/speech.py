"""The Speech layer: audio in, a task and a communication out."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from typing import Any

from anyio import to_thread
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api import speech_tasks
from api.fields import UuidText
from api.http import Call, NoInput, Operation, json_response, read_body
from api.multipart import Form, is_multipart, receive_form
from api.speech_requests import LinkedRecording, Order, SpeakerInput, TranscriptionForm, Upload, parse_form, parse_link
from api.speech_tasks import TranscriptionResult, get_task, result_body
from ingest import announced_blobs, call_sources, calls
from ingest.call_charges import believable_ms
from ingest.speech.decode import AudioInfo, Undecodable, media_type
from ingest.workshop import ShuttingDown
from store import speakers, transcriptions
from store.database import Connection, now
from store.errors import InvalidRequest, NotPermitted, RateLimited, TooLarge, Unavailable, UpstreamFailed
from store.ids import new_id
from store.speakers import Attending, normal_role
from store.transcriptions import Task

SYNC_POLL_S = 0.1
FORM_BYTES = 1024 * 1024
"""What a form's other fields and boundaries may add to a file: a longer body cannot be a sync request's."""
_FULL_RETRY_S = 30
_NO_PLACE_RETRY_S = 5
_COMES_AGAIN_WITHIN_S = 2 * _NO_PLACE_RETRY_S

NoCall = Call[NoInput, NoInput]


class Accepted(BaseModel):
    """Poll the task; read the text from the communication."""

    task_id: UuidText
    communication_id: UuidText


class SyncPlaces:
    """How many sync transcriptions this process still takes. A client that has half of them gets no more while another
    that was refused has none."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._taken: Counter[str] = Counter()
        self._refused: dict[str, float] = {}
        """Clients that have none, and until when they are waited for, by `time.monotonic`."""
        self._lock = threading.Lock()

    def take(self, tenant_id: str) -> None:
        """Raises RateLimited sync_backpressure when no place is free for the client."""
        with self._lock:
            at_s = time.monotonic()
            self._refused = {client: until_s for client, until_s in self._refused.items() if until_s > at_s}
            has_its_share = self._taken[tenant_id] >= (self._places + 1) // 2
            if self._taken.total() >= self._places or (has_its_share and self._refused.keys() - {tenant_id}):
                if not self._taken[tenant_id]:
                    self._refused[tenant_id] = at_s + _COMES_AGAIN_WITHIN_S
                raise RateLimited(
                    "Too many sync transcriptions at once.",
                    code="sync_backpressure",
                    retry_after_s=_NO_PLACE_RETRY_S,
                )
            self._refused.pop(tenant_id, None)
            self._taken[tenant_id] += 1

    def give_back(self, tenant_id: str) -> None:
        with self._lock:
            self._taken[tenant_id] -= 1
            self._taken += Counter()  # forgets those that have none


async def transcribe(call: NoCall) -> Response:
    content_type = call.request.headers.get("content-type", "").lower()
    if is_multipart(call.request):
        return await _transcribe_upload(call)
    if content_type.split(";", 1)[0].strip() == "application/json":
        return await _transcribe_link(call)
    raise InvalidRequest(
        "Send the audio as multipart/form-data, field file, or its address as JSON, field fileUrl.",
        code="missing_file",
        param="file",
    )


async def _transcribe_link(call: NoCall) -> Response:
    order = parse_link(await read_body(call.request, call.services.settings.max_json_bytes))

    def accept() -> Task:
        call.identify("fileUrl", order.text)
        _refuse_when_full(call)
        assert order.file_url is not None
        return _accept(call, order, new_id(), file_name=call_sources.name_in(order.file_url))

    return json_response(_accepted(await run_in_threadpool(accept)), 202)


async def _transcribe_upload(call: NoCall) -> Response:
    services, house = call.services, call.services.workshop
    _refuse_declared(call)
    if not _may_be_sync(call):
        await run_in_threadpool(_refuse_when_full, call)
    task_id = new_id()
    key = _blob_key(call, task_id)
    await run_in_threadpool(announced_blobs.announce, house.database, call.tenant_id, key)
    try:
        writer = await run_in_threadpool(house.blobs.writer, key)
        form = await receive_form(
            call.request,
            writer,
            max_file_bytes=services.settings.max_audio_bytes,
            known=TranscriptionForm.model_fields.keys(),
        )
        if form.file is None:
            raise InvalidRequest("There is no file.", code="missing_file", param="file")
        order = parse_form(form.fields)
        await run_in_threadpool(call.identify, form.file.sha256, order.text)
        info = await to_thread.run_sync(_probe, call, key, form, limiter=call.request.app.state.probing)
        sync = order.wants_sync and _fits_sync(call, form, info)
        places: SyncPlaces = call.request.app.state.sync_places
        if sync:
            places.take(call.tenant_id)
        else:
            await run_in_threadpool(_refuse_when_full, call)
    # Whatever refused the upload, its bytes belong to no row.
    except BaseException:
        await run_in_threadpool(announced_blobs.discard, house.database, house.blobs, call.tenant_id, key)
        raise
    try:
        task = await run_in_threadpool(_accept_upload, call, order, task_id, form, info, sync)
        if sync:
            return await _finished(call, task)
    finally:
        if sync:
            places.give_back(call.tenant_id)
    return json_response(_accepted(task), 202)


def _blob_key(call: NoCall, task_id: str) -> str:
    return f"{call.tenant_id}/audio/{task_id}"


def _refuse_declared(call: NoCall) -> None:
    """Raises TooLarge for a body whose head says already that its file is too large."""
    declared = call.request.headers.get("content-length", "")
    most = call.services.settings.max_audio_bytes
    if declared.isdigit() and int(declared) > most + FORM_BYTES:
        raise TooLarge(f"The file is larger than {most} bytes.", param="file")


def _may_be_sync(call: NoCall) -> bool:
    """As far as the head tells: a sync request does not stand in the line that may be too long."""
    declared = call.request.headers.get("content-length", "")
    most = call.services.settings.sync_max_bytes + FORM_BYTES
    return not declared.isdigit() or int(declared) <= most


def _refuse_when_full(call: NoCall) -> None:
    """Raises RateLimited sync_backpressure when more calls wait than may."""
    with call.services.database.read() as connection:
        waiting = transcriptions.count_unfinished(connection)
    if waiting >= call.services.settings.max_queued_calls:
        raise RateLimited("Too many calls are waiting.", code="sync_backpressure", retry_after_s=_FULL_RETRY_S)


def _probe(call: NoCall, key: str, form: Form) -> AudioInfo:
    assert form.file is not None
    if form.file.size == 0:
        raise InvalidRequest("The file is empty.", param="file")
    try:
        return call_sources.probe_blob(call.services.workshop, call.tenant_id, key, urgent=True)
    except ShuttingDown:
        raise Unavailable("The server is stopping.") from None
    except Undecodable as error:
        raise InvalidRequest(f"The file cannot be transcribed: {error}", param="file") from None


def _fits_sync(call: NoCall, form: Form, info: AudioInfo) -> bool:
    assert form.file is not None
    settings = call.services.settings
    long = info.duration_ms is not None and info.duration_ms > settings.sync_max_seconds * 1000
    return form.file.size <= settings.sync_max_bytes and not long


def _accept_upload(call: NoCall, order: Order, task_id: str, form: Form, info: AudioInfo, sync: bool) -> Task:
    assert form.file is not None
    return _accept(
        call,
        order,
        task_id,
        file_name=form.file_name,
        sync=sync,
        expected_ms=believable_ms(info, form.file.size),
        media_type=media_type(info),
        size_bytes=form.file.size,
    )


def _accept(
    call: NoCall,
    order: Order,
    task_id: str,
    *,
    file_name: str,
    sync: bool = False,
    expected_ms: int | None = None,
    media_type: str | None = None,
    size_bytes: int | None = None,
) -> Task:
    blob_key = _blob_key(call, task_id)

    def also(connection: Connection, task: Task) -> None:
        announced_blobs.take_in(call.tenant_id, connection, blob_key)
        _add_people(call.tenant_id, connection, task.communication_id, order.people)
        call.note(connection, "communication.uploaded", task.communication_id)
        call.keep(connection, _accepted(task), 202)

    return calls.accept(
        call.tenant_id,
        task_id=task_id,
        blob_key=blob_key,
        file_name=file_name,
        occured_at=order.fields.occured_at or now(),
        request_record_id=order.fields.record_id,
        direction=order.fields.direction,
        expected_ms=expected_ms,
        parameters={**order.parameters(), "sync": sync, "key_id": call.principal.key_id},
        media_type=media_type,
        size_bytes=size_bytes,
        also=also,
    )


def _add_people(tenant_id: str, connection: Connection, communication_id: str, people: list[SpeakerInput]) -> None:
    """Their profiles, made or brought up to date, and the role that each has in this call."""
    attending = []
    for person in people:
        profile = speakers.upsert(
            tenant_id,
            connection,
            external_id=person.id,
            name=person.name,
            role=person.role,
            department=person.department,
        )
        attending.append(Attending(profile.id, normal_role(person.role)))
    speakers.attach(tenant_id, connection, communication_id, attending)


def _accepted(task: Task) -> Accepted:
    return Accepted(task_id=task.id, communication_id=task.communication_id)


async def _finished(call: Call[Any, Any], task: Task) -> Response:
    deadline = time.monotonic() + call.services.settings.child_timeout_s
    while task.status in transcriptions.UNFINISHED:
        if time.monotonic() > deadline:
            raise UpstreamFailed("Recognition takes too long; its task goes on.")
        await asyncio.sleep(SYNC_POLL_S)
        task = await run_in_threadpool(get_task, call, task.id)
    if task.error_message == "client_inactive":
        raise NotPermitted("The balance does not cover this call; the client is paused.", code="client_inactive")
    if task.status != "success" or task.result is None:
        raise UpstreamFailed(task.error_message or "Recognition failed.")
    headers = {"X-Task-Id": task.id, "X-Communication-Id": task.communication_id}
    return json_response(result_body(task.result), 200, **headers)


OPERATIONS = (
    Operation(
        "POST",
        "/v1/audio/transcriptions",
        transcribe,
        "Transcribe an audio file",
        response=Accepted,
        form=Upload,
        form_alternative=LinkedRecording,
        status=202,
        other_answers={200: TranscriptionResult},
        answer_headers={200: {"X-Task-Id": "The task's id.", "X-Communication-Id": "The communication's id."}},
        errors=(400, 401, 403, 413, 429, 502),
        paused=False,
        bearer_only=True,
        idempotent=True,
        audited=("communication.uploaded",),
    ),
    *speech_tasks.OPERATIONS,
)
