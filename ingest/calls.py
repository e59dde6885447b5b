"""Calls as they are accepted, cancelled and looked after; what is done for one is `ingest/call_job.py`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import PurePath
from typing import Any

import structlog

from ingest import analyses, call_charges
from ingest.call_job import FAILED, fetch_id, mark_failed, start
from ingest.call_work import folder_of, task_of
from ingest.workshop import Workshop, delete_unless_recorded, start_or_leave, workshop
from store import accounts, communications, rounds, transcriptions
from store.database import Connection, Database
from store.errors import NotPermitted
from store.ids import new_id
from store.jobs import ENDED_BADLY
from store.rounds import Round
from store.settings import Settings
from store.transcriptions import Task

log = structlog.get_logger(__name__)

CANCELLED = "cancelled"
_TITLE_CHARACTERS = 300


def record(
    database: Database,
    settings: Settings,
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
    media_type: str | None = None,
    size_bytes: int | None = None,
    also: Callable[[Connection, Task], None] | None = None,
) -> Task:
    """Holds what the call will cost and writes communication and task; `also` runs in the same transaction. The
    sweeper starts the job, if nobody does before. Raises NotPermitted where the balance cannot bear it.

    `expected_ms` is the audio's length as far as it is known; where it is not, the job holds once it is. The blob of a
    recording that is given as a link (`parameters["file_url"]`) is brought by the job.
    """
    communication_id = new_id()
    with database.write() as connection:
        stages = _planned(tenant_id, connection, parameters)
        following = analyses.lines(settings, stages)
        if expected_ms is None or call_charges.hold(tenant_id, connection, communication_id, expected_ms, following):
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
                parameters={**parameters, "expected_ms": expected_ms, "stages": list(stages)},
                occured_at=occured_at,
                task_id=task_id,
                media_type=media_type,
                size_bytes=size_bytes,
            )
            if stages:
                analyses.order_with_task(
                    tenant_id,
                    connection,
                    communication_id,
                    stages,
                    task_id=task_id,
                    hold_key=call_charges.hold_key(communication_id),
                    user_summary=parameters.get("user_summary"),
                    webhook_url=parameters.get("webhook_url"),
                    key_id=parameters.get("key_id"),
                )
            if also is not None:
                also(connection, task)
            return task
    raise NotPermitted("The balance does not cover this call; the client is paused.", code="client_inactive")


def _planned(tenant_id: str, connection: Connection, parameters: dict[str, Any]) -> tuple[str, ...]:
    """The stages of analysis that follow the recognition: `summary` asks for them, and `knows_somebody` says whether a
    speaker came with an id or a name."""
    if not parameters.get("summary"):
        return ()
    tenant = accounts.get_tenant(tenant_id, connection)
    assert tenant is not None, "a caller has an account"
    return analyses.planned(tenant, knows_somebody=bool(parameters.get("knows_somebody")))


def accept(tenant_id: str, **values: Any) -> Task:
    """`record`, then the job's start. A task that is recorded is accepted: what cannot be started now, the sweeper
    starts."""
    house = workshop()
    try:
        task = record(house.database, house.settings, tenant_id, **values)
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


def cancel(tenant_id: str, task_id: str, *, also: Callable[[Connection, Task], None] | None = None) -> Task | None:
    """Ends a task that has not ended: what was not done costs nothing, and who works for it lets go. The task as it is
    then; one that had ended stays as it was. `also` runs in the transaction that ends it. None where there is no such
    task."""
    house = workshop()
    with house.database.read() as connection:
        task = transcriptions.get(tenant_id, connection, task_id)
    if task is None or task.status not in transcriptions.UNFINISHED:
        return task
    mark_failed(tenant_id, task_id, CANCELLED, counted="cancelled", also=also)
    stop_work(house, task_id)
    shutil.rmtree(folder_of(house, task_id), ignore_errors=True)  # what was written until then
    return task_of(house, tenant_id, task_id)


def in_work(house: Workshop) -> set[str]:
    """The tasks that children of this process work for, or that have a folder here, which may have another name."""
    folders = {folder.name for folder in house.work_folder.iterdir()} if house.work_folder.is_dir() else set()
    return folders | house.pools.speech.tags | house.pools.decoding.tags


def drop_work(house: Workshop, task_id: str) -> None:
    """Ends what children of this process do for a task, and removes what it has on disk."""
    stop_work(house, task_id)
    shutil.rmtree(folder_of(house, task_id), ignore_errors=True)


def stop_work(house: Workshop, task_id: str) -> None:
    """Ends what children of this process do for a task."""
    for pool in (house.pools.decoding, house.pools.speech):
        pool.cancel(task_id)


class CallSweep:
    """A process's. Goes round the calls that have not ended."""

    def __init__(self) -> None:
        self._round = Round()

    def sweep(self) -> None:
        """Starts calls that a crash left unstarted, and ends those whose job ended without telling."""
        house = workshop()
        with house.database.read() as connection:
            waiting = transcriptions.list_unfinished(
                connection, older_than_s=house.settings.sweep_s, limit=rounds.AT_ONCE, after=self._round.after
            )
        self._round.go_on([(task.since, task.id) for task in waiting])
        ids = [task.id for task in waiting]
        statuses = house.jobs.statuses([*ids, *map(fetch_id, ids)])
        for tenant_id, task_id, _ in waiting:
            status = statuses.get(task_id) or statuses.get(fetch_id(task_id))
            if status is None:
                log.info("starting a call that was left unstarted", task_id=task_id)
                start(task_of(house, tenant_id, task_id))
            elif status in ENDED_BADLY:
                mark_failed(tenant_id, task_id, FAILED)


def sweep_ended() -> None:
    """Stops work for calls that ended elsewhere, on another machine say, and removes what they left on disk."""
    house = workshop()
    names = in_work(house)
    if not names:
        return
    # Read after what is in work: a call that is by now began before.
    with house.database.read() as connection:
        unfinished = transcriptions.unfinished_among(connection, names)
    for name in names - unfinished.keys():
        drop_work(house, name)
