"""Work on the index that must not be lost: committed with the change that makes it necessary, done after it.

A row is one subject that the index must follow. `version` counts its changes, from anywhere on, so that a worker that
was at it while it changed again does not tick off the newer change, in a later row neither. Work whose `changed_at` is
yet to come is not due: so a blob is noted before it is stored, and goes by itself where nothing came to take it in.

Of two workers at one subject the one that read it first may be the last to put in what it read. It then looks again and
mends that, unless it is killed or fails in between, when the other one may have ticked the work off. So whoever puts
something in notes first, with `begin`, that the subject is to be looked at once more, and takes that back with `end`.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from store.database import Connection, id_column, metadata, now, time_column, upsert
from store.scope import across_tenants

_IDS_AT_ONCE = 5000  # databases bound the parameters of a statement

DELETE_BLOB = "delete_blob"
FORGET_COMMUNICATION = "forget_communication"
FORGET_DOCUMENT = "forget_document"
INDEX_COMMUNICATION = "index_communication"
SETTLE_DOCUMENT = "settle_document"  # what its versions left in the index
INDEX_MEMORY = "index_memory"  # of a speaker
REFILL_INDEX = "refill_index"  # of one embedding model: for one account, or for all of them
RECHECKS = {"recheck_communication": INDEX_COMMUNICATION, "recheck_memory": INDEX_MEMORY}
"""What is to be done anew where whoever was at it did not come to its end. `version` counts who is at it."""
FOLLOWS = (
    DELETE_BLOB,
    FORGET_COMMUNICATION,
    FORGET_DOCUMENT,
    INDEX_COMMUNICATION,
    INDEX_MEMORY,
    SETTLE_DOCUMENT,
    *RECHECKS,
)
"""What follows a change, in moments, one subject at a time."""

_RECHECK_OF = {action: recheck for recheck, action in RECHECKS.items()}
_RECHECKED_AFTER = timedelta(minutes=15)
"""Longer than anybody is at a subject. What is in the index already is not embedded again, so a look costs little."""

_FIRST_BITS = 30  # leaves as many changes of one row in a column of 32
_EVERYBODY = "00000000-0000-0000-0000-000000000000"
_REFILLS = uuid.UUID("6f0b7a0e-6a52-4c0f-9d2e-1d3c1a8b5f57")

index_work = sa.Table(
    "index_work",
    metadata,
    id_column("subject_id", primary_key=True),
    sa.Column("action", sa.String(32), primary_key=True),
    id_column("tenant_id", nullable=False),
    sa.Column("blob_key", sa.String(300), nullable=True),
    sa.Column("version", sa.Integer, nullable=False),
    time_column("changed_at", nullable=False),
    sa.Index(None, "changed_at"),
)


@dataclass(frozen=True, slots=True)
class IndexWork:
    subject_id: str
    action: str
    tenant_id: str
    blob_key: str | None
    version: int


def add(
    tenant_id: str, connection: Connection, *, action: str, subject_id: str, blob_key: str | None = None
) -> IndexWork:
    """Notes that the index must follow the subject's change."""
    return add_many(tenant_id, connection, action=action, blob_keys={subject_id: blob_key})[0]


def add_many(
    tenant_id: str,
    connection: Connection,
    *,
    action: str,
    blob_keys: Mapping[str, str | None],
    not_before: datetime | None = None,
) -> list[IndexWork]:
    """The same of many subjects, each with its blob; `not_before` is when it is due, where that is later than now."""
    changed_at = not_before or now()
    rows = [
        {
            "subject_id": subject_id,
            "action": action,
            "tenant_id": tenant_id,
            "blob_key": blob_key,
            "version": 1 if action in RECHECKS else secrets.randbits(_FIRST_BITS),
            "changed_at": changed_at,
        }
        for subject_id, blob_key in blob_keys.items()
    ]
    if not rows:
        return []
    statement = upsert(connection, index_work)
    noted = statement.on_conflict_do_update(
        index_elements=["subject_id", "action"],
        set_={"version": index_work.c.version + 1, "changed_at": statement.excluded.changed_at},
    ).returning(index_work.c.subject_id, index_work.c.version)
    return [
        IndexWork(subject_id, action, tenant_id, blob_keys[subject_id], version)
        for subject_id, version in connection.execute(noted, rows)
    ]


