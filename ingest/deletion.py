"""Deletion of communications with everything that belongs to them, by hand or since they are over their time."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from accounts import ledger
from ingest import analyses as orders
from ingest import analysis_job, call_job, calls, import_media
from ingest.analysis.memory import without_sources
from ingest.timelines import follow
from ingest.workshop import Workshop
from store import (
    accounts,
    analyses,
    analysis,
    audit,
    communications,
    index_work,
    retention,
    speakers,
    transcriptions,
    voices,
    widget,
)
from store.analyses import Analysis
from store.database import Connection
from store.index_work import DELETE_BLOB, FORGET_COMMUNICATION, INDEX_MEMORY, IndexWork

log = structlog.get_logger(__name__)


def remove(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> list[IndexWork]:
    """Deletes communications with timeline, audio, files, analysis and what they taught, in the caller's transaction,
    which has locked the account's row: the work that index and blobs now have to follow with, committed with it."""
    voices.take_back_all(tenant_id, connection, communication_ids)
    remembered = analysis.speakers_remembered_from(tenant_id, connection, communication_ids)
    _forget_history(tenant_id, connection, communication_ids)
    blobs = retention.remove(tenant_id, connection, communication_ids)
    work = [
        index_work.add(tenant_id, connection, action=FORGET_COMMUNICATION, subject_id=communication_id)
        for communication_id in communication_ids
    ]
    work += [
        index_work.add(tenant_id, connection, action=INDEX_MEMORY, subject_id=speaker_id) for speaker_id in remembered
    ]
    work += [
        index_work.add(tenant_id, connection, action=DELETE_BLOB, subject_id=task_id, blob_key=blob_key)
        for task_id, blob_key in blobs
    ]
    return work + import_media.forget(tenant_id, connection, communication_ids)


def lock(tenant_id: str, connection: Connection, communication_id: str) -> bool:
    """Locks what `remove` of one needs, in the order of locks: communication, conversation, account. False where it is
    gone."""
    is_there = communications.lock(tenant_id, connection, communication_id)
    widget.lock(tenant_id, connection, [communication_id])
    accounts.get_tenant(tenant_id, connection, lock=True)  # who learns a voice holds it too
    return is_there


def delete_communication(house: Workshop, tenant_id: str, communication_id: str, *, actor: str) -> bool:
    """Deletes one, whatever is still in work for it: that is called off, and what was not done costs nothing. False
    where there is none."""
    with house.database.read() as connection:
        task = transcriptions.newest_of(tenant_id, connection, communication_id)
    if task is not None and task[1] in transcriptions.UNFINISHED:
        calls.cancel(tenant_id, task[0])
    with house.database.write() as connection:
        if not lock(tenant_id, connection, communication_id):
            return False
        order = analyses.get_of(tenant_id, connection, communication_id)
        if order is not None and order.status != "done":
            ledger.charge(tenant_id, connection, hold_key=order.hold_key, description=orders.description(order))
        work = remove(tenant_id, connection, [communication_id])
        audit.add(tenant_id, connection, actor=actor, action="communication.deleted", subject=communication_id)
    follow(house, work)
    forget_jobs(house, task[0] if task is not None else None, order)
    return True


def forget_jobs(house: Workshop, task_id: str | None, order: Analysis | None) -> None:
    """Ends what is in work for a communication. The records of its jobs hold what was said, too."""
    recognition = call_job.job_ids(task_id) if task_id is not None else []
    house.jobs.forget(recognition + (analysis_job.job_ids(order) if order is not None else []))


def _forget_history(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> None:
    """Takes what these conversations said out of the history of facts that replaced it."""
    people = speakers.list_participants_of(tenant_id, connection, list(communication_ids))
    ids = sorted({person.id for attending in people.values() for person in attending})
    for item in analysis.list_memory(tenant_id, connection, ids):
        meta = item.meta or {}
        kept = without_sources(meta, list(communication_ids))
        if kept != meta:
            analysis.set_meta(tenant_id, connection, item.id, kept)
