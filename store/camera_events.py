"""Table and queries of what cameras saw: one row per thing seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import tenants
from store.camera_streams import Scenario, camera_streams
from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.due_accounts import list_due
from store.scope import across_tenants

_KEY_CHARACTERS = 100
# Compared by its bytes, so that an index finds beginnings, as SQLite does by itself.
_KEY = sa.String(_KEY_CHARACTERS).with_variant(sa.String(_KEY_CHARACTERS, collation="C"), "postgresql")
_LOOK_ALIKE = str.maketrans("авекмнорстух", "abekmhopctyx")
_LAST_CHARACTER = chr(0x10FFFF)
_READ_TYPES = ("plate_read", "container_read", "barcode_read")
_FILLED_AT_ONCE = 1000

camera_events = sa.Table(
    "camera_events",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("stream_id", sa.ForeignKey("camera_streams.id", ondelete="CASCADE"), nullable=False),
    sa.Column("subject", sa.String(200), nullable=False),  # makes what is found twice one event
    sa.Column("scenario", sa.String(10), nullable=False),
    sa.Column("type", sa.String(20), nullable=False),
    sa.Column("confidence", sa.Float, nullable=False),
    time_column("occurred_at", nullable=False),
    sa.Column("metadata", sa.JSON, nullable=False),
    sa.Column("snapshot_key", sa.String(300), nullable=True),
    time_column("created_at", nullable=False),
    # What was read, as `search_key` makes it; null where nothing was, and in rows of before until they are filled.
    sa.Column("search_key", _KEY, nullable=True),
    sa.UniqueConstraint("stream_id", "type", "subject"),
    sa.Index(None, "tenant_id", "occurred_at", "id"),
    sa.Index(None, "tenant_id", "type", "occurred_at", "id"),
    sa.Index(None, "tenant_id", "search_key"),
    sa.Index(None, "stream_id", "occurred_at", "id"),
    sa.Index(None, "occurred_at"),
)


@dataclass(frozen=True, slots=True)
class Event:
    """`snapshot_key` names a blob; None where no picture is kept."""

    id: str
    tenant_id: str
    stream_id: str
    scenario: Scenario
    type: str
    confidence: float
    occurred_at: datetime
    metadata: dict[str, Any]
    snapshot_key: str | None


class Unkeyed(NamedTuple):
    """An event at which something was read and that a search for it does not find."""

    id: str
    details: dict[str, Any]


EVENT_PICTURES = "camera-snapshots"
"""The blobs' folder of what events show, with one for each account in it."""
_SEEING = sa.select(camera_streams.c.tenant_id.label("id")).distinct().subquery()
_COLUMNS = [camera_events.c[name] for name in Event.__dataclass_fields__]
_UNKEYED = sa.select(camera_events.c.id, camera_events.c.metadata).where(
    camera_events.c.search_key.is_(None), camera_events.c.type.in_(_READ_TYPES)
)


def search_key(text: str) -> str:
    """What a search compares of a plate, a container's number or a code: letters in whatever case, the Cyrillic ones
    of Russian plates as the Latin ones that look alike, and digits. Empty where there are none."""
    plain = text.casefold().translate(_LOOK_ALIKE)
    return "".join(filter(str.isalnum, plain))[:_KEY_CHARACTERS]


def add(
    tenant_id: str,
    connection: Connection,
    stream_id: str,
    event_id: str,
    *,
    subject: str,
    scenario: Scenario,
    kind: str,
    confidence: float,
    occurred_at: datetime,
    details: dict[str, Any],
    snapshot_key: str | None,
) -> bool:
    """False where the same was found before: then nothing is added."""
    values = {
        "id": event_id,
        "tenant_id": tenant_id,
        "stream_id": stream_id,
        "subject": subject,
        "scenario": scenario,
        "type": kind,
        "confidence": min(1.0, max(0.0, confidence)),
        "occurred_at": occurred_at,
        "metadata": details,
        "snapshot_key": snapshot_key,
        "created_at": now(),
        "search_key": _key_of(details),
    }
    if not insert_ignoring(connection, camera_events, values):
        return False
    table = camera_streams.c
    is_newer = sa.or_(table.last_event_at.is_(None), table.last_event_at < occurred_at)
    connection.execute(
        sa.update(camera_streams)
        .where(table.tenant_id == tenant_id, table.id == stream_id, is_newer)
        .values(last_event_at=occurred_at)
    )
    return True


def _key_of(details: dict[str, Any]) -> str | None:
    return search_key(str(details["text"])) if "text" in details else None


def set_snapshot(tenant_id: str, connection: Connection, event_id: str, key: str) -> None:
    """Does nothing where the event is gone by now."""
    connection.execute(
        sa.update(camera_events)
        .where(camera_events.c.tenant_id == tenant_id, camera_events.c.id == event_id)
        .values(snapshot_key=key)
    )


def get(tenant_id: str, connection: Connection, event_id: str) -> Event | None:
    query = sa.select(*_COLUMNS).where(camera_events.c.tenant_id == tenant_id, camera_events.c.id == event_id)
    row = connection.execute(query).first()
    return Event(**row._mapping) if row else None


