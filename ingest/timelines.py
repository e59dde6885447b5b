"""What the index must follow outside the usual jobs: timelines, what is remembered of people, and what was deleted."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from functools import partial

import structlog

from ingest.documents import links
from ingest.documents.passages import settle_document
from ingest.workshop import Workshop, workshop
from rag.generation import Passage
from rag.index import Value
from rag.timeline_chunks import Line, chunk_timeline
from store import analysis, communications, index_work, meters, speakers
from store.changes import communication_changed
from store.communications import Communication
from store.errors import Unavailable
from store.index_work import (
    DELETE_BLOB,
    FOLLOWS,
    FORGET_COMMUNICATION,
    FORGET_DOCUMENT,
    INDEX_COMMUNICATION,
    INDEX_MEMORY,
    RECHECKS,
    SETTLE_DOCUMENT,
    IndexWork,
)

log = structlog.get_logger(__name__)

FOLLOW_S = 20.0
"""What a sweep does of it, about: others have their turn in the next one, and so have the other sweeps in between."""

_LOOKS = 5

for _action in FOLLOWS:
    meters.INDEX_WORK_FAILED.labels(_action)  # 0 from the beginning (`store.meters`)


def index_communication(house: Workshop, tenant_id: str, communication_id: str) -> None:
    """Puts a communication's timeline into the index in place of what was there of it."""
    read = partial(communication_passages, house, tenant_id)
    _replace(house, tenant_id, INDEX_COMMUNICATION, read, communication_id=communication_id)


def index_memory(house: Workshop, tenant_id: str, speaker_id: str) -> None:
    """Puts what is remembered of a speaker into the index in place of what was there of them."""
    _replace(house, tenant_id, INDEX_MEMORY, partial(memory_passages, house, tenant_id), speaker_id=speaker_id)


def _replace(
    house: Workshop, tenant_id: str, action: str, read: Callable[[str], list[Passage]], **subject: str
) -> None:
    """What is new is there before what is old goes, so that at no moment nothing of it is found. Where it does not come
    to its end, the subject is looked at again later, since others may have done its work meanwhile."""
    (subject_id,) = subject.values()
    with house.database.write(durable=False) as connection:
        index_work.begin(tenant_id, connection, action, subject_id)
    passages = read(subject_id)
    for _ in range(_LOOKS):
        there = house.indexes.ids_of(tenant_id, **subject)
        house.indexes.put(tenant_id, passages)
        if left := there - {passage.id for passage in passages}:
            house.indexes.delete_points(tenant_id, left)
        now = read(subject_id)
        if now == passages:
            with house.database.write(durable=False) as connection:
                index_work.end(tenant_id, connection, action, subject_id)
            return
        # Changed or deleted meanwhile, perhaps before these points were there to be deleted with it.
        passages = now
    raise Unavailable("what the index must follow goes on changing")


def communication_passages(house: Workshop, tenant_id: str, communication_id: str) -> list[Passage]:
    """Of its timeline, as it is now; none where it was deleted. A mail without words is found by its subject."""
    with house.database.read() as connection:
        row = communications.get(tenant_id, connection, communication_id)
        content = communications.list_content(tenant_id, connection, communication_id)
        people = speakers.list_participants(tenant_id, connection, communication_id)
        category = analysis.category_of(tenant_id, connection, communication_id)
    if row is None:
        return []
    lines = [Line(item.label or "", item.text, item.start_ms, item.end_ms) for _, item in content]
    title = _searched_title(row)
    chunks = chunk_timeline(lines)
    if not chunks and content and title is not None:
        chunks = chunk_timeline([Line("", title, None, None)])
    return [
        Passage(
            id=str(uuid.uuid5(uuid.UUID(communication_id), str(chunk.index))),
            text=chunk.text,
            payload={
                "kind": "communication",
                "communication_id": communication_id,
                "title": title,
                "communication_kind": row.kind,
                "channel_type": row.channel_type,
                "direction": row.direction,
                "participants": sorted(person.id for person in people),
                "participant_roles": sorted({person.role for person in people}),
                "category": category,
                "occured_at_s": int(row.occured_at.timestamp()),
                "start_ms": chunk.start_ms,
                "end_ms": chunk.end_ms,
            },
            context=title or "",
        )
        for chunk in chunks
    ]


def _searched_title(row: Communication) -> str | None:
    """A mail's subject, or what people called a chat: words that its turns may lack. A call is called after its file,
    and a chat of the site's widget after its own first message."""
    return row.title if row.kind == "email" or (row.kind == "chat" and row.channel_type != "widget") else None


