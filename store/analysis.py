"""Tables and queries of what analysis found in a communication: stages, summary, items, quality control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.changes import communication_changed
from store.communications import get as get_communication
from store.database import id_column, metadata, now, time_column, upsert
from store.ids import new_id
from store.marks import Mark, take_mark
from store.scope import across_tenants
from store.signals import due_day, value_keys

stages = sa.Table(
    "analysis_stages",
    metadata,
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("stage", sa.String(10), primary_key=True),  # summary, qc or memory
    id_column("tenant_id", nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("error_message", sa.Text, nullable=True),
    time_column("updated_at", nullable=False),
)

summaries = sa.Table(
    "summaries",
    metadata,
    id_column("id", primary_key=True),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=False, unique=True),
    id_column("tenant_id", nullable=False),
    sa.Column("text", sa.Text, nullable=True),
    sa.Column("user_summary", sa.Text, nullable=True),
    sa.Column("category", sa.String(16), nullable=True),
    sa.Column("engines", sa.JSON(none_as_null=True), nullable=True),  # who made which field
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
)

summary_items = sa.Table(
    "summary_items",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=True),
    id_column("summary_id", sa.ForeignKey("summaries.id", ondelete="CASCADE"), nullable=True),
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), nullable=True),
    sa.Column("item_type", sa.String(12), nullable=False),  # criteria, commitment or memory
    sa.Column("subtype", sa.String(64), nullable=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("meta", sa.JSON(none_as_null=True), nullable=True),
    # Of signals, for counting those that say the same: see store/signals.py. Once a communication, signal and value.
    sa.Column("value_key", sa.BigInteger, nullable=True),
    sa.Column("due_on", sa.Date, nullable=True),  # the day of a promise's deadline
    # When somebody marked a promise as kept, and who, as the audit log names them.
    time_column("done_at", nullable=True),
    sa.Column("done_by", sa.String(200), nullable=True),
    time_column("created_at", nullable=False),
    sa.Index(None, "tenant_id", "communication_id"),
    sa.Index(
        "ix_summary_items_value",
        *("tenant_id", "communication_id", "subtype", "value_key"),
        sqlite_where=sa.text("value_key IS NOT NULL"),
        postgresql_where=sa.text("value_key IS NOT NULL"),
    ),
    sa.Index(
        "ix_summary_items_due",
        *("tenant_id", "communication_id", "speaker_id", "due_on", "done_at"),
        sqlite_where=sa.text("due_on IS NOT NULL"),
        postgresql_where=sa.text("due_on IS NOT NULL"),
    ),
    sa.Index(
        "ix_summary_items_commitments",
        *("tenant_id", "due_on", "id", "done_at", "speaker_id"),
        sqlite_where=sa.text("item_type = 'commitment'"),
        postgresql_where=sa.text("item_type = 'commitment'"),
    ),
    sa.Index(
        "ix_summary_items_done",
        *("tenant_id", "done_at", "id", "speaker_id"),
        sqlite_where=sa.text("done_at IS NOT NULL"),
        postgresql_where=sa.text("done_at IS NOT NULL"),
    ),
    sa.Index(None, "communication_id"),  # for the cascade of a deletion
    sa.Index(None, "tenant_id", "speaker_id", "created_at"),
    sa.Index(None, "summary_id"),
)

qc_evaluations = sa.Table(
    "qc_evaluations",
    metadata,
    id_column("id", primary_key=True),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=False, unique=True),
    id_column("tenant_id", nullable=False),
    sa.Column("scenario_code", sa.String(32), nullable=False),
    sa.Column("score_pct", sa.Float, nullable=True),
    sa.Column("comment", sa.Text, nullable=True),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("criteria", sa.JSON, nullable=False),
    sa.Column("engines", sa.JSON(none_as_null=True), nullable=True),
    time_column("created_at", nullable=False),
)


STAGES = ("summary", "qc", "memory")
STATUSES = ("pending", "processing", "success", "error", "skipped")
# Of a profile's items the newest are given, what is remembered before what was promised.
MOST_PROFILE_ITEMS = 1000


@dataclass(frozen=True, slots=True)
class NewItem:
    """What analysis found; `subtype` is a key of the category, `meta["deadline"]` a commitment's."""

    item_type: str
    content: str
    subtype: str | None = None
    meta: dict[str, Any] | None = None
    speaker_id: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A stored item; one of memory belongs to a person, and to no summary."""

    id: str
    summary_id: str | None
    item_type: str
    subtype: str | None
    content: str
    meta: dict[str, Any] | None
    speaker_id: str | None
    created_at: datetime
    done_at: datetime | None
    """When somebody marked a promise as kept."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page of memory ended."""

    created_at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """`value_type` is binary or numeric; `value` is None where the criterion does not apply or was not decided, which
    `state` tells apart. `evidence` are words of the turn `idx`. `votes` are those of each engine: {engine, state,
    value, evidence}."""

    code: str
    value_type: str
    value: bool | float | None
    evidence: str = ""
    state: str = "decided"  # or not_applicable, undecided
    votes: list[dict[str, Any]] = field(default_factory=list)
    idx: int | None = None


