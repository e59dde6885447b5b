"""An installation of several processes on one PostgreSQL, one bucket and one Qdrant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingest.roles import Role
from tests.support.bucket import Bucket, running_bucket
from tests.support.clock import WallClock
from tests.support.network import Host
from tests.support.qdrant import Qdrant, running_qdrant
from tests.support.server import RunningServer

RULES = b"# Parking\n\nVisitors may leave their cars behind the bakery from nine to six.\n"
_OF_TESTS = "127.0.0.0/8,10.213.0.0/16"
"""Networks that its processes may reach: this machine, and its hosts (`tests.support.network`)."""
_SECRET = "a secret that all processes of an installation share"


class Cluster:
    """Each process has a data folder of its own, as on a machine of its own."""

    def __init__(self, folder: Path, database_url: str, direct_url: str, bucket: Bucket, qdrant: Qdrant) -> None:
        self._folder = folder
        self.bucket, self.qdrant = bucket, qdrant
        self._shared = {
            "database_url": database_url,
            "database_direct_url": direct_url,
            "blob_url": bucket.url,
            "qdrant_url": qdrant.url,
            "secret_key": _SECRET,
            "allowed_networks": _OF_TESTS,
            "camera_networks": _OF_TESTS,
            "webhook_retry_schedule": ",".join(["1"] * 30),
            "heartbeat_s": "1",
            "takeover_after_s": "4",
            "sweep_s": "1",
        }
        self.processes: list[RunningServer] = []

    def start(
        self,
        role: Role,
        *,
        cores: Sequence[int] | None = None,
        host: Host | None = None,
        code: Path | None = None,
        clock: WallClock | None = None,
        **settings: str,
    ) -> RunningServer:
        """A process that is ready. `cores`: the only ones that it may have; `host`: where it runs; `code`: of another
        release; `clock`: that of its machine."""
        process = self.prepare(role, cores=cores, host=host, code=code, **settings)
        if clock is not None:
            process.environment |= clock.environment
        return process.start()

    def prepare(self, role: Role, **given: Any) -> RunningServer:
        """A process that is not started, for commands of the installation's; `given` as to `start`."""
        folder = self._folder / f"{role}-{len(self.processes) + 1}"
        process = RunningServer(folder, role=role, **{**self._shared, **given})
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            process.close()


@contextmanager
def running_cluster_of_processes(
    folder: Path, postgresql_url: str, *, direct_url: str = "", address: str = "127.0.0.1"
) -> Iterator[Cluster]:
    """`direct_url`: of PostgreSQL itself where the other is a pooler's; `address`: of the machine that has the stores,
    as its hosts reach it."""
    with running_bucket(address) as bucket, running_qdrant(address) as qdrant:
        cluster = Cluster(folder, postgresql_url, direct_url, bucket, qdrant)
        try:
            yield cluster
        finally:
            cluster.close()


@pytest.fixture
def cluster(tmp_path: Path, postgresql_url: str) -> Iterator[Cluster]:
    with running_cluster_of_processes(tmp_path, postgresql_url) as made:
        yield made
