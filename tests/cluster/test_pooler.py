"""Several processes that reach PostgreSQL by way of PgBouncer, which gives them a session for each transaction: of
these there are far fewer than the processes have connections."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa

from store.engines import make_engine
from tests.support import pooler, postgresql
from tests.support.calls import Calls
from tests.support.calls import receiver as receiver
from tests.support.cluster import RULES, Cluster, running_cluster_of_processes
from tests.support.job_steps import JobSteps
from tests.support.receiver import Receiver

SESSIONS = 6
READERS = 12
CALLS = 3


@pytest.fixture(scope="module")
def direct_url(postgresql_cluster: str) -> str:
    return postgresql.new_database(postgresql_cluster)


@pytest.fixture(scope="module")
def cluster(direct_url: str, postgresql_cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if pooler.program() is None:
        pytest.skip("PgBouncer is not installed (scripts/install-system-packages)")
    folder = tmp_path_factory.mktemp("pooled")
    with pooler.running_pooler(postgresql_cluster, sessions=SESSIONS) as pattern:
        url = pattern.format(name=postgresql.name_of(direct_url))
        open_all_sessions(url)
        with running_cluster_of_processes(folder, url, direct_url=direct_url) as made:
            yield made


def open_all_sessions(url: str) -> None:
    """From then on each transaction has another than the one before, from the first of a process on."""
    engine = make_engine(url, synchronous="NORMAL", connections=2 * SESSIONS, pooled=True)

    def wait(_number: int) -> None:
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT pg_sleep(0.5)"))

    with ThreadPoolExecutor(SESSIONS) as threads:
        list(threads.map(wait, range(SESSIONS)))
    engine.dispose()


class Sessions:
    """How many the database has, without those of the test itself, looked at again and again."""

    def __init__(self, direct_url: str) -> None:
        self.most = 0
        self._engine = sa.create_engine(direct_url, isolation_level="AUTOCOMMIT")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Sessions:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._engine.dispose()

    def _look(self) -> None:
        clients = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        here = " AND datname = current_database() AND pid <> pg_backend_pid()"
        others = clients + here + " AND application_name <> 'dbos_transact_client'"
        with self._engine.connect() as connection:
            while not self._stop.wait(0.05):
                self.most = max(self.most, connection.execute(sa.text(others)).scalar_one())

    def left_locked(self) -> int:
        """Locks of sessions that are in no transaction: whoever is to let go of one has another session by now."""
        held = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory'"
        idle = " AND state = 'idle' AND datname = current_database()"
        with self._engine.connect() as connection:
            return int(connection.execute(sa.text(held + idle)).scalar_one())


@pytest.mark.models
def test_few_sessions_of_postgresql_do_for_many_connections(
    cluster: Cluster, direct_url: str, receiver: Receiver
) -> None:
    apis = [cluster.start("api") for _ in range(2)]
    for _ in range(2):
        cluster.start("worker", worker_takes="speech,documents,errands")
    calls = Calls(apis[0], receiver, workers=cluster.processes)
    account = apis[1].new_client("reader")
    statuses: set[int] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.wait(1):  # else they keep the cores from the work
            statuses.add(account.get("/public/v1/balance").status_code)
            statuses.add(account.get("/public/v1/communications/search", params={"limit": 5}).status_code)

    readers = [threading.Thread(target=read) for _ in range(READERS)]
    with Sessions(direct_url) as sessions, closing(JobSteps(apis[0])) as steps:
        for reader in readers:
            reader.start()
        try:
            for _ in range(CALLS):
                calls.start()
            document = account.add_document(account.new_space(), RULES, "parking.md")
            calls.assert_each_was_done_once(steps)
        finally:
            stop.set()
            for reader in readers:
                reader.join()
        assert sessions.left_locked() == 0
    assert document["status"] == "success"
    assert statuses == {200}
    assert sessions.most <= SESSIONS + 2  # one that is let go may take a moment to end
