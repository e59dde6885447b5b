"""Rate limits of requests, counted in the database so that all processes share them."""

from __future__ import annotations

import ipaddress
import threading
from dataclasses import replace
from weakref import WeakKeyDictionary

from starlette.requests import Request

from api.proxies import address_of
from store import limits
from store.clocks import CLOCK
from store.database import Database
from store.errors import RateLimited
from store.limits import Window

MOST_AT_ONCE = 100
MOST_BUCKETS = 1000
TAKEN_AT_ONCE = 0.01
"""A process counts so much of a limit in one transaction and spends it by itself: so a limit of hundreds a minute costs
no write a request, and is never exceeded; what a process did not use of its last share is all that others may miss."""


class _Shares:
    """What this process has counted of each bucket ahead of the requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._windows: dict[str, list[Window]] = {}  # each request's own, the next one last

    def spend(self, bucket: str) -> Window | None:
        with self._lock:
            windows = self._windows.get(bucket)
            if not windows:
                return None
            window = windows.pop()
            if window.end_s > CLOCK.time_s():
                return window
            del self._windows[bucket]
            return None

    def put(self, bucket: str, windows: list[Window]) -> None:
        with self._lock:
            if len(self._windows) > MOST_BUCKETS:
                clock = CLOCK.time_s()
                self._windows = {name: each for name, each in self._windows.items() if each and each[0].end_s > clock}
            self._windows[bucket] = [*windows, *self._windows.get(bucket, ())]


_shares: WeakKeyDictionary[Database, _Shares] = WeakKeyDictionary()


def counted_address(request: Request) -> str:
    """Of whom a limit of addresses counts. A home has a whole /64 of IPv6, so that counts as one."""
    text = address_of(request)
    try:
        address = ipaddress.ip_address(text.split("%")[0])
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return text


def forget_old_windows(database: Database) -> None:
    """Housekeeping: drops counts that no limit looks at any more."""
    with database.count() as connection:
        limits.forget_old_windows(connection)
    if database.is_sqlite:  # those that releases before counted in the database itself
        with database.write(durable=False) as connection:
            limits.forget_old_windows(connection)


def enforce_limit(
    database: Database, bucket: str, limit: int, *, window_s: int = 60, request: Request | None = None
) -> None:
    """Counts one request against `bucket`; the answer to `request` says in its headers what is left.

    Raises RateLimited over `limit` a window.
    """
    shares = _shares.setdefault(database, _Shares())
    window = shares.spend(bucket)
    if window is None:
        share = max(1, min(int(limit * TAKEN_AT_ONCE), MOST_AT_ONCE))
        with database.count() as connection:
            window = limits.hit(connection, bucket, limit=limit, window_s=window_s, requests=share)
        if share > 1:
            *later, window = (replace(window, count=window.count - place) for place in range(share))
            shares.put(bucket, later)
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
