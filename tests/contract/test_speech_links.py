"""Recordings that are given as a link: what is taken at once, what the job finds, and what it never calls."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from tests.contract.recordings import encoded, png, tone, wav, wav_of_size
from tests.contract.test_speech_fields import PATH, parameters, refused
from tests.support.receiver import Received, Receiver, Reply, receiving
from tests.support.server import JOB_S, Account, RunningServer

MAX_AUDIO_BYTES = 300_000
FETCH_TIMEOUT_S = 4
AUDIO = wav(tone(1.0))
NO_MODEL = "not installed"
"""What ends a task that came as far as recognition: these servers have no model."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    """At every address of loopback: all but one of them are forbidden ones."""
    with receiving("0.0.0.0") as opened:
        yield opened


def open_server(folder: Any, **settings: str) -> RunningServer:
    return RunningServer(
        folder / "data",
        cache_dir=str(folder / "no-models"),
        allowed_networks="127.0.0.1",
        job_poll_s="0.1",
        max_audio_bytes=str(MAX_AUDIO_BYTES),
        **settings,
    )


@pytest.fixture(scope="module")
def linking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without models that may call 127.0.0.1, and nothing else of loopback."""
    running = open_server(tmp_path_factory.mktemp("linking"), fetch_timeout_s=str(FETCH_TIMEOUT_S))
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def caller(linking: RunningServer, request: pytest.FixtureRequest) -> Account:
    return linking.new_client(request.node.name[:100])


def send(account: Account, url: str, **fields: Any) -> httpx2.Response:
    return account.post(PATH, json={"fileUrl": url, **fields})


def failed(account: Account, url: str, **fields: Any) -> str:
    """The message of a task that ended in error, with nothing kept of its recording and nothing charged."""
    answer = send(account, url, **fields)
    assert answer.status_code == 202, answer.text
    record = account.finished_task(answer.json()["task_id"])
    assert (record["transcription_status"], record["transcription_result_body"]) == ("error", None)
    assert account.debits() == []
    assert account.balance()["held_rub"] == "0.00"
    return str(record["transcription_error_message"])


def recording(account: Account, answer: httpx2.Response) -> tuple[dict[str, Any], bytes]:
    """What is told of the recording once the task has ended, and its bytes."""
    assert answer.status_code == 202, answer.text
    record = account.finished_task(answer.json()["task_id"])
    assert NO_MODEL in record["transcription_error_message"], record
    details = account.get("/public/v1/communications", params={"id": answer.json()["communication_id"]}).json()
    media = account.get(f"/public/v1/media/{details['recording']['ref']}")
    assert media.status_code == 200, media.text
    found: dict[str, Any] = details["recording"]
    return found, media.content


@pytest.mark.proves(
    "speech.upload.json", "speech.json.always-async", "speech.mode.multipart-only", "errors.unknown-field.ignored"
)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"mode": "sync"},
        {"mode": "later"},
        {"mode": 7},
        {"summary": True},
        {"file": "call.wav", "colour": {"red": [1]}},
        {"diarize": None, "language": None, "record_id": None, "speakers": None, "occured_at": None},
    ],
    ids=str,
)
def test_a_link_is_taken_and_fetched_by_the_job(caller: Account, receiver: Receiver, fields: dict[str, Any]) -> None:
    url = receiver.answer("/calls/one.wav", Reply(body=AUDIO, headers={"Content-Type": "text/html"}))
    answer = send(caller, url, **fields)
    assert answer.status_code == 202, answer.text
    assert set(answer.json()) == {"task_id", "communication_id"}
    told, content = recording(caller, answer)
    assert content == AUDIO
    assert (told["mime"], told["name"], told["size_bytes"]) == ("audio/wav", "one.wav", len(AUDIO))


