"""Who is served before whom, over the real server and the real engine. What is asserted is the order of ends."""

from __future__ import annotations

import io
import os
import select
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from store import transcriptions
from store.ids import new_id
from store.transcriptions import Task
from tests.support.audio import call_clip
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.models

WAIT_S = 120.0
MANY = 12
LONG_MINUTES = 40  # of silence: decoded for some seconds


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Of these tests alone: they fill its queues, and empty them before they end."""
    running = RunningServer(tmp_path_factory.mktemp("fairness"), sweep_s="1", asr_model="whisper-base")
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def new_client(own_server: RunningServer) -> Callable[[str], Account]:
    return lambda name: own_server.new_client(f"{name} {new_id()}")


def upload(account: Account, audio: bytes, **fields: str) -> str:
    """A call of one part, for the sake of speed."""
    quick = {"language": "ru", "channel_speakers": "false"}
    answer = account.upload_audio(audio, "call.wav", **{**quick, **fields})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["task_id"])


def task_of(account: Account, task_id: str) -> Task:
    with account.server.database.read() as connection:
        task = transcriptions.get(account.tenant_id, connection, task_id)
    assert task is not None
    return task


def wait_for(account: Account, task_id: str, holds: Callable[[Task], bool]) -> Task:
    deadline = time.monotonic() + WAIT_S
    while not holds(task := task_of(account, task_id)):
        assert time.monotonic() < deadline, account.server.log()[-4000:]
        assert task.status in transcriptions.UNFINISHED, task
        time.sleep(0.01)
    return task


def wait_until_at_work(account: Account, task_id: str, stage: Callable[[Task], bool]) -> None:
    """The call is at the stage, and a child computes."""
    wait_for(account, task_id, stage)
    before = sum(processor_ticks(account.server).values())
    wait_for(account, task_id, lambda _: sum(processor_ticks(account.server).values()) > before + 20)


def processor_ticks(server: RunningServer) -> dict[int, int]:
    """Hundredths of a second that each of the server's children computed, by process id."""
    ticks = {}
    for pid in server.child_ids():
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks[pid] = int(fields[11]) + int(fields[12])
    return ticks


def how_many_ended_before(account: Account, task_ids: list[str], other: Task) -> int:
    """Only of calls that go on: what has not ended yet ended later."""
    tasks = [task_of(account, task_id) for task_id in task_ids]
    assert {task.error_message for task in tasks} == {None}
    return sum(task.status == "success" and task.updated_at < other.updated_at for task in tasks)


def silence(minutes: int) -> bytes:
    """A wav file at 8 kHz: small for its length, quickly made, and long in decoding."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x80" * (8000 * 60 * minutes))
    return out.getvalue()


def cancel(account: Account, task_id: str) -> dict[str, Any]:
    answer = account.request("DELETE", f"/v1/audio/transcriptions/tasks/{task_id}")
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    assert (record["transcription_status"], record["transcription_error_message"]) == ("error", "cancelled")
    return record


def call_off(account: Account, task_ids: list[str]) -> None:
    """Cancels what has not ended, so that the next test finds the server free."""
    for task_id in task_ids:
        account.request("DELETE", f"/v1/audio/transcriptions/tasks/{task_id}")


def assert_nothing_left(account: Account, task_id: str) -> None:
    assert account.debits() == []
    assert account.balance()["held_rub"] == "0.00"
    deadline = time.monotonic() + WAIT_S
    while (account.server.data_dir / "work" / task_id).exists():
        assert time.monotonic() < deadline, "the work folder stayed"
        time.sleep(0.05)


class Watched:
    """The server's children of this moment: whether they end."""

    def __init__(self, server: RunningServer) -> None:
        self._handles = [os.pidfd_open(pid) for pid in server.child_ids()]

    def ended(self, at_least: int) -> bool:
        deadline = time.monotonic() + WAIT_S
        try:
            while time.monotonic() < deadline:
                if len(select.select(self._handles, [], [], 1)[0]) >= at_least:
                    return True
            return False
        finally:
            for handle in self._handles:
                os.close(handle)


