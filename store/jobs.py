"""Durable jobs on DBOS: queues, stable executor ids, takeover of the dead, and the sweeper.

A job's workflow id is the id of its row, so starting it twice is harmless. A step that was finished is not run
again after a crash; the one in flight is, so every effect is keyed.
"""

from __future__ import annotations

import fcntl
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext, suppress
from contextvars import Context
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any

import structlog
from dbos import (
    DBOS,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    PropagateOtelContext,
    SetEnqueueOptions,
    SetWorkflowID,
)
from dbos._error import DBOSMaxStepRetriesExceeded, DBOSUnexpectedStepError  # neither has a public name
from dbos._migration import should_migrate  # nor has this

from store import heartbeats, housekeeping, meters, traces
from store.database import Database, answering, now
from store.engines import make_engine
from store.errors import ParleyError, Unavailable
from store.files import kept_bytes
from store.heartbeats import Listener, Worker, live_workers
from store.job_claims import LostClaims
from store.job_delays import go_by_the_common_clock, told_to_dbos
from store.job_outages import outlast_a_full_disk
from store.job_polling import Polling
from store.job_records import JobRecords, Unfinished
from store.settings import WORK, Settings, Work

log = structlog.get_logger(__name__)

# Pinned: with DBOS's default, a hash of the workflows' code, any release would strand the jobs in flight. Where a
# release has other steps than the one that began a job, the job begins again; so a step whose result changes its form
# gets another name.
APPLICATION_VERSION = "1"

workflow = DBOS.workflow
step = DBOS.step
StepGaveUp = DBOSMaxStepRetriesExceeded
"""Raised in a workflow whose step failed as often as it may be tried."""
StepsChanged = DBOSUnexpectedStepError
"""Raised in a workflow that a release with other steps began. One that catches every error lets this one pass: the job
begins again then."""

_TIMES_LONGER = 5
FORGET_AFTER_S = 3600.0
_FORGOTTEN_AT_ONCE = 200
_READ_AT_ONCE = 1000
_FORGOTTEN_A_SWEEP = 5000
_BEATS_MISSED = 2  # so many of our own, and we cannot say that others are silent
_SWEEPS_MISSED = 3  # of who keeps house, and another does
ENDED_BADLY = ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """A queue and how many of its jobs one process works on at the same time; in a partitioned one also, how many of
    one partition. Where nobody waits for its jobs to begin, it is looked into less often."""

    name: str
    places: int
    places_per_partition: int | None = None
    is_urgent: bool = True
    work: Work = "errands"


