"""Which files are taken: content decides, sizes are bounded, and nothing ends in a 500."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.settings import Settings
from tests.contract.conftest import (
    MAX_AUDIO_BYTES,
    SYNC_MAX_BYTES,
    SYNC_MAX_SECONDS,
    TRUNCATED_S,
    HeardCalls,
)
from tests.contract.recordings import encoded, png, silent_video, tone, wav, wav_of_size
from tests.support.server import Account

MIB = 1024 * 1024
PATH = "/v1/audio/transcriptions"


@pytest.mark.proves("speech.file.empty", "speech.file.no-audio", "speech.file.undecodable", "speech.error.400")
@pytest.mark.parametrize(
    ("content", "file_name"),
    [
        pytest.param(b"", "call.wav", id="empty"),
        pytest.param(b"\n", "call.wav", id="a line end"),
        pytest.param(png(), "call.wav", id="a PNG named .wav"),
        pytest.param(silent_video(), "call.mp3", id="a film without sound"),
        pytest.param(b"%PDF-1.7\n1 0 obj\n", "call.mp3", id="a PDF"),
        pytest.param(b"hello " * 1000, "call.txt", id="text"),
        pytest.param(b"ID3\x04\x00" + bytes(2000), "call.mp3", id="an empty MP3 tag"),
        pytest.param(wav(tone(0.0)), "call.wav", id="a WAV header alone"),
        pytest.param(wav(tone(1.0))[:20], "call.wav", id="half a WAV header"),
        pytest.param(encoded(tone(1.0), "flac", "flac")[:60], "call.flac", id="half a FLAC header"),
        pytest.param(b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "call.m3u8", id="a playlist"),
        pytest.param(bytes(range(256)) * 400, "call.ogg", id="noise"),
    ],
)
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_file_without_sound_is_400_naming_the_file(
    account: Account, content: bytes, file_name: str, mode: str
) -> None:
    answer = account.upload_audio(content, file_name, mode=mode)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request_error", "file")
    assert error["message"]


@pytest.mark.proves("speech.file.undecodable")
def test_200_mb_of_zeros_are_read_to_the_end_and_refused(account: Account) -> None:
    def body() -> Iterator[bytes]:
        yield b'--edge\r\nContent-Disposition: form-data; name="file"; filename="call.wav"\r\n\r\n'
        piece = bytes(4 * MIB)
        for _ in range(50):
            yield piece
        yield b"\r\n--edge--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=edge"}
    answer = account.post(PATH, content=body(), headers=headers, timeout=120)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == "file"
    assert [path for path in blobs(account) if path.stat().st_size > MIB] == []


def blobs(account: Account) -> list[Path]:
    """What is kept of an account's uploads."""
    folder = account.server.data_dir
    return [path for path in folder.rglob("*") if path.is_file() and account.tenant_id in str(path)]


@pytest.mark.proves("speech.file.content-decides")
@pytest.mark.parametrize(
    ("content", "file_name", "declared"),
    [
        pytest.param(wav(tone(1.0)), "notes.txt", "text/plain", id="WAV named .txt"),
        pytest.param(encoded(tone(1.0), "mp3", "mp3"), "call.wav", "audio/wav", id="MP3 named .wav"),
        pytest.param(encoded(tone(1.0), "flac", "flac"), "picture.png", "image/png", id="FLAC named .png"),
        pytest.param(encoded(tone(1.0), "ogg", "libopus"), "", "application/octet-stream", id="Opus without a name"),
        pytest.param(encoded(tone(1.0), "matroska", "libopus"), "x", "", id="Matroska"),
    ],
)
def test_what_a_file_is_follows_from_its_content(
    small_account: Account, content: bytes, file_name: str, declared: str
) -> None:
    answer = small_account.post(PATH, files={"file": (file_name or "blob", content, declared or None)})
    assert answer.status_code == 202, answer.text


@pytest.mark.proves("speech.file.size-limit", "speech.error.413-file-too-large")
def test_a_file_is_taken_up_to_the_limit_and_413_over_it(small_account: Account) -> None:
    taken = small_account.upload_audio(wav_of_size(MAX_AUDIO_BYTES))
    assert taken.status_code == 202, taken.text
    kept = len(blobs(small_account))
    for size in (MAX_AUDIO_BYTES + 1, 4 * MIB):
        answer = small_account.upload_audio(wav_of_size(size), mode="sync")
        assert answer.status_code == 413, answer.text
        error = answer.json()["error"]
        assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", "file_too_large", "file")
    assert len(blobs(small_account)) == kept == 1


@pytest.mark.proves("speech.error.413-while-receiving", "speech.error.413-file-too-large")
@pytest.mark.parametrize("length", ["Content-Length: 1000000000", "Transfer-Encoding: chunked"])
def test_a_file_over_the_limit_is_refused_while_it_comes(small_account: Account, length: str) -> None:
    """The body claims a gigabyte, or no length at all; its end is never sent."""
    part = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n' + bytes(
        MAX_AUDIO_BYTES + 1
    )
    sent = b"%x\r\n%b\r\n" % (len(part), part) if "chunked" in length else part
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: {small_account.headers['Authorization']}\r\n"
        f"Content-Type: multipart/form-data; boundary=edge\r\n{length}\r\n\r\n"
    )
    answer = b""
    with socket.create_connection(("127.0.0.1", small_account.server.port), timeout=30) as connection:
        connection.sendall(head.encode() + sent)
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 413 "), answer[:300]
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", "file_too_large", "file")
    assert blobs(small_account) == []


@pytest.mark.proves("speech.file.size-limit", "speech.sync.large-file.limits")
def test_the_limits_are_the_documented_ones_by_default(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, _env_file=None)  # type: ignore[call-arg]
    assert settings.max_audio_bytes == 1024 * MIB
    assert (settings.sync_max_bytes, settings.sync_max_seconds) == (25 * MIB, 600)


@pytest.mark.proves("speech.sync.large-file-moves-to-async", "speech.sync.large-file.limits")
@pytest.mark.parametrize(
    ("content", "is_large"),
    [
        pytest.param(wav_of_size(SYNC_MAX_BYTES + 2), True, id="too many bytes"),
        pytest.param(encoded(tone(SYNC_MAX_SECONDS + 1.0) * 0, "flac", "flac"), True, id="too long"),
        pytest.param(wav_of_size(SYNC_MAX_BYTES), False, id="just small enough"),
        pytest.param(encoded(tone(SYNC_MAX_SECONDS - 1.0) * 0, "flac", "flac"), False, id="just short enough"),
    ],
)
def test_a_sync_request_that_is_too_large_goes_async(small_account: Account, content: bytes, is_large: bool) -> None:
    answer = small_account.upload_audio(content, mode="sync")
    if is_large:
        assert answer.status_code == 202, answer.text
        assert set(answer.json()) == {"task_id", "communication_id"}
    else:
        assert answer.status_code == 502, answer.text  # it stayed sync: no model is installed on that server


@pytest.mark.models
@pytest.mark.proves("speech.file.truncated-goes-as-far")
def test_a_truncated_file_is_transcribed_as_far_as_it_goes(heard: HeardCalls) -> None:
    result = heard.truncated.result
    assert TRUNCATED_S * 400 < result["audio_duration_ms"] < TRUNCATED_S * 600
    assert "afternoon" in result["text"].lower()
    assert result["segments"][-1]["end"] * 1000 <= result["audio_duration_ms"]
    assert "silver" not in result["text"].lower()  # said in the half that is gone
