"""What the index must follow outside the usual jobs: timelines of communications, and what was deleted."""

from __future__ import annotations

import uuid

import structlog

from ingest.workshop import Workshop, workshop
from rag.chunking import Line, chunk_timeline
from rag.index import Point
from store import communications, index_work
from store.index_work import (
    DELETE_BLOB,
    FORGET_COMMUNICATION,
    FORGET_DOCUMENT,
    INDEX_COMMUNICATION,
    IndexWork,
)

log = structlog.get_logger(__name__)


def index_communication(house: Workshop, tenant_id: str, communication_id: str) -> None:
    """Puts a communication's timeline into the index in place of what was there of it."""
    with house.database.read() as connection:
        row = communications.get(tenant_id, connection, communication_id)
        content = communications.list_content(tenant_id, connection, communication_id)
    if row is None:
        house.index.delete(tenant_id, communication_id=communication_id)
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
    with house.database.read() as connection:
        if communications.get(tenant_id, connection, communication_id) is None:
            # Deleted meanwhile, perhaps before these points were there to be deleted with it.
            house.index.delete(tenant_id, communication_id=communication_id)


def do_index_work(house: Workshop, work: IndexWork) -> None:
    """Does one piece of work on the index and ticks it off. Raises what index or blob store raise."""
    if work.action == INDEX_COMMUNICATION:
        index_communication(house, work.tenant_id, work.subject_id)
    elif work.action == FORGET_COMMUNICATION:
        house.index.delete(work.tenant_id, communication_id=work.subject_id)
    elif work.action == FORGET_DOCUMENT:
        house.index.delete(work.tenant_id, document_id=work.subject_id)
    else:
        assert work.action == DELETE_BLOB
    if work.blob_key:
        house.blobs.delete(work.blob_key)
    with house.database.write() as connection:
        index_work.done(work.tenant_id, connection, work)


def sweep() -> None:
    """Does what is open; what fails is logged and tried again once all that waits with it had its turn."""
    house = workshop()
    with house.database.read() as connection:
        waiting = index_work.list_open(connection)
    for work in waiting:
        try:
            do_index_work(house, work)
        # One account's broken shard must not keep the others' work waiting.
        except Exception:
            log.exception("the index could not follow", subject=work.subject_id, action=work.action)
            with house.database.write(durable=False) as connection:
                index_work.put_back(work.tenant_id, connection, work)