def withdraw(tenant_id: str, connection: Connection, action: str, subject_ids: Sequence[str]) -> None:
    """Takes back work that was noted in case something went wrong."""
    for start in range(0, len(subject_ids), _IDS_AT_ONCE):
        connection.execute(
            sa.delete(index_work).where(
                index_work.c.tenant_id == tenant_id,
                index_work.c.action == action,
                index_work.c.subject_id.in_(subject_ids[start : start + _IDS_AT_ONCE]),
            )
        )


def get(tenant_id: str, connection: Connection, action: str, subject_id: str) -> IndexWork | None:
    columns = [index_work.c[name] for name in IndexWork.__dataclass_fields__]
    row = connection.execute(sa.select(*columns).where(*_of(tenant_id, action, subject_id))).first()
    return IndexWork(**row._mapping) if row else None


def done(tenant_id: str, connection: Connection, work: IndexWork) -> None:
    """Ticks the work off, unless the subject changed again."""
    mine = _of(tenant_id, work.action, work.subject_id)
    connection.execute(sa.delete(index_work).where(*mine, index_work.c.version == work.version))


def put_back(tenant_id: str, connection: Connection, work: IndexWork) -> None:
    """Work that failed waits behind what is there, so that it does not keep the head of the line. Where another worker
    has ticked it off meanwhile, what failed may have put something older in its place: it is open again."""
    mine = _of(tenant_id, work.action, work.subject_id)
    waits = sa.update(index_work).where(*mine, index_work.c.version == work.version).values(changed_at=now())
    connection.execute(waits)
    # Only what asks the store anew: a blob may have an owner by now, and what was deleted may be there again.
    if work.action in _RECHECK_OF and get(tenant_id, connection, work.action, work.subject_id) is None:
        add(tenant_id, connection, action=work.action, subject_id=work.subject_id)


def begin(tenant_id: str, connection: Connection, action: str, subject_id: str) -> None:
    """Notes, before something of the subject is put in, that it is to be looked at again in a while."""
    not_before = now() + _RECHECKED_AFTER
    recheck = _RECHECK_OF[action]
    add_many(tenant_id, connection, action=recheck, blob_keys={subject_id: None}, not_before=not_before)


def end(tenant_id: str, connection: Connection, action: str, subject_id: str) -> None:
    """Takes back what `begin` noted: the index agrees with the store. The note stays for others who are at it."""
    noted = _of(tenant_id, _RECHECK_OF[action], subject_id)
    connection.execute(sa.update(index_work).where(*noted).values(version=index_work.c.version - 1))
    connection.execute(sa.delete(index_work).where(*noted, index_work.c.version <= 0))


def reopen(tenant_id: str, connection: Connection, recheck: IndexWork) -> None:
    """Makes open work of what is due to be looked at again, unless somebody began meanwhile."""
    due = (*_of(tenant_id, recheck.action, recheck.subject_id), index_work.c.changed_at <= now())
    if connection.execute(sa.delete(index_work).where(*due)).rowcount:
        add(tenant_id, connection, action=RECHECKS[recheck.action], subject_id=recheck.subject_id)


