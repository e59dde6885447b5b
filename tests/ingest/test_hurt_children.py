"""Calls whose child dies at each try, hangs, or runs out of memory: they end in error, and others are served."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ingest import calls
from store import transcriptions
from store.blobs import Blobs
from store.database import now
from store.ids import new_id
from store.transcriptions import Task
from tests.ingest.test_fairness import LONG_MINUTES, decoding, processor_ticks, silence, task_of, upload, wait_for
from tests.support.audio import call_clip
from tests.support.metrics import counted
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.models

CHILD_TIMEOUT_S = 45
ATTEMPTS = 3
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path_factory.mktemp("hurt"),
        sweep_s="1",
        asr_model="whisper-base",
        child_timeout_s=str(CHILD_TIMEOUT_S),
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def account(own_server: RunningServer) -> Account:
    return own_server.new_client(f"client {new_id()}")


def when_at_work(account: Account, task_id: str, act: Callable[[int], None]) -> None:
    """Does something to the child that works for the task, as soon as it computes."""
    server = account.server
    before = processor_ticks(server)
    busy: list[int] = []

    def found(_: Task) -> bool:
        busy[:] = [pid for pid, ticks in processor_ticks(server).items() if ticks > before.get(pid, 0) + 10]
        return bool(busy)

    wait_for(account, task_id, found)
    for pid in busy:
        with suppress(ProcessLookupError):
            act(pid)


def assert_failed(account: Account, record: dict[str, Any]) -> None:
    assert record["transcription_status"] == "error", record
    assert record["transcription_error_message"].endswith(".")
    assert "Traceback" not in record["transcription_error_message"]
    assert account.debits() == []
    assert account.balance()["held_rub"] == "0.00"
    assert not (account.server.data_dir / "work" / record["id"]).exists()


def assert_serves(account: Account) -> None:
    record = account.finished_task(upload(account, call_clip("01", 0, 3)))
    assert record["transcription_status"] == "success", (
        record["transcription_error_message"],
        account.server.log()[-3000:],
    )


def test_a_call_that_kills_its_child_at_every_try_ends_in_error_and_others_are_served(account: Account) -> None:
    failed = {"kind": "call", "outcome": "error"}
    before = counted(account.server, "parley_work_ended_total", **failed)
    task_id = upload(account, silence(LONG_MINUTES))
    for _ in range(ATTEMPTS):
        wait_for(account, task_id, decoding)
        when_at_work(account, task_id, lambda pid: os.kill(pid, signal.SIGKILL))
    assert_failed(account, account.finished_task(task_id))
    assert counted(account.server, "parley_work_ended_total", **failed) == before + 1
    assert_serves(account)


@pytest.mark.soak
def test_a_call_whose_child_hangs_ends_in_error_and_others_are_served(account: Account) -> None:
    task_id = upload(account, silence(LONG_MINUTES))
    when_at_work(account, task_id, lambda pid: os.kill(pid, signal.SIGSTOP))
    assert_serves(account.server.new_client(f"other {new_id()}"))
    assert_failed(account, account.finished_task(task_id))


def test_a_call_that_needs_more_memory_than_there_is_leaves_the_next_one_unharmed(account: Account) -> None:
    def leave_little(pid: int) -> None:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + 8 * MIB
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))

    task_id = upload(account, silence(LONG_MINUTES))
    when_at_work(account, task_id, leave_little)
    following = upload(account, call_clip("01", 0, 3), channel_speakers="true")
    assert account.finished_task(task_id)["transcription_status"] in ("success", "error")
    assert account.finished_task(following)["transcription_status"] in ("success", "error")
    assert_serves(account)


def test_jobs_that_an_earlier_release_put_into_its_queue_are_done(own_server: RunningServer, account: Account) -> None:
    """They name no partition: in the queue of today they would wait for ever."""
    from dbos import DBOSClient, DBOSPortableJSONSerializer

    own_server.stop()
    task_id = new_id()
    key = f"{account.tenant_id}/audio/{task_id}"
    Blobs(own_server.settings).put(key, call_clip("01", 0, 3))
    parameters = {"language": "ru", "channel_speakers": True, "words": False, "sync": False}
    calls.record(
        own_server.database,
        own_server.settings,
        account.tenant_id,
        task_id=task_id,
        blob_key=key,
        file_name="call.wav",
        occured_at=now(),
        request_record_id=None,
        direction=None,
        expected_ms=3000,
        parameters=parameters,
    )
    client = DBOSClient(
        system_database_url=f"sqlite:///{own_server.data_dir.absolute() / 'jobs.sqlite3'}",
        serializer=DBOSPortableJSONSerializer(),
        application_name="parley",
    )
    client.enqueue(
        {"workflow_name": "transcribe_call", "queue_name": "calls", "workflow_id": task_id, "app_version": "1"},
        account.tenant_id,
        task_id,
    )
    client.destroy()
    own_server.start()
    assert account.finished_task(task_id)["transcription_status"] == "success"
    assert task_of(account, task_id).status not in transcriptions.UNFINISHED
    assert len(account.debits()) == 1
