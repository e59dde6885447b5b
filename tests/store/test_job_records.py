"""Which queues have a job that waits, asked of the tables in which DBOS records jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from store.engines import make_engine
from store.job_records import JobRecords

QUEUES = ("calls", "it's a queue", "webhooks")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    url = f"sqlite:///{tmp_path / 'jobs.sqlite3'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql_url")
    DBOS.migrate(url)
    made = make_engine(url, synchronous="NORMAL", of_jobs=True)
    yield made
    made.dispose()


@pytest.fixture
def enqueue(engine: sa.Engine) -> Iterator[Callable[[str], str]]:
    """Puts a job into a queue; its id."""
    client = DBOSClient(system_database_url=engine.url.render_as_string(hide_password=False))

    def put(queue: str) -> str:
        return client.enqueue({"queue_name": queue, "workflow_name": "send_webhook"}).workflow_id

    yield put
    client.destroy()


def test_only_queues_with_a_job_that_waits_are_named(engine: sa.Engine, enqueue: Callable[[str], str]) -> None:
    records = JobRecords(engine)
    assert records.waiting(QUEUES) == set()
    for queue in ("it's a queue", "webhooks", "webhooks", "another's"):
        enqueue(queue)
    for _ in range(8):  # the driver prepares what comes again and again
        assert records.waiting(QUEUES) == {"it's a queue", "webhooks"}
    assert records.waiting(["calls"]) == set()
    assert records.waiting([]) == set()
    jobs = sa.table("workflow_status", sa.column("status"), schema=None if engine.name == "sqlite" else "dbos")
    with engine.begin() as connection:
        connection.execute(sa.update(jobs).values(status="PENDING"))
    assert records.waiting(QUEUES) == set()


@pytest.mark.postgresql
def test_it_takes_a_seek_for_each_queue_however_many_wait(postgresql_url: str) -> None:
    DBOS.migrate(postgresql_url)
    engine = make_engine(postgresql_url, synchronous="NORMAL", of_jobs=True)
    said: list[str] = []
    with engine.begin() as connection:
        columns = "workflow_uuid, status, queue_name, created_at, updated_at"
        rows = "SELECT 'job ' || n, 'ENQUEUED', 'webhooks', n, n FROM generate_series(1, 20000) AS n"
        connection.execute(sa.text(f"INSERT INTO dbos.workflow_status ({columns}) {rows}"))
        connection.execute(sa.text("ANALYZE dbos.workflow_status"))

    @sa.event.listens_for(engine, "before_cursor_execute")
    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        said.append(statement)

    assert JobRecords(engine).waiting(QUEUES) == {"webhooks"}
    with engine.connect() as connection:
        plan = "\n".join(connection.execute(sa.text(f"EXPLAIN (ANALYZE, BUFFERS OFF) {said[-1]}")).scalars())
    assert "idx_workflow_status_in_flight" in plan, plan
    assert "Rows Removed by" not in plan, plan
    assert max(map(int, re.findall(r"actual time=\S+ rows=(\d+)", plan))) <= len(QUEUES), plan
    engine.dispose()