@pytest.mark.proves("speech.upload.json")
def test_every_field_of_the_form_is_a_field_of_json(caller: Account) -> None:
    fields = {
        "diarize": True,
        "channel_speakers": False,
        "timestamp_detail": "word",
        "language": "en",
        "summary": True,
        "user_summary": "What did they agree on?",
        "record_id": "crm-7781",
        "direction": "out",
        "speakers": [{"id": "7", "name": "Anna", "role": "client"}, {"id": "8"}],
        "occured_at": "2026-03-04T05:06:07+03:00",
        "webhook_url": "https://crm.example.com/hook",
    }
    answer = send(caller, "https://files.example.com/a%20call.mp3?token=x", **fields)
    kept = parameters(caller, answer)
    assert {name: kept[name] for name in fields if name in kept} == {
        name: fields[name]
        for name in ("diarize", "channel_speakers", "language", "summary", "user_summary", "webhook_url")
    }
    assert (kept["words"], kept["sync"], kept["expected_speakers"]) == (True, False, 2)
    details = caller.get("/public/v1/communications", params={"request_record_id": "crm-7781"}).json()
    assert details["id"] == answer.json()["communication_id"]
    assert (details["direction"], details["occured_at"]) == ("out", "2026-03-04T02:06:07.000Z")
    assert [each["external_id"] for each in details["speakers"]] == ["7", "8"]


@pytest.mark.proves("speech.diarize.boolean", "speech.summary.boolean", "speech.user-summary.length")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("diarize", "true"),
        ("diarize", 1),
        ("channel_speakers", "yes"),
        ("summary", "false"),
        ("summary", 0),
        ("timestamp_detail", "letter"),
        ("timestamp_detail", True),
        ("language", "de"),
        ("language", ""),
        ("user_summary", "x" * 64_001),
        ("user_summary", "a\x00b"),
        ("user_summary", ["x"]),
        ("record_id", "x" * 31),
        ("record_id", ""),
        ("record_id", 7781),
        ("record_id", "a\x00b"),
        ("direction", "inbound"),
        ("occured_at", "yesterday"),
        ("occured_at", 1709528767),
        ("webhook_url", "ftp://example.com/hook"),
        ("webhook_url", "https://example.com/" + "x" * 4077),
        ("webhook_url", 7),
    ],
    ids=lambda value: str(value)[:30].replace("\x00", "NUL"),
)
def test_a_value_of_the_wrong_kind_is_400_naming_its_field(caller: Account, name: str, value: Any) -> None:
    refused(send(caller, "https://files.example.com/call.mp3", **{name: value}), name)


@pytest.mark.proves("speech.file-url.required", "speech.error.400-missing-file")
@pytest.mark.parametrize(
    "body", [{}, {"fileUrl": None}, {"fileUrl": ""}, {"file": "call.wav", "language": "de"}, {"fileurl": "http://a.b"}]
)
def test_a_json_body_without_a_link_is_missing_file(caller: Account, body: dict[str, Any]) -> None:
    refused(caller.post(PATH, json=body), "fileUrl", "missing_file")


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b'{"fileUrl": ', b"[]", b'"http://a.example/b"', b"null", b"\xff\xfe", b"[" * 50_000, b"{}{}"],
    ids=lambda content: repr(content[:12]),
)
def test_a_body_that_is_no_json_object_is_400(caller: Account, content: bytes) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    refused(caller.post(PATH, content=content, headers=headers), None)


@pytest.mark.proves("speech.file-url.scheme", "speech.file-url.length", "speech.error.400-code")
@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/call.wav",
        "file:///etc/passwd",
        "data:audio/wav;base64,UklGRg==",
        "example.com/call.wav",
        "//example.com/call.wav",
        "https://",
        "https://exa mple.com/call.wav",
        "https://example.com:99999/call.wav",
        "https://user:password@example.com/call.wav",
        "http://2130706433/call.wav",
        "http://example.com/\ncall.wav",
        "http://example.com/\x00.wav",
        "https://example.com/" + "x" * 4077,
        7,
        ["https://example.com/call.wav"],
    ],
    ids=lambda url: repr(url)[:40],
)
def test_a_link_that_is_no_web_address_is_400_naming_it(caller: Account, url: Any) -> None:
    refused(send(caller, url), "fileUrl")


@pytest.mark.proves("speech.file-url.length", "speech.file-url.scheme")
@pytest.mark.parametrize("url", ["http://example.com", "https://example.com:8443/" + "x" * 4071])
def test_a_link_of_up_to_4096_characters_is_taken(caller: Account, url: str) -> None:
    assert send(caller, url).status_code == 202


@pytest.mark.proves("speech.file-url.public-only")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.0.0.2"])
def test_an_address_that_is_not_public_is_not_called(small_account: Account, receiver: Receiver, host: str) -> None:
    """The small server lists no further networks."""
    path = f"/secret-{host.strip('[]').replace(':', '-')}"
    assert "not at a public address" in failed(small_account, receiver.url(path, host))
    assert receiver.at(path) == []


