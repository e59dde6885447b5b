"""Table and queries of what the day's visitors of cameras look like: whoever watches a camera next knows who was there.

These vectors tell people apart. So they go with the day, with the camera, and with its address, since another camera
is told nothing of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, put_all, time_column
from store.scope import across_tenants

camera_visitors = sa.Table(
    "camera_visitors",
    metadata,
    id_column("stream_id", sa.ForeignKey("camera_streams.id", ondelete="CASCADE"), primary_key=True),
    time_column("day", primary_key=True),  # its begin, UTC
    sa.Column("visitor", sa.Integer, primary_key=True),  # numbered within the day, as in camera_visits
    id_column("tenant_id", nullable=False),
    sa.Column("came", sa.Integer, nullable=False),  # whoever came last has the highest
    sa.Column("looks", sa.LargeBinary, nullable=False),  # as ingest/vision/gallery writes them
    sa.Index(None, "day"),
)


@dataclass(frozen=True, slots=True)
class VisitorLooks:
    """What is known of a visitor's appearance; nothing any more where `looks` is empty."""

    day: date
    visitor: int
    came: int
    looks: bytes


def put(tenant_id: str, connection: Connection, stream_id: str, changed: Sequence[VisitorLooks]) -> None:
    """Writes those who changed, of the newest day among them; days before it are forgotten."""
    if not changed:
        return
    day = max(each.day for each in changed)
    table = camera_visitors.c
    mine = (table.tenant_id == tenant_id, table.stream_id == stream_id)
    connection.execute(sa.delete(camera_visitors).where(*mine, table.day < _begin(day)))
    of_day = [each for each in changed if each.day == day]
    forgotten = [each.visitor for each in of_day if not each.looks]
    if forgotten:
        connection.execute(
            sa.delete(camera_visitors).where(*mine, table.day == _begin(day), table.visitor.in_(forgotten))
        )
    key = {"stream_id": stream_id, "day": _begin(day), "tenant_id": tenant_id}
    rows = [{**key, "visitor": each.visitor, "came": each.came, "looks": each.looks} for each in of_day if each.looks]
    put_all(connection, camera_visitors, rows)


def of_day(tenant_id: str, connection: Connection, stream_id: str, day: date) -> list[VisitorLooks]:
    """Those who came last, last."""
    table = camera_visitors.c
    query = (
        sa.select(table.visitor, table.came, table.looks)
        .where(table.tenant_id == tenant_id, table.stream_id == stream_id, table.day == _begin(day))
        .order_by(table.came)
    )
    return [VisitorLooks(day, row.visitor, row.came, row.looks) for row in connection.execute(query)]


def forget(tenant_id: str, connection: Connection, stream_id: str) -> None:
    table = camera_visitors.c
    connection.execute(sa.delete(camera_visitors).where(table.tenant_id == tenant_id, table.stream_id == stream_id))


@across_tenants("housekeeping")
def forget_old(connection: Connection) -> None:
    """Of cameras that nobody was seen by since their day was over."""
    connection.execute(sa.delete(camera_visitors).where(camera_visitors.c.day < _begin(now().date())))


def _begin(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
