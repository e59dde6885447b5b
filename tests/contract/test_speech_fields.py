"""The fields of POST /v1/audio/transcriptions: what each takes, what it defaults to, what is refused by name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from store import transcriptions
from tests.contract.recordings import multipart, png, tone, wav
from tests.support.server import Account

AUDIO = wav(tone(0.5))
PATH = "/v1/audio/transcriptions"


def refused(answer: httpx2.Response, param: str | None, code: str = "invalid_request_error") -> str:
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "code", "param"}
    assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", code, param)
    return str(error["message"])


def parameters(account: Account, answer: httpx2.Response) -> dict[str, Any]:
    """What the task was accepted with."""
    assert answer.status_code == 202, answer.text
    with account.server.database.read() as connection:
        task = transcriptions.get(account.tenant_id, connection, answer.json()["task_id"])
    assert task is not None
    return task.parameters


def communication(account: Account, answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    found = account.get("/public/v1/communications", params={"id": answer.json()["communication_id"]})
    details: dict[str, Any] = found.json()
    return details


@pytest.mark.proves("speech.async.returns-202", "speech.mode.default", "speech.upload.multipart", "speech.task.id")
def test_an_upload_is_answered_with_the_ids_of_its_task_and_communication(small_account: Account) -> None:
    for fields in ({}, {"mode": "async"}):
        answer = small_account.upload_audio(AUDIO, **fields)
        assert answer.status_code == 202, answer.text
        accepted = answer.json()
        assert set(accepted) == {"task_id", "communication_id"}
        assert UUID(accepted["task_id"]) != UUID(accepted["communication_id"])
        record = small_account.get(f"{PATH}/tasks/{accepted['task_id']}").json()
        assert (record["id"], record["communication_id"]) == (accepted["task_id"], accepted["communication_id"])


@pytest.mark.proves(
    "speech.error.400",
    "speech.error.400-code",
    "speech.error.body",
    "speech.error.param-names-field",
    "speech.mode.values",
    "speech.channel-speakers.boolean",
    "speech.timestamp-detail.values",
    "speech.language.values",
    "speech.record-id.length",
    "speech.direction.values",
    "speech.occured-at.format",
    "speech.multipart.booleans",
    "speech.diarize.boolean",
    "speech.summary.boolean",
    "speech.user-summary.length",
)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "later"),
        ("mode", "SYNC"),
        ("channel_speakers", "maybe"),
        ("channel_speakers", "2"),
        ("channel_speakers", "да"),
        ("channel_speakers", " true"),
        ("diarize", "maybe"),
        ("summary", "y"),
        ("timestamp_detail", "letter"),
        ("timestamp_detail", "words"),
        ("language", "de"),
        ("language", "RU"),
        ("language", "русский"),
        ("record_id", "x" * 31),
        ("record_id", "я" * 31),
        ("record_id", "x" * 300_000),
        ("direction", "inbound"),
        ("direction", "IN"),
        ("occured_at", "yesterday"),
        ("occured_at", "2026-03-04"),
        ("occured_at", "04.03.2026 05:06"),
        ("occured_at", "2026-13-04T05:06:07Z"),
        ("occured_at", "2026-02-30T05:06:07Z"),
        ("occured_at", "1709528767"),
        ("occured_at", "0001-01-01T00:00:00+14:00"),
        ("occured_at", "9999-12-31T23:59:59-14:00"),
        ("user_summary", "x" * 64_001),
        ("webhook_url", "https://example.com/" + "x" * 4096),
    ],
)
def test_a_value_that_a_field_does_not_take_is_400_naming_it(account: Account, name: str, value: str) -> None:
    refused(account.upload_audio(AUDIO, **{name: value}), name)


@pytest.mark.proves("speech.webhook-url.scheme", "speech.webhook-url.length")
@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/hook",
        "example.com/hook",
        "//example.com/hook",
        "https://",
        "https:///hook",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://exa mple.com/",
        "https://example.com:99999/",
        "https://example.com/" + "x" * 4077,
    ],
)
def test_a_webhook_url_that_is_no_web_address_is_400_naming_it(small_account: Account, url: str) -> None:
    refused(small_account.upload_audio(AUDIO, webhook_url=url), "webhook_url")


@pytest.mark.proves("speech.webhook-url.scheme", "speech.webhook-url.length")
@pytest.mark.parametrize("url", ["http://example.com", "https://example.com:8443/" + "x" * 4071])
def test_a_webhook_url_of_up_to_4096_characters_is_taken(small_account: Account, url: str) -> None:
    answer = small_account.upload_audio(AUDIO, webhook_url=url)
    assert answer.status_code == 202, answer.text


@pytest.mark.proves("speech.multipart.booleans", "speech.channel-speakers.default")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, True),
        ("true", True),
        ("TRUE", True),
        ("1", True),
        ("yes", True),
        ("On", True),
        ("false", False),
        ("False", False),
        ("0", False),
        ("NO", False),
        ("off", False),
    ],
)
def test_a_boolean_may_be_written_in_several_ways(small_account: Account, given: str | None, kept: bool) -> None:
    fields = {} if given is None else {"channel_speakers": given}
    answer = small_account.upload_audio(AUDIO, **fields)
    assert parameters(small_account, answer)["channel_speakers"] is kept
    if given is not None:
        answer = small_account.upload_audio(AUDIO, diarize=given, summary=given)
        found = parameters(small_account, answer)
        assert (found["diarize"], found["summary"]) == (kept, kept)


@pytest.mark.proves("speech.user-summary.length")
@pytest.mark.parametrize("prompt", ["What did they agree on?", "я" * 64_000])
def test_a_prompt_of_up_to_64000_characters_is_kept_for_the_report(small_account: Account, prompt: str) -> None:
    answer = small_account.upload_audio(AUDIO, user_summary=prompt)
    found = parameters(small_account, answer)
    assert (found["user_summary"], found["summary"]) == (prompt, False)


@pytest.mark.proves("speech.record-id.length", "speech.record-id.kept", "speech.direction.kept")
@pytest.mark.parametrize(("record_id", "direction"), [("x", "in"), ("ж" * 30, "out"), ("a b/c?d&e", "in")])
def test_what_was_sent_of_a_call_comes_back(small_account: Account, record_id: str, direction: str) -> None:
    answer = small_account.upload_audio(AUDIO, record_id=record_id, direction=direction)
    details = communication(small_account, answer)
    assert (details["request_record_id"], details["direction"]) == (record_id, direction)
    bare = communication(small_account, small_account.upload_audio(AUDIO))
    assert (bare["request_record_id"], bare["direction"]) == (None, None)


@pytest.mark.proves("speech.occured-at.kept", "speech.task.occured-at")
@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("2026-03-04T05:06:07Z", "2026-03-04T05:06:07.000Z"),
        ("2026-03-04T05:06:07.125+03:00", "2026-03-04T02:06:07.125Z"),
        ("2026-03-04T05:06:07-11:30", "2026-03-04T16:36:07.000Z"),
        ("2026-03-04T05:06", "2026-03-04T05:06:00.000Z"),
        ("1999-12-31T23:59:59Z", "1999-12-31T23:59:59.000Z"),
    ],
)
def test_the_time_of_a_call_is_kept_as_the_same_moment(small_account: Account, given: str, moment: str) -> None:
    answer = small_account.upload_audio(AUDIO, occured_at=given)
    assert communication(small_account, answer)["occured_at"] == moment
    assert small_account.get(f"{PATH}/tasks/{answer.json()['task_id']}").json()["occured_at"] == moment


@pytest.mark.proves("speech.occured-at.default", "speech.task.occured-at")
def test_without_a_time_it_is_that_of_the_request(small_account: Account) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    answer = small_account.upload_audio(AUDIO)
    after = datetime.now(UTC)
    for record in (
        communication(small_account, answer),
        small_account.get(f"{PATH}/tasks/{answer.json()['task_id']}").json(),
    ):
        assert before <= datetime.fromisoformat(record["occured_at"]) <= after


def test_an_empty_field_is_one_that_was_not_sent(small_account: Account) -> None:
    answer = small_account.upload_audio(
        AUDIO, mode="", language="", direction="", record_id="", occured_at="", speakers="[]"
    )
    found = parameters(small_account, answer)
    assert (found["language"], found["summary"], found["expected_speakers"]) == (None, False, None)
    assert communication(small_account, answer)["request_record_id"] is None


@pytest.mark.proves("speech.file.required", "speech.error.400-missing-file")
@pytest.mark.parametrize(
    "request_",
    [
        multipart(),
        multipart(("mode", b"sync", "")),
        multipart(("audio", AUDIO, "call.wav")),
        multipart(("File", AUDIO, "call.wav")),
        {"content": AUDIO, "headers": {"Content-Type": "audio/wav"}},
        {"content": b"file=1", "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
        {"content": b"hello", "headers": {"Content-Type": "text/plain"}},
        {"content": b"", "headers": {}},
    ],
    ids=["empty form", "no file", "other name", "other case", "bare audio", "urlencoded", "text", "nothing"],
)
def test_a_body_without_the_field_file_is_missing_file(account: Account, request_: dict[str, Any]) -> None:
    refused(account.post(PATH, **request_), "file", "missing_file")


@pytest.mark.parametrize(
    ("request_", "param"),
    [
        (multipart(("file", AUDIO, "a.wav"), end=False), None),
        (multipart(("file", AUDIO, "a.wav"), ("file", AUDIO, "b.wav")), "file"),
        (multipart(("mode", b"async", ""), ("mode", b"sync", ""), ("file", AUDIO, "a.wav")), "mode"),
        (multipart(("language", b"\xff\xfe", ""), ("file", AUDIO, "a.wav")), "language"),
        (multipart(("record_id", b"a\x00b", ""), ("file", AUDIO, "a.wav")), "record_id"),
        (multipart(("record_id", b"x" * 500_000, ""), ("file", AUDIO, "a.wav")), "record_id"),
        (multipart(*((f"field-{number}", b"1", "") for number in range(100)), ("file", AUDIO, "a.wav")), None),
        (multipart(("", b"1", ""), ("file", AUDIO, "a.wav")), None),
        (multipart(("mode", b"later", "mode.txt"), ("file", AUDIO, "a.wav")), "mode"),
        ({"content": AUDIO, "headers": {"Content-Type": "multipart/form-data"}}, None),
        ({"content": AUDIO, "headers": {"Content-Type": "multipart/form-data; boundary="}}, None),
        ({"content": AUDIO, "headers": {"Content-Type": "multipart/form-data; boundary=edge"}}, None),
        ({"content": b"", "headers": {"Content-Type": "multipart/form-data; boundary=edge"}}, None),
        ({"content": b"--edge\r\nX: 1", "headers": {"Content-Type": "multipart/form-data; boundary=edge"}}, None),
        (
            {
                "content": b"--edge\r\nX-Long: " + b"x" * 100_000 + b"\r\n\r\n1\r\n--edge--\r\n",
                "headers": {"Content-Type": "multipart/form-data; boundary=edge"},
            },
            None,
        ),
        (
            {
                "content": b"--" + b"e" * 5000 + b"\r\n\r\n",
                "headers": {"Content-Type": "multipart/form-data; boundary=" + "e" * 5000},
            },
            None,
        ),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value),
)
def test_a_form_that_is_broken_is_400(account: Account, request_: dict[str, Any], param: str | None) -> None:
    refused(account.post(PATH, **request_), param)


@pytest.mark.parametrize(
    "file_name", ["../../etc/passwd", "a\\b.wav", "x" * 2000, "запись звонка.wav", "a\x00b.wav", ""]
)
def test_a_strange_file_name_is_no_harm(small_account: Account, file_name: str) -> None:
    body = multipart(("file", AUDIO, file_name))
    answer = small_account.post(PATH, **body)
    assert answer.status_code == 202, answer.text
    assert communication(small_account, answer)["kind"] == "call"


@pytest.mark.proves("errors.unknown-field.ignored")
def test_a_field_that_is_not_documented_is_ignored_whatever_it_holds(small_account: Account) -> None:
    unknown = (("colour", b"\xff\x00", ""), ("picture", png(), "a.png"), ("fileUrl2", b"x" * 300_000, ""))
    answer = small_account.post(PATH, **multipart(*unknown, ("file", AUDIO, "a.wav")))
    assert answer.status_code == 202, answer.text
    many = (("colour", b"x" * 300_000, ""), ("picture", b"x" * 300_000, ""))
    answer = small_account.post(PATH, **multipart(*many, ("file", AUDIO, "a.wav")))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")


def test_a_picture_in_a_field_of_text_is_400(account: Account) -> None:
    answer = account.post(PATH, files={"file": ("a.wav", AUDIO), "language": ("a.png", png())})
    refused(answer, "language")
