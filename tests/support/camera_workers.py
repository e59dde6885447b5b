"""Processes that watch cameras beside that of a running server, on its database; and who has which stream."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa

from ingest.vision.supervisor import CameraSupervisor
from store.camera_streams import Stream, add, camera_streams, camera_workers, take_free
from store.database import Database, ago
from tests.support.calls import wait_until
from tests.support.server import Account, RunningServer, children_of


def assert_paid_once(account: Account, stream_ids: Iterable[str]) -> None:
    """For each day of each stream, of which a test may see two."""
    days = Counter((debit["source_ref"], debit["description"][-len("2026-11-23") :]) for debit in account.debits())
    assert set(days.values()) == {1}, days
    assert {stream_id for stream_id, _ in days} == set(stream_ids)


def held_stream(database: Database, tenant_id: str, worker_id: str) -> Stream:
    """One without a camera, of a worker that is no process."""
    with database.write() as connection:
        made = add(
            tenant_id,
            connection,
            name="Till",
            url=b"sealed",
            shown_url="rtsp://cam/1",
            scenarios=["traffic"],
            transport="tcp",
        )
        take_free(connection, worker_id, most=1, lease_s=3600)
    return made


@contextmanager
def server_with_cameras(
    folder: Path, postgresql_url: str, *, places: int, lease_s: int | None = None, **settings: str
) -> Iterator[RunningServer]:
    """On PostgreSQL, where others may watch beside it; cameras may be on this machine. `lease_s`: another than the
    default."""
    if lease_s is not None:
        settings["camera_lease_s"] = str(lease_s)
    running = RunningServer(
        folder,
        database_url=postgresql_url,
        camera_networks="127.0.0.0/8",
        camera_places=str(places),
        **settings,
    )
    try:
        yield running.start()
    finally:
        running.close()


class CameraWorker:
    """Started as the server starts its own, and by nobody again when it dies."""

    def __init__(self, server: RunningServer) -> None:
        self._starter = CameraSupervisor(server.settings, server.database)
        self._starter._begin()

    @property
    def process_id(self) -> int:
        process_id = self._starter.process_id
        assert process_id is not None, "the worker has ended by itself"
        return process_id

    def kill(self) -> None:
        os.kill(self.process_id, signal.SIGKILL)

    def close(self) -> None:
        self._starter._end()


@contextmanager
def camera_worker(server: RunningServer) -> Iterator[CameraWorker]:
    worker = CameraWorker(server)
    try:
        yield worker
    finally:
        worker.close()


def owners(server: RunningServer) -> Counter[str]:
    """How many streams each worker has; those that nobody has count for "nobody"."""
    with server.database.read() as connection:
        rows = connection.execute(sa.select(camera_streams.c.worker_id).where(camera_streams.c.deleted_at.is_(None)))
        return Counter(row.worker_id or "nobody" for row in rows)


def live_workers(server: RunningServer) -> set[str]:
    """Those that were heard of lately."""
    with server.database.write() as connection:
        since = ago(connection, server.settings.camera_lease_s)
        return set(
            connection.execute(sa.select(camera_workers.c.id).where(camera_workers.c.seen_at >= since)).scalars()
        )


def progress(server: RunningServer) -> dict[str, bytes | None]:
    """By stream, what whoever takes it over now would be told."""
    query = sa.select(camera_streams.c.id, camera_streams.c.progress).where(camera_streams.c.deleted_at.is_(None))
    with server.database.read() as connection:
        return {row.id: row.progress for row in connection.execute(query)}


def wait_until_looked_at_again(server: RunningServer) -> None:
    """After the death of whoever watched: until each stream has been looked at by who watches it now."""
    before = progress(server)
    wait_until(lambda: all(after != before[stream_id] for stream_id, after in progress(server).items()))


def own_worker(server: RunningServer) -> int:
    """The process that the server started to watch cameras; 0 where there is none at the moment."""
    return next(_that_run("ingest.vision.worker", server.child_ids()), 0)


def detectors(worker: int) -> list[int]:
    """The processes that look at pictures for a worker: one, or none at the moment."""
    return list(_that_run("ingest.vision.detector_child", children_of(worker)))


def _that_run(module: str, process_ids: Iterable[int]) -> Iterator[int]:
    for process_id in process_ids:
        with suppress(OSError):  # it has just ended
            if module.encode() in Path(f"/proc/{process_id}/cmdline").read_bytes():
                yield process_id
