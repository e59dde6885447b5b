"""Tables and queries of camera streams: what an account registered, how it goes with each, and which worker has it.

A stream that is deleted keeps its row for as long as its events are kept: it is shown nowhere and watched by nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store import camera_visitors
from store.database import ago, id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants
from store.settings import LONGEST_LEASE_S

Scenario = Literal["traffic", "ppe", "safety", "lpr", "barcode"]
State = Literal["connecting", "online", "reconnecting", "offline", "error"]

camera_streams = sa.Table(
    "camera_streams",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    # Encrypted under the installation's secret key: cameras take passwords in every part of their address.
    sa.Column("url", sa.LargeBinary, nullable=False),
    sa.Column("shown_url", sa.String(4096), nullable=False),  # without user, password and query
    sa.Column("is_own", sa.Boolean, nullable=False),  # the operator's: may be a file, or on any network
    sa.Column("transport", sa.String(3), nullable=False),
    sa.Column("scenarios", sa.JSON, nullable=False),
    sa.Column("site_id", sa.String(200), nullable=True),
    sa.Column("geo", sa.JSON(none_as_null=True), nullable=True),
    sa.Column("webhook_url", sa.String(4096), nullable=True),
    id_column("key_id", nullable=True),  # whose secret signs the webhooks
    sa.Column("zones", sa.JSON, nullable=False),
    sa.Column("calibration", sa.JSON, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),  # counted up with every change that its worker must know of
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    time_column("deleted_at", nullable=True),
    # How it goes: written by the worker that has it.
    sa.Column("status", sa.String(12), nullable=False),
    sa.Column("message", sa.String(500), nullable=False),
    sa.Column("notes", sa.JSON, nullable=False),  # what its models do not know, in words
    sa.Column("fps", sa.Float, nullable=False),
    sa.Column("latency_ms", sa.Float, nullable=False),
    sa.Column("width", sa.Integer, nullable=False),
    sa.Column("height", sa.Integer, nullable=False),
    time_column("last_event_at", nullable=True),
    sa.Column("worker_id", sa.String(64), nullable=True),
    time_column("leased_until", nullable=True),
    sa.Column("progress", sa.LargeBinary, nullable=True),  # what the next worker needs to go on, see ingest/vision
    # As `camera_standing.judge` found it last. Reckoned by everybody, it would cost the square of the installation.
    sa.Column("is_permitted", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Index(None, "tenant_id", "created_at", "id"),
    sa.Index(None, "worker_id"),
)

camera_workers = sa.Table(
    "camera_workers",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("places", sa.Integer, nullable=False),  # how many streams it can hold
    sa.Column("streams", sa.Integer, nullable=False),  # how many it has
    time_column("seen_at", nullable=False),
)

# One row: what workers share out, see `camera_standing`.
camera_tally = sa.Table(
    "camera_tally",
    metadata,
    sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
    time_column("made_at", nullable=False),
    time_column("holds_until", nullable=False),  # no worker lives where nobody made it anew by then
    sa.Column("streams", sa.Integer, nullable=False),  # to be watched
    sa.Column("free", sa.Integer, nullable=False),  # of them, those that nobody has
    sa.Column("places", sa.Integer, nullable=False),  # of all workers that live
)


@dataclass(frozen=True, slots=True)
class Stream:
    """`url` is encrypted; `zones` and `calibration` as the API takes them."""

    id: str
    tenant_id: str
    name: str
    url: bytes
    shown_url: str
    is_own: bool
    transport: Literal["tcp", "udp"]
    scenarios: tuple[Scenario, ...]
    site_id: str | None
    geo: dict[str, Any] | None
    webhook_url: str | None
    key_id: str | None
    zones: list[dict[str, Any]]
    calibration: list[dict[str, Any]]
    version: int
    created_at: datetime
    updated_at: datetime
    status: State
    message: str
    notes: tuple[str, ...]
    fps: float
    latency_ms: float
    width: int
    height: int
    last_event_at: datetime | None
    worker_id: str | None
    leased_until: datetime | None


@dataclass(frozen=True, slots=True)
class Health:
    """How it goes with a stream, as its worker sees it."""

    status: State
    message: str
    notes: tuple[str, ...]
    fps: float
    latency_ms: float
    width: int
    height: int


_FIELDS = tuple(Stream.__dataclass_fields__)
_COLUMNS = [camera_streams.c[name] for name in _FIELDS]
LIVE = camera_streams.c.deleted_at.is_(None)


TAKEN_WITHIN_S = 20.0
"""In which a worker that starts, or that takes over from one that died, has taken a stream."""
SOON = "waiting for a worker to take it"
NO_ROOM = "no worker has room for it"
NO_WORKER = "no worker is running"
_NO_PICTURES = {"fps": 0.0, "latency_ms": 0.0}


@across_tenants("a condition of queries that say whose streams they look at")
def is_free(connection: Connection) -> sa.ColumnElement[bool]:
    """By the database's clock, as leases are written: a worker whose own is fast would take every stream. A lease that
    ends later than any may was written before that clock was set back: who lives renews it at once."""
    until = camera_streams.c.leased_until
    too_late = ago(connection, -2 * LONGEST_LEASE_S)
    return sa.or_(until.is_(None), until < ago(connection, 0.0), until > too_late)


def _left_state() -> sa.Case[str]:
    """Of a stream that nobody watches."""
    status = camera_streams.c.status
    return sa.case((status == "connecting", status), else_=sa.literal("reconnecting", status.type))


def _why_left(connection: Connection) -> sa.Case[str]:
    """Why nobody watches it: a worker that starts or takes over needs a moment, in which nothing is wrong yet."""
    left_at = sa.func.coalesce(camera_streams.c.leased_until, camera_streams.c.created_at)
    lives = sa.exists().where(camera_tally.c.holds_until >= ago(connection, 0.0))
    return sa.case((left_at >= ago(connection, TAKEN_WITHIN_S), SOON), (lives, NO_ROOM), else_=NO_WORKER)


def _told(connection: Connection, name: str) -> sa.ColumnElement[Any]:
    """A column as it is shown: what a worker wrote that has the stream no longer is no news of it."""
    column = camera_streams.c[name]
    if name == "status":
        left: sa.ColumnElement[Any] = _left_state()
    elif name == "message":
        left = _why_left(connection)
    elif name in _NO_PICTURES:
        left = sa.literal(_NO_PICTURES[name], column.type)
    else:
        return column
    is_left = sa.and_(is_free(connection), camera_streams.c.is_permitted)
    return sa.case((is_left, left), else_=column).label(name)


def _stream(row: Row[Any]) -> Stream:
    return Stream(**{**row._mapping, "scenarios": tuple(row.scenarios), "notes": tuple(row.notes)})


def add(tenant_id: str, connection: Connection, **values: Any) -> Stream:
    """A stream that nobody watches yet."""
    made_at = now()
    row = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "is_own": False,
        "zones": [],
        "calibration": [],
        "version": 1,
        "created_at": made_at,
        "updated_at": made_at,
        "status": "connecting",
        "message": "",
        "notes": [],
        "fps": 0.0,
        "latency_ms": 0.0,
        "width": 0,
        "height": 0,
        **values,
    }
    connection.execute(sa.insert(camera_streams).values(**row))
    made = get(tenant_id, connection, row["id"])
    assert made is not None
    return made


def get(tenant_id: str, connection: Connection, stream_id: str) -> Stream | None:
    table = camera_streams.c
    query = sa.select(*(_told(connection, name) for name in _FIELDS)).where(
        LIVE, table.tenant_id == tenant_id, table.id == stream_id
    )
    row = connection.execute(query).first()
    return _stream(row) if row else None


def is_known(tenant_id: str, connection: Connection, stream_id: str) -> bool:
    """Whether there is such a stream, or was one of which events or figures are kept still."""
    table = camera_streams.c
    query = sa.select(table.id).where(table.tenant_id == tenant_id, table.id == stream_id)
    return connection.execute(query).first() is not None


def count(tenant_id: str, connection: Connection, *, of_plan: bool = False) -> int:
    """`of_plan`: without the operator's own."""
    query = sa.select(sa.func.count()).where(LIVE, camera_streams.c.tenant_id == tenant_id)
    if of_plan:
        query = query.where(camera_streams.c.is_own.is_(False))
    return connection.execute(query).scalar_one()


