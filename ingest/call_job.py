"""The durable job of a call: fetch it where it was given as a link, decode, find speech, tell voices apart, recognise
part by part, store the timeline, index it.

Each step may run twice. What a step leaves on disk can be made again, so a job that another machine takes over, or
that finds its work folder gone, decodes again and goes on with what is not done yet. A task that ends meanwhile
(cancelled, say) ends its job: each step looks first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any

import structlog

from accounts import webhooks
from ingest import analyses, analysis_job, call_charges, call_sources, call_voices
from ingest.call_voices import Told
from ingest.call_work import (
    DECODED,
    LISTENED,
    RECOGNISED,
    decode,
    decoded_folder,
    folder_of,
    has_ended,
    note_progress,
    run,
    task_of,
)
from ingest.children import ChildDied, ChildError, ChildOutOfMemory, ChildTimedOut, WorkCancelled
from ingest.fetching import CannotFetch, FetchStopped
from ingest.outages import closing_step, lasting_step
from ingest.speech import diarize, transcribe
from ingest.speech.decode import Undecodable, media_type
from ingest.speech.recognise import Engine, choose_engine, is_usable
from ingest.speech.samples import NoRoom
from ingest.speech.turns import Attributed, attribute
from ingest.timelines import do_index_work
from ingest.workshop import CALLS_QUEUE, FETCHES_QUEUE, SYNC_CALLS_QUEUE, Workshop, workshop
from store import communications, index_work, meters, transcriptions
from store.communications import ContentItem
from store.database import Connection
from store.deliveries import Delivery
from store.errors import Unavailable
from store.index_work import INDEX_COMMUNICATION
from store.jobs import StepGaveUp, workflow
from store.transcriptions import Task
from store.weights import ModelMissing

log = structlog.get_logger(__name__)

FAILED = "Recognition failed."
_TOLD: dict[type[Exception], str] = {
    ChildDied: "Recognition failed: its engine stopped on this recording again and again.",
    ChildTimedOut: "Recognition took longer than the server allows.",
    ChildOutOfMemory: "Recognition needed more memory than the server allows.",
    NoRoom: "The server's disk has no room for the recording.",
    Unavailable: "The server's database or storage was away for too long.",
}
_ENDED: dict[str, Any] = {"ended": True}
_FETCHED, _STORED = 0.03, 0.97


def start(task: Task) -> None:
    """Starts the job of a task; starting it twice is harmless."""
    jobs = workshop().jobs
    if task.parameters.get("file_url") and task.size_bytes is None:
        jobs.enqueue(FETCHES_QUEUE, fetch_id(task.id), fetch_call, task.tenant_id, task.id, partition=task.tenant_id)
    elif task.parameters.get("sync"):
        jobs.enqueue(SYNC_CALLS_QUEUE, task.id, transcribe_call, task.tenant_id, task.id)
    else:
        jobs.enqueue(CALLS_QUEUE, task.id, transcribe_call, task.tenant_id, task.id, partition=task.tenant_id)


def fetch_id(task_id: str) -> str:
    """The id of the job that fetches a task's recording; the task's own id is that of the job which recognises it."""
    return f"fetch-{task_id}"


def job_ids(task_id: str) -> list[str]:
    return [fetch_id(task_id), task_id]


@workflow(name="fetch_call")
def fetch_call(tenant_id: str, task_id: str) -> None:
    """Brings the recording of a link, then has it recognised. A job of its own, so that slow servers on the other side
    take no place from calls that are there."""
    try:
        outcome = _fetch(tenant_id, task_id)
        if not outcome:
            _hand_over(tenant_id, task_id)
    except StepGaveUp as error:
        log.error("a recording cannot be fetched", task_id=task_id, error=str(error))
        outcome = {"error": _reason(error)}
    if "error" in outcome:
        _fail(tenant_id, task_id, outcome["error"], outcome.get("is_refused", False))


@lasting_step("hand_over_call")
def _hand_over(tenant_id: str, task_id: str) -> None:
    start(task_of(workshop(), tenant_id, task_id))


@workflow(name="transcribe_call")
def transcribe_call(tenant_id: str, task_id: str) -> None:
    """Steps return what went wrong as a value: an error class would not come back from the job's record as it was."""
    try:
        _transcribe(tenant_id, task_id)
    except (StepGaveUp, ChildError) as error:
        log.error("a call cannot be recognised", task_id=task_id, error=str(error))
        _fail(tenant_id, task_id, _reason(error))


