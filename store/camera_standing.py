"""Which streams may be watched, and what workers have to share out: reckoned by one of them for all.

An installation has as many workers as its streams need. Would each of them look through every stream each few seconds,
the database had the square of it to do: so whoever comes when it is due does it, and the others read the one row.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import tenants
from store.camera_streams import LIVE, camera_streams, camera_tally, camera_workers, is_free
from store.database import ago, insert_ignoring
from store.scope import across_tenants


@dataclass(frozen=True, slots=True)
class Tally:
    """Streams to be watched, those of them that nobody has, and the places of the workers that live."""

    streams: int
    free: int
    places: int


_ROW = 1
_DAY_S = 86_400.0

# What each stream may be: its account's oldest first, of which the plan bears so many; the operator's own besides.
_standing = (
    sa.select(
        camera_streams.c.id,
        tenants.c.is_active,
        sa.cast(tenants.c.features, sa.String).like('%"vision"%').label("has_feature"),
        sa.or_(
            camera_streams.c.is_own,
            sa.func.row_number().over(
                partition_by=(camera_streams.c.tenant_id, camera_streams.c.is_own),
                order_by=(camera_streams.c.created_at, camera_streams.c.id),
            )
            <= tenants.c.camera_limit,
        ).label("is_in_plan"),
        tenants.c.camera_limit,
    )
    .join(tenants, tenants.c.id == camera_streams.c.tenant_id)
    .where(LIVE)
    .subquery("standing")
)
_IS_PERMITTED = sa.and_(_standing.c.is_active, _standing.c.has_feature, _standing.c.is_in_plan)
_MISJUDGED = (
    sa.select(_standing, _IS_PERMITTED.label("is_permitted"))
    .join(camera_streams, camera_streams.c.id == _standing.c.id)
    .where(LIVE, camera_streams.c.is_permitted != _IS_PERMITTED)
)


@across_tenants("workers watch everybody's cameras")
def need_worker(connection: Connection) -> bool:
    """Whether there is a stream to be watched, or one that was judged before its account was changed."""
    permitted = sa.select(camera_streams.c.id).where(LIVE, camera_streams.c.is_permitted).limit(1)
    return any(connection.execute(query).first() is not None for query in (permitted, _MISJUDGED.limit(1)))


@across_tenants("workers watch everybody's cameras")
def judge(connection: Connection, *, every_s: float, lease_s: float) -> int:
    """Does nothing where somebody does it at this moment, or did it less than `every_s` ago. Else takes streams from
    their workers whose account is paused, or has the module or so many cameras no longer, and says so in their status;
    frees those that are permitted again; and counts. How many it judged otherwise than before. Its transaction should
    do no more that waits for anybody."""
    table = camera_tally.c
    # What comes from the future was written before the clock was set back.
    is_due = sa.or_(table.made_at <= ago(connection, every_s), table.made_at > ago(connection, -every_s))
    due = sa.select(table.id).where(is_due).with_for_update(skip_locked=True)
    if connection.execute(due).first() is None and not _made_first(connection):
        return 0
    changed = _judge_all(connection)
    _count(connection, lease_s)
    return changed


def _made_first(connection: Connection) -> bool:
    """Asked before it is written: an insert that finds the row in another's transaction waits for that to end."""
    if connection.execute(sa.select(camera_tally.c.id)).first() is not None:
        return False
    at = ago(connection, 0.0)
    first = {"id": _ROW, "made_at": at, "holds_until": at, "streams": 0, "free": 0, "places": 0}
    return insert_ignoring(connection, camera_tally, first)


def _judge_all(connection: Connection) -> int:
    """A stream whose row is held, since its worker writes an event, is judged the next time."""
    query = _MISJUDGED.order_by(camera_streams.c.id).with_for_update(of=camera_streams, skip_locked=True)
    by_verdict: defaultdict[str, list[str]] = defaultdict(list)
    for row in connection.execute(query):
        message = ""
        if not row.has_feature:
            message = "the Vision module is switched off"
        elif not row.is_active:
            message = "the client is paused"
        elif not row.is_in_plan:
            message = f"the plan has {row.camera_limit} cameras, and older ones than this are in use"
        by_verdict[message].append(row.id)
    for message, ids in by_verdict.items():
        values = {
            "is_permitted": not message,
            "status": "error" if message else "reconnecting",
            "message": message,
            "fps": 0.0,
            "latency_ms": 0.0,
            "worker_id": None,
            "leased_until": None if message else ago(connection, 0.0),  # it waits from now on
        }
        connection.execute(sa.update(camera_streams).where(LIVE, camera_streams.c.id.in_(ids)).values(**values))
    return sum(map(len, by_verdict.values()))


def _count(connection: Connection, lease_s: float) -> None:
    seen_at = camera_workers.c.seen_at
    connection.execute(sa.delete(camera_workers).where(seen_at < ago(connection, _DAY_S)))
    places = sa.select(sa.func.coalesce(sa.func.sum(camera_workers.c.places), 0)).where(
        seen_at >= ago(connection, lease_s)
    )
    permitted = sa.select(sa.func.count(), sa.func.count().filter(is_free(connection))).where(
        LIVE, camera_streams.c.is_permitted
    )
    streams, free = connection.execute(permitted.select_from(camera_streams)).one()
    values = {"streams": streams, "free": free, "places": connection.execute(places).scalar_one()}
    moments = {"made_at": ago(connection, 0.0), "holds_until": ago(connection, -lease_s)}
    connection.execute(sa.update(camera_tally).values(**values, **moments))


@across_tenants("workers watch everybody's cameras")
def tally(connection: Connection) -> Tally:
    """As it was judged last."""
    row = connection.execute(sa.select(camera_tally.c.streams, camera_tally.c.free, camera_tally.c.places)).first()
    return Tally(*row) if row else Tally(0, 0, 0)