def list_page(tenant_id: str, connection: Connection, *, limit: int, offset: int) -> tuple[list[Stream], int]:
    """Oldest first, and how many there are."""
    table = camera_streams.c
    query = sa.select(*(_told(connection, name) for name in _FIELDS)).where(LIVE, table.tenant_id == tenant_id)
    rows = connection.execute(query.order_by(table.created_at, table.id).limit(limit).offset(offset))
    return [_stream(row) for row in rows], count(tenant_id, connection)


def names_of(tenant_id: str, connection: Connection, stream_ids: Collection[str]) -> dict[str, str]:
    """By stream, of those that are not deleted."""
    table = camera_streams.c
    query = sa.select(table.id, table.name).where(LIVE, table.tenant_id == tenant_id, table.id.in_(stream_ids))
    return {row.id: row.name for row in connection.execute(query)}


def update(tenant_id: str, connection: Connection, stream_id: str, **values: Any) -> None:
    """Sets what the account sets; its worker begins anew with it, and of another camera knows nothing."""
    table = camera_streams.c
    if "url" in values:
        values["progress"] = None
    connection.execute(
        sa.update(camera_streams)
        .where(LIVE, table.tenant_id == tenant_id, table.id == stream_id)
        .values(**values, version=table.version + 1, updated_at=now())
    )
    # After the stream, which its worker holds before it writes of them.
    if "url" in values:
        camera_visitors.forget(tenant_id, connection, stream_id)


