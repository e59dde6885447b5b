"""Timelines of communications into the index."""

from __future__ import annotations

import uuid

from ingest.workshop import DOCUMENTS_QUEUE, Workshop, start_or_leave, workshop
from rag.chunking import Line, chunk_timeline
from rag.index import Point
from store import communications
from store.jobs import step, workflow


def start_indexing(tenant_id: str, communication_id: str, turns: int) -> None:
    """Starts a job that indexes a communication that grew to so many turns."""
    job_id = f"{communication_id}.{turns}"
    arguments = (DOCUMENTS_QUEUE, job_id, index_timeline, tenant_id, communication_id)
    start_or_leave(communication_id, workshop().jobs.enqueue, *arguments)


@workflow(name="index_timeline")
def index_timeline(tenant_id: str, communication_id: str) -> None:
    _index_timeline(tenant_id, communication_id)


@step(name="index_timeline", retries_allowed=True, max_attempts=8)
def _index_timeline(tenant_id: str, communication_id: str) -> None:
    index_communication(workshop(), tenant_id, communication_id)


def index_communication(house: Workshop, tenant_id: str, communication_id: str) -> None:
    """Puts a communication's timeline into the index in place of what was there of it."""
    with house.database.read() as connection:
        row = communications.get(tenant_id, connection, communication_id)
        content = communications.list_content(tenant_id, connection, communication_id)
    if row is None:
        return
    lines = [Line(item.label or "", item.text, item.start_ms, item.end_ms) for _, item in content]
    chunks = chunk_timeline(lines)
    vectors = house.passage_vectors([chunk.text for chunk in chunks])
    points = [
        Point(
            id=str(uuid.uuid5(uuid.UUID(communication_id), str(chunk.index))),
            vector=vector,
            text=chunk.text,
            payload={
                "kind": "communication",
                "communication_id": communication_id,
                "communication_kind": row.kind,
                "channel_type": row.channel_type,
                "direction": row.direction,
                "occured_at_s": int(row.occured_at.timestamp()),
                "start_ms": chunk.start_ms,
                "end_ms": chunk.end_ms,
            },
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    house.index.delete(tenant_id, communication_id=communication_id)
    house.index.upsert(tenant_id, points)
