"""Where a call's recording comes from: an upload that is a blob already, or a link that its job fetches into one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import structlog

from accounts.outbound import AddressRefused, Outbound, OutboundFailed, TimedOut, TooMuch
from accounts.outbound_fetch import fetch
from ingest.children import ChildDied, ChildOutOfMemory, ChildTimedOut
from ingest.speech.decode import AudioInfo, Undecodable, probe
from ingest.workshop import ShuttingDown, Workshop, run_or_shut_down
from store import transcriptions
from store.blobs import BlobMissing, BlobWriter
from store.transcriptions import Task

log = structlog.get_logger(__name__)

_PAUSES_S = (2.0, 8.0)
"""Before each further try, where the trouble may pass."""
_LOOK_S = 1.0
_MAX_NAME_CHARACTERS = 200
_PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_STATUSES = {401: "asks for a login", 403: "forbids it", 404: "has no such file", 410: "has the file no more"}


class CannotFetch(Exception):
    """The recording of a link cannot be had. The message is for who sent the link."""


class TaskEnded(Exception):
    """Nobody waits for the recording any more."""


def probe_blob(house: Workshop, tenant_id: str, key: str, *, urgent: bool = False) -> AudioInfo:
    """What a recording holds, looked at in a child process. Raises Undecodable."""
    with house.blobs.as_file(key) as path:
        for is_last in (False, True):
            try:
                return run_or_shut_down(house.pools.probing, probe, path, urgent=urgent, owner=tenant_id)
            except ChildDied:
                # The recording's fault only where it happens again: a child may be killed from outside.
                if is_last:
                    break
            except (ChildTimedOut, ChildOutOfMemory):
                break
    raise Undecodable("nothing in it can be decoded")


def name_in(url: str) -> str:
    """The file's name as far as a URL tells it; empty where the path does not end in one: without an ending it may well
    be the link's secret."""
    name = PurePosixPath(unquote(urlsplit(url).path).replace("\\", "/")).name
    if not PurePosixPath(name).suffix:
        return ""
    return "".join(character for character in name if character.isprintable())[:_MAX_NAME_CHARACTERS]


def fetch_recording(house: Workshop, task: Task, *, go_on: Callable[[], bool]) -> int:
    """Brings what is at the task's `file_url` into its blob, in constant memory; how many bytes it has.

    What an earlier run brought is not fetched again: links may well be good for one use. `go_on` is asked about once a
    second. Raises CannotFetch, TaskEnded when `go_on` says no, ShuttingDown when the server stops meanwhile,
    and OSError or Unavailable where the blob cannot be written.
    """
    try:
        return house.blobs.size(task.blob_key)
    except BlobMissing:
        pass
    until = time.monotonic() + house.settings.fetch_timeout_s
    for pause_s in (*_PAUSES_S, None):
        try:
            return _fetch_once(house, task, go_on, round(max(until - time.monotonic(), 0.1), 1))
        except OutboundFailed as error:
            log.info("a recording was not fetched", task_id=task.id, error=error.message)
            if pause_s is None or not _may_pass(error) or time.monotonic() + pause_s >= until:
                raise CannotFetch(_told(error)) from None
        _wait(house, go_on, threading.Event(), pause_s)
    raise AssertionError("the last try returns or raises")


def _fetch_once(house: Workshop, task: Task, go_on: Callable[[], bool], timeout_s: float) -> int:
    writer = house.blobs.writer(task.blob_key)
    download = _Download(house, task.parameters["file_url"], writer, timeout_s)
    download.start()
    try:
        _wait(house, go_on, download.ended)
        if download.error is not None:
            raise download.error
        if writer.size == 0:
            raise CannotFetch("The file at the fileUrl is empty.")
        if download.file_name:
            with house.database.write(durable=False) as connection:
                transcriptions.update(task.tenant_id, connection, task.id, file_name=download.file_name)
        return writer.commit().size
    finally:
        download.is_abandoned = True
        writer.abort()


class _Download(threading.Thread):
    """Reads the link into the writer. A thread of its own, since a server that says nothing cannot be interrupted: it
    is left behind when nobody waits any more, and ends by itself."""

    def __init__(self, house: Workshop, url: str, writer: BlobWriter, timeout_s: float) -> None:
        super().__init__(name="fetch", daemon=True)
        self.ended = threading.Event()
        self.error: Exception | None = None
        self.file_name: str | None = None
        self.is_abandoned = False
        self._outbound = _outbound(house.settings.allowed_networks)
        self._url = url
        self._writer = writer
        self._max_bytes = house.settings.max_audio_bytes
        self._timeout_s = timeout_s

    def run(self) -> None:
        try:
            with fetch(self._outbound, self._url, max_bytes=self._max_bytes, timeout_s=self._timeout_s) as found:
                self.file_name = found.file_name
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
    """Until `ended`, or the time is over. Raises TaskEnded and ShuttingDown."""
    until = time.monotonic() + at_most_s
    while not ended.wait(max(0.0, min(_LOOK_S, until - time.monotonic()))):
        if house.jobs.is_closing:
            raise ShuttingDown
        if not go_on():
            raise TaskEnded
        if time.monotonic() >= until:
            return


def _may_pass(error: OutboundFailed) -> bool:
    if error.status_code is not None:
        return error.status_code in _PASSING_STATUSES
    return not isinstance(error, AddressRefused | TooMuch | TimedOut)


def _told(error: OutboundFailed) -> str:
    if error.status_code is None:
        return f"The fileUrl cannot be fetched. {error.message}"
    reason = _STATUSES.get(error.status_code)
    return f"The fileUrl cannot be fetched. The server answered {error.status_code}" + (
        f": it {reason}." if reason else "."
    )
