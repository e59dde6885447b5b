"""The durable job of a call: decode, find speech, recognise part by part, store the timeline, index it.

Each step may run twice. What a step leaves on disk can be made again, so a job that another machine takes over, or
that finds its work folder gone, decodes again and goes on with the parts that are not recognised yet.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from typing import Any

import structlog

from accounts import webhooks
from ingest import call_charges
from ingest.children import ChildDied, ChildOutOfMemory, ChildTimedOut
from ingest.speech import transcribe
from ingest.speech.decode import AudioInfo, Undecodable, probe
from ingest.speech.recognise import Engine, choose_engine
from ingest.timelines import do_index_work
from ingest.workshop import (
    CALLS_QUEUE,
    SYNC_CALLS_QUEUE,
    Workshop,
    delete_unless_recorded,
    run_or_shut_down,
    start_or_leave,
    workshop,
)
from store import communications, index_work, transcriptions
from store.communications import ContentItem
from store.database import Connection, Database
from store.deliveries import Delivery
from store.errors import NotPermitted
from store.ids import new_id
from store.index_work import INDEX_COMMUNICATION
from store.jobs import ENDED_BADLY, step, workflow
from store.transcriptions import Task
from store.weights import ModelMissing

log = structlog.get_logger(__name__)

_FAILED = "Recognition failed."
_TITLE_CHARACTERS = 300


def probe_blob(key: str) -> AudioInfo:
    """What an uploaded blob holds, looked at in a child process. Raises Undecodable."""
    house = workshop()
    with house.blobs.as_file(key) as path:
        try:
            return house.pools.probing.run(probe, path)
        except (ChildDied, ChildTimedOut, ChildOutOfMemory):
            raise Undecodable("nothing in it can be decoded") from None


def record(
    database: Database,
    tenant_id: str,
    *,
    task_id: str,
    blob_key: str,
    file_name: str,
    occured_at: datetime,
    request_record_id: str | None,
    direction: str | None,
    expected_ms: int | None,
    parameters: dict[str, Any],
    also: Callable[[Connection, Task], None] | None = None,
) -> Task:
    """Holds what the call will cost and writes communication and task; `also` runs in the same transaction. The
    sweeper starts the job, if nobody does before. Raises NotPermitted where the balance cannot bear it.

    `expected_ms` is the audio's length as far as it is known; where it is not, the job holds once it has decoded.
    """
    communication_id = new_id()
    with database.write() as connection:
        if expected_ms is None or call_charges.hold(tenant_id, connection, communication_id, expected_ms):
            communications.create(
                tenant_id,
                connection,
                kind="call",
                channel_type="phone",
                occured_at=occured_at,
                title=(PurePath(file_name).stem or request_record_id or "call")[:_TITLE_CHARACTERS],
                request_record_id=request_record_id,
                direction=direction,
                communication_id=communication_id,
            )
            task = transcriptions.create(
                tenant_id,
                connection,
                communication_id=communication_id,
                blob_key=blob_key,
                file_name=file_name,
                parameters={**parameters, "expected_ms": expected_ms},
                occured_at=occured_at,
                task_id=task_id,
            )
            if also is not None:
                also(connection, task)
            return task
    raise NotPermitted("The balance does not cover this call; the client is paused.", code="client_inactive")


def accept(tenant_id: str, **values: Any) -> Task:
    """`record`, then the job's start. A task that is recorded is accepted: what cannot be started now, the sweeper
    starts."""
    house = workshop()
    try:
        task = record(house.database, tenant_id, **values)
    # Whatever kept the row from being written, the blob belongs to none.
    except BaseException:
        delete_unless_recorded(
            house,
            values["blob_key"],
            lambda connection: transcriptions.get(tenant_id, connection, values["task_id"]) is not None,
        )
        raise
    start_or_leave(task.id, start, task)
    return task


def start(task: Task) -> None:
    """Starts the job of a task; starting it twice is harmless."""
    queue = SYNC_CALLS_QUEUE if task.parameters.get("sync") else CALLS_QUEUE
    workshop().jobs.enqueue(queue, task.id, transcribe_call, task.tenant_id, task.id)


@workflow(name="transcribe_call")
def transcribe_call(tenant_id: str, task_id: str) -> None:
    """Steps return what went wrong as a value: an error class would not come back from the job's record as it was."""
    prepared = _prepare(tenant_id, task_id)
    if "error" in prepared:
        _fail(tenant_id, task_id, prepared["error"])
        return
    language: str = prepared["language"]
    numbers = range(len(prepared["recording"]["parts"]))
    parts = [_recognise(tenant_id, task_id, prepared["recording"], language, number) for number in numbers]
    _store(tenant_id, task_id, prepared["recording"], language, parts)
    _finish(tenant_id, task_id)