def delete(tenant_id: str, connection: Connection, stream_id: str) -> bool:
    """False where there is none. Its address is forgotten at once, and so is what its visitors looked like."""
    table = camera_streams.c
    gone = {"deleted_at": now(), "url": b"", "shown_url": "", "worker_id": None, "leased_until": None, "progress": None}
    changed = connection.execute(
        sa.update(camera_streams).where(LIVE, table.tenant_id == tenant_id, table.id == stream_id).values(**gone)
    )
    camera_visitors.forget(tenant_id, connection, stream_id)
    return changed.rowcount > 0


# What workers do


@across_tenants("workers watch everybody's cameras")
def report_worker(connection: Connection, worker_id: str, *, places: int, streams: int) -> None:
    values = {"places": places, "streams": streams, "seen_at": ago(connection, 0.0)}
    mine = camera_workers.c.id == worker_id
    if connection.execute(sa.update(camera_workers).where(mine).values(**values)).rowcount == 0:
        connection.execute(sa.insert(camera_workers).values(id=worker_id, **values))


@across_tenants("workers watch everybody's cameras")
def forget_worker(connection: Connection, worker_id: str) -> None:
    """Its streams are free at once."""
    connection.execute(sa.delete(camera_workers).where(camera_workers.c.id == worker_id))
    _leave(connection, camera_streams.c.worker_id == worker_id)


@across_tenants("workers watch everybody's cameras")
def is_heard(connection: Connection, worker_id: str, *, seen_within_s: float) -> bool:
    """Whether the worker said so lately."""
    table = camera_workers.c
    query = sa.select(table.id).where(table.id == worker_id, table.seen_at >= ago(connection, seen_within_s))
    return connection.execute(query).first() is not None


@across_tenants("whoever runs the server looks after all of them")
def count_by_status(connection: Connection) -> dict[str, int]:
    shown = sa.select(_told(connection, "status")).where(LIVE).subquery()
    rows = connection.execute(sa.select(shown.c.status, sa.func.count()).group_by(shown.c.status))
    return {row[0]: row[1] for row in rows}


@across_tenants("workers watch everybody's cameras")
def renew_leases(connection: Connection, worker_id: str, *, lease_s: float) -> list[Stream]:
    """The streams that the worker has still, as they are now; each is its own for `lease_s` from now."""
    table = camera_streams.c
    connection.execute(
        sa.update(camera_streams)
        .where(LIVE, table.worker_id == worker_id)
        .values(leased_until=ago(connection, -lease_s))
    )
    rows = connection.execute(sa.select(*_COLUMNS).where(LIVE, table.worker_id == worker_id))
    return [_stream(row) for row in rows]