def memory_passages(house: Workshop, tenant_id: str, speaker_id: str) -> list[Passage]:
    """Of what is remembered of a speaker now. A fact alone does not say whose it is, and that is what is asked for."""
    with house.database.read() as connection:
        speaker = speakers.get(tenant_id, connection, speaker_id)
        items = analysis.list_memory(tenant_id, connection, [speaker_id]) if speaker is not None else []
    name = speaker and (speaker.name or speaker.external_id)
    return [
        Passage(item.id, f"{name}: {item.content}" if name else item.content, _memory_payload(speaker_id))
        for item in items
    ]


def _memory_payload(speaker_id: str) -> dict[str, Value]:
    return {"kind": "memory", "speaker_id": speaker_id}


def do_index_work(house: Workshop, work: IndexWork) -> None:
    """Does one piece of work on the index and ticks it off. Raises what index or blob store raise."""
    if work.action == DELETE_BLOB and _is_kept(house, work):
        return
    if work.action in RECHECKS:
        with house.database.write(durable=False) as connection:
            index_work.reopen(work.tenant_id, connection, work)
        return
    try:
        if work.blob_key:
            # First: on a disk that is nearly full the index takes nothing, what is to be deleted neither; this makes
            # room.
            house.blobs.delete(work.blob_key)
    finally:  # a bucket that is away keeps nothing in the index that is to go
        _have_index_follow(house, work)
    with house.database.write() as connection:
        if work.action == INDEX_COMMUNICATION:
            # Whoever deletes a person of very many communications leaves their figures to this.
            communication_changed(work.tenant_id, connection, work.subject_id)
        index_work.done(work.tenant_id, connection, work)


def _have_index_follow(house: Workshop, work: IndexWork) -> None:
    """Does to the index what the work says."""
    if work.action == INDEX_COMMUNICATION:
        index_communication(house, work.tenant_id, work.subject_id)
    elif work.action == INDEX_MEMORY:
        index_memory(house, work.tenant_id, work.subject_id)
    elif work.action == FORGET_COMMUNICATION:
        house.indexes.delete(work.tenant_id, communication_id=work.subject_id)
    elif work.action == FORGET_DOCUMENT:
        house.indexes.delete(work.tenant_id, document_id=work.subject_id)
    elif work.action == SETTLE_DOCUMENT:
        settle_document(house, work.tenant_id, work.subject_id)
    else:
        assert work.action == DELETE_BLOB


def _is_kept(house: Workshop, work: IndexWork) -> bool:
    """Whether a blob that was to go has an owner after all: a run that still waits, or a row that took it in since the
    work was listed. In this order, since a run that ends takes it in with the same transaction."""
    if work.blob_key is not None and links.keeps(house, work.tenant_id, work.blob_key):
        return True
    with house.database.read() as connection:
        return index_work.get(work.tenant_id, connection, work.action, work.subject_id) != work


def follow(house: Workshop, noted: Iterable[IndexWork], *, until_s: float | None = None) -> None:
    """Does what has just been noted, for some seconds, or until then on the clock of `time.monotonic`. What fails is
    left to `sweep`, and so is what comes behind it where a store is away."""
    until_s = time.monotonic() + FOLLOW_S if until_s is None else until_s
    for work in noted:
        if time.monotonic() > until_s:
            return
        try:
            do_index_work(house, work)
        # The rows are gone for everybody: searches look at the store too.
        except Exception as error:
            log.exception("the index could not follow yet", subject=work.subject_id, action=work.action)
            if isinstance(error, Unavailable):
                return


def sweep() -> bool:
    """Does what is open; what fails is logged and tried again once all that waits with it had its turn. False where
    something did."""
    house = workshop()
    until_s = time.monotonic() + FOLLOW_S
    with house.database.read() as connection:
        waiting = index_work.list_open(connection)
    all_well = True
    for work in waiting:
        if time.monotonic() > until_s:
            break
        try:
            do_index_work(house, work)
        # One account's broken shard must not keep the others' work waiting.
        except Exception:
            all_well = False
            meters.INDEX_WORK_FAILED.labels(work.action).inc()
            log.exception("the index could not follow", subject=work.subject_id, action=work.action)
            with house.database.write(durable=False) as connection:
                index_work.put_back(work.tenant_id, connection, work)
    return all_well
