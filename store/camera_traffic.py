"""Tables and queries of traffic in front of cameras, by the hour of UTC: comings, visitors, queues, and where people
were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, insert_ignoring, metadata, now, time_column, upsert
from store.scope import across_tenants

camera_hours = sa.Table(
    "camera_hours",
    metadata,
    id_column("stream_id", sa.ForeignKey("camera_streams.id", ondelete="CASCADE"), primary_key=True),
    time_column("hour", primary_key=True),
    id_column("tenant_id", nullable=False),
    sa.Column("entered", sa.Integer, nullable=False),
    sa.Column("left", sa.Integer, nullable=False),
    sa.Column("waited", sa.Integer, nullable=False),  # people who left a queue
    sa.Column("waited_s", sa.Float, nullable=False),  # how long they had been in it, together
    sa.Column("heat", sa.LargeBinary, nullable=True),  # person-seconds by cell, float32 in rows
    sa.Index(None, "hour"),
)

# Who of a day's visitors was there in which hour: so an hour's and a day's number are both right.
camera_visits = sa.Table(
    "camera_visits",
    metadata,
    id_column("stream_id", sa.ForeignKey("camera_streams.id", ondelete="CASCADE"), primary_key=True),
    time_column("hour", primary_key=True),
    sa.Column("visitor", sa.Integer, primary_key=True),  # numbered within the day
    id_column("tenant_id", nullable=False),
    sa.Index(None, "hour"),
)

# What `waited` and `waited_s` of an hour are the sums of.
camera_queues = sa.Table(
    "camera_queues",
    metadata,
    id_column("stream_id", sa.ForeignKey("camera_streams.id", ondelete="CASCADE"), primary_key=True),
    time_column("hour", primary_key=True),
    sa.Column("zone", sa.String(200), primary_key=True),
    id_column("tenant_id", nullable=False),
    sa.Column("waited", sa.Integer, nullable=False),
    sa.Column("waited_s", sa.Float, nullable=False),
    sa.Index(None, "hour"),
)

HEAT_ROWS, HEAT_COLUMNS = 36, 64
Heat = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Queue:
    """`people` who left the queue of a zone."""

    zone: str
    people: int
    avg_queue_sec: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """An hour or a day. Seconds are of those who left a queue in it; 0 where nobody did. `queues`: those that somebody
    left."""

    begin: datetime
    unique_visitors: int
    entered: int
    left: int
    avg_queue_sec: float
    queues: tuple[Queue, ...]


def add(
    tenant_id: str,
    connection: Connection,
    stream_id: str,
    hour: datetime,
    *,
    entered: int = 0,
    left: int = 0,
    waits: Mapping[str, tuple[int, float]] = MappingProxyType({}),
    heat: Heat | None = None,
) -> None:
    """Adds to an hour. `waits`: how many people left the queue of which zone, and how many seconds they had been in it,
    together. `heat`: HEAT_ROWS x HEAT_COLUMNS person-seconds."""
    key = {"stream_id": stream_id, "hour": hour}
    empty = {"tenant_id": tenant_id, "entered": 0, "left": 0, "waited": 0, "waited_s": 0.0, "heat": None}
    insert_ignoring(connection, camera_hours, {**key, **empty})
    table = camera_hours.c
    mine = [table.tenant_id == tenant_id, table.stream_id == stream_id, table.hour == hour]
    values: dict[str, Any] = {
        "entered": table.entered + entered,
        "left": table.left + left,
        "waited": table.waited + sum(people for people, _ in waits.values()),
        "waited_s": table.waited_s + sum(seconds for _, seconds in waits.values()),
    }
    if heat is not None and heat.any():
        before = connection.execute(sa.select(table.heat).where(*mine).with_for_update()).scalar_one()
        values["heat"] = (_heat(before) + heat).astype(np.float32).tobytes()
    connection.execute(sa.update(camera_hours).where(*mine).values(**values))
    for zone, (people, seconds) in waits.items():
        row = {**key, "zone": zone, "tenant_id": tenant_id, "waited": people, "waited_s": seconds}
        adding = upsert(connection, camera_queues).values(**row)
        queue = camera_queues.c
        more = {"waited": queue.waited + adding.excluded.waited, "waited_s": queue.waited_s + adding.excluded.waited_s}
        connection.execute(adding.on_conflict_do_update(index_elements=camera_queues.primary_key.columns, set_=more))


def add_visitor(tenant_id: str, connection: Connection, stream_id: str, hour: datetime, visitor: int) -> None:
    """Once an hour and visitor."""
    values = {"stream_id": stream_id, "hour": hour, "visitor": visitor, "tenant_id": tenant_id}
    connection.execute(upsert(connection, camera_visits).values(**values).on_conflict_do_nothing())


def last_visitor(tenant_id: str, connection: Connection, stream_id: str, day: datetime, *, below: int) -> int:
    """The highest number of the visitors of a day, which begins then, of the numbers `below`; 0 where nobody came."""
    table = camera_visits.c
    query = sa.select(sa.func.max(table.visitor)).where(
        table.tenant_id == tenant_id,
        table.stream_id == stream_id,
        table.hour >= day,
        table.hour < day + timedelta(days=1),
        table.visitor < below,
    )
    return connection.execute(query).scalar_one() or 0


def series(
    tenant_id: str, connection: Connection, stream_id: str, begin: datetime, end: datetime, *, step: timedelta
) -> list[Bucket]:
    """Every hour or day from `begin` up to, not including, `end`: those without anything too."""
    hours, visits = camera_hours.c, camera_visits.c
    rows = connection.execute(
        sa.select(hours.hour, hours.entered, hours.left, hours.waited, hours.waited_s).where(
            hours.tenant_id == tenant_id, hours.stream_id == stream_id, hours.hour >= begin, hours.hour < end
        )
    )
    count = -(-(end - begin) // step)
    sums = [[0, 0, 0, 0.0] for _ in range(count)]
    for row in rows:
        sums[(row.hour - begin) // step] = [
            before + more for before, more in zip(sums[(row.hour - begin) // step], row[1:], strict=True)
        ]
    queues: list[dict[str, tuple[int, float]]] = [{} for _ in range(count)]
    waits = camera_queues.c
    left = connection.execute(
        sa.select(waits.hour, waits.zone, waits.waited, waits.waited_s).where(
            waits.tenant_id == tenant_id, waits.stream_id == stream_id, waits.hour >= begin, waits.hour < end
        )
    )
    for wait in left:
        of_bucket = queues[(wait.hour - begin) // step]
        people, seconds = of_bucket.get(wait.zone, (0, 0.0))
        of_bucket[wait.zone] = people + wait.waited, seconds + wait.waited_s
    visitors: list[set[tuple[object, int]]] = [set() for _ in range(count)]
    there = connection.execute(
        sa.select(visits.hour, visits.visitor).where(
            visits.tenant_id == tenant_id, visits.stream_id == stream_id, visits.hour >= begin, visits.hour < end
        )
    )
    for visit in there:
        visitors[(visit.hour - begin) // step].add((visit.hour.date(), visit.visitor))
    return [
        Bucket(
            begin=begin + number * step,
            unique_visitors=len(visitors[number]),
            entered=int(entered),
            left=int(left),
            avg_queue_sec=_average(waited, waited_s),
            queues=tuple(
                Queue(zone, people, _average(people, seconds))
                for zone, (people, seconds) in sorted(queues[number].items())
            ),
        )
        for number, (entered, left, waited, waited_s) in enumerate(sums)
    ]


def heat(tenant_id: str, connection: Connection, stream_id: str, begin: datetime, end: datetime) -> Heat:
    """Person-seconds by cell, HEAT_ROWS x HEAT_COLUMNS, from `begin` up to, not including, `end`."""
    table = camera_hours.c
    found = connection.execute(
        sa.select(table.heat).where(
            table.tenant_id == tenant_id,
            table.stream_id == stream_id,
            table.hour >= begin,
            table.hour < end,
            table.heat.is_not(None),
        )
    )
    total = np.zeros((HEAT_ROWS, HEAT_COLUMNS), np.float64)
    for each in found.scalars():
        total += _heat(each)
    return total.astype(np.float32)


@across_tenants("housekeeping")
def forget_old(connection: Connection, *, days: int) -> None:
    before = now() - timedelta(days=days)
    for table in (camera_hours, camera_queues, camera_visits):
        connection.execute(sa.delete(table).where(table.c.hour < before))


def _average(people: float, seconds: float) -> float:
    return round(seconds / people, 1) if people else 0.0


def _heat(raw: bytes | None) -> Heat:
    if raw is None:
        return np.zeros((HEAT_ROWS, HEAT_COLUMNS), np.float32)
    return np.frombuffer(raw, np.float32).reshape(HEAT_ROWS, HEAT_COLUMNS)
