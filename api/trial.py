"""The trial on the site page: a visitor's recording, transcribed and summed up; nobody's account, gone after a day."""

from __future__ import annotations

import secrets
from typing import Any, Literal

from anyio import to_thread
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from api.fields import UtcTime
from api.http import json_response
from api.limits import counted_address, enforce_limit
from api.media import StoredFile, send_file
from api.multipart import Form, is_multipart, receive_form
from api.services import Services
from api.speech_tasks import Segment
from ingest import announced_blobs
from ingest import trials as work
from ingest.call_charges import believable_ms
from ingest.call_sources import probe_blob
from ingest.speech.decode import AudioInfo, Undecodable, media_type
from ingest.workshop import ShuttingDown
from store import details, transcriptions, trials
from store.errors import InvalidRequest, NotFound, NotPermitted, RateLimited, TooLarge, Unavailable
from store.ids import new_id
from store.transcriptions import Task
from store.trials import HOUSE_ID, Trial

PATH = "/trial/v1/transcriptions"
MOST_BYTES = 16 * 1024 * 1024
MOST_UPLOADS = 2
"""In an hour, of one address."""
_FORM_BYTES = 64 * 1024
_MOST_TRIES = 20
_MOST_READS = 240
_FULL_RETRY_S = 60
_FAILED = "The recording could not be recognised."
_UNFINISHED = transcriptions.UNFINISHED


class TrialRecord(BaseModel):
    """`id` is the one key to it. `progress` is 0 to 1; what was said is there once the status is success, and the
    summary once its own status is."""

    id: str
    status: Literal["pending", "processing", "success", "error"]
    progress: float
    error_message: str | None
    file_name: str
    language: str | None
    duration_ms: int | None
    segments: list[Segment] | None
    summary_status: str
    summary: str | None
    category: str | None
    expires_at: UtcTime


async def upload(request: Request) -> Response:
    """Raises TooLarge, InvalidRequest, RateLimited with Retry-After, NotPermitted for another site's form."""
    services = _services(request)
    if request.headers.get("sec-fetch-site") == "cross-site":
        raise NotPermitted("The trial is used from this site's own page.", code="origin_not_allowed")
    if not is_multipart(request):
        raise InvalidRequest(
            "Send the recording as multipart/form-data, field file.", code="missing_file", param="file"
        )
    _refuse_declared(request)
    address = _address_hash(services, request)
    await run_in_threadpool(_admit, services, request, address)
    try:
        answer = await _take(services, request)
    # What came to no trial does not count as one of the address's two; how often it may try is bounded besides.
    except BaseException:
        await run_in_threadpool(_give_back, services, address)
        raise
    return answer


async def _take(services: Services, request: Request) -> Response:
    house = services.workshop
    task_id, token = new_id(), secrets.token_urlsafe(32)
    key = work.blob_key(task_id)
    await run_in_threadpool(announced_blobs.announce, house.database, HOUSE_ID, key)
    try:
        writer = await run_in_threadpool(house.blobs.writer, key)
        form = await receive_form(request, writer, max_file_bytes=MOST_BYTES, known=())
        if form.file is None:
            raise InvalidRequest("There is no file.", code="missing_file", param="file")
        info = await to_thread.run_sync(_probe, services, key, form, limiter=request.app.state.probing)
    # Its bytes belong to no row.
    except BaseException:
        await run_in_threadpool(announced_blobs.discard, house.database, house.blobs, HOUSE_ID, key)
        raise

    def accept() -> TrialRecord:
        assert form.file is not None
        work.accept(
            house,
            token_hash=services.keyring.hash(token),
            task_id=task_id,
            file_name=form.file_name or "recording",
            channels=info.channels,
            expected_ms=believable_ms(info, form.file.size),
            media_type=media_type(info),
            size_bytes=form.file.size,
        )
        return _record(services, token, *_found(services, token))

    return json_response(await run_in_threadpool(accept), 202, **_KEPT_BY_NOBODY)


