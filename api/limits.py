"""Rate limits of requests, counted in the database so that all processes share them."""

from __future__ import annotations

from store import limits
from store.database import Database
from store.errors import RateLimited


def forget_old_windows(database: Database) -> None:
    """Housekeeping: drops counts that no limit looks at any more."""
    with database.write(durable=False) as connection:
        limits.forget_old_windows(connection)


def enforce_limit(database: Database, bucket: str, limit: int, *, window_s: int = 60) -> None:
    """Counts one request against `bucket`. Raises RateLimited over `limit` a window."""
    with database.write(durable=False) as connection:
        wait_s = limits.hit(connection, bucket, limit=limit, window_s=window_s)
    if wait_s:
        raise RateLimited(
            f"More than {limit} requests in {window_s} s.", code="rate_limit_exceeded", retry_after_s=wait_s
        )
