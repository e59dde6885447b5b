"""A worker process for tests of the job runtime: `python -m tests.support.job_worker FOLDER NAME COMMAND [ID]`.

COMMAND is `work` (until killed), `newer` (works, with a queue more than the others know), `enqueue` (starts the job
ID, then works), `enqueue-newer` (the same, in that queue), `lose` (as `enqueue`, but the first claim of the job gets
no answer), `full` (starts the job ID, which outgrows the disk until there is the file FOLDER/go, and another while it
does, then works), `accept` (starts it for others), `forget` (does 250 empty jobs, sweeps their records out once and
notes how many are left), `forget-some` (forgets jobs by their ids, then an account's while others go, and notes what
it did), `house` (notes each sweep for all), `bad-house` (the same, and fails), `idle` (notes how many statements a
second of waiting cost, then works) or `late` (takes over a worker that another has taken over just before, then
works).
The job of `enqueue` and `accept` writes a line a step into FOLDER/log; its second step waits for the file FOLDER/go.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, SetWorkflowID

from store import heartbeats, job_claims
from store import jobs as runtime
from store.database import Connection, Database
from store.errors import Unavailable
from store.jobs import Jobs, QueuePlan, step, workflow
from store.settings import WORK, Settings

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
NAME = sys.argv[2] if len(sys.argv) > 2 else ""
NEWER = QueuePlan("newer", 1)
is_disk_full = threading.Event()
OTHERS = [QueuePlan(f"other-{number}", 1) for number in range(9)]


def note(text: str) -> None:
    with (FOLDER / "log").open("a") as log:
        log.write(f"{text} by {NAME}\n")


@workflow(name="two_steps")
def two_steps(job_id: str) -> None:
    first(job_id)
    second(job_id)


@step(name="first")
def first(job_id: str) -> None:
    note(f"first {job_id}")


@step(name="second")
def second(job_id: str) -> None:
    note(f"second begins {job_id}")
    while not (FOLDER / "go").exists():
        time.sleep(0.02)
    note(f"second {job_id}")


@workflow(name="empty")
def empty() -> None:
    """Ends at once."""


@workflow(name="too_much")
def too_much(job_id: str) -> None:
    note(f"{len(outgrow(job_id))} recorded of {job_id}")


@step(name="outgrow")
def outgrow(job_id: str) -> str:
    is_disk_full.set()
    note(f"outgrows {job_id}")
    return "x" * 100_000


def sweep_for_all() -> bool:
    note("keeps house")
    return sys.argv[3] != "bad-house"


def fill_disk(jobs: Jobs) -> None:
    """While it is full SQLite may take no page more than it has: less than those a file system gives at once."""

    def bound(connection: Any, *_: Any) -> None:
        full = is_disk_full.is_set() and not (FOLDER / "go").exists()
        connection.execute(f"PRAGMA max_page_count={1 if full else 2**30}").close()

    sa.event.listen(jobs._engine, "checkout", bound)


def forget(jobs: Jobs) -> None:
    for _ in range(250):
        empty()
    runtime.FORGET_AFTER_S = -1.0
    jobs._forget_ended()
    note(f"left {len(DBOS.list_workflows())}")


@workflow(name="of_account")
def of_account(tenant_id: str, subject_id: str) -> None:
    """Ends at once."""


def forget_some(jobs: Jobs) -> None:
    runtime._READ_AT_ONCE = 10
    for number in range(25):
        for tenant_id in ("a", "b"):
            with SetWorkflowID(f"{number}-{tenant_id}"):
                of_account(tenant_id, str(number))
    said: list[str] = []
    sa.event.listen(jobs._engine, "before_cursor_execute", lambda _c, _u, statement, *_: said.append(statement))
    jobs.forget([])
    note(f"for nothing {len(said)} statements")
    jobs.forget(["1-a", "2-a", "never-a"])
    note(f"by ids {sum('SELECT' in each for each in said)} read")
    list_workflows, others = DBOS.list_workflows, [f"{number}-b" for number in range(25)]

    def end_others(**wanted: Any) -> Any:
        found = list_workflows(**wanted)
        DBOS.delete_workflows(others)
        return found

    DBOS.list_workflows = end_others  # type: ignore[method-assign]
    note(f"forgot {jobs.forget_account('a')}")
    DBOS.list_workflows = list_workflows  # type: ignore[method-assign]
    note(f"left {len(DBOS.list_workflows())}")


def idle(jobs: Jobs) -> None:
    statements: list[str] = []
    sa.event.listen(jobs._engine, "before_cursor_execute", lambda _c, _u, statement, *_: statements.append(statement))
    time.sleep(1)
    note(f"statements {len(statements)}")


def lose_a_claim(jobs: Jobs) -> None:
    system = jobs._dbos._sys_db
    claim, lost = system.start_queued_workflows, False

    def claim_and_lose(*args: Any, **values: Any) -> Any:
        nonlocal lost
        claimed = claim(*args, **values)
        if claimed[0] and not lost:
            lost = True
            note("lost a claim")
            raise ConnectionError("the database went away")
        return claimed

    system.start_queued_workflows = claim_and_lose  # type: ignore[method-assign]


def take_over_late(jobs: Jobs) -> None:
    holding, times_late = jobs._listener.hold_silent, 0

    def hold_late(connection: Connection) -> list[str]:
        nonlocal times_late
        times_late += 1
        heartbeats.forget(connection, ["gone"])
        return holding(connection)

    jobs._listener.hold_silent = hold_late  # type: ignore[method-assign]
    while not times_late:  # the others look too, and may in truth be faster
        with jobs._database.write() as connection:
            heartbeats.beat(connection, "gone", [], None)
            heartbeats.say_farewell(connection, "gone")
        jobs._take_over()
    jobs._listener.hold_silent = holding  # type: ignore[method-assign]
    note("came late")


def main() -> None:
    settings = Settings(
        data_dir=FOLDER / NAME,
        database_url=f"sqlite:///{FOLDER / 'main.sqlite3'}",
        jobs_database_url=f"sqlite:///{FOLDER / 'jobs.sqlite3'}",
        heartbeat_s=0.2,
        takeover_after_s=1.5,
        sweep_s=2.0,
        _env_file=None,  # type: ignore[call-arg]
    )
    takes = () if sys.argv[3] == "accept" else WORK
    newer = [NEWER] if "newer" in sys.argv[3] else []
    jobs = Jobs(settings, Database(settings), [QueuePlan("jobs", 4), *OTHERS, *newer], takes=takes)
    job_claims.LOST_AFTER_S = 1.0
    if "house" in sys.argv[3]:
        jobs.add_sweep(sweep_for_all, of_all=True)
    jobs.launch()
    if sys.argv[3] == "lose":
        lose_a_claim(jobs)
    if sys.argv[3] in ("enqueue", "accept", "enqueue-newer", "lose"):
        queue = NEWER.name if newer else "jobs"
        jobs.enqueue(queue, sys.argv[4], two_steps, sys.argv[4])
        jobs.enqueue(queue, sys.argv[4], two_steps, sys.argv[4])
    if sys.argv[3] == "full":
        fill_disk(jobs)
        jobs.enqueue("jobs", sys.argv[4], too_much, sys.argv[4])
        is_disk_full.wait()
        try:
            jobs.enqueue("jobs", "another", too_much, "x" * 100_000)
        except Unavailable:
            note("is told that there is no room")
    if sys.argv[3] == "forget":
        forget(jobs)
    if sys.argv[3] == "forget-some":
        forget_some(jobs)
    if sys.argv[3] == "idle":
        idle(jobs)
    if sys.argv[3] == "late":
        take_over_late(jobs)
    note("ready")
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