@pytest.mark.proves("speech.file-url.public-only")
@pytest.mark.parametrize("url", ["http://10.0.0.1/a.wav", "http://169.254.169.254/latest/meta-data/"])
def test_an_address_that_is_not_listed_is_not_called(caller: Account, url: str) -> None:
    assert "not at a public address" in failed(caller, url)


@pytest.mark.proves("speech.file-url.redirects-checked")
@pytest.mark.parametrize("location", ["http://127.0.0.2:{port}/kept", "http://10.0.0.1/kept", "file:///etc/passwd"])
def test_a_redirect_leads_to_no_address_that_is_not_allowed(caller: Account, receiver: Receiver, location: str) -> None:
    receiver.answer("/kept", Reply(body=AUDIO))
    url = receiver.answer("/here", Reply(status=302, headers={"Location": location.format(port=receiver.port)}))
    message = failed(caller, url)
    assert "cannot be fetched" in message
    assert receiver.at("/kept") == []


def test_a_redirect_to_where_the_file_is_is_followed(caller: Account, receiver: Receiver) -> None:
    disposition = "attachment; filename*=UTF-8''%D0%B7%D0%B2%D0%BE%D0%BD%D0%BE%D0%BA.wav"
    receiver.answer("/there", Reply(body=AUDIO, headers={"Content-Disposition": disposition}))
    url = receiver.answer("/from", Reply(status=307, headers={"Location": "/there"}))
    told, content = recording(caller, send(caller, url))
    assert (told["name"], content) == ("звонок.wav", AUDIO)


@pytest.mark.proves("speech.file-url.checks-in-job")
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(status=404), "answered 404"),
        (Reply(status=403), "answered 403"),
        (Reply(status=204, body=b""), "answered 204"),
        (Reply(body=b""), "is empty"),
        (Reply(body=wav_of_size(MAX_AUDIO_BYTES + 2)), f"larger than {MAX_AUDIO_BYTES} bytes"),
        (Reply(raw=b"not HTTP at all\r\n\r\n"), "no proper HTTP"),
        (Reply(body=AUDIO, headers={"Content-Encoding": "gzip"}), "packs"),
        (Reply(body=b"<html>Please log in</html>"), ""),
        (Reply(body=png(), headers={"Content-Type": "audio/wav"}), ""),
        (Reply(body=b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), ""),
        (Reply(body=AUDIO[:20]), ""),
    ],
    ids=["404", "403", "204", "empty", "too large", "no HTTP", "packed", "a page", "a picture", "a playlist", "a head"],
)
def test_what_is_wrong_with_a_file_is_said_by_its_task(
    caller: Account, receiver: Receiver, reply: Reply, message: str
) -> None:
    said = failed(caller, receiver.answer("/wrong", reply))
    assert message in said
    assert len(said) > 15
    assert NO_MODEL not in said