def _reason(error: Exception) -> str:
    """For people; of a step that was tried again and again, what it failed of in the end."""
    if isinstance(error, StepGaveUp) and error.errors:
        error = error.errors[-1]
    return next((text for kind, text in _TOLD.items() if isinstance(error, kind)), FAILED)


def _transcribe(tenant_id: str, task_id: str) -> None:
    outcome = _prepare(tenant_id, task_id)
    if "error" in outcome:
        _fail(tenant_id, task_id, outcome["error"], outcome.get("is_refused", False))
    if "error" in outcome or "ended" in outcome:
        return
    recording: transcribe.Prepared = outcome["recording"]
    pieces: dict[str, list[list[int]]] = outcome.get("pieces") or {}
    told: Told = {}
    everything = [(file, piece) for file, some in pieces.items() for piece in some]
    for number, (file, piece) in enumerate(everything, 1):
        call_voices.listen(tenant_id, task_id, recording, file, piece, number / len(everything))
    if pieces or outcome.get("samples_voices"):
        told = call_voices.tell(tenant_id, task_id, recording, pieces)
    engine = outcome.get("engine")
    parts = [
        _recognise(tenant_id, task_id, recording, outcome["language"], number, bool(pieces), engine)
        for number in range(len(recording["parts"]))
    ]
    spoken = _store(tenant_id, task_id, recording, outcome["language"], parts, told)
    _finish(tenant_id, task_id, told, spoken)


@lasting_step("fetch_call")
def _fetch(tenant_id: str, task_id: str) -> dict[str, Any]:
    """Brings the recording of a link into the blob store and holds what it will cost: {}, {"ended"} or {"error"}, which
    is the customer's own where it `is_refused`."""
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    if has_ended(task) or not _begin(house, task):
        return _ENDED
    if task.size_bytes is not None:
        return {}
    try:
        size_bytes = call_sources.fetch_recording(house, task, go_on=lambda: _is_wanted(house, task))
        info = call_sources.probe_blob(house, tenant_id, task.blob_key)
    except call_sources.ProbeFailed as error:
        return {"error": str(error)}
    except (CannotFetch, Undecodable) as error:
        return _refused(str(error))
    except FetchStopped:
        return _ENDED
    expected_ms = call_charges.believable_ms(info, size_bytes)
    known = {"media_type": media_type(info), "size_bytes": size_bytes, "progress": _FETCHED}
    with house.database.write() as connection:
        # The link is not kept: it may well be signed, and it is not needed any more.
        parameters = {**task.parameters, "expected_ms": expected_ms, "file_url": None}
        if not transcriptions.update(tenant_id, connection, task_id, **known, parameters=parameters):
            return _ENDED
        following = analyses.lines(house.settings, task.parameters.get("stages") or ())
        if expected_ms is not None and not call_charges.hold(
            tenant_id, connection, task.communication_id, expected_ms, following
        ):
            return _refused("client_inactive")
    return {}


def _refused(error: str) -> dict[str, Any]:
    return {"error": error, "is_refused": True}


def _begin(house: Workshop, task: Task) -> bool:
    """False where the task ended meanwhile."""
    with house.database.write(durable=False) as connection:
        return transcriptions.update(
            task.tenant_id, connection, task.id, status="processing", progress=max(task.progress, 0.01)
        )


