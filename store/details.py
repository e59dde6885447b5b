"""What the API reads of a communication at once: itself and what recognition and analysis made of it.

The statements are made once, at import: making one anew costs more than running it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import qc_evaluations, stages, summaries
from store.communications import Communication, communications
from store.speakers import communication_speakers
from store.transcriptions import transcription_tasks


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The quality control of a communication. A criterion has code, value_type, value and evidence."""

    id: str
    scenario_code: str
    score_pct: float | None
    comment: str | None
    status: str
    criteria: list[dict[str, Any]]
    engines: dict[str, str] | None


@dataclass(frozen=True, slots=True)
class Details:
    """`transcription_status` is None where there is nothing to recognise; a stage that never was is skipped. The file
    is the recording's: its size is None while it is not fetched, and of calls that an older release took. `engines`
    says which one made which field of the summary."""

    communication: Communication
    transcription_status: str | None
    transcription_error_message: str | None
    file_name: str | None
    media_type: str | None
    size_bytes: int | None
    summary_status: str
    summary_updated_at: datetime | None
    qc_status: str
    qc_error_message: str | None
    qc_updated_at: datetime | None
    memory_status: str
    memory_updated_at: datetime | None
    summary_text: str | None
    user_summary: str | None
    category: str | None
    engines: dict[str, str] | None
    evaluation: Evaluation | None

    @property
    def analysed_at(self) -> datetime | None:
        """When the last of the stages that came to a result had it; None where there is none."""
        stages = (
            (self.summary_status, self.summary_updated_at),
            (self.qc_status, self.qc_updated_at),
            (self.memory_status, self.memory_updated_at),
        )
        return max((at for status, at in stages if status == "success" and at is not None), default=None)


@dataclass(frozen=True, slots=True)
class Summarised:
    """A communication with its summary, as a list shows it."""

    communication: Communication
    summary_text: str | None
    user_summary: str | None
    category: str | None


_COMMUNICATION = [communications.c[name] for name in Communication.__dataclass_fields__]
_SUMMARY = (summaries.c.text, summaries.c.user_summary, summaries.c.category)
_EVALUATION = [qc_evaluations.c[name] for name in Evaluation.__dataclass_fields__]


def _details() -> sa.Select[Any]:
    summary, qc, memory = (stages.alias(f"{name}_stage") for name in ("summary", "qc", "memory"))
    task, tasks = transcription_tasks.alias("task"), transcription_tasks.alias("tasks")
    newest = (
        sa.select(tasks.c.id)
        .where(tasks.c.tenant_id == communications.c.tenant_id, tasks.c.communication_id == communications.c.id)
        .order_by(tasks.c.created_at.desc())
        .limit(1)
        .correlate(communications)
        .scalar_subquery()
    )
    joined: sa.FromClause = communications.outerjoin(task, task.c.id == newest)
    for name, stage in (("summary", summary), ("qc", qc), ("memory", memory)):
        joined = joined.outerjoin(stage, (stage.c.communication_id == communications.c.id) & (stage.c.stage == name))
    joined = joined.outerjoin(summaries, summaries.c.communication_id == communications.c.id)
    joined = joined.outerjoin(qc_evaluations, qc_evaluations.c.communication_id == communications.c.id)
    return (
        sa.select(
            *_COMMUNICATION,
            task.c.status.label("task_status"),
            task.c.error_message.label("task_error_message"),
            task.c.file_name,
            task.c.media_type,
            task.c.size_bytes,
            sa.func.coalesce(summary.c.status, "skipped"),
            summary.c.updated_at,
            sa.func.coalesce(qc.c.status, "skipped"),
            qc.c.error_message,
            qc.c.updated_at,
            sa.func.coalesce(memory.c.status, "skipped"),
            memory.c.updated_at,
            *_SUMMARY,
            summaries.c.engines,
            *_EVALUATION,
        )
        .select_from(joined)
        .where(communications.c.tenant_id == sa.bindparam("tenant_id"))
        .order_by(communications.c.created_at.desc(), communications.c.id.desc())
        .limit(1)
    )


_HAS_ID = communications.c.id == sa.bindparam("communication_id")
_HAS_RECORD_ID = communications.c.request_record_id == sa.bindparam("request_record_id")
BY_ID = _details().where(_HAS_ID)
BY_RECORD_ID = _details().where(_HAS_RECORD_ID)
BY_BOTH = _details().where(_HAS_ID, _HAS_RECORD_ID)
_BY = {(True, False): BY_ID, (False, True): BY_RECORD_ID, (True, True): BY_BOTH}


def find_newest(
    tenant_id: str,
    connection: Connection,
    *,
    communication_id: str | None = None,
    request_record_id: str | None = None,
) -> Details | None:
    """The newest communication that matches every alternative given."""
    given = {
        "tenant_id": tenant_id,
        "communication_id": communication_id,
        "request_record_id": request_record_id,
    }
    statement = _BY[communication_id is not None, request_record_id is not None]
    row = connection.execute(statement, {name: value for name, value in given.items() if value is not None}).first()
    if row is None:
        return None
    own, of_evaluation = len(_COMMUNICATION), len(_EVALUATION)
    evaluation = Evaluation(*row[-of_evaluation:]) if row[-of_evaluation] is not None else None
    return Details(*(Communication(*row[:own]), *row[own:-of_evaluation], evaluation))


_PAGE = (
    sa.select(*_COMMUNICATION, *_SUMMARY)
    .select_from(
        communication_speakers.join(
            communications, communications.c.id == communication_speakers.c.communication_id
        ).outerjoin(summaries, summaries.c.communication_id == communications.c.id)
    )
    .where(
        communication_speakers.c.tenant_id == sa.bindparam("tenant_id"),
        communication_speakers.c.speaker_id == sa.bindparam("speaker_id"),
        communications.c.tenant_id == sa.bindparam("tenant_id"),
    )
    .order_by(communications.c.occured_at.desc(), communications.c.id.desc())
    .limit(sa.bindparam("limit", type_=sa.Integer))
    .offset(sa.bindparam("offset", type_=sa.Integer))
)


def list_of_speaker(
    tenant_id: str, connection: Connection, speaker_id: str, *, limit: int, offset: int = 0
) -> list[Summarised]:
    """A page of the communications that a person takes part in, newest first by `occured_at`, then id."""
    given = {"tenant_id": tenant_id, "speaker_id": speaker_id, "limit": limit, "offset": offset}
    own = len(_COMMUNICATION)
    return [Summarised(Communication(*row[:own]), *row[own:]) for row in connection.execute(_PAGE, given)]
