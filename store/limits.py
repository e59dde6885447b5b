"""Rate limits that all processes share: one SQL upsert a check. Its connections are those of `Database.count`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from store.clocks import CLOCK
from store.database import metadata
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
    """A bucket's present window: how many of `limit` were counted up to a request, and when the next one begins."""

    limit: int
    count: int
    end_s: int  # of Unix time

    @property
    def is_over(self) -> bool:
        return self.count > self.limit

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.count)

    @property
    def reset_s(self) -> int:
        return max(1, math.ceil(self.end_s - CLOCK.time_s()))


# Asked at every request: one statement for each kind of database, made once.
_HIT = {
    dialect: insert(rate_windows)
    .values(bucket=sa.bindparam("bucket"), window=sa.bindparam("window"), count=sa.bindparam("requests"))
    .on_conflict_do_update(
        index_elements=["bucket", "window"], set_={"count": rate_windows.c.count + sa.bindparam("requests")}
    )
    .returning(rate_windows.c.count)
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}


@across_tenants("a bucket names its key or visitor")
def hit(
    connection: Connection,
    bucket: str,
    *,
    limit: int,
    window_s: int = 60,
    end_s: int | None = None,
    requests: int = 1,
) -> Window:
    """Counts requests, whether they are within the limit or not. `end_s`, a second of Unix time, is where the window
    ends that no whole number of `window_s` measures, as a day of some time zone."""
    if end_s is None:
        end_s = (int(CLOCK.time_s() // window_s) + 1) * window_s
    values = {"bucket": bucket, "window": end_s, "requests": requests}
    return Window(limit, connection.execute(_HIT[connection.dialect.name], values).scalar_one(), end_s)


def forget(tenant_id: str, connection: Connection) -> None:
    """Deletes the windows of buckets that name the account."""
    connection.execute(sa.delete(rate_windows).where(rate_windows.c.bucket.contains(tenant_id)))


@across_tenants("housekeeping")
def forget_old_windows(connection: Connection, *, older_than_s: int = 3600) -> None:
    """Deletes windows, of whatever length, that ended more than `older_than_s` ago."""
    connection.execute(sa.delete(rate_windows).where(rate_windows.c.window < int(CLOCK.time_s()) - older_than_s))
