"""Table and queries of transcription tasks: the durable record of one audio file on its way to a timeline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.rounds import Place, Waiting, among, list_waiting
from store.scope import across_tenants

transcription_tasks = sa.Table(
    "transcription_tasks",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("progress", sa.Float, nullable=False),
    sa.Column("error_message", sa.Text, nullable=True),
    sa.Column("blob_key", sa.String(300), nullable=False),
    sa.Column("file_name", sa.String(300), nullable=False),
    sa.Column("parameters", sa.JSON, nullable=False),
    sa.Column("result", sa.JSON(none_as_null=True), nullable=True),
    sa.Column("audio_ms", sa.BigInteger, nullable=True),
    sa.Column("media_type", sa.String(100), nullable=True),
    sa.Column("size_bytes", sa.BigInteger, nullable=True),
    sa.Column("version", sa.Integer, nullable=False),
    time_column("occured_at", nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id", "communication_id"),
    sa.Index(None, "communication_id"),  # for the cascade of a deletion
    sa.Index(None, "status", "created_at"),
)

UNFINISHED = ("pending", "processing")


@dataclass(frozen=True, slots=True)
class Task:
    """`progress` is 0 to 1; `audio_ms` is the decoded length, known once the file was decoded; `media_type` and
    `size_bytes` are the recording's, unknown until a file that had to be fetched is there."""

    id: str
    tenant_id: str
    communication_id: str
    status: str
    progress: float
    error_message: str | None
    blob_key: str
    file_name: str
    parameters: dict[str, Any]
    result: dict[str, Any] | None
    audio_ms: int | None
    media_type: str | None
    size_bytes: int | None
    version: int
    occured_at: datetime
    created_at: datetime
    updated_at: datetime


def create(
    tenant_id: str,
    connection: Connection,
    *,
    communication_id: str,
    blob_key: str,
    file_name: str,
    parameters: dict[str, Any],
    occured_at: datetime,
    task_id: str | None = None,
    media_type: str | None = None,
    size_bytes: int | None = None,
) -> Task:
    made_at = now()
    task = Task(
        id=task_id or new_id(),
        tenant_id=tenant_id,
        communication_id=communication_id,
        status="pending",
        progress=0.0,
        error_message=None,
        blob_key=blob_key,
        file_name=file_name,
        parameters=parameters,
        result=None,
        audio_ms=None,
        media_type=media_type,
        size_bytes=size_bytes,
        version=1,
        occured_at=occured_at,
        created_at=made_at,
        updated_at=made_at,
    )
    values = {name: getattr(task, name) for name in Task.__dataclass_fields__}
    connection.execute(sa.insert(transcription_tasks).values(**values))
    return task


def get(tenant_id: str, connection: Connection, task_id: str) -> Task | None:
    row = connection.execute(
        sa.select(transcription_tasks).where(
            transcription_tasks.c.tenant_id == tenant_id, transcription_tasks.c.id == task_id
        )
    ).first()
    return Task(**row._mapping) if row else None


def newest_of(tenant_id: str, connection: Connection, communication_id: str) -> tuple[str, str] | None:
    """(task id, status) of the communication's newest task; None where recognition does not apply."""
    row = connection.execute(
        sa.select(transcription_tasks.c.id, transcription_tasks.c.status)
        .where(
            transcription_tasks.c.tenant_id == tenant_id,
            transcription_tasks.c.communication_id == communication_id,
        )
        .order_by(transcription_tasks.c.created_at.desc())
        .limit(1)
    ).first()
    return (row[0], row[1]) if row else None


def update(tenant_id: str, connection: Connection, task_id: str, **values: Any) -> bool:
    """Sets the given columns of a task that has not finished, and counts its version up. False when it had."""
    result = connection.execute(
        sa.update(transcription_tasks)
        .where(
            transcription_tasks.c.tenant_id == tenant_id,
            transcription_tasks.c.id == task_id,
            transcription_tasks.c.status.in_(UNFINISHED),
        )
        .values(**values, version=transcription_tasks.c.version + 1, updated_at=now())
    )
    return result.rowcount == 1


def forget_result(tenant_id: str, connection: Connection, task_id: str) -> bool:
    """Takes the result of a task away. False where it has none."""
    table = transcription_tasks.c
    forgotten = connection.execute(
        sa.update(transcription_tasks)
        .where(table.tenant_id == tenant_id, table.id == task_id, table.result.is_not(None))
        .values(result=sa.null())
    )
    return forgotten.rowcount == 1


@across_tenants("the sweeper starts what a crash left unstarted")
def list_unfinished(
    connection: Connection, *, older_than_s: float, limit: int, after: Place | None = None
) -> list[Waiting]:
    """Tasks that were accepted and have not ended, oldest first, from behind `after` on."""
    table = transcription_tasks.c
    unfinished = table.status.in_(UNFINISHED)
    return list_waiting(connection, unfinished, table.created_at, older_than_s=older_than_s, limit=limit, after=after)


@across_tenants("what a machine has in work is of whichever tenants")
def unfinished_among(connection: Connection, names: Collection[str]) -> dict[str, str]:
    """The tenant of each task among `names` that has not ended."""
    table = transcription_tasks.c
    query = sa.select(table.id, table.tenant_id).where(table.status.in_(UNFINISHED))
    return {row.id: row.tenant_id for row in among(connection, query, table.id, names)}


@across_tenants("the queue is bounded for all tenants together")
def count_unfinished(connection: Connection) -> int:
    query = sa.select(sa.func.count()).where(transcription_tasks.c.status.in_(UNFINISHED))
    return connection.execute(query).scalar_one()


def count_unfinished_of(tenant_id: str, connection: Connection) -> int:
    mine = transcription_tasks.c.tenant_id == tenant_id, transcription_tasks.c.status.in_(UNFINISHED)
    return connection.execute(sa.select(sa.func.count()).where(*mine)).scalar_one()
