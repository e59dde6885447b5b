"""Brings what is at a user's link into a blob: in constant memory, tried again where trouble may pass, given up when
nobody waits for it any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import structlog

from accounts.outbound import AddressRefused, Outbound, OutboundFailed, TimedOut, TooMuch
from accounts.outbound_fetch import fetch
from ingest.workshop import ShuttingDown, Workshop
from store.blobs import BlobInfo, BlobWriter

log = structlog.get_logger(__name__)

_PAUSES_S = (2.0, 8.0)
"""Before each further try, where the trouble may pass."""
_LOOK_S = 1.0
_PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_STATUSES = {401: "asks for a login", 403: "forbids it", 404: "has no such file", 410: "has the file no more"}


class CannotFetch(Exception):
    """What a link points to cannot be had. The message is for who sent the link; `is_too_much`: it is too large."""

    def __init__(self, message: str, *, is_too_much: bool = False) -> None:
        super().__init__(message)
        self.is_too_much = is_too_much


class FetchStopped(Exception):
    """Nobody waits for it any more: `go_on` said so."""


@dataclass(frozen=True, slots=True)
class FetchedBlob:
    """`content_type` and `file_name` as the server tells them; the name None where nothing does."""

    blob: BlobInfo
    content_type: str | None
    file_name: str | None


def fetch_into_blob(
    house: Workshop, url: str, blob_key: str, *, max_bytes: int, go_on: Callable[[], bool], what: str
) -> FetchedBlob:
    """Fetches a URL into a blob. `go_on` is asked about once a second; `what` names the link in messages.

    Raises CannotFetch, FetchStopped when `go_on` says no, ShuttingDown when the server stops meanwhile, and OSError or
    Unavailable where the blob cannot be written.
    """
    until = time.monotonic() + house.settings.fetch_timeout_s
    for pause_s in (*_PAUSES_S, None):
        try:
            left_s = round(max(until - time.monotonic(), 0.1), 1)
            return _fetch_once(house, url, blob_key, max_bytes, go_on, left_s, what)
        except OutboundFailed as error:
            log.info("a link was not fetched", blob=blob_key, error=error.message)
            if pause_s is None or not _may_pass(error) or time.monotonic() + pause_s >= until:
                raise CannotFetch(_told(error, what), is_too_much=isinstance(error, TooMuch)) from None
        _wait(house, go_on, threading.Event(), pause_s)
    raise AssertionError("the last try returns or raises")


def _fetch_once(
    house: Workshop, url: str, blob_key: str, max_bytes: int, go_on: Callable[[], bool], timeout_s: float, what: str
) -> FetchedBlob:
    writer = house.blobs.writer(blob_key)
    download = _Download(house, url, writer, max_bytes, timeout_s)
    download.start()
    try:
        _wait(house, go_on, download.ended)
        if download.error is not None:
            raise download.error
        if writer.size == 0:
            raise CannotFetch(f"The file at {what} is empty.")
        return FetchedBlob(writer.commit(), download.content_type, download.file_name)
    finally:
        download.is_abandoned = True
        writer.abort()


class _Download(threading.Thread):
    """Reads the link into the writer. A thread of its own, since a server that says nothing cannot be interrupted: it
    is left behind when nobody waits any more, and ends by itself."""

    def __init__(self, house: Workshop, url: str, writer: BlobWriter, max_bytes: int, timeout_s: float) -> None:
        super().__init__(name="fetch", daemon=True)
        self.ended = threading.Event()
        self.error: Exception | None = None
        self.file_name: str | None = None
        self.content_type: str | None = None
        self.is_abandoned = False
        self._outbound = _outbound(house.settings.allowed_networks)
        self._url = url
        self._writer = writer
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    def run(self) -> None:
        try:
            with fetch(self._outbound, self._url, max_bytes=self._max_bytes, timeout_s=self._timeout_s) as found:
                self.file_name, self.content_type = found.file_name, found.content_type
                for piece in found:
                    if self.is_abandoned:
                        return
                    self._writer.write(piece)
        # Whatever went wrong is raised by who waits.
        except Exception as error:
            self.error = error
        finally:
            self.ended.set()


@cache
def _outbound(allowed_networks: tuple[str, ...]) -> Outbound:
    return Outbound(allowed_networks)


def _wait(house: Workshop, go_on: Callable[[], bool], ended: threading.Event, at_most_s: float = float("inf")) -> None:
    """Until `ended`, or the time is over. Raises FetchStopped and ShuttingDown."""
    until = time.monotonic() + at_most_s
    while not ended.wait(max(0.0, min(_LOOK_S, until - time.monotonic()))):
        if house.jobs.is_closing:
            raise ShuttingDown
        if not go_on():
            raise FetchStopped
        if time.monotonic() >= until:
            return


def _may_pass(error: OutboundFailed) -> bool:
    if error.status_code is not None:
        return error.status_code in _PASSING_STATUSES
    return not isinstance(error, AddressRefused | TooMuch | TimedOut)


def _told(error: OutboundFailed, what: str) -> str:
    what = what[0].upper() + what[1:]
    if error.status_code is None:
        return f"{what} cannot be fetched. {error.message}"
    reason = _STATUSES.get(error.status_code)
    return f"{what} cannot be fetched. The server answered {error.status_code}" + (f": it {reason}." if reason else ".")
