"""Rate limits of requests, counted in the database so that all processes share them."""

from __future__ import annotations

from starlette.requests import Request

from store import limits
from store.database import Database
from store.errors import RateLimited
from store.limits import Window


def forget_old_windows(database: Database) -> None:
    """Housekeeping: drops counts that no limit looks at any more."""
    with database.write(durable=False) as connection:
        limits.forget_old_windows(connection)


def enforce_limit(
    database: Database, bucket: str, limit: int, *, window_s: int = 60, request: Request | None = None
) -> None:
    """Counts one request against `bucket`; the answer to `request` says in its headers what is left.

    Raises RateLimited over `limit` a window.
    """
    with database.write(durable=False) as connection:
        window = limits.hit(connection, bucket, limit=limit, window_s=window_s)
    if request is not None:
        _tell(request, window)
    if window.is_over:
        raise RateLimited(
            f"More than {limit} requests in {window_s} s.", code="rate_limit_exceeded", retry_after_s=window.reset_s
        )


def _tell(request: Request, window: Window) -> None:
    """Of several limits the one with the least left counts."""
    told: Window | None = getattr(request.state, "rate_window", None)
    if told is None or window.remaining < told.remaining:
        request.state.rate_window = window


def limit_headers(window: Window) -> list[tuple[bytes, bytes]]:
    """RateLimit-* as in the IETF's drafts before 08, which most clients know: the limit, what is left of it, and the
    seconds until it is whole again."""
    values = {"limit": window.limit, "remaining": window.remaining, "reset": window.reset_s}
    return [(f"ratelimit-{name}".encode(), str(value).encode()) for name, value in values.items()]
