"""The durable job of a call over a real server: killed in the middle, stopped in the middle, started late."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from ingest import calls
from store.blobs import Blobs
from store.database import now
from store.ids import new_id
from tests.support.announced import noted, pass_a_day
from tests.support.audio import call_clip
from tests.support.calls import wait_until
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.models

WAIT_S = 120.0
CLIP_S = 45  # of a call with two channels: recognised in more than one piece


@pytest.fixture(scope="module")
def started_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("calls"), sweep_s="1", mcp_requests_per_minute="100000")
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def own_server(started_server: RunningServer) -> RunningServer:
    """Of these tests alone, and running, whatever the test before this one did to it."""
    if started_server.process is None or started_server.process.poll() is not None:
        started_server.start()
    return started_server


@pytest.fixture
def account(own_server: RunningServer) -> Account:
    return own_server.new_client(f"client {new_id()}")


def wait_until_recognising(account: Account, task_id: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        record = account.get(f"/v1/audio/transcriptions/tasks/{task_id}").json()
        assert record["transcription_status"] in ("pending", "processing"), "the call ended before it was disturbed"
        if record["progress"] >= 0.05:
            return
        time.sleep(0.05)
    raise AssertionError("recognition did not begin")


def assert_there_once(account: Account, communication_id: str, record: dict[str, object]) -> None:
    """One timeline, equal to the result; every passage of it once in the index."""
    result = record["transcription_result_body"]
    assert isinstance(result, dict)
    details = account.get(f"/public/v1/communications?id={communication_id}").json()
    assert [item["text"] for item in details["content"]] == [segment["text"] for segment in result["segments"]]
    assert len({(item["label"], item["start_ms"]) for item in details["content"]}) == len(details["content"])
    listed = account.call_tool("search_communications")["result"]["content"][0]["text"]
    assert listed.count(f'"id":"{communication_id}"') == 1
    assert [item["source_ref"] for item in account.debits()] == [communication_id]
    assert account.balance()["held_rub"] == "0.00"


@pytest.mark.proves("speech.task.survives-worker", "speech.task.never-charged-twice")
@pytest.mark.parametrize("end", [pytest.param("kill", marks=pytest.mark.soak), "stop"])
def test_a_call_whose_server_ends_while_it_is_recognised_is_finished_once_after_the_next_start(
    own_server: RunningServer, account: Account, end: str
) -> None:
    accepted = account.upload_audio(call_clip("01", 0, CLIP_S), "call.wav", language="ru").json()
    wait_until_recognising(account, accepted["task_id"])
    getattr(own_server, end)()
    own_server.start()
    record = account.finished_task(accepted["task_id"])
    assert record["transcription_status"] == "success", record
    assert_there_once(account, accepted["communication_id"], record)


def test_a_call_whose_engine_is_killed_is_recognised_all_the_same(own_server: RunningServer, account: Account) -> None:
    accepted = account.upload_audio(call_clip("01", 0, CLIP_S), "call.wav", language="ru").json()
    wait_until_recognising(account, accepted["task_id"])
    assert own_server.process is not None
    killed = own_server.kill_children()
    assert killed, "there was no child to kill"
    record = account.finished_task(accepted["task_id"])
    assert record["transcription_status"] == "success", record
    assert_there_once(account, accepted["communication_id"], record)


def test_a_call_that_was_recorded_and_never_started_is_found_by_the_sweeper(
    own_server: RunningServer, account: Account
) -> None:
    task_id = new_id()
    key = f"{account.tenant_id}/audio/{task_id}"
    Blobs(own_server.settings).put(key, call_clip("01", 0, 12))
    task = calls.record(
        own_server.database,
        own_server.settings,
        account.tenant_id,
        task_id=task_id,
        blob_key=key,
        file_name="call.wav",
        occured_at=now(),
        request_record_id=None,
        direction=None,
        expected_ms=12_000,
        parameters={"language": "ru", "channel_speakers": True, "words": False, "sync": False},
    )
    record = account.finished_task(task.id)
    assert record["transcription_status"] == "success", record


def test_an_upload_that_a_kill_kept_from_its_row_leaves_nothing(own_server: RunningServer, account: Account) -> None:
    head = (
        f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {account.made.api_key}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n"
        '--b\r\nContent-Disposition: form-data; name="file"; filename="call.wav"\r\n\r\nRIFF'
    )
    with socket.create_connection(("127.0.0.1", own_server.port)) as connection:
        connection.sendall(head.encode())
        wait_until(lambda: bool(noted(own_server.database)))
        own_server.kill()
    (key,) = noted(own_server.database)
    # As if all of it had come before the kill.
    blobs = Blobs(own_server.settings)
    blobs.put(key, call_clip("01", 0, 1))
    pass_a_day(own_server.database)
    own_server.start()
    wait_until(lambda: noted(own_server.database) == set())
    assert not blobs.exists(key)

    accepted = account.upload_audio(call_clip("01", 0, 1), "call.wav", language="ru").json()
    assert noted(own_server.database) == set()
    assert account.finished_task(accepted["task_id"])["transcription_status"] == "success"
