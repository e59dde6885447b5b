"""Queries of retention: which communications an account no longer keeps, and taking them away with all of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store import due_accounts
from store.accounts import tenants
from store.analyses import analyses
from store.analysis import stages
from store.communications import communications
from store.due_accounts import Account
from store.media import media
from store.scope import across_tenants
from store.transcriptions import UNFINISHED, transcription_tasks
from store.waveforms import waveforms


@across_tenants("retention is swept for all")
def list_due(connection: Connection) -> list[str]:
    """Ids of the accounts with communications that they no longer keep."""
    return due_accounts.list_due(connection, tenants.c.retention_days, _expired)


@across_tenants("retention is swept for all")
def list_due_audio(connection: Connection) -> list[str]:
    """Ids of the accounts with sound that they no longer keep."""
    days = tenants.c.audio_days
    found = (due_accounts.list_due(connection, days, each) for each in (_expired_recordings, _expired_files))
    return sorted({*chain.from_iterable(found)})


def list_expired(tenant_id: str, connection: Connection, *, before: datetime, limit: int) -> list[str]:
    """Ids of communications that happened and were stored before then, the oldest first, locked until the transaction
    ends. A chat counts from its last message; what is still in work is left out."""
    table = communications.c
    query = _expired(tenant_id, before).order_by(table.occured_at, table.id).limit(limit)
    return list(connection.execute(query.with_for_update(skip_locked=True)).scalars())


def _expired(tenant_id: Account, before: datetime) -> sa.Select[str]:
    table = communications.c
    in_work = (
        sa.exists()
        .where(transcription_tasks.c.tenant_id == table.tenant_id, transcription_tasks.c.communication_id == table.id)
        .where(transcription_tasks.c.status.in_(UNFINISHED))
    )
    in_analysis = sa.exists().where(stages.c.communication_id == table.id, stages.c.status.in_(UNFINISHED))
    # The last stage has ended, and what was held is not charged yet.
    not_closed = sa.exists().where(analyses.c.communication_id == table.id, analyses.c.status != "done")
    return (
        sa.select(table.id)
        .where(table.tenant_id == tenant_id, table.occured_at < before, table.created_at < before)
        .where(sa.or_(table.kind != "chat", table.updated_at < before))
        .where(~in_work, ~in_analysis, ~not_closed)
    )


def remove(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Deletes communications with timeline, tasks and analysis: (task id, blob key) of their audio, which the caller
    clears, as it does the index."""
    tasks = transcription_tasks.c
    mine = tasks.tenant_id == tenant_id, tasks.communication_id.in_(communication_ids)
    blobs = [(row[0], row[1]) for row in connection.execute(sa.select(tasks.id, tasks.blob_key).where(*mine))]
    connection.execute(
        sa.delete(communications).where(
            communications.c.tenant_id == tenant_id, communications.c.id.in_(communication_ids)
        )
    )
    return blobs


def list_expired_audio(
    tenant_id: str, connection: Connection, *, before: datetime, limit: int
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(task id, blob key) of recordings that ended and belong to communications of before then, and (media id, blob
    key) of sound and film in messages; locked until the transaction ends. Those whose sound went already are left out,
    which is what a size of 0 says."""
    recordings = (
        _expired_recordings(tenant_id, before)
        .order_by(communications.c.occured_at, transcription_tasks.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True, of=transcription_tasks)
    )
    files = (
        _expired_files(tenant_id, before)
        .order_by(communications.c.occured_at, media.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True, of=media)
    )
    return (
        [(row[0], row[1]) for row in connection.execute(recordings)],
        [(row[0], row[1]) for row in connection.execute(files)],
    )


def _expired_recordings(tenant_id: Account, before: datetime) -> sa.Select[Any]:
    tasks = transcription_tasks.c
    return (
        sa.select(tasks.id, tasks.blob_key)
        .join_from(transcription_tasks, communications, communications.c.id == tasks.communication_id)
        .where(_happened(tenant_id, before), tasks.tenant_id == tenant_id, tasks.status.not_in(UNFINISHED))
        .where(sa.or_(tasks.size_bytes.is_(None), tasks.size_bytes > 0))
    )


def _expired_files(tenant_id: Account, before: datetime) -> sa.Select[Any]:
    return (
        sa.select(media.c.id, media.c.blob_key)
        .join_from(media, communications, communications.c.id == media.c.communication_id)
        .where(_happened(tenant_id, before), media.c.tenant_id == tenant_id, media.c.size_bytes > 0)
        .where(sa.or_(media.c.mime.startswith("audio/"), media.c.mime.startswith("video/")))
    )


def _happened(tenant_id: Account, before: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(
        communications.c.tenant_id == tenant_id,
        communications.c.occured_at < before,
        communications.c.created_at < before,
    )


def forget_audio(tenant_id: str, connection: Connection, task_ids: Sequence[str], media_ids: Sequence[str]) -> None:
    """Notes that their sound is gone, with the picture of its loudness; the caller deletes the blobs."""
    tasks = transcription_tasks
    mine = tasks.c.tenant_id == tenant_id, tasks.c.id.in_(task_ids)
    connection.execute(sa.update(tasks).where(*mine).values(size_bytes=0, version=tasks.c.version + 1))
    connection.execute(
        sa.update(media).where(media.c.tenant_id == tenant_id, media.c.id.in_(media_ids)).values(size_bytes=0)
    )
    shown = sa.delete(waveforms).where(waveforms.c.tenant_id == tenant_id, waveforms.c.task_id.in_(task_ids))
    connection.execute(shown)