_MARK_COLUMNS = [summary_items.c[name] for name in Mark.__dataclass_fields__]
_ITEM_COLUMNS = [summary_items.c[name] for name in Item.__dataclass_fields__]


def set_stage(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    stage: str,
    status: str,
    *,
    error_message: str | None = None,
) -> None:
    """Puts the stage where it is now; its earlier message goes."""
    assert stage in STAGES
    assert status in STATUSES
    values = {"tenant_id": tenant_id, "status": status, "error_message": error_message, "updated_at": now()}
    statement = upsert(connection, stages).values(communication_id=communication_id, stage=stage, **values)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["communication_id", "stage"], set_=values, where=stages.c.tenant_id == tenant_id
        )
    )


def stage_statuses(tenant_id: str, connection: Connection, communication_id: str) -> dict[str, str]:
    """The status of each stage that there is."""
    query = sa.select(stages.c.stage, stages.c.status).where(
        stages.c.tenant_id == tenant_id, stages.c.communication_id == communication_id
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def put_summary(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    *,
    text: str | None,
    user_summary: str | None = None,
    category: str | None = None,
    items: Sequence[NewItem] = (),
    engines: Mapping[str, str] | None = None,
) -> str:
    """The summary's id. Replaces what an earlier run left, its items included; the id stays, and so do the marks of
    promises that are found again: by their words, or by the words of the conversation that they were found in."""
    assert all(item.item_type in ("criteria", "commitment") for item in items)
    made_at = now()
    values = {
        "text": text,
        "user_summary": user_summary,
        "category": category,
        "engines": dict(engines) if engines else None,
        "updated_at": made_at,
    }
    statement = (
        upsert(connection, summaries)
        .values(id=new_id(), tenant_id=tenant_id, communication_id=communication_id, created_at=made_at, **values)
        .on_conflict_do_update(
            index_elements=["communication_id"], set_=values, where=summaries.c.tenant_id == tenant_id
        )
        .returning(summaries.c.id)
    )
    summary_id: str = connection.execute(statement).scalar_one()
    of_summary = (summary_items.c.tenant_id == tenant_id, summary_items.c.summary_id == summary_id)
    marked = sa.select(*_MARK_COLUMNS).where(*of_summary, summary_items.c.done_at.is_not(None))
    marks = [Mark(*row) for row in connection.execute(marked.order_by(summary_items.c.id))]
    connection.execute(sa.delete(summary_items).where(*of_summary))
    _insert_items(tenant_id, connection, communication_id, items, summary_id, marks)
    communication_changed(tenant_id, connection, communication_id)
    return summary_id


def category_of(tenant_id: str, connection: Connection, communication_id: str) -> str | None:
    """The category that the summary gave it."""
    query = sa.select(summaries.c.category).where(
        summaries.c.tenant_id == tenant_id, summaries.c.communication_id == communication_id
    )
    found: str | None = connection.execute(query).scalar_one_or_none()
    return found


def put_qc(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    *,
    scenario_code: str,
    score_pct: float | None,
    comment: str | None,
    status: str,
    criteria: Sequence[CriterionResult],
    engines: Mapping[str, str] | None = None,
) -> str:
    """The evaluation's id. Replaces what an earlier run left; the id stays.

    `status` is success, or partial where some criteria could not be decided.
    """
    assert status in ("success", "partial")
    values = {
        "scenario_code": scenario_code,
        "score_pct": score_pct,
        "comment": comment,
        "status": status,
        "criteria": [asdict(each) for each in criteria],
        "engines": dict(engines) if engines else None,
        "created_at": now(),
    }
    statement = (
        upsert(connection, qc_evaluations)
        .values(id=new_id(), tenant_id=tenant_id, communication_id=communication_id, **values)
        .on_conflict_do_update(
            index_elements=["communication_id"], set_=values, where=qc_evaluations.c.tenant_id == tenant_id
        )
        .returning(qc_evaluations.c.id)
    )
    evaluation_id: str = connection.execute(statement).scalar_one()
    communication_changed(tenant_id, connection, communication_id)
    return evaluation_id


def add_memory(tenant_id: str, connection: Connection, communication_id: str, items: Sequence[NewItem]) -> None:
    """Adds what a communication taught of its people; where it is gone, nothing."""
    assert all(item.item_type == "memory" and item.speaker_id for item in items)
    if not items or get_communication(tenant_id, connection, communication_id) is None:
        return
    try:
        with connection.begin_nested():
            _insert_items(tenant_id, connection, communication_id, items)
    except sa.exc.IntegrityError:
        # Deleted at this very moment. It is not locked for this: it may be another one than the caller works on.
        return


def confirm(
    tenant_id: str, connection: Connection, item_id: str, communication_id: str, meta: Mapping[str, Any]
) -> None:
    """Notes that a communication said it again, and has the item live as long as that one does."""
    connection.execute(
        sa.update(summary_items)
        .where(summary_items.c.tenant_id == tenant_id, summary_items.c.id == item_id)
        .values(meta=dict(meta), communication_id=communication_id)
    )


def set_meta(tenant_id: str, connection: Connection, item_id: str, meta: Mapping[str, Any]) -> None:
    connection.execute(
        sa.update(summary_items)
        .where(summary_items.c.tenant_id == tenant_id, summary_items.c.id == item_id)
        .values(meta=dict(meta))
    )


def list_memory(tenant_id: str, connection: Connection, speaker_ids: Sequence[str]) -> list[Item]:
    """All that is remembered of these people, newest first; how much that is of each, `ingest/analysis/memory.py`
    bounds."""
    table = summary_items.c
    query = (
        sa.select(*_ITEM_COLUMNS)
        .where(table.tenant_id == tenant_id, table.speaker_id.in_(speaker_ids), table.item_type == "memory")
        .order_by(table.created_at.desc(), table.id)
    )
    return [Item(*row) for row in connection.execute(query)]


def list_newest_memory(
    tenant_id: str, connection: Connection, *, speaker_id: str | None, limit: int, before: Position | None = None
) -> list[Item]:
    """What is remembered of people, or of one of them, newest first."""
    table = summary_items.c
    query = sa.select(*_ITEM_COLUMNS).where(table.tenant_id == tenant_id, table.item_type == "memory")
    if speaker_id is not None:
        query = query.where(table.speaker_id == speaker_id)
    if before is not None:
        # Typed by hand, as in store/communications.py.
        position = sa.literal(before.created_at, table.created_at.type), sa.literal(before.id, table.id.type)
        query = query.where(sa.tuple_(table.created_at, table.id) < sa.tuple_(*position))
    query = query.order_by(table.created_at.desc(), table.id.desc()).limit(limit)
    return [Item(*row) for row in connection.execute(query)]


def get_items(tenant_id: str, connection: Connection, item_ids: Sequence[str]) -> dict[str, Item]:
    query = sa.select(*_ITEM_COLUMNS).where(summary_items.c.tenant_id == tenant_id, summary_items.c.id.in_(item_ids))
    return {row[0]: Item(*row) for row in connection.execute(query)}


def speakers_remembered_from(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> list[str]:
    """Of whom these communications taught something."""
    query = (
        sa.select(summary_items.c.speaker_id)
        .where(
            summary_items.c.tenant_id == tenant_id,
            summary_items.c.communication_id.in_(communication_ids),
            summary_items.c.item_type == "memory",
        )
        .distinct()
    )
    return list(connection.execute(query).scalars())


def forget_items(tenant_id: str, connection: Connection, item_ids: Sequence[str]) -> int:
    """Takes items away, as memory that a later contact made untrue; how many there were."""
    found = sa.delete(summary_items).where(summary_items.c.tenant_id == tenant_id, summary_items.c.id.in_(item_ids))
    return connection.execute(found).rowcount


def _insert_items(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    items: Sequence[NewItem],
    summary_id: str | None = None,
    marks: Sequence[Mark] = (),
) -> None:
    if not items:
        return
    made_at = now()
    ids = sorted(new_id() for _ in items)  # lists go by time and id, and the items keep their order
    keys = value_keys((item.subtype, item.content) for item in items)
    left = list(marks)
    kept = [take_mark(left, item.content, item.meta) if item.item_type == "commitment" else None for item in items]
    rows = [
        {
            "id": id_,
            "tenant_id": tenant_id,
            "communication_id": communication_id,
            "summary_id": summary_id,
            "created_at": made_at,
            "value_key": key,
            "due_on": due_day(item.meta) if item.item_type == "commitment" else None,
            "done_at": mark.done_at if mark else None,
            "done_by": mark.done_by if mark else None,
            **asdict(item),
        }
        for id_, item, key, mark in zip(ids, items, keys, kept, strict=True)
    ]
    connection.execute(sa.insert(summary_items), rows)


ITEMS_OF_COMMUNICATION = (
    sa.select(*_ITEM_COLUMNS)
    .where(
        summary_items.c.tenant_id == sa.bindparam("tenant_id"),
        summary_items.c.communication_id == sa.bindparam("communication_id"),
        summary_items.c.item_type != "memory",
    )
    .order_by(summary_items.c.created_at, summary_items.c.id)
)


def list_items(tenant_id: str, connection: Connection, communication_id: str) -> list[Item]:
    """Facts and promises of a communication, in their order. What it taught of its people is in their profiles."""
    given = {"tenant_id": tenant_id, "communication_id": communication_id}
    return [Item(*row) for row in connection.execute(ITEMS_OF_COMMUNICATION, given)]


def list_learned(tenant_id: str, connection: Connection, communication_id: str) -> list[Item]:
    """What a communication taught of its people."""
    table = summary_items.c
    query = (
        sa.select(*_ITEM_COLUMNS)
        .where(
            table.tenant_id == tenant_id,
            table.communication_id == communication_id,
            table.item_type == "memory",
        )
        .order_by(table.created_at, table.id)
    )
    return [Item(*row) for row in connection.execute(query)]


def list_items_of_speaker(tenant_id: str, connection: Connection, speaker_id: str) -> list[Item]:
    """What is remembered of a person, then what else is tied to them; newest first, at most MOST_PROFILE_ITEMS."""
    table = summary_items.c
    query = (
        sa.select(*_ITEM_COLUMNS)
        .where(table.tenant_id == tenant_id, table.speaker_id == speaker_id)
        .order_by(sa.case((table.item_type == "memory", 0), else_=1), table.created_at.desc(), table.id)
        .limit(MOST_PROFILE_ITEMS)
    )
    return [Item(*row) for row in connection.execute(query)]


@across_tenants("the index of all tenants is made anew")
def page_of_remembered(connection: Connection, *, after: str | None, limit: int) -> list[tuple[str, str]]:
    """(tenant id, speaker id) of people who something is remembered of, in the order of ids, behind the id `after`."""
    table = summary_items.c
    query = (
        sa.select(table.tenant_id, table.speaker_id)
        .where(table.item_type == "memory", table.speaker_id.is_not(None))
        .distinct()
        .order_by(table.speaker_id)
        .limit(limit)
    )
    if after is not None:
        query = query.where(table.speaker_id > after)
    return [(row[0], row[1]) for row in connection.execute(query)]