def _died(error: BaseException) -> bool:
    return isinstance(error, (ChildDied, OSError))


def _folder(house: Workshop, task_id: str) -> Path:
    return house.work_folder / task_id


def _task(house: Workshop, tenant_id: str, task_id: str) -> Task:
    with house.database.read() as connection:
        task = transcriptions.get(tenant_id, connection, task_id)
    assert task is not None, "a job has its task"
    return task


@step(name="prepare_call", retries_allowed=True, max_attempts=3, should_retry=_died)
def _prepare(tenant_id: str, task_id: str) -> dict[str, Any]:
    """Decodes the recording and finds speech and language: {"recording", "language"}, or {"error"}."""
    house = workshop()
    task = _task(house, tenant_id, task_id)
    _update(house, tenant_id, task_id, status="processing", progress=0.01)
    try:
        engine = choose_engine(house.settings)
        recording = _decode(house, task)
        language = task.parameters["language"] or run_or_shut_down(
            house.pools.speech,
            transcribe.detect_language,
            _folder(house, task_id),
            recording,
            engine,
        )
    except (Undecodable, ModelMissing) as error:
        log.warning("a call cannot be transcribed", task_id=task_id, error=str(error))
        return {"error": str(error) if isinstance(error, Undecodable) else "No speech model is installed."}
    with house.database.write() as connection:
        transcriptions.update(tenant_id, connection, task_id, audio_ms=recording["duration_ms"], progress=0.05)
        if not call_charges.hold_decoded(connection, task, recording["duration_ms"]):
            return {"error": "client_inactive"}
    return {"recording": recording, "language": language}


def _decode(house: Workshop, task: Task) -> transcribe.Prepared:
    folder = _folder(house, task.id)
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier try
    folder.mkdir(parents=True)
    with house.blobs.as_file(task.blob_key) as path:
        return run_or_shut_down(
            house.pools.speech, prepare_recording, path, folder, bool(task.parameters["channel_speakers"])
        )


def prepare_recording(path: Path, folder: Path, channel_speakers: bool) -> transcribe.Prepared:
    """`transcribe.prepare`, for a child process."""
    return transcribe.prepare(path, folder, channel_speakers=channel_speakers)


def recognise_part(
    folder: Path, part: transcribe.Part, engine: Engine, language: str, words: bool
) -> list[transcribe.Segment]:
    """`transcribe.recognise_part`, for a child process."""
    return transcribe.recognise_part(folder, part, engine, language=language, words=words)


@step(name="recognise_part", retries_allowed=True, max_attempts=3, should_retry=_died)
def _recognise(
    tenant_id: str, task_id: str, recording: transcribe.Prepared, language: str, number: int
) -> list[transcribe.Segment]:
    house = workshop()
    task = _task(house, tenant_id, task_id)
    folder = _folder(house, task_id)
    if not transcribe.is_prepared(folder, recording):
        _decode(house, task)
    engine = choose_engine(house.settings)
    part = recording["parts"][number]
    segments = run_or_shut_down(
        house.pools.speech, recognise_part, folder, part, engine, language, bool(task.parameters["words"])
    )
    done_ms = sum(each["speech_ms"] for each in recording["parts"][: number + 1])
    progress = 0.05 + 0.9 * done_ms / max(recording["speech_ms"], 1)
    _update(house, tenant_id, task_id, progress=min(progress, 0.95))
    return segments