def _refuse_declared(request: Request) -> None:
    """Before anything of it is read."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > MOST_BYTES + _FORM_BYTES:
        raise TooLarge(f"The file is larger than {MOST_BYTES} bytes.", param="file")


def _admit(services: Services, request: Request, address: str) -> None:
    """Raises RateLimited."""
    enforce_limit(services.database, f"trial:{address}", _MOST_TRIES, window_s=work.WINDOW_S)
    if work.count_unfinished(services.workshop) >= services.settings.trial_places:
        raise RateLimited("Many trials are waiting: come back a little later.", retry_after_s=_FULL_RETRY_S)
    with services.database.write(durable=False) as connection:
        wait_s = trials.take_place(connection, address, most=MOST_UPLOADS, window_s=work.WINDOW_S)
    if wait_s is not None:
        raise RateLimited(
            f"An address has {MOST_UPLOADS} trial uploads an hour.",
            code="rate_limit_exceeded",
            retry_after_s=max(1, int(wait_s) + 1),
        )


def _give_back(services: Services, address: str) -> None:
    with services.database.write(durable=False) as connection:
        trials.give_back_place(connection, address)


def _address_hash(services: Services, request: Request) -> str:
    """Of whom the limit counts: no address is written down."""
    return services.keyring.hash(f"trial:{counted_address(request)}")


def _probe(services: Services, key: str, form: Form) -> AudioInfo:
    assert form.file is not None
    if form.file.size == 0:
        raise InvalidRequest("The file is empty.", param="file")
    try:
        return probe_blob(services.workshop, HOUSE_ID, key, urgent=True)
    except ShuttingDown:
        raise Unavailable("The server is stopping.") from None
    except Undecodable as error:
        raise InvalidRequest(
            f"The file cannot be transcribed: {error}", code="undecodable_audio", param="file"
        ) from None


def read(request: Request) -> Response:
    services = _services(request)
    _bound_reads(services, request)
    token = request.path_params["token"]
    return json_response(_record(services, token, *_found(services, token)), 200, **_KEPT_BY_NOBODY)


def read_audio(request: Request) -> Response:
    services = _services(request)
    _bound_reads(services, request)
    trial, task = _found(services, request.path_params["token"])
    mime = task.media_type or ""
    file = StoredFile(trial.id, task.blob_key, mime if mime.startswith(("audio/", "video/")) else "", task.file_name)
    answer = send_file(services, request, file, _unknown())
    answer.headers.update(_KEPT_BY_NOBODY)
    return answer


def delete(request: Request) -> Response:
    """Takes the trial away before its day is over."""
    services = _services(request)
    _bound_reads(services, request)
    trial, _ = _found(services, request.path_params["token"])
    work.remove(services.workshop, trial)
    return Response(status_code=204)


def _bound_reads(services: Services, request: Request) -> None:
    enforce_limit(services.database, f"trial-read:{_address_hash(services, request)}", _MOST_READS)


def _services(request: Request) -> Services:
    """Raises NotFound where this server offers no trial."""
    services: Services = request.app.state.services
    if not services.settings.trial:
        raise NotFound("There is nothing at this address.")
    return services


def _unknown() -> NotFound:
    return NotFound("No such trial: it is gone a day after its upload.")


def _found(services: Services, token: str) -> tuple[Trial, Task]:
    with services.database.read() as connection:
        trial = trials.find(HOUSE_ID, connection, services.keyring.hash(token))
        task = transcriptions.get(HOUSE_ID, connection, trial.task_id) if trial is not None else None
    if trial is None or task is None:
        raise _unknown()
    return trial, task


def _record(services: Services, token: str, trial: Trial, task: Task) -> TrialRecord:
    with services.database.read() as connection:
        found = details.find_newest(HOUSE_ID, connection, communication_id=trial.communication_id)
    if found is None:
        raise _unknown()
    result: dict[str, Any] = task.result or {} if task.status == "success" else {}
    return TrialRecord(
        id=token,
        status=task.status,  # type: ignore[arg-type]
        progress=round(task.progress, 3),
        error_message=(task.error_message or _FAILED) if task.status == "error" else None,
        file_name=task.file_name,
        language=result.get("language"),
        duration_ms=task.audio_ms,
        segments=[Segment.model_validate(each) for each in result["segments"]] if result else None,
        summary_status=found.summary_status,
        summary=found.summary_text,
        category=found.category,
        expires_at=trial.expires_at,
    )


_KEPT_BY_NOBODY = {"Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}

ROUTES: list[BaseRoute] = [
    Route(PATH, upload, methods=["POST"]),
    Route(f"{PATH}/{{token}}", read, methods=["GET"]),
    Route(f"{PATH}/{{token}}", delete, methods=["DELETE"]),
    Route(f"{PATH}/{{token}}/audio", read_audio, methods=["GET"]),
]
