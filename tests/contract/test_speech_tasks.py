"""The task of an upload: polling, ETags, its states, how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from api.speech import SyncPlaces
from store import communications, transcriptions
from store.database import now
from store.errors import RateLimited
from store.transcriptions import Task
from tests.contract.conftest import HeardCalls
from tests.contract.recordings import tone, wav
from tests.support.audio import call_clip
from tests.support.calls import wait_until
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account, RunningServer

TASKS = "/v1/audio/transcriptions/tasks/"
STATUSES = ["pending", "processing", "success", "error"]
FIELDS = {
    "id",
    "communication_id",
    "transcription_status",
    "transcription_result_body",
    "transcription_error_message",
    "occured_at",
    "progress",
}
RESULT = {
    "language": "en",
    "text": "Hello",
    "audio_duration_ms": 900,
    "segments": [{"start": 0.0, "end": 0.9, "text": "Hello", "speaker": "SPEAKER_00"}],
}


@contextmanager
def stored_task(account: Account) -> Iterator[Task]:
    """A task that no worker touches: made in the future, it is never one that was left unstarted."""
    with account.server.database.write() as connection:
        call = communications.create(
            account.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="A call"
        )
        task = transcriptions.create(
            account.tenant_id,
            connection,
            communication_id=call.id,
            blob_key="none",
            file_name="call.wav",
            parameters={},
            occured_at=call.occured_at,
        )
        table = transcriptions.transcription_tasks
        connection.execute(
            table.update().where(table.c.id == task.id).values(created_at=task.created_at + timedelta(hours=1))
        )
    try:
        yield task
    finally:
        change(account, task, status="error", error_message="given up")


def change(account: Account, task: Task, **values: Any) -> bool:
    """What a worker writes; False when the task had ended."""
    with account.server.database.write() as connection:
        return transcriptions.update(account.tenant_id, connection, task.id, **values)


def poll(account: Account, task_id: str, etag: str | None = None) -> httpx2.Response:
    return account.get(TASKS + task_id, headers={"If-None-Match": etag} if etag is not None else {})


@pytest.mark.proves(
    "speech.poll.record",
    "speech.poll.etag",
    "speech.poll.cache-control",
    "speech.poll.cache-control-value",
    "speech.task.id",
    "speech.task.communication-id",
    "speech.task.occured-at",
    "speech.task.progress",
)
def test_a_poll_is_answered_with_the_record(account: Account) -> None:
    with stored_task(account) as task:
        answer = poll(account, task.id)
    assert answer.status_code == 200, answer.text
    record = answer.json()
    assert set(record) == FIELDS
    assert (record["id"], record["communication_id"]) == (task.id, task.communication_id)
    assert (record["transcription_status"], record["progress"]) == ("pending", 0.0)
    assert record["transcription_result_body"] is None
    assert record["transcription_error_message"] is None
    assert abs((datetime.fromisoformat(record["occured_at"]) - task.occured_at).total_seconds()) < 0.001
    assert answer.headers["ETag"].strip('"')
    assert answer.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.proves("speech.poll.not-modified", "speech.poll.changed", "speech.poll.etag-follows-record")
def test_the_etag_follows_the_record(account: Account) -> None:
    changes: list[dict[str, Any]] = [
        {"status": "processing", "progress": 0.01},
        {"progress": 0.5},
        {"result": RESULT, "progress": 0.97},
        {"status": "success", "progress": 1.0},
    ]
    with stored_task(account) as task:
        seen = [poll(account, task.id)]
        for values in changes:
            assert change(account, task, **values)
            old = seen[-1].headers["ETag"]
            newer = poll(account, task.id, old)
            assert newer.status_code == 200
            assert newer.json() != seen[-1].json() or "result" in values
            seen.append(newer)
            etag = newer.headers["ETag"]
            for tag in (etag, f"W/{etag}", f'"other", {etag}', "*"):
                same = poll(account, task.id, tag)
                assert (same.status_code, same.content) == (304, b""), tag
                assert (same.headers["ETag"], same.headers["Cache-Control"]) == (etag, "private, no-cache")
            for tag in ('"other"', "", etag.strip('"')):
                assert poll(account, task.id, tag).status_code == 200, tag
        assert len({answer.headers["ETag"] for answer in seen}) == len(seen)


@pytest.mark.proves("speech.task.result.null-while-unfinished", "speech.task.result.same-shape")
def test_the_result_is_shown_only_when_the_task_has_finished(account: Account) -> None:
    with stored_task(account) as task:
        change(account, task, status="processing", result=RESULT, progress=0.97)
        assert poll(account, task.id).json()["transcription_result_body"] is None
        change(account, task, status="success", progress=1.0)
        assert poll(account, task.id).json()["transcription_result_body"] == RESULT


@pytest.mark.proves("speech.task.transitions")
@pytest.mark.parametrize("end", ["success", "error"])
def test_a_task_never_leaves_its_end(account: Account, end: str) -> None:
    with stored_task(account) as task:
        assert change(account, task, status=end)
        before = poll(account, task.id)
        for status in STATUSES:
            assert not change(account, task, status=status, progress=0.5, error_message="late")
        after = poll(account, task.id)
    assert after.json() == before.json()
    assert after.headers["ETag"] == before.headers["ETag"]


@pytest.mark.proves("speech.task.status.ends", "speech.task.status.values", "speech.task.error-message")
def test_a_task_that_fails_says_why(small_account: Account) -> None:
    """No speech model is installed on the small server."""
    accepted = small_account.upload_audio(wav(tone(0.5))).json()
    record = small_account.finished_task(accepted["task_id"])
    assert record["transcription_status"] == "error"
    assert "not installed" in record["transcription_error_message"]
    assert record["transcription_result_body"] is None
    details = small_account.get("/public/v1/communications", params={"id": accepted["communication_id"]}).json()
    assert details["transcription_error_message"] == record["transcription_error_message"]


@pytest.mark.proves("speech.poll.unknown-task", "speech.poll.404-code-null", "speech.poll.malformed-id")
@pytest.mark.parametrize("task_id", [UNKNOWN_ID, "1", "no-uuid", "%00", "1" * 2000, UNKNOWN_ID.replace("-", "")])
def test_an_unknown_task_is_404_without_a_code(account: Account, task_id: str) -> None:
    answer = poll(account, task_id)
    assert answer.status_code == 404, answer.text
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "code", "param"}
    assert (error["type"], error["code"]) == ("not_found_error", None)


def cancel(account: Account, task_id: str) -> httpx2.Response:
    return account.request("DELETE", TASKS + task_id)


@pytest.mark.proves("speech.task.cancel", "speech.poll.etag-follows-record")
@pytest.mark.parametrize("status", ["pending", "processing"])
def test_a_task_that_has_not_ended_is_cancelled(account: Account, status: str) -> None:
    with stored_task(account) as task:
        change(account, task, status=status, progress=0.3)
        before = poll(account, task.id)
        answer = cancel(account, task.id)
        assert answer.status_code == 200, answer.text
        record = answer.json()
        assert set(record) == FIELDS
        assert (record["transcription_status"], record["transcription_error_message"]) == ("error", "cancelled")
        assert record["transcription_result_body"] is None
        after = poll(account, task.id)
        assert (after.json(), after.headers["ETag"]) == (record, answer.headers["ETag"])
        assert after.headers["ETag"] != before.headers["ETag"]
        again = cancel(account, task.id)
        assert (again.status_code, again.json()) == (200, record)
        details = account.get("/public/v1/communications", params={"id": task.communication_id}).json()
        assert (details["transcription_status"], details["content"]) == ("error", None)


@pytest.mark.proves("speech.task.cancel.finished-stays")
@pytest.mark.parametrize(("status", "message"), [("success", None), ("error", "No sound in it.")])
def test_a_task_that_has_ended_stays_as_it_is(account: Account, status: str, message: str | None) -> None:
    with stored_task(account) as task:
        result = RESULT if status == "success" else None
        change(account, task, status=status, error_message=message, result=result, progress=1.0)
        before = poll(account, task.id)
        answer = cancel(account, task.id)
        assert (answer.status_code, answer.json()) == (200, before.json())
        assert poll(account, task.id).headers["ETag"] == before.headers["ETag"] == answer.headers["ETag"]


@pytest.mark.parametrize("task_id", [UNKNOWN_ID, "1", "%00", "1" * 2000])
def test_an_unknown_task_cannot_be_cancelled(account: Account, task_id: str) -> None:
    answer = cancel(account, task_id)
    assert answer.status_code == 404, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("not_found_error", None, None)


@pytest.mark.models
@pytest.mark.proves("speech.task.cancel", "speech.task.cancel.charges-nothing-undone")
def test_a_call_in_work_is_cancelled_and_costs_nothing(heard: HeardCalls, account: Account) -> None:
    """`heard` skips where there is no model."""
    before = account.balance()
    accepted = account.upload_audio(call_clip("01", 0, 100), language="ru").json()
    assert account.balance()["held_rub"] != "0.00"
    record = cancel(account, accepted["task_id"]).json()
    assert (record["transcription_status"], record["transcription_error_message"]) == ("error", "cancelled")
    assert account.balance() == before
    assert account.debits() == []
    details = account.get("/public/v1/communications", params={"id": accepted["communication_id"]}).json()
    assert not details["content"]


@pytest.mark.proves("speech.error.502-api-error")
def test_a_sync_request_whose_recognition_fails_is_502(small_account: Account) -> None:
    answer = small_account.upload_audio(wav(tone(0.5)), mode="sync", record_id="failed")
    assert answer.status_code == 502, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("api_error", "api_error", None)
    details = small_account.get("/public/v1/communications", params={"request_record_id": "failed"}).json()
    assert details["transcription_status"] == "error"


@pytest.mark.models
@pytest.mark.proves("speech.sync.places", "speech.error.429-sync-backpressure", "errors.type.429", "errors.retry-after")
def test_a_sync_request_without_a_free_place_is_429(tmp_path: Path) -> None:
    with serving_for_long(tmp_path, places=1) as (account, serving):
        other = account.server.new_client("other")
        refused = other.upload_audio(wav(tone(0.5)), mode="sync")
        assert not serving.done()
        served = serving.result()
        assert refused.status_code == 429, refused.text
        error = refused.json()["error"]
        assert (error["type"], error["code"]) == ("rate_limit_error", "sync_backpressure")
        assert int(refused.headers["Retry-After"]) > 0
        assert served.status_code == 200, served.text
        again = other.upload_audio(wav(tone(0.5)), mode="sync")
        assert again.status_code == 200, again.text  # the place is free again


@pytest.mark.models
@pytest.mark.proves("speech.sync.places")
def test_one_client_may_have_all_places_of_sync_requests(tmp_path: Path) -> None:
    with serving_for_long(tmp_path, places=2) as (account, serving):
        served = account.upload_audio(wav(tone(0.5)), mode="sync")
        assert served.status_code == 200, served.text
        assert serving.result().status_code == 200


@pytest.mark.proves("speech.sync.places")
def test_a_place_that_becomes_free_is_kept_for_who_was_refused_and_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    running_s = 1000.0
    monkeypatch.setattr("api.speech.time.monotonic", lambda: running_s)
    places = SyncPlaces(2)
    for _ in range(2):
        places.take("busy")
    for client in ("busy", "other"):
        with pytest.raises(RateLimited):
            places.take(client)
    places.give_back("busy")
    with pytest.raises(RateLimited):
        places.take("busy")
    places.take("other")
    places.give_back("other")
    places.take("busy")
    with pytest.raises(RateLimited):
        places.take("who never comes again")
    places.give_back("busy")
    with pytest.raises(RateLimited):
        places.take("busy")
    running_s += 60.0
    places.take("busy")


@contextmanager
def serving_for_long(folder: Path, *, places: int) -> Iterator[tuple[Account, Future[httpx2.Response]]]:
    """A client whose sync request has one of the places for some seconds."""
    running = RunningServer(folder, sync_places=str(places), asr_model="whisper-base")
    try:
        account = running.start().new_client("client")
        with ThreadPoolExecutor(1) as threads:
            serving = threads.submit(account.upload_audio, call_clip("01", 0, 60), "call.wav", mode="sync")
            wait_until(lambda: unfinished(running) == 1)
            yield account, serving
    finally:
        running.close()


def unfinished(server: RunningServer) -> int:
    with server.database.read() as connection:
        return transcriptions.count_unfinished(connection)


@pytest.mark.models
@pytest.mark.proves(
    "speech.task.transitions",
    "speech.task.status.values",
    "speech.task.status.ends",
    "speech.task.progress",
    "speech.task.result.null-while-unfinished",
    "speech.task.error-message",
    "speech.poll.etag-follows-record",
)
def test_a_real_task_goes_from_pending_to_success(heard: HeardCalls) -> None:
    seen_statuses = set()
    for upload in heard.asynchronous:
        statuses = [record["transcription_status"] for _, record in upload.seen]
        seen_statuses |= set(statuses)
        assert statuses == sorted(statuses, key=STATUSES.index)
        assert statuses[-1] == "success"
        assert len({etag for etag, _ in upload.seen}) == len(upload.seen)
        for _, record in upload.seen:
            assert set(record) == FIELDS
            assert 0 <= record["progress"] <= 1
            finished = record["transcription_status"] == "success"
            assert (record["transcription_result_body"] is not None) == finished
            assert record["transcription_error_message"] is None
        assert upload.record["progress"] == 1
    assert seen_statuses == {"pending", "processing", "success"}


@pytest.mark.models
@pytest.mark.proves("speech.sync.ids-in-headers", "speech.sync.creates-communication")
def test_a_sync_request_leaves_a_task_and_a_communication(heard: HeardCalls) -> None:
    account, sync = heard.english.account, heard.sync
    task_id, communication_id = sync.headers["X-Task-Id"], sync.headers["X-Communication-Id"]
    assert UUID(task_id) != UUID(communication_id)
    record = poll(account, task_id).json()
    assert (record["communication_id"], record["transcription_status"]) == (communication_id, "success")
    assert record["transcription_result_body"] == sync.json()
    details = account.get("/public/v1/communications", params={"id": communication_id}).json()
    assert (details["request_record_id"], details["communication_status"]) == ("sync", "closed")
    assert " ".join(item["text"] for item in details["content"]) == sync.json()["text"]