def list_page(
    tenant_id: str,
    connection: Connection,
    *,
    stream_id: str | None = None,
    scenario: str | None = None,
    kind: str | None = None,
    text: str | None = None,
    begin: datetime | None = None,
    end: datetime | None = None,
    after: tuple[datetime, str] | None = None,
    offset: int = 0,
    limit: int,
) -> list[Event]:
    """Newest first. `text`: how the `search_key` of what was read begins; `begin` is inside, `end` is not; `after`: the
    time and id of the last event of the page before, or by `offset` how many come before."""
    table = camera_events.c
    wanted: list[Any] = [table.tenant_id == tenant_id]
    if stream_id is not None:
        wanted.append(table.stream_id == stream_id)
    if scenario is not None:
        wanted.append(table.scenario == scenario)
    if kind is not None:
        wanted.append(table.type == kind)
    if text is not None:
        wanted += [table.search_key >= text, table.search_key < text + _LAST_CHARACTER]
    if begin is not None:
        wanted.append(table.occurred_at >= begin)
    if end is not None:
        wanted.append(table.occurred_at < end)
    if after is not None:
        at, event_id = after
        wanted.append(sa.or_(table.occurred_at < at, sa.and_(table.occurred_at == at, table.id < event_id)))
    query = (
        sa.select(*_COLUMNS)
        .where(*wanted)
        .order_by(table.occurred_at.desc(), table.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [Event(**row._mapping) for row in connection.execute(query)]


def picture_keys(tenant_id: str, connection: Connection, stream_id: str) -> set[str]:
    """Of a stream's events."""
    table = camera_events.c
    query = sa.select(table.snapshot_key).where(
        table.tenant_id == tenant_id, table.stream_id == stream_id, table.snapshot_key.is_not(None)
    )
    return set(connection.execute(query).scalars())


@across_tenants("housekeeping")
def list_accounts(connection: Connection) -> list[str]:
    """The ids of those that have cameras, or had some whose rows are there still."""
    return list(connection.execute(sa.select(_SEEING.c.id)).scalars())


@across_tenants("housekeeping")
def list_expired(connection: Connection, *, limit: int) -> list[Event]:
    """Older than their accounts keep them, in the order of their accounts."""
    table, found = camera_events.c, list[Event]()
    due = list_due(
        connection,
        tenants.c.camera_days,
        lambda tenant_id, before: sa.select(table.id).where(table.tenant_id == tenant_id, table.occurred_at < before),
    )
    kept = connection.execute(sa.select(tenants.c.id, tenants.c.camera_days).where(tenants.c.id.in_(due)))
    for row in kept.all():
        before = now() - timedelta(days=row.camera_days)
        query = sa.select(*_COLUMNS).where(table.tenant_id == row.id, table.occurred_at < before)
        found += [
            Event(**each._mapping)
            for each in connection.execute(query.order_by(table.occurred_at).limit(limit - len(found)))
        ]
        if len(found) >= limit:
            break
    return found


@across_tenants("housekeeping")
def remove(connection: Connection, event_ids: Sequence[str]) -> None:
    connection.execute(sa.delete(camera_events).where(camera_events.c.id.in_(event_ids)))


@across_tenants("what follows from rows of before is made for all")
def fill_keys(connection: Connection, *, after: str | None = None) -> str | None:
    """Makes the keys of events that were written before there were any, among the next ones in the order of ids behind
    `after`. The id to go on behind; None where that was all."""
    table = camera_events.c
    query = _UNKEYED if after is None else _UNKEYED.where(table.id > after)
    rows = connection.execute(query.order_by(table.id).limit(_FILLED_AT_ONCE)).all()
    set_keys(connection, [Unkeyed(*row) for row in rows])
    return rows[-1].id if len(rows) == _FILLED_AT_ONCE else None


@across_tenants("housekeeping")
def list_unkeyed(connection: Connection, *, since: datetime | None, limit: int) -> list[Unkeyed]:
    """Events, of those that happened since then, that a worker of the release before wrote: it makes no keys."""
    table = camera_events.c
    query = _UNKEYED if since is None else _UNKEYED.where(table.occurred_at >= since)
    found: list[Unkeyed] = []
    # By account, so that each is a seek in the index of its types and times.
    theirs = query.where(table.tenant_id == _SEEING.c.id).correlate(_SEEING).exists()
    for tenant_id in connection.execute(sa.select(_SEEING.c.id).where(theirs)).scalars().all():
        rows = connection.execute(query.where(table.tenant_id == tenant_id).limit(limit - len(found)))
        found += [Unkeyed(*row) for row in rows]
        if len(found) >= limit:
            break
    return found


@across_tenants("housekeeping")
def set_keys(connection: Connection, events: Sequence[Unkeyed]) -> None:
    for event in events:
        key = _key_of(event.details) or ""
        connection.execute(sa.update(camera_events).where(camera_events.c.id == event.id).values(search_key=key))
