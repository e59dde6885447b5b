"""Rate limits that all processes share: one SQL upsert a check."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import metadata, upsert
from store.scope import across_tenants

rate_windows = sa.Table(
    "rate_windows",
    metadata,
    sa.Column("bucket", sa.String(200), primary_key=True),
    sa.Column("window", sa.BigInteger, primary_key=True),  # the second of Unix time in which it ends
    sa.Column("count", sa.Integer, nullable=False),
    sa.Index(None, "window"),
)


@dataclass(frozen=True, slots=True)
class Window:
    """A bucket's present window: how many of `limit` were counted, and the seconds until the next one begins."""

    limit: int
    count: int
    reset_s: int

    @property
    def is_over(self) -> bool:
        return self.count > self.limit

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.count)


@across_tenants("a bucket names its key or visitor")
def hit(connection: Connection, bucket: str, *, limit: int, window_s: int = 60) -> Window:
    """Counts one request, whether it is within the limit or not."""
    clock = time.time()
    window = (int(clock // window_s) + 1) * window_s
    statement = (
        upsert(connection, rate_windows)
        .values(bucket=bucket, window=window, count=1)
        .on_conflict_do_update(index_elements=["bucket", "window"], set_={"count": rate_windows.c.count + 1})
        .returning(rate_windows.c.count)
    )
    count = connection.execute(statement).scalar_one()
    return Window(limit, count, reset_s=max(1, math.ceil(window - clock)))


@across_tenants("housekeeping")
def forget_old_windows(connection: Connection, *, older_than_s: int = 3600) -> None:
    """Deletes windows, of whatever length, that ended more than `older_than_s` ago."""
    connection.execute(sa.delete(rate_windows).where(rate_windows.c.window < int(time.time()) - older_than_s))