@step(name="store_call", retries_allowed=True, max_attempts=5)
def _store(
    tenant_id: str,
    task_id: str,
    recording: transcribe.Prepared,
    language: str,
    parts: list[list[transcribe.Segment]],
) -> None:
    """Timeline and result in one transaction; a second run puts the same in place of the first."""
    house = workshop()
    task = _task(house, tenant_id, task_id)
    transcript = transcribe.merge(recording, parts, language)
    items = [
        ContentItem(
            kind="audio_utterance",
            text=segment["text"],
            label=segment["speaker"],
            start_ms=round(segment["start"] * 1000),
            end_ms=round(segment["end"] * 1000),
            at=task.occured_at + timedelta(seconds=segment["start"]),
        )
        for segment in transcript["segments"]
    ]
    with house.database.write() as connection:
        communications.replace_content(tenant_id, connection, task.communication_id, items)
        communications.update(
            tenant_id,
            connection,
            task.communication_id,
            language=transcript["language"],
            duration_ms=transcript["audio_duration_ms"],
        )
        transcriptions.update(tenant_id, connection, task_id, result=transcript, progress=0.97)
        index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=task.communication_id)


@step(name="finish_call", retries_allowed=True, max_attempts=5)
def _finish(tenant_id: str, task_id: str) -> None:
    """Into the index first, so that who sees the task's success finds its text. Where the index is away the call ends
    all the same, and the sweeper has the index follow."""
    house = workshop()
    task = _task(house, tenant_id, task_id)
    with house.database.read() as connection:
        waiting = index_work.get(tenant_id, connection, INDEX_COMMUNICATION, task.communication_id)
    if waiting is not None:
        try:
            do_index_work(house, waiting)
        # Whatever the index's trouble is, the recognised text is stored and the call is done.
        except Exception:
            log.exception("a call is not in the index yet", task_id=task_id)
    delivery = None
    with house.database.write() as connection:
        communications.update(tenant_id, connection, task.communication_id, is_closed=True)
        # Who ends the task ends its hold and tells of it, in one transaction: once, however often the step runs.
        if transcriptions.update(tenant_id, connection, task_id, status="success", progress=1.0):
            call_charges.charge(connection, task)
            delivery = _emit_completed(connection, task)
    webhooks.start(delivery)
    shutil.rmtree(_folder(house, task_id), ignore_errors=True)


def _emit_completed(connection: Connection, task: Task) -> Delivery | None:
    """Recognition has ended, well or not: the task's status says which."""
    return webhooks.emit(
        task.tenant_id,
        connection,
        event="transcription.completed",
        subject=task.id,
        fields={"task_id": task.id, "communication_id": task.communication_id},
        url=task.parameters.get("webhook_url"),
        key_id=task.parameters.get("key_id"),
    )


@step(name="fail_call", retries_allowed=True, max_attempts=5)
def _fail(tenant_id: str, task_id: str, message: str) -> None:
    mark_failed(tenant_id, task_id, message)


def mark_failed(tenant_id: str, task_id: str, message: str) -> None:
    """Ends a task that has not ended in `error`; it costs nothing."""
    house = workshop()
    task = _task(house, tenant_id, task_id)
    delivery = None
    with house.database.write() as connection:
        if transcriptions.update(tenant_id, connection, task_id, status="error", error_message=message):
            call_charges.release(connection, task)
            delivery = _emit_completed(connection, task)
    webhooks.start(delivery)
    shutil.rmtree(_folder(house, task_id), ignore_errors=True)


def _update(house: Workshop, tenant_id: str, task_id: str, **values: Any) -> None:
    with house.database.write(durable=False) as connection:
        transcriptions.update(tenant_id, connection, task_id, **values)


def sweep() -> None:
    """Starts calls that a crash left unstarted, and ends those whose job ended without telling."""
    house = workshop()
    with house.database.read() as connection:
        waiting = transcriptions.list_unfinished(connection, older_than_s=house.settings.sweep_s)
    if not waiting:
        return
    statuses = house.jobs.statuses([task_id for _, task_id in waiting])
    for tenant_id, task_id in waiting:
        status = statuses.get(task_id)
        if status is None:
            log.info("starting a call that was left unstarted", task_id=task_id)
            start(_task(house, tenant_id, task_id))
        elif status in ENDED_BADLY:
            mark_failed(tenant_id, task_id, _FAILED)


def sweep_work_folders() -> None:
    """Removes what calls left on disk that ended elsewhere, on another machine say."""
    house = workshop()
    folders = list(house.work_folder.iterdir()) if house.work_folder.is_dir() else []
    if not folders:
        return
    with house.database.read() as connection:
        unfinished = {
            task_id for _, task_id in transcriptions.list_unfinished(connection, older_than_s=0, limit=100_000)
        }
    for folder in folders:
        if folder.name not in unfinished:
            shutil.rmtree(folder, ignore_errors=True)