def test_many_calls_of_one_client_do_not_starve_the_one_of_another(new_client: Callable[[str], Account]) -> None:
    greedy, modest = new_client("greedy"), new_client("modest")
    clip = call_clip("01", 0, 3)
    many = [upload(greedy, clip) for _ in range(MANY)]
    one = upload(modest, clip)
    done_before = how_many_ended_before(greedy, many, task_of(modest, one))
    assert modest.finished_task(one)["transcription_status"] == "success"
    done = how_many_ended_before(greedy, many, task_of(modest, one))
    # What was in work when it came, and one in turn with it: not the queue.
    assert done - done_before <= 4 < MANY - done_before
    call_off(greedy, many)


def test_a_sync_request_is_answered_before_the_queue_of_its_own_and_other_clients_is_through(
    new_client: Callable[[str], Account],
) -> None:
    busy, other = new_client("busy"), new_client("other")
    clip = call_clip("01", 0, 6)
    queued = [(account, [upload(account, clip) for _ in range(MANY // 2)]) for account in (busy, other)]
    wait_for(busy, queued[0][1][0], lambda task: task.status != "pending")
    answer = busy.upload_audio(call_clip("01", 0, 3), mode="sync", language="ru", channel_speakers="false")
    assert answer.status_code == 200, answer.text
    answered = task_of(busy, answer.headers["X-Task-Id"])
    assert sum(how_many_ended_before(account, task_ids, answered) for account, task_ids in queued) < MANY // 2
    for account, task_ids in queued:
        call_off(account, task_ids)


def recognising(task: Task) -> bool:
    return 0.05 <= task.progress < 0.9


def decoding(task: Task) -> bool:
    return task.status == "processing" and task.progress < 0.05


@pytest.mark.parametrize(("audio", "stage"), [("long", decoding), ("speech", recognising)])
def test_a_cancel_stops_the_child_at_once_and_frees_the_place(
    own_server: RunningServer, new_client: Callable[[str], Account], audio: str, stage: Callable[[Task], bool]
) -> None:
    account, other = new_client("client"), new_client("other")
    task_id = upload(account, silence(LONG_MINUTES) if audio == "long" else call_clip("01", 0, 40))
    wait_until_at_work(account, task_id, stage)
    watched = Watched(own_server)
    record = cancel(account, task_id)
    assert watched.ended(at_least=1), "the child went on"
    next_id = upload(other, call_clip("01", 0, 3))
    assert other.finished_task(next_id)["transcription_status"] == "success"
    assert account.finished_task(task_id) == record
    assert cancel(account, task_id) == record
    assert_nothing_left(account, task_id)


def test_a_cancelled_call_that_waits_is_never_begun(new_client: Callable[[str], Account]) -> None:
    account = new_client("client")
    clip = call_clip("01", 0, 3)
    task_ids = [upload(account, clip) for _ in range(4)]
    record = cancel(account, task_ids[-1])
    assert record["progress"] == 0
    for task_id in task_ids[:-1]:
        assert account.finished_task(task_id)["transcription_status"] == "success"
    # It stood before this one in the queue.
    after = upload(account, clip)
    assert account.finished_task(after)["transcription_status"] == "success"
    assert account.finished_task(task_ids[-1]) == record
    assert len(account.debits()) == 4


def test_cancels_of_one_client_while_the_other_is_served_harm_nobody(new_client: Callable[[str], Account]) -> None:
    """Each cancel may kill the one child that serves both."""
    fickle, steady = new_client("fickle"), new_client("steady")
    steady_id = upload(steady, call_clip("01", 0, 20), channel_speakers="true")
    for _ in range(3):
        task_id = upload(fickle, call_clip("01", 0, 10))
        wait_for(fickle, task_id, lambda task: task.status == "processing")
        cancel(fickle, task_id)
    assert steady.finished_task(steady_id)["transcription_status"] == "success"
    assert len(steady.debits()) == 1
    assert fickle.debits() == []
