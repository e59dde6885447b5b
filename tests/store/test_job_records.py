"""Which queues have a job that waits, asked of the tables in which DBOS records jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from store.engines import make_engine
from store.job_claims import Claim
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


def test_a_claim_is_put_back_unless_it_is_over(engine: sa.Engine, enqueue: Callable[[str], str]) -> None:
    records = JobRecords(engine)
    lost, others, ended, elsewhere = (enqueue(queue) for queue in ("webhooks", "webhooks", "webhooks", "another's"))
    columns = ("workflow_uuid", "status", "executor_id", "owner_xid")
    jobs = sa.table("workflow_status", *map(sa.column, columns), schema=None if engine.name == "sqlite" else "dbos")

    def set_job(job_id: str, status: str, executor_id: str, token: str | None) -> None:
        values = {"status": status, "executor_id": executor_id, "owner_xid": token}
        with engine.begin() as connection:
            connection.execute(sa.update(jobs).where(jobs.c.workflow_uuid == job_id).values(**values))

    set_job(lost, "PENDING", "mine", "a")
    set_job(others, "PENDING", "theirs", "b")
    set_job(ended, "SUCCESS", "mine", "c")
    set_job(elsewhere, "PENDING", "mine", "d")
    (claim,) = records.claimed_by("mine", QUEUES)
    assert claim == (lost, "a")
    set_job(lost, "PENDING", "mine", "claimed again")
    assert not records.put_back("mine", claim)
    set_job(lost, "PENDING", "theirs", "a")
    assert not records.put_back("mine", claim)
    set_job(lost, "SUCCESS", "mine", "a")
    assert not records.put_back("mine", claim)
    set_job(lost, "PENDING", "mine", "a")
    assert records.put_back("mine", claim)
    assert records.claimed_by("mine", QUEUES) == []
    assert records.waiting(QUEUES) == {"webhooks"}
    set_job(lost, "PENDING", "mine", None)
    assert records.put_back("mine", Claim(lost, None))


def test_a_look_for_claims_reads_no_job_that_has_ended(engine: sa.Engine) -> None:
    said: list[tuple[str, Any]] = []

    @sa.event.listens_for(engine, "before_cursor_execute")
    def note(_connection: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        said.append((statement, parameters))

    JobRecords(engine).claimed_by("mine", QUEUES)
    statement, parameters = said[-1]
    explain = "EXPLAIN QUERY PLAN" if engine.name == "sqlite" else "EXPLAIN"
    with engine.connect() as connection:
        if engine.name != "sqlite":
            connection.execute(sa.text("SET enable_seqscan = off"))  # the table is empty
        rows = connection.exec_driver_sql(f"{explain} {statement}", parameters).all()
    plan = "\n".join(str(row[-1]) for row in rows)
    assert re.search("idx_workflow_status_(pending|in_flight)", plan), plan
