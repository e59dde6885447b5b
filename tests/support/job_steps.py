"""How far the durable job of a call is, as the job runtime has it recorded: to disturb it at a chosen stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dbos import DBOSClient, error

from ingest.call_job import fetch_id
from tests.support.server import JOB_S, RunningServer


@dataclass(frozen=True)
class Stage:
    """One step of a call: how many are done before it, and how long it took undisturbed."""

    number: int
    name: str
    took_s: float


def client_of_jobs(server: RunningServer) -> DBOSClient:
    """Of the job database of a server, whether it runs or not."""
    settings = server.settings
    database_url = settings.database_direct_url or settings.effective_database_url
    url = settings.jobs_database_url or (
        database_url
        if database_url.startswith("postgresql")
        else f"sqlite:///{server.data_dir.absolute() / 'jobs.sqlite3'}"
    )
    return DBOSClient(system_database_url=url)


@contextmanager
def jobs_of(server: RunningServer) -> Iterator[DBOSClient]:
    """`client_of_jobs`, for as long as the context lasts."""
    client = client_of_jobs(server)
    try:
        yield client
    finally:
        client.destroy()


def executor_of(client: DBOSClient, job_id: str) -> str | None:
    """Who works on a job, or did last; nobody while it waits, when its record names who put it in."""
    found = client.list_workflows(workflow_ids=[job_id], load_input=False, load_output=False)
    return found[0].executor_id if found and found[0].status not in ("ENQUEUED", "DELAYED") else None


class JobSteps:
    """Reads how far the calls of a server are."""

    def __init__(self, server: RunningServer) -> None:
        self._client = client_of_jobs(server)

    def close(self) -> None:
        self._client.destroy()

    def statuses(self, task_id: str) -> set[str]:
        """Of the call's jobs."""
        found = self._client.list_workflows(workflow_ids=[fetch_id(task_id), task_id], load_input=False)
        return {status.status for status in found}

    def executor(self, task_id: str) -> str | None:
        """Who works on the call, or did last."""
        return executor_of(self._client, task_id)

    def stages(self, task_id: str) -> list[Stage]:
        """Of the steps that are done, in their order."""
        return [
            Stage(number, step["function_name"], (step["completed_at_epoch_ms"] - step["started_at_epoch_ms"]) / 1000)
            for number, step in enumerate(self._done(task_id))
        ]

    def at(self, task_id: str) -> int | None:
        """The number of the stage in which the call is, begun or next; None when it is over."""
        done = len(self._done(task_id))
        return None if self._is_over(task_id) else done

    def wait_for(self, task_id: str, stage: Stage) -> bool:
        """Returns as soon as the stage has begun; False where the call is over already."""
        deadline = time.monotonic() + JOB_S
        while (number := self.at(task_id)) is not None:
            if number >= stage.number:
                return True
            assert time.monotonic() < deadline, f"{stage} did not begin: {self._done(task_id)}"
            time.sleep(0.02)
        return False

    def _is_over(self, task_id: str) -> bool:
        jobs = self._client.list_workflows(workflow_ids=[fetch_id(task_id), task_id], load_input=False)
        # A fetch that went well is followed by the call's own job.
        return any(
            job.status in {"ERROR", "CANCELLED"} or (job.status == "SUCCESS" and job.workflow_id == task_id)
            for job in jobs
        )

    def _done(self, task_id: str) -> list[Any]:
        steps: list[Any] = []
        for job_id in (fetch_id(task_id), task_id):
            try:
                steps += self._client.list_workflow_steps(job_id, load_output=False)
            except error.DBOSException:  # not started yet, or never: an upload is not fetched
                continue
        return steps