def _is_wanted(house: Workshop, task: Task) -> bool:
    try:
        return not has_ended(task_of(house, task.tenant_id, task.id))
    except Unavailable:
        return True  # a link may be good for one use: what runs goes on


@lasting_step("prepare_call")
def _prepare(tenant_id: str, task_id: str) -> dict[str, Any]:
    """Decodes the recording and finds speech and language: {"recording", "language", "pieces", "samples_voices",
    "engine"}, or as `_fetch` {"error"} or {"ended"}. `pieces` are what to listen to for voices, by the channel's
    file."""
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    if has_ended(task) or not _begin(house, task):
        return _ENDED
    try:
        engine = choose_engine(house.settings)
        if task.parameters.get("diarize"):
            diarize.choose_models(house.settings)
        recording = decode(house, task)
        language = task.parameters["language"] or run(
            house.pools.speech, task, transcribe.detect_language, folder_of(house, task_id), recording, engine
        )
    except WorkCancelled:
        return _ENDED
    except NoRoom:
        raise
    except Undecodable as error:
        return _refused(str(error))
    except ModelMissing as missing:
        log.warning("a call cannot be transcribed", task_id=task_id, error=str(missing))
        return {"error": f"The model {missing.name} is not installed on the server."}
    with house.database.write() as connection:
        known = {"audio_ms": recording["duration_ms"], "progress": DECODED}
        if not transcriptions.update(tenant_id, connection, task_id, **known):
            return _ENDED
        following = analyses.lines(house.settings, task.parameters.get("stages") or ())
        if not call_charges.hold_decoded(connection, task, recording["duration_ms"], following):
            return _refused("client_inactive")
        samples_voices = not task.parameters.get("diarize") and call_voices.are_wanted(connection, task)
    pieces = call_voices.pieces_of(recording) if task.parameters.get("diarize") else {}
    return {
        "recording": recording,
        "language": language,
        "pieces": pieces,
        "samples_voices": samples_voices,
        "engine": asdict(engine),
    }


@lasting_step("recognise_part")
def _recognise(
    tenant_id: str,
    task_id: str,
    recording: transcribe.Prepared,
    language: str,
    number: int,
    diarized: bool = False,
    chosen: dict[str, Any] | None = None,
) -> list[transcribe.Segment]:
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    if has_ended(task):
        return []
    words = bool(task.parameters["words"]) or diarized
    try:
        folder = decoded_folder(house, task, recording)
        # One model for the whole call, though another may be installed meanwhile; on another machine, its own.
        engine = Engine(**chosen) if chosen else None
        if engine is None or not is_usable(engine):
            engine = choose_engine(house.settings)
        recognise = partial(transcribe.recognise_part, language=language, words=words)
        segments = run(house.pools.speech, task, recognise, folder, recording["parts"][number], engine)
    except WorkCancelled:
        return []
    meters.SPEECH_SECONDS.inc(recording["parts"][number]["speech_ms"] / 1000)
    done_ms = sum(each["speech_ms"] for each in recording["parts"][: number + 1])
    before = LISTENED if diarized else DECODED
    note_progress(house, task, before + (RECOGNISED - before) * done_ms / max(recording["speech_ms"], 1))
    return segments


@closing_step("store_call")
def _store(
    tenant_id: str,
    task_id: str,
    recording: transcribe.Prepared,
    language: str,
    parts: list[list[transcribe.Segment]],
    told: Told | None = None,
) -> dict[str, Any]:
    """Timeline and result in one transaction; a second run puts the same in place of the first. Returns the labels of
    the timeline, {label: [channel's label, number of the voice in it]}, null where voices were not told apart."""
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    transcript = transcribe.merge(recording, parts, language)
    spoken = _attributed(transcript, told or {})
    transcript["segments"] = [_as_answered(each, words=bool(task.parameters["words"])) for each in spoken.segments]
    transcript["text"] = " ".join(segment["text"] for segment in spoken.segments)
    labels = {segment["speaker"]: spoken.voices.get(segment["speaker"]) for segment in spoken.segments}
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
        if not transcriptions.update(tenant_id, connection, task_id, result=transcript, progress=_STORED):
            return {}
        communications.replace_content(tenant_id, connection, task.communication_id, items)
        communications.update(
            tenant_id,
            connection,
            task.communication_id,
            language=transcript["language"],
            duration_ms=transcript["audio_duration_ms"],
        )
        index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=task.communication_id)
    return {label: list(voice) if voice else None for label, voice in labels.items()}


