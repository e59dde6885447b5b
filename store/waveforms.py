"""Table and queries of waveforms: the picture of a recording's loudness, made once, when somebody first looks at it."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.communications import communications
from store.database import id_column, metadata, upsert

waveforms = sa.Table(
    "waveforms",
    metadata,
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    id_column("tenant_id", nullable=False),
    id_column("task_id", nullable=False),  # whose recording it shows
    sa.Column("duration_ms", sa.BigInteger, nullable=False),
    sa.Column("peaks", sa.LargeBinary, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Waveform:
    """`peaks` has a byte for each of so many equal parts: 0 for silence, 255 for the loudest of the recording."""

    task_id: str
    duration_ms: int
    peaks: bytes


def get(tenant_id: str, connection: Connection, communication_id: str) -> Waveform | None:
    table = waveforms.c
    query = sa.select(table.task_id, table.duration_ms, table.peaks).where(
        table.tenant_id == tenant_id, table.communication_id == communication_id
    )
    row = connection.execute(query).first()
    return Waveform(*row) if row else None


def put(tenant_id: str, connection: Connection, communication_id: str, made: Waveform) -> None:
    """In place of what was there; where the communication is gone, nothing."""
    there = communications.c
    is_there = sa.select(there.id).where(there.tenant_id == tenant_id, there.id == communication_id)
    if connection.execute(is_there.with_for_update(key_share=True)).first() is None:
        return
    values = {"task_id": made.task_id, "duration_ms": made.duration_ms, "peaks": made.peaks}
    statement = upsert(connection, waveforms).values(tenant_id=tenant_id, communication_id=communication_id, **values)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["communication_id"], set_=values, where=waveforms.c.tenant_id == tenant_id
        )
    )