def _of(tenant_id: str, action: str, subject_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    table = index_work.c
    return table.tenant_id == tenant_id, table.action == action, table.subject_id == subject_id


@across_tenants("whoever sweeps does the work of all")
def list_open(connection: Connection, *, limit: int = 500) -> list[IndexWork]:
    """What is due: of each account in turn the longest-waiting, so that one with much of it does not keep the others
    waiting. What failed waits from its last try on."""
    columns = [index_work.c[name] for name in IndexWork.__dataclass_fields__]
    turn = sa.func.row_number().over(partition_by=index_work.c.tenant_id, order_by=index_work.c.changed_at)
    due = (
        sa.select(*columns, index_work.c.changed_at, turn.label("turn"))
        .where(index_work.c.changed_at <= now(), index_work.c.action != REFILL_INDEX)
        .subquery()
    )
    query = sa.select(*[due.c[column.name] for column in columns]).order_by(due.c.turn, due.c.changed_at).limit(limit)
    return [IndexWork(**row._mapping) for row in connection.execute(query)]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Work of one kind that is due; the oldest has been so for `oldest_s`, since its last try where it failed."""

    action: str
    count: int
    oldest_s: float


@across_tenants("whoever runs the server sees what waits")
def list_waiting(connection: Connection) -> list[Waiting]:
    """By action, also those of which none waits; refills tell of themselves."""
    table = index_work.c
    until = now()
    query = (
        sa.select(table.action, sa.func.count(), sa.func.min(table.changed_at))
        .where(table.changed_at <= until, table.action.in_(FOLLOWS))
        .group_by(table.action)
    )
    due = {
        action: Waiting(action, count, (until - oldest).total_seconds())
        for action, count, oldest in connection.execute(query)
    }
    return [due.get(action, Waiting(action, 0, 0.0)) for action in FOLLOWS]


@dataclass(frozen=True, slots=True)
class Refill:
    """What one index must be filled with again, of one account or of all (None); `is_due` where that is not put off."""

    work: IndexWork
    tenant_id: str | None
    is_due: bool


@across_tenants("an index is filled again for one account or for all")
def note_refill(
    connection: Connection, index_name: str, tenant_id: str | None = None, *, not_before: datetime | None = None
) -> None:
    """Notes that the index may lack something. Noted again while it is filled, it is filled once more."""
    owner = tenant_id or _EVERYBODY
    subject_id = _refill_id(index_name, owner)
    add_many(owner, connection, action=REFILL_INDEX, blob_keys={subject_id: None}, not_before=not_before)


@across_tenants("an index holds the passages of all")
def list_refills(connection: Connection, index_name: str) -> list[Refill]:
    columns = [index_work.c[name] for name in IndexWork.__dataclass_fields__]
    query = sa.select(*columns, index_work.c.changed_at).where(index_work.c.action == REFILL_INDEX)
    found = []
    for *values, changed_at in connection.execute(query):
        work = IndexWork(*values)
        if work.subject_id == _refill_id(index_name, work.tenant_id):
            tenant_id = None if work.tenant_id == _EVERYBODY else work.tenant_id
            found.append(Refill(work, tenant_id, changed_at <= now()))
    return found


@across_tenants("an index holds the passages of all")
def subjects_there(connection: Connection, kind: str, ids: Collection[str]) -> set[tuple[str, str]]:
    """(tenant id, id) of those of the `kind`, as an index names it, that an index is to have passages of."""
    tables = metadata.tables
    if kind == "memory":
        items = tables["summary_items"].c
        query = sa.select(items.tenant_id, items.speaker_id).distinct().where(items.item_type == "memory")
        column = items.speaker_id
    else:
        table = tables[{"document": "kb_documents", "communication": "communications"}[kind]].c
        query, column = sa.select(table.tenant_id, table.id), table.id
    return {(row[0], row[1]) for row in connection.execute(query.where(column.in_(ids)))}


@across_tenants("an index holds the passages of all")
def count_subjects(connection: Connection) -> int:
    """Documents, communications and people who something is remembered of: what an index is filled with."""
    tables = metadata.tables
    items = tables["summary_items"].c
    counts = [
        sa.select(sa.func.count()).select_from(tables["kb_documents"]),
        sa.select(sa.func.count()).select_from(tables["communications"]),
        sa.select(sa.func.count(sa.distinct(items.speaker_id))).where(items.item_type == "memory"),
    ]
    return sum(connection.execute(count).scalar_one() for count in counts)


def _refill_id(index_name: str, owner: str) -> str:
    return str(uuid.uuid5(_REFILLS, f"{index_name} {owner}"))
