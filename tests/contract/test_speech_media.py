"""A call's own audio: where the details say it is, whole and in parts, and how a browser is told to treat it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from api.media import disposition
from store import transcriptions
from store.blobs import Blobs
from store.ids import new_id
from tests.contract.conftest import HeardCalls
from tests.contract.recordings import encoded, multipart, tone, wav
from tests.contract.test_speech_fields import PATH, communication
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account, RunningServer

AUDIO = encoded(tone(3.0), "flac", "flac")
SIZE = len(AUDIO)
MEDIA = "/public/v1/media/"


@pytest.fixture(scope="module")
def listener(small_server: RunningServer) -> Account:
    return small_server.new_client(f"client {new_id()}")


@pytest.fixture(scope="module")
def ref(listener: Account) -> str:
    answer = listener.upload_audio(AUDIO, "call.flac")
    assert answer.status_code == 202, answer.text
    return str(answer.json()["communication_id"])


def get(account: Account, ref: str, **headers: str) -> httpx2.Response:
    return account.get(MEDIA + ref, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.proves("speech.recording.in-details", "imports.media.audio")
@pytest.mark.parametrize(
    ("content", "name", "mime"),
    [
        (AUDIO, "звонок №1.mp3", "audio/flac"),
        (wav(tone(0.5)), "page.html", "audio/wav"),
        (encoded(tone(0.5), "ogg", "libopus"), "a/b\\c.ogg", "audio/ogg"),
    ],
    ids=["flac", "wav", "ogg"],
)
def test_the_details_say_where_a_calls_audio_is(small_account: Account, content: bytes, name: str, mime: str) -> None:
    answer = small_account.upload_audio(content, name)
    told = communication(small_account, answer)["recording"]
    assert set(told) == {"type", "ref", "mime", "name", "size_bytes", "duration_ms"}
    assert (told["type"], told["mime"], told["size_bytes"]) == ("audio", mime, len(content))
    assert told["name"] == name
    media = get(small_account, told["ref"])
    assert (media.status_code, media.content) == (200, content)
    assert media.headers["Content-Type"] == mime


@pytest.mark.proves("speech.recording.in-details")
def test_what_has_no_audio_has_no_recording(small_account: Account) -> None:
    linked = small_account.post(PATH, json={"fileUrl": "http://127.0.0.1:9/a.wav"})
    small_account.finished_task(linked.json()["task_id"])
    details = communication(small_account, linked)
    assert details["recording"] is None
    assert get(small_account, details["id"]).status_code == 404


@pytest.mark.models
@pytest.mark.proves("speech.recording.in-details")
def test_the_recording_has_the_length_that_was_decoded(heard: HeardCalls) -> None:
    for upload in heard.asynchronous:
        told = upload.communication["recording"]
        assert told["duration_ms"] == upload.result["audio_duration_ms"]


@pytest.mark.proves("imports.media.audio")
def test_the_audio_is_given_whole_with_what_a_browser_needs_to_know(listener: Account, ref: str) -> None:
    answer = get(listener, ref)
    assert (answer.status_code, answer.content) == (200, AUDIO)
    assert answer.headers["Content-Length"] == str(SIZE)
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Content-Disposition"] == 'inline; filename="call.flac"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"].startswith("private")
    assert "Content-Range" not in answer.headers


@pytest.mark.proves("imports.media.range")
@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=0-99", 0, 99),
        ("bytes=100-", 100, SIZE - 1),
        ("bytes=-1", SIZE - 1, SIZE - 1),
        ("bytes=-500", SIZE - 500, SIZE - 1),
        (f"bytes=-{SIZE + 10}", 0, SIZE - 1),
        (f"bytes=0-{SIZE - 1}", 0, SIZE - 1),
        (f"bytes=0-{10**18}", 0, SIZE - 1),
        (f"bytes={SIZE - 1}-{SIZE + 5}", SIZE - 1, SIZE - 1),
        ("BYTES = 5-9".replace(" ", ""), 5, 9),
    ],
)
def test_a_range_is_given_as_that_part(listener: Account, ref: str, asked: str, first: int, last: int) -> None:
    answer = get(listener, ref, Range=asked)
    assert answer.status_code == 206, answer.text
    assert answer.content == AUDIO[first : last + 1]
    assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert answer.headers["Content-Length"] == str(last + 1 - first)


@pytest.mark.proves("imports.media.range")
@pytest.mark.parametrize(
    "asked",
    [
        "bytes=0-1,5-9",
        "bytes=5-2",
        "bytes=-",
        "bytes=a-b",
        "bytes",
        "",
        "items=0-5",
        "bytes=0-5-9",
        f"bytes=0-{'9' * 4000}",
    ],
    ids=lambda asked: str(asked)[:20],
)
def test_what_is_no_single_range_of_bytes_is_answered_with_the_whole(listener: Account, ref: str, asked: str) -> None:
    answer = get(listener, ref, Range=asked)
    assert (answer.status_code, len(answer.content)) == (200, SIZE)


@pytest.mark.proves("imports.media.range")
@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", f"bytes={SIZE + 5}-{SIZE + 9}", "bytes=-0", f"bytes={10**18}-"])
def test_a_range_outside_of_the_file_is_416_and_says_how_long_it_is(listener: Account, ref: str, asked: str) -> None:
    answer = get(listener, ref, Range=asked)
    assert answer.status_code == 416, answer.text
    assert answer.headers["Content-Range"] == f"bytes */{SIZE}"
    error = answer.json()["error"]
    assert (error["type"], error["code"], error["param"]) == (
        "invalid_request_error",
        "range_not_satisfiable",
        "Range",
    )


def test_a_file_that_is_known_is_not_sent_again(listener: Account, ref: str) -> None:
    etag = get(listener, ref).headers["ETag"]
    for tag in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        same = get(listener, ref, If_None_Match=tag)
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", etag), tag
    assert get(listener, ref, If_None_Match='"other"').status_code == 200
    part = get(listener, ref, If_Range=etag, Range="bytes=0-9")
    assert (part.status_code, part.content) == (206, AUDIO[:10])
    for other in ('"other"', f"W/{etag}", "Wed, 21 Oct 2026 07:28:00 GMT"):
        assert get(listener, ref, If_Range=other, Range="bytes=0-9").status_code == 200, other
    assert get(listener, ref, If_Range='"other"', Range=f"bytes={SIZE}-").status_code == 200


def test_head_tells_the_same_without_the_bytes(listener: Account, ref: str) -> None:
    whole, told = get(listener, ref), listener.request("HEAD", MEDIA + ref)
    assert (told.status_code, told.content) == (200, b"")
    for name in ("Content-Length", "Content-Type", "ETag", "Accept-Ranges", "Content-Disposition"):
        assert told.headers[name] == whole.headers[name]
    part = listener.request("HEAD", MEDIA + ref, headers={"Range": "bytes=0-9"})
    assert (part.status_code, part.headers["Content-Length"]) == (206, "10")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("call.wav", 'inline; filename="call.wav"'),
        ("my call.wav", 'inline; filename="my call.wav"'),
        ("звонок.wav", "inline; filename=\"______.wav\"; filename*=UTF-8''%D0%B7%D0%B2%D0%BE%D0%BD%D0%BE%D0%BA.wav"),
        ('a"; b=c.wav', "inline; filename=\"a__ b=c.wav\"; filename*=UTF-8''a%22%3B%20b%3Dc.wav"),
        ("a\r\nSet-Cookie: x=1.wav", 'inline; filename="aSet-Cookie: x=1.wav"'),
        ("../../etc/passwd", 'inline; filename="passwd"'),
        ("C:\\calls\\one.wav", 'inline; filename="one.wav"'),
        ("50%.wav", "inline; filename=\"50_.wav\"; filename*=UTF-8''50%25.wav"),
        ("\ud800.wav", 'inline; filename=".wav"'),
        ("a/", 'inline; filename="recording"'),
        ("", 'inline; filename="recording"'),
    ],
)
def test_no_name_breaks_the_header(name: str, expected: str) -> None:
    assert disposition(name) == expected


@pytest.mark.parametrize("name", ['звонок "1".wav', "a\r\nb.wav", "x" * 300 + ".wav", "..", ""])
def test_a_file_of_any_name_is_given_back(small_account: Account, name: str) -> None:
    quoted = name.replace("\r\n", "%0D%0A").replace('"', "%22")
    answer = small_account.post(PATH, **multipart(("file", wav(tone(0.5)), quoted or "x")))
    media = get(small_account, answer.json()["communication_id"])
    assert (media.status_code, media.content) == (200, wav(tone(0.5)))
    assert media.headers["Content-Disposition"].startswith('inline; filename="')


@pytest.mark.parametrize("ref_", [UNKNOWN_ID, "1", "%00", "..%2F..%2Fsecret_key", "x" * 3000])
def test_an_unknown_ref_is_404(listener: Account, ref_: str) -> None:
    answer = get(listener, ref_)
    assert answer.status_code == 404, answer.text
    assert answer.json()["error"]["code"] is None


def test_audio_that_is_gone_is_404(small_account: Account) -> None:
    accepted = small_account.upload_audio(AUDIO).json()
    small_account.finished_task(accepted["task_id"])
    with small_account.server.database.read() as connection:
        task = transcriptions.get(small_account.tenant_id, connection, accepted["task_id"])
    assert task is not None
    Blobs(small_account.server.settings).delete(task.blob_key)
    assert get(small_account, accepted["communication_id"]).status_code == 404


def test_a_kind_that_is_no_sound_is_never_named_to_a_browser(small_account: Account) -> None:
    """What an older release stored without a kind, or a kind that a browser would show."""
    accepted = small_account.upload_audio(AUDIO).json()
    small_account.finished_task(accepted["task_id"])
    for kind in (None, "text/html", "audio/x\r\nb"):
        with small_account.server.database.write() as connection:
            connection.execute(
                transcriptions.transcription_tasks.update()
                .where(transcriptions.transcription_tasks.c.id == accepted["task_id"])
                .values(media_type=kind)
            )
        answer = get(small_account, accepted["communication_id"])
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/octet-stream")


def test_many_listeners_who_read_nothing_cost_little_memory(
    new_small_account: Callable[..., Account], small_server: RunningServer
) -> None:
    """A recording of 64 MB, of which each takes the first bytes and then waits."""
    account = new_small_account()
    accepted = account.upload_audio(AUDIO).json()
    account.finished_task(accepted["task_id"])
    with small_server.database.read() as connection:
        task = transcriptions.get(account.tenant_id, connection, accepted["task_id"])
    assert task is not None
    pieces = (bytes(1024 * 1024) for _ in range(64))
    Blobs(small_server.settings).put_stream(task.blob_key, pieces)
    with httpx2.Client(headers=account.headers, timeout=60) as client:
        url = small_server.url + MEDIA + accepted["communication_id"]
        before = resident_mib(small_server)
        opened: list[Iterator[bytes]] = []
        answers = [client.send(client.build_request("GET", url), stream=True) for _ in range(12)]
        for answer in answers:
            opened.append(answer.iter_bytes())
            assert len(next(opened[-1])) > 0
        assert resident_mib(small_server) - before < 12 * 16
        assert account.get("/public/v1/balance").status_code == 200
        for answer in answers:
            answer.close()


def resident_mib(server: RunningServer) -> float:
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    (resident,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]) / 1024