@pytest.mark.proves("speech.file-url.checks-in-job")
def test_a_file_that_is_larger_than_it_says_is_cut_off(caller: Account, receiver: Receiver) -> None:
    piece = b"400\r\n" + b"a" * 1024 + b"\r\n"
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + piece * (MAX_AUDIO_BYTES // 1024 * 2)
    assert "larger than" in failed(caller, receiver.answer("/endless", Reply(raw=endless)))


@pytest.mark.proves("speech.file-url.checks-in-job")
@pytest.mark.parametrize(
    "reply",
    [Reply(hangs=True), Reply(drips=True, raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"a" * 10_000)],
    ids=["says nothing", "drips"],
)
def test_a_server_that_is_too_slow_is_given_up(caller: Account, receiver: Receiver, reply: Reply) -> None:
    assert f"within {FETCH_TIMEOUT_S} s" in failed(caller, receiver.answer("/slow", reply))


def test_a_server_that_is_busy_is_asked_again(caller: Account, receiver: Receiver) -> None:
    url = receiver.answer("/busy", Reply(status=503), Reply(body=AUDIO))
    before = len(receiver.at("/busy"))
    _, content = recording(caller, send(caller, url))
    assert content == AUDIO
    assert len(receiver.at("/busy")) - before == 2


def breaking(content: bytes, pieces: int) -> Callable[[Received], Reply]:
    """A server that gives a part of the content at a time, then breaks the connection."""

    def answer(received: Received) -> Reply:
        found = re.fullmatch(r"bytes=([0-9]+)-", received.headers.get("range", ""))
        begin = int(found[1]) if found else 0
        length = f"Accept-Ranges: bytes\r\nContent-Length: {len(content) - begin}\r\n"
        ranged = f"HTTP/1.1 206 Partial\r\nContent-Range: bytes {begin}-{len(content) - 1}/{len(content)}\r\n"
        head = (ranged if begin else "HTTP/1.1 200 OK\r\n") + 'ETag: "v1"\r\n' + length + "\r\n"
        return Reply(raw=head.encode() + content[begin : begin + len(content) // pieces + 1])

    return answer


def test_a_connection_that_breaks_is_gone_on_with(caller: Account, receiver: Receiver) -> None:
    flac = encoded(tone(3.0), "flac", "flac")
    told, content = recording(caller, send(caller, receiver.answer_by("/broken.flac", breaking(flac, 3))))
    assert content == flac
    assert (told["mime"], told["name"]) == ("audio/flac", "broken.flac")
    asked = [each.headers.get("range") for each in receiver.at("/broken.flac")]
    assert len(asked) == 3
    assert asked[0] is None
    assert all(asked[1:])


@pytest.mark.proves("speech.task.cancel", "speech.task.cancel.charges-nothing-undone")
def test_a_task_is_cancelled_while_its_file_is_fetched(caller: Account, receiver: Receiver) -> None:
    path = "/cancelled"
    answer = send(caller, receiver.answer(path, Reply(hangs=True)))
    receiver.wait(path)
    task = f"{PATH}/tasks/{answer.json()['task_id']}"
    ended = caller.request("DELETE", task)
    assert ended.status_code == 200, ended.text
    assert ended.json()["transcription_status"] == "error"
    assert ended.json()["transcription_error_message"] == "cancelled"
    assert caller.get(task).json() == ended.json()
    assert caller.debits() == []


@pytest.mark.proves("speech.task.survives-worker")
def test_a_file_whose_fetching_server_ends_is_fetched_after_the_next_start(tmp_path: Any, receiver: Receiver) -> None:
    running = open_server(tmp_path, sweep_s="1")
    path = "/twice-in-vain.wav"
    try:
        account = running.start().new_client("client")
        answer = send(account, receiver.answer(path, Reply(hangs=True), Reply(hangs=True), Reply(body=AUDIO)))
        receiver.wait(path)
        assert running.stop() == 0
        running.start()
        receiver.wait(path, 2)
        running.kill()
        running.start()
        told, content = recording(account, answer)
        assert (told["name"], content) == (path.strip("/"), AUDIO)
        assert len(receiver.at(path)) == 3
    finally:
        running.close()


@pytest.mark.proves("speech.async.queue-limit", "errors.retry-after")
def test_more_calls_than_may_wait_are_429(tmp_path: Any, receiver: Receiver) -> None:
    running = open_server(tmp_path, max_queued_calls="2", sync_max_bytes="100000")
    try:
        account = running.start().new_client("client")
        url = receiver.answer("/waits", Reply(hangs=True))
        waiting = [send(account, url) for _ in range(2)]
        assert [each.status_code for each in waiting] == [202, 202]
        long = wav_of_size(200_000)
        for refusal in (
            send(account, url),
            account.upload_audio(AUDIO),
            account.upload_audio(long, mode="sync"),
            account.upload_audio(AUDIO, mode="sync", summary="true"),
        ):
            assert refusal.status_code == 429, refusal.text
            error = refusal.json()["error"]
            assert (error["type"], error["code"]) == ("rate_limit_error", "sync_backpressure")
            assert int(refusal.headers["Retry-After"]) > 0
        # Who waits for the answer stands in no line.
        assert account.upload_audio(AUDIO, mode="sync").status_code == 502
        assert account.request("DELETE", f"{PATH}/tasks/{waiting[0].json()['task_id']}").status_code == 200
        deadline = time.monotonic() + JOB_S
        while (again := account.upload_audio(AUDIO)).status_code == 429:
            assert time.monotonic() < deadline
        assert again.status_code == 202, again.text
    finally:
        running.close()