def _attributed(transcript: transcribe.Transcript, told: Told) -> Attributed:
    diarized = told.get("diarized")
    return attribute(transcript["segments"], diarized) if diarized else Attributed(transcript["segments"])


def _as_answered(segment: transcribe.Segment, *, words: bool) -> transcribe.Segment:
    """Without what nobody asked for: words are answered with their start."""
    shown: Any = {name: value for name, value in segment.items() if name != "words"}
    if words:
        shown["words"] = [{"word": word["word"], "start": word["start"]} for word in segment.get("words", ())]
    answered: transcribe.Segment = shown
    return answered


@closing_step("finish_call")
def _finish(tenant_id: str, task_id: str, told: Told | None = None, labels: call_voices.Labels | None = None) -> None:
    """Into the index first, so that who sees the task's success finds its text. Where the index is away the call ends
    all the same, and the sweeper has the index follow."""
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    with house.database.read() as connection:
        waiting = index_work.get(tenant_id, connection, INDEX_COMMUNICATION, task.communication_id)
    if waiting is not None:
        try:
            do_index_work(house, waiting)
        # Whatever the index's trouble is, the recognised text is stored and the call is done.
        except Exception:
            log.exception("a call is not in the index yet", task_id=task_id)
    delivery = following = None
    with house.database.write() as connection:
        # Who ends the task ends its hold and tells of it, in one transaction: once, however often the step runs.
        if ends := transcriptions.update(tenant_id, connection, task_id, status="success", progress=1.0):
            communications.update(tenant_id, connection, task.communication_id, is_closed=True)
            call_voices.keep(connection, task, told or {}, labels or {})
            following = analyses.release_waiting(tenant_id, connection, task.communication_id)
            call_charges.charge(connection, task, goes_on=following is not None)
            delivery = _emit_completed(connection, task)
    if ends:
        meters.ended("call", "success")
    webhooks.start(delivery)
    if following is not None:
        analysis_job.start(following)
    shutil.rmtree(folder_of(house, task_id), ignore_errors=True)


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


@closing_step("fail_call")
def _fail(tenant_id: str, task_id: str, message: str, is_refused: bool = False) -> None:
    mark_failed(tenant_id, task_id, message, counted="refused" if is_refused else "error")


def mark_failed(
    tenant_id: str,
    task_id: str,
    message: str,
    *,
    counted: meters.Outcome = "error",
    also: Callable[[Connection, Task], None] | None = None,
) -> None:
    """Ends a task that has not ended in `error`; it costs nothing. `counted`: as what the metric tells of it. `also`
    runs in the transaction that ends it."""
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    delivery = None
    with house.database.write() as connection:
        if ends := transcriptions.update(tenant_id, connection, task_id, status="error", error_message=message):
            _forget_result(connection, task)
            analyses.give_up_waiting(tenant_id, connection, task.communication_id)
            call_charges.release(connection, task)
            delivery = _emit_completed(connection, task)
            if also is not None:
                also(connection, task)
    if ends:
        meters.ended("call", counted)
    webhooks.start(delivery)
    shutil.rmtree(folder_of(house, task_id), ignore_errors=True)


def _forget_result(connection: Connection, task: Task) -> None:
    """What is not charged is not kept: a call may end in error between its last two steps."""
    if transcriptions.forget_result(task.tenant_id, connection, task.id):
        communications.replace_content(task.tenant_id, connection, task.communication_id, [])
        index_work.add(task.tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=task.communication_id)