class Jobs:
    """The job runtime of one process. Made once: DBOS keeps its registry for the whole process."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        queues: Iterable[QueuePlan],
        *,
        takes: Collection[Work] = WORK,
        has_gpu: bool = False,
        index_name: str | None = None,
        can_work: Callable[[], bool] = lambda: True,
    ) -> None:
        """`takes`: which work this process does; none for one that only accepts it. `has_gpu` and `index_name` are told
        to others. `can_work`: while it says no, this process is as silent as a dead one, and others do its jobs, which
        it would fail."""
        self._settings = settings
        self._database = database
        self._sweeps: list[Callable[[], object]] = []
        self._sweeps_of_all: list[Callable[[], object]] = []
        self._left_until_s = float("-inf")
        self._beat_s = time.monotonic()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._slot: IO[str] | None = None
        self.executor_id = settings.executor_id or self._claim_executor_id()
        self._listener = Listener(
            self.executor_id, after_s=settings.takeover_after_s, looks_every_s=settings.heartbeat_s
        )
        self._takes = tuple(work for work in WORK if work in takes)
        self._index_name = index_name
        self._can_work = can_work
        self._told = (*self._takes, heartbeats.GPU) if has_gpu and self._takes else self._takes
        config: DBOSConfig = {
            "name": "parley",
            "executor_id": self.executor_id,
            "application_version": APPLICATION_VERSION,
            "serializer": DBOSPortableJSONSerializer(),
            "enable_otlp": traces.are_on(),  # a span of each job and step, part of the trace of who accepted it
            "otel_attribute_format": "semconv",
            "log_level": "ERROR",
            "console_log_level": "ERROR",
        }
        url = settings.jobs_database_url or self._default_url()
        config["system_database_url"] = url
        pooled = database.is_pooled and not settings.jobs_database_url
        self._engine = make_engine(
            url, synchronous="NORMAL", connections=settings.jobs_database_pool, of_jobs=True, pooled=pooled
        )
        if pooled:
            config["use_listen_notify"] = False  # a session listens; nothing here waits for what it would hear
            if should_migrate(self._engine, "dbos", False):
                DBOS.migrate(database.direct_url)  # under a session's lock
        config["system_database_engine"] = self._engine
        self._dbos = DBOS(config=config)
        self._queues = tuple(queues)
        self._queue_names = [plan.name for plan in self._queues]
        for name in self._queue_names:
            meters.TAKEN_OVER.labels(name)  # 0 from the beginning (`store.meters`)
        self._records = JobRecords(self._engine)
        self._lost_claims = LostClaims(looks_every_s=settings.heartbeat_s)
        self._polling: Polling | None = None

    def _default_url(self) -> str:
        if self._database.is_sqlite:
            return f"sqlite:///{self._settings.data_dir.absolute() / 'jobs.sqlite3'}"
        return self._settings.effective_database_url

    def _claim_executor_id(self) -> str:
        """The first free slot of this host and data folder: stable over restarts, never shared by two processes."""
        folder = self._settings.data_dir.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        # Of the folder itself, not of its path: containers may well share host name and path.
        place = kept_bytes(folder / "worker.id", 4).hex()
        for number in range(1, 1000):
            slot = (folder / f"worker-{number}.lock").open("a")
            try:
                fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                slot.close()
                continue
            self._slot = slot
            return f"{socket.gethostname()}-{place}-{number}"
        raise Unavailable("no free worker slot in the data folder")

    @property
    def takes(self) -> tuple[Work, ...]:
        """The work that this process does."""
        return self._takes

    def live(self) -> list[Worker]:
        """The workers on this database whose heartbeat is fresh."""
        with self._database.read() as connection:
            return live_workers(connection, fresh_for_s=self._settings.takeover_after_s)

    def others(self) -> list[str]:
        """Other workers on the same database whose heartbeat is fresh."""
        return [each.executor_id for each in self.live() if each.executor_id != self.executor_id]

    def add_sweep(self, sweep: Callable[[], object], *, of_all: bool = False) -> None:
        """`sweep`, a function or method, is called every `sweep_s`: it starts or ends what a crash left behind. One
        `of_all` does so for the whole installation, and is called in one of its workers at a time; where it raises or
        returns False another worker is let try, which may reach what this one does not."""
        (self._sweeps_of_all if of_all else self._sweeps).append(sweep)

    def launch(self) -> None:
        """Recovers this executor's jobs and begins to work on the queues."""
        self._beat()
        go_by_the_common_clock()
        outlast_a_full_disk()
        DBOS.listen_queues([queue.name for queue in self._queues if queue.work in self._takes])
        DBOS.launch()
        for plan in self._queues:
            DBOS.register_queue(
                plan.name,
                worker_concurrency=plan.places,
                partition_worker_concurrency=plan.places_per_partition,
                polling_interval_sec=self._settings.job_poll_s * (1 if plan.is_urgent else _TIMES_LONGER),
                # Who works says how much; who only puts jobs in may be set otherwise.
                on_conflict="always_update" if self._takes else "never_update",
            )
        self._every(self._settings.heartbeat_s, self._beat, "heartbeat")
        if self._takes:
            taken = [plan.name for plan in self._queues if plan.work in self._takes]

            def waiting() -> Collection[str]:
                return self._records.waiting(taken) if self._can_work() else ()

            self._polling = Polling(self._dbos._sys_db, waiting, taken, self._settings.job_poll_s / 2)
            self._every(self._settings.heartbeat_s, self._rescue, "takeover")
            self._every(self._settings.takeover_after_s, self._expect_unheard, "unheard")
            self.add_sweep(self._begin_changed_again)
            self.add_sweep(self._forget_ended, of_all=True)
        self._every(self._settings.sweep_s, self._sweep, "sweeper")

    @property
    def is_closing(self) -> bool:
        """Long waits in job steps look at it: the server stops."""
        return self._stop.is_set()

    def close(self) -> None:
        """Lets go without waiting for jobs: what is unfinished goes on at the next start, or with another worker after
        `fall_silent`."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=2)
        DBOS.destroy(workflow_completion_timeout_sec=0)
        self._engine.dispose()
        if self._slot is not None:
            self._slot.close()

    def enqueue(
        self,
        queue: str,
        workflow_id: str,
        function: Callable[..., Any],
        *arguments: Any,
        delay_s: float | None = None,
        partition: str | None = None,
    ) -> None:
        """Starts a job; under an id that is known already it does nothing. A job that is delayed holds no place.

        Every job of a partitioned queue names its partition, and none of another queue does. Raises Unavailable where
        the database of jobs does not answer.
        """
        partitioned = next(plan.places_per_partition is not None for plan in self._queues if plan.name == queue)
        assert partitioned == (partition is not None), "else the job would never be taken"

        trace = PropagateOtelContext(traces.current()) if traces.are_on() else nullcontext()

        def enqueue_now() -> None:
            delay_seconds = None if delay_s is None else told_to_dbos(delay_s)
            options = SetEnqueueOptions(queue_partition_key=partition, delay_seconds=delay_seconds)
            with answering(), SetWorkflowID(workflow_id), options, trace:
                DBOS.enqueue_workflow(queue, function, *arguments)

        # DBOS lets no step start a job. Its id makes it harmless when the step runs again, so the step is hidden from
        # DBOS: nothing of the calling thread's context goes along.
        Context().run(enqueue_now)
        if self._polling is not None:
            self._polling.look()

    def statuses(self, workflow_ids: list[str]) -> dict[str, str]:
        """DBOS's status of each workflow that is known."""
        if not workflow_ids:  # DBOS takes an empty list for any workflow
            return {}
        found = self._statuses(workflow_ids)
        if badly := [each for each, status in found.items() if status in ENDED_BADLY]:
            # Else whoever asks takes them for ended. Before the look, it would pass over what ends in between.
            self._begin_changed_again()
            found |= self._statuses(badly)
        return found

    def _statuses(self, workflow_ids: list[str]) -> dict[str, str]:
        found = DBOS.list_workflows(workflow_ids=workflow_ids, load_input=False, load_output=False)
        return {status.workflow_id: status.status for status in found}

    def unfinished(self) -> list[Unfinished]:
        """The jobs of each queue that have not ended. Raises what the database raises."""
        return self._records.unfinished(self._queue_names)

    def forget_account(self, tenant_id: str) -> int:
        """`forget`, for the jobs of an account, with which the arguments of each begin. How many there were. It reads
        every record there is."""
        found: list[str] = []
        # By their ids, so that what comes or goes meanwhile has none passed over.
        after = ""
        while ids := self._records.list_ids(after=after, limit=_READ_AT_ONCE):
            page = DBOS.list_workflows(workflow_ids=ids, load_output=False)
            found += [each.workflow_id for each in page if _is_of(each.input, tenant_id)]
            after = ids[-1]
        self.forget(found)
        return len(found)

    def forget(self, workflow_ids: Sequence[str]) -> None:
        """Ends jobs and deletes what is recorded of them, texts included; those that are not known do no harm."""
        for start in range(0, len(workflow_ids), _FORGOTTEN_AT_ONCE):
            some = list(workflow_ids[start : start + _FORGOTTEN_AT_ONCE])
            DBOS.cancel_workflows(some)
            DBOS.delete_workflows(some)

    def ready(self) -> bool:
        """True while the heartbeat of this process is fresh."""
        return self.executor_id in (each.executor_id for each in self.live())

    def _every(self, seconds: float, function: Callable[[], None], name: str) -> None:
        def loop() -> None:
            while not self._stop.wait(seconds):
                try:
                    function()
                # A database that is away for a moment must not end the heartbeat for good.
                except Exception:
                    log.exception("housekeeping failed", task=name)
                    meters.HOUSEKEEPING_FAILED.labels(name).inc()

        meters.HOUSEKEEPING_FAILED.labels(name)  # 0 from the beginning (`store.meters`)
        thread = threading.Thread(target=loop, name=f"jobs-{name}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _beat(self) -> None:
        can_work = self._can_work()
        with self._database.write(durable=False) as connection:
            if self._stop.is_set():  # one that was late would undo `fall_silent`
                return
            if not can_work:
                heartbeats.say_farewell(connection, self.executor_id)
                return
            heartbeats.beat(connection, self.executor_id, self._told, self._index_name)
        self._beat_s = time.monotonic()

    def fall_silent(self) -> None:
        """The last of a process, when nothing of it works any more: another may take up its jobs at once."""
        # Where the database is away, they wait until the others miss its heartbeat.
        with suppress(ParleyError), self._database.write(durable=False) as connection:
            heartbeats.say_farewell(connection, self.executor_id)
            housekeeping.let_go(connection, self.executor_id)

    def _rescue(self) -> None:
        self._take_over()
        self._put_back_lost()

    def _put_back_lost(self) -> None:
        """Puts the jobs back into their queues that this process has claimed and does not work on."""
        claims = self._records.claimed_by(self.executor_id, self._queue_names)
        at_work = set(self._dbos._active_workflows_set.activeList())  # after the claims; it has no public name
        for claim in self._lost_claims.look(claims, at_work):
            if self._records.put_back(self.executor_id, claim):
                log.warning("a job that was claimed and not begun waits again", job=claim.job_id)
                if self._polling is not None:
                    self._polling.look()

    def _expect_unheard(self) -> None:
        """One that was taken for dead, came back, and died before it could say that it lives has jobs and no row of
        its own: else nobody would miss it."""
        at_work = self._records.at_work(self._queue_names)
        with self._database.read() as connection:
            unheard = heartbeats.unheard(connection, at_work)
        for executor_id in unheard:
            with self._database.write(durable=False) as connection:
                heartbeats.expect(connection, executor_id)

    def _take_over(self) -> None:
        """Puts the pending jobs of workers that fell silent back into their queues. One taker at a time has a worker's
        row, and a worker that comes back waits for it with its first beat: else a job could be put back that another
        has begun meanwhile."""
        with self._database.read() as connection:
            can_beat = time.monotonic() - self._beat_s < _BEATS_MISSED * self._settings.heartbeat_s
            if not self._listener.silent(connection, can_beat=can_beat):
                return
        with self._database.write(durable=False) as connection:
            gone = self._listener.hold_silent(connection)
            if not gone:  # another takes them over; and DBOS takes an empty list for any worker
                return
            pending = DBOS.list_workflows(status="PENDING", executor_id=gone, load_input=False, load_output=False)
            # Each into its own queue, which may be one that a newer release has and this one does not know.
            by_queue: defaultdict[str, list[str]] = defaultdict(list)
            for status in pending:
                if status.queue_name is not None:
                    by_queue[status.queue_name].append(status.workflow_id)
            for queue, ids in by_queue.items():
                log.warning("taking over jobs of silent workers", queue=queue, jobs=len(ids), workers=gone)
                DBOS.resume_workflows(ids, queue_name=queue)
                meters.TAKEN_OVER.labels(queue).inc(len(ids))
            heartbeats.forget(connection, gone)

    def _sweep(self) -> None:
        for sweep in self._sweeps:
            self._try(sweep)
        if self._keeps_house():
            ended_well = [self._try(sweep) for sweep in self._sweeps_of_all]
            if not all(ended_well):
                self._leave_house_to_others()

    def _try(self, sweep: Callable[[], object]) -> bool:
        """False where it says so, or fails."""
        if self._stop.is_set():
            return True
        try:
            return sweep() is not False
        # One that fails, for whatever reason, must not keep the others from their work.
        except Exception:
            function = getattr(sweep, "func", sweep)  # of a partial one
            name = f"{function.__module__}.{function.__qualname__}"
            log.exception("a sweep failed", sweep=name)
            meters.HOUSEKEEPING_FAILED.labels(name).inc()
            return False

    def _keeps_house(self) -> bool:
        if not self._sweeps_of_all or not self._can_work() or time.monotonic() < self._left_until_s:
            return False
        try:
            with self._database.write(durable=False) as connection:
                return housekeeping.take(connection, self.executor_id, for_s=_SWEEPS_MISSED * self._settings.sweep_s)
        except Unavailable:
            return True  # each sweep says then that it fails

    def _leave_house_to_others(self) -> None:
        """Where there are any that could: they have the time of two sweeps to take it."""
        with suppress(Unavailable):
            if not any(each.takes for each in self.live() if each.executor_id != self.executor_id):
                return
            with self._database.write(durable=False) as connection:
                housekeeping.let_go(connection, self.executor_id)
            self._left_until_s = time.monotonic() + 2 * self._settings.sweep_s

    def _begin_changed_again(self) -> None:
        if begun := self._records.begin_changed_again(self._queue_names):
            log.warning("jobs of another release begin again, since their steps are others now", jobs=begun[:100])

    def _forget_ended(self) -> None:
        """Deletes the records of jobs that ended a while ago: they hold texts that live elsewhere too. In batches, so
        that no transaction is long, and as many as keep up with a busy day."""
        before = (now() - timedelta(seconds=FORGET_AFTER_S)).isoformat()
        for _ in range(_FORGOTTEN_A_SWEEP // _FORGOTTEN_AT_ONCE):
            ended = DBOS.list_workflows(
                status=["SUCCESS", *ENDED_BADLY],
                completed_before=before,
                limit=_FORGOTTEN_AT_ONCE,
                load_input=False,
                load_output=False,
            )
            if ended:
                DBOS.delete_workflows([status.workflow_id for status in ended])
            if len(ended) < _FORGOTTEN_AT_ONCE or self._stop.is_set():
                return


def _is_of(recorded: Any, tenant_id: str) -> bool:
    arguments: Sequence[Any] = (recorded or {}).get("args") or ()
    return len(arguments) > 0 and arguments[0] == tenant_id
