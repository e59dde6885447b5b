"""The tables in which DBOS records jobs, for what its own interface cannot tell or do."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from dbos._error import DBOSUnexpectedStepError  # neither has a public name
from dbos._schemas.system_database import SystemSchema
from sqlalchemy.dialects import postgresql

from store.clocks import CLOCK
from store.database import LOCK_TIMEOUT_S, answering
from store.engines import make_engine
from store.job_claims import Claim
from store.settings import Settings

State = Literal["waiting", "delayed", "running"]

_UNFINISHED: dict[str, State] = {"ENQUEUED": "waiting", "DELAYED": "delayed", "PENDING": "running"}
_ENQUEUED: sa.ColumnElement[str] = sa.literal_column("'ENQUEUED'")  # by its letter, as in the index's condition
_PENDING: sa.ColumnElement[str] = sa.literal_column("'PENDING'")  # so too
_STEP_DIFFERS = DBOSUnexpectedStepError.__name__
"""How a job ends whose recorded steps are not those of the code that goes on with it."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Jobs of a queue that wait for a place, for their time, or are in work. The first has been so for `oldest_s`; of
    those that wait for their time it is less than nothing."""

    queue: str
    state: State
    count: int
    oldest_s: float


class JobRecords:
    """On an engine of the database of jobs."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._schema = schema = None if engine.dialect.name == "sqlite" else "dbos"
        jobs = ("workflow_uuid", "queue_name", "status", "priority", "created_at", "updated_at", "completed_at")
        times = ("started_at_epoch_ms", "delay_until_epoch_ms")
        claim = ("executor_id", "owner_xid")
        self._jobs = sa.table("workflow_status", *map(sa.column, (*jobs, *times, *claim)), schema=schema)
        self._steps = sa.table("operation_outputs", sa.column("workflow_uuid"), schema=schema)
        self._ends = sa.table("workflow_output", sa.column("workflow_uuid"), sa.column("error"), schema=schema)

    def are_there(self) -> bool:
        """Raises Unavailable where the database does not answer."""
        with answering(), self._engine.connect() as connection:
            return sa.inspect(connection).has_table(self._jobs.name, schema=self._schema)

    def drop(self) -> None:
        """Drops every table, or none; whoever starts next makes them anew. Raises Unavailable, also where somebody has
        them locked."""
        self._engine.dispose()  # what is open may be of a file that is another now
        if self._schema is None:  # the file may have other tables
            names = [*(table.name for table in reversed(SystemSchema.metadata_obj.sorted_tables)), "dbos_migrations"]
            # sqlite3 begins no transaction by itself before a DROP.
            statements = ["BEGIN IMMEDIATE", *(f"DROP TABLE IF EXISTS {name}" for name in names)]
        else:
            drop = f"DROP SCHEMA IF EXISTS {self._schema} CASCADE"
            statements = [f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s'", drop]
        with answering(), self._engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def unfinished(self, queues: Collection[str]) -> list[Unfinished]:
        """The jobs of each queue that have not ended. Raises what the database raises."""
        jobs = self._jobs.c
        since = sa.case(
            (jobs.status == "PENDING", sa.func.coalesce(jobs.started_at_epoch_ms, jobs.created_at)),
            else_=sa.func.coalesce(jobs.delay_until_epoch_ms, jobs.created_at),
        )
        query = (
            sa.select(jobs.queue_name, jobs.status, sa.func.count(), sa.func.min(since))
            .where(jobs.status.in_(list(_UNFINISHED)), jobs.queue_name.in_(queues))
            .group_by(jobs.queue_name, jobs.status)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        at_s = CLOCK.time_s()
        return [
            Unfinished(queue, _UNFINISHED[status], count, at_s - oldest / 1000) for queue, status, count, oldest in rows
        ]

    def waiting(self, queues: Collection[str]) -> set[str]:
        """The queues with a job that waits for a place: a seek in an index for each, however many wait. Raises what the
        database raises."""
        if not queues:
            return set()
        if not self._schema:
            return self._waiting_on_sqlite(queues)
        # Each worker asks this up to ten times a second: without parameters it is planned once for a connection, and
        # outside of transactions it is one journey. Planning was four fifths of what it cost.
        names = postgresql.array([sa.literal(queue, literal_execute=True) for queue in sorted(queues)])
        asked = sa.func.unnest(names).table_valued("name").render_derived(name="asked")
        one: sa.ColumnElement[int] = sa.literal_column("1")
        jobs = self._jobs.c
        # In the order of DBOS's index: whatever the planner believes of a queue, it then reads no more than the first.
        mine = (
            sa.select(one)
            .where(jobs.queue_name == asked.c.name, jobs.status == _ENQUEUED)
            .order_by(jobs.priority, jobs.created_at)
        )
        first = mine.limit(one).lateral("first")
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            return set(connection.execute(sa.select(asked.c.name).join_from(asked, first, sa.true())).scalars())

    def _waiting_on_sqlite(self, queues: Collection[str]) -> set[str]:
        jobs = self._jobs.c
        query = sa.select(*(sa.exists().where(jobs.queue_name == queue, jobs.status == _ENQUEUED) for queue in queues))
        with self._engine.connect() as connection:
            found = connection.execute(query).one()
        return {queue for queue, has_jobs in zip(queues, found, strict=True) if has_jobs}

    def list_ids(self, *, after: str, limit: int) -> list[str]:
        """The ids of jobs, whatever became of them, in their order from behind `after` on."""
        job_id = self._jobs.c.workflow_uuid
        query = sa.select(job_id).where(job_id > after).order_by(job_id).limit(limit)
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def claimed_by(self, executor_id: str, queues: Collection[str]) -> list[Claim]:
        """The jobs of these queues that a process is said to work on. Raises what the database raises."""
        jobs = self._jobs.c
        query = sa.select(jobs.workflow_uuid, jobs.owner_xid).where(
            jobs.status == _PENDING, jobs.executor_id == executor_id, jobs.queue_name.in_(queues)
        )
        with self._engine.connect() as connection:
            return [Claim(*row) for row in connection.execute(query)]

    def at_work(self, queues: Collection[str]) -> set[str]:
        """The processes that are said to work on jobs of these queues. Raises what the database raises."""
        jobs = self._jobs.c
        query = sa.select(jobs.executor_id).where(jobs.status == _PENDING, jobs.queue_name.in_(queues)).distinct()
        with self._engine.connect() as connection:
            return set(connection.execute(query).scalars())

    def put_back(self, executor_id: str, claim: Claim) -> bool:
        """Has a job wait in its queue again, with what is recorded of its steps. False where the claim is over."""
        jobs = self._jobs.c
        waits = (
            sa.update(self._jobs)
            .where(
                jobs.workflow_uuid == claim.job_id,
                jobs.status == "PENDING",
                jobs.executor_id == executor_id,
                jobs.owner_xid.is_not_distinct_from(claim.token),
            )
            .values(
                status="ENQUEUED", owner_xid=None, updated_at=round(CLOCK.time_s() * 1000), started_at_epoch_ms=None
            )
        )
        with self._engine.begin() as connection:
            return connection.execute(waits).rowcount > 0

    def begin_changed_again(self, queues: Collection[str]) -> list[str]:
        """Puts the jobs back into their queues, without what is recorded of their steps, that one release began and
        another could not go on with. Their ids. Any step may run twice, so to begin again costs time and nothing else.
        """
        jobs, ends = self._jobs.c, self._ends.c
        query = sa.select(jobs.workflow_uuid).where(
            jobs.status == "ERROR",
            jobs.queue_name.in_(queues),
            jobs.workflow_uuid == ends.workflow_uuid,
            ends.error.contains(_STEP_DIFFERS, autoescape=True),
        )
        with self._engine.connect() as connection:
            found: list[str] = list(connection.execute(query).scalars())
        return [job_id for job_id in found if self._begin_again(job_id)]

    def _begin_again(self, job_id: str) -> bool:
        """False where another process did it a moment ago."""
        waits = (
            sa.update(self._jobs)
            .where(self._jobs.c.workflow_uuid == job_id, self._jobs.c.status == "ERROR")
            .values(
                status="ENQUEUED", updated_at=round(CLOCK.time_s() * 1000), started_at_epoch_ms=None, completed_at=None
            )
        )
        with self._engine.begin() as connection:
            if connection.execute(waits).rowcount == 0:
                return False
            for recorded in (self._steps, self._ends):
                connection.execute(sa.delete(recorded).where(recorded.c.workflow_uuid == job_id))
        return True


@contextmanager
def jobs_apart(settings: Settings) -> Iterator[JobRecords | None]:
    """Where jobs have a database of their own, else None."""
    if not settings.jobs_database_url:
        yield None
        return
    engine = make_engine(settings.jobs_database_url, synchronous="NORMAL", of_jobs=True)
    try:
        yield JobRecords(engine)
    finally:
        engine.dispose()
