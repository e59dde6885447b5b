"""Trial uploads of the site page: transcribed and summed up like any call, for a house tenant, and gone after a day."""

from __future__ import annotations

from datetime import timedelta

import structlog

from ingest import announced_blobs, calls, deletion
from ingest.speech import diarize
from ingest.timelines import follow
from ingest.workshop import Workshop, workshop
from store import analyses, transcriptions, trials
from store.database import Connection, now
from store.settings import Settings
from store.transcriptions import Task
from store.trials import HOUSE_ID, Trial
from store.weights import ModelMissing

log = structlog.get_logger(__name__)

KEPT = timedelta(days=1)
WINDOW_S = 3600
_BATCH = 50


def blob_key(task_id: str) -> str:
    return f"{HOUSE_ID}/audio/{task_id}"


def accept(
    house: Workshop,
    *,
    token_hash: str,
    task_id: str,
    file_name: str,
    channels: int,
    expected_ms: int | None,
    media_type: str | None,
    size_bytes: int,
) -> Task:
    """Records the upload, whose blob is there, and starts its job."""
    with house.database.write() as connection:
        trials.open_house(connection)

    def also(connection: Connection, task: Task) -> None:
        announced_blobs.take_in(HOUSE_ID, connection, task.blob_key)
        trials.add(
            HOUSE_ID,
            connection,
            token_hash=token_hash,
            task_id=task.id,
            communication_id=task.communication_id,
            expires_at=now() + KEPT,
        )

    return calls.accept(
        HOUSE_ID,
        task_id=task_id,
        blob_key=blob_key(task_id),
        file_name=file_name,
        occured_at=now(),
        request_record_id=None,
        direction=None,
        expected_ms=expected_ms,
        parameters={
            "language": None,
            "channel_speakers": None,
            "words": False,
            "diarize": channels == 1 and _tells_voices(house.settings),
            "summary": True,
            "user_summary": None,
            "webhook_url": None,
            "file_url": None,
            "expected_speakers": None,
            "knows_somebody": False,
            "sync": False,
            "key_id": None,
        },
        media_type=media_type,
        size_bytes=size_bytes,
        also=also,
    )


def _tells_voices(settings: Settings) -> bool:
    """Whether the networks that do it are installed: else a trial goes without."""
    try:
        diarize.choose_models(settings)
    except ModelMissing:
        return False
    return True


def count_unfinished(house: Workshop) -> int:
    """How many trials wait or are in work."""
    with house.database.read() as connection:
        return transcriptions.count_unfinished_of(HOUSE_ID, connection)


def remove(house: Workshop, trial: Trial) -> None:
    """Takes a trial away: from the queue, out of the database, the index and the blobs. What index or blob store
    cannot do now stays noted and is done by the next sweep."""
    calls.cancel(HOUSE_ID, trial.task_id)
    with house.database.write() as connection:
        deletion.lock(HOUSE_ID, connection, trial.communication_id)
        order = analyses.get_of(HOUSE_ID, connection, trial.communication_id)
        work = deletion.remove(HOUSE_ID, connection, [trial.communication_id])
        trials.remove(HOUSE_ID, connection, trial)
    follow(house, work)
    deletion.forget_jobs(house, trial.task_id, order)


def sweep() -> None:
    """Takes away what is over its day, and whose address was counted."""
    house = workshop()
    with house.database.read() as connection:
        expired = trials.list_expired(HOUSE_ID, connection, limit=_BATCH)
    for trial in expired:
        remove(house, trial)
    with house.database.write(durable=False) as connection:
        trials.forget_addresses(connection, before=now() - timedelta(seconds=WINDOW_S))