@across_tenants("workers watch everybody's cameras")
def take_free(connection: Connection, worker_id: str, *, most: int, lease_s: float) -> list[Stream]:
    """Streams that nobody has, or whose worker fell silent: taken, those that waited longest first."""
    table = camera_streams.c
    free = (
        sa.select(table.id)
        .where(LIVE, is_free(connection), table.is_permitted)
        .order_by(table.leased_until.asc().nulls_first(), table.created_at, table.id)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    ids = list(connection.execute(free).scalars())
    if not ids:
        return []
    connection.execute(
        sa.update(camera_streams)
        .where(table.id.in_(ids))
        .values(worker_id=worker_id, leased_until=ago(connection, -lease_s), status=_left_state(), message="")
        .values(**_NO_PICTURES)
    )
    return [_stream(row) for row in connection.execute(sa.select(*_COLUMNS).where(table.id.in_(ids)))]


@across_tenants("workers watch everybody's cameras")
def give_back(connection: Connection, worker_id: str, stream_ids: Sequence[str]) -> None:
    """For others to take; until one does, their status says that nobody watches them."""
    _leave(connection, sa.and_(camera_streams.c.worker_id == worker_id, camera_streams.c.id.in_(stream_ids)))


def _leave(connection: Connection, which: sa.ColumnElement[bool]) -> None:
    """The lease ends now: since when a stream waits is told by it."""
    left = {"worker_id": None, "leased_until": ago(connection, 0.0), "status": _left_state(), "message": ""}
    connection.execute(sa.update(camera_streams).where(which).values(**left, **_NO_PICTURES))


def list_ids(tenant_id: str, connection: Connection) -> set[str]:
    query = sa.select(camera_streams.c.id).where(LIVE, camera_streams.c.tenant_id == tenant_id)
    return set(connection.execute(query).scalars())


@across_tenants("housekeeping")
def forget_deleted(connection: Connection) -> None:
    """Streams that were ended go with the last of their events and figures."""
    from store.camera_events import camera_events
    from store.camera_traffic import camera_hours

    left = [sa.exists().where(table.c.stream_id == camera_streams.c.id) for table in (camera_events, camera_hours)]
    connection.execute(sa.delete(camera_streams).where(camera_streams.c.deleted_at.is_not(None), ~sa.or_(*left)))


def is_mine(tenant_id: str, connection: Connection, stream_id: str, worker_id: str) -> bool:
    """Whether the worker has the stream still."""
    query = sa.select(camera_streams.c.id).where(*_mine(tenant_id, stream_id, worker_id))
    return connection.execute(query).first() is not None


def hold(tenant_id: str, connection: Connection, stream_id: str, worker_id: str) -> Stream | None:
    """The stream as it is now, the worker's until the end of the transaction; None where it has it no longer."""
    query = sa.select(*_COLUMNS).where(*_mine(tenant_id, stream_id, worker_id)).with_for_update()
    row = connection.execute(query).first()
    return _stream(row) if row else None


def _mine(tenant_id: str, stream_id: str, worker_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    table = camera_streams.c
    return LIVE, table.tenant_id == tenant_id, table.id == stream_id, table.worker_id == worker_id


def report_health(
    tenant_id: str, connection: Connection, stream_id: str, worker_id: str, health: Health, progress: bytes | None
) -> None:
    """Does nothing where another worker has the stream by now."""
    values = {**asdict(health), "message": health.message[:500], "notes": list(health.notes)}
    # The mean of the last pictures, of which there are none once they come no more.
    values["latency_ms"] = health.latency_ms if health.fps > 0 else 0.0
    connection.execute(
        sa.update(camera_streams)
        .where(*_mine(tenant_id, stream_id, worker_id))
        .values(**values, **({} if progress is None else {"progress": progress}))
    )


def note_progress(tenant_id: str, connection: Connection, stream_id: str, progress: bytes) -> None:
    """For who goes on. Its caller holds the stream: `hold`."""
    table = camera_streams.c
    connection.execute(
        sa.update(camera_streams).where(table.tenant_id == tenant_id, table.id == stream_id).values(progress=progress)
    )


def progress_of(tenant_id: str, connection: Connection, stream_id: str) -> bytes | None:
    """What the worker before left for who goes on."""
    table = camera_streams.c
    query = sa.select(table.progress).where(table.tenant_id == tenant_id, table.id == stream_id)
    return connection.execute(query).scalar_one_or_none()
