"""Files of messages: uploaded, told by content, given back so that no browser runs them, and to nobody else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ingest.media_types import media_type
from store.blobs import Blobs
from store.ids import new_id
from tests.contract.recordings import encoded, png, silent_video, tone, wav
from tests.support.server import Account, RunningServer

MEDIA = "/public/v1/media"
MAX_DOCUMENT_BYTES = 20_000
HTML = b"<!doctype html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
PDF = b"%PDF-1.7\n"


def upload(account: Account, content: bytes, name: str, mime: str = "text/html", **headers: str) -> httpx2.Response:
    return account.post(MEDIA, files={"file": (name, content, mime)}, headers=headers)


def ref_of(answer: httpx2.Response) -> str:
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ref"])


@pytest.fixture(scope="module")
def sender(model_server: RunningServer) -> Account:
    """Of a server with a bound of 20,000 bytes."""
    return model_server.new_client(f"client {new_id()}")


@pytest.mark.proves("imports.media.upload")
@pytest.mark.parametrize(
    ("content", "name", "kind", "mime", "served"),
    [
        (png(), "page.html", "image", "image/png", "image/png"),
        (wav(tone(0.1)), "фото №1.png", "audio", "audio/wav", "audio/wav"),
        (encoded(tone(0.2), "ogg", "libopus"), "voice", "audio", "audio/ogg", "audio/ogg"),
        (encoded(tone(0.2), "mp3", "mp3"), "a/b\\c.exe", "audio", "audio/mpeg", "audio/mpeg"),
        (PDF, "contract.pdf", "file", "application/pdf", "application/pdf"),
        (HTML, "page.html", "file", "text/plain", "application/octet-stream"),
        (SVG, "picture.svg", "file", "text/plain", "application/octet-stream"),
        (b"\x7fELF\0\0", "a.png", "file", "application/octet-stream", "application/octet-stream"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_file_is_told_by_its_content_and_given_back_as_what_no_browser_runs(
    sender: Account, content: bytes, name: str, kind: str, mime: str, served: str
) -> None:
    answer = upload(sender, content, name)
    ref = ref_of(answer)
    assert answer.json() == {
        "ref": ref,
        "type": kind,
        "mime": mime,
        "name": name.replace("\\", "/").rsplit("/", 1)[-1],
        "size_bytes": len(content),
    }
    found = sender.get(f"{MEDIA}/{ref}")
    assert (found.status_code, found.content) == (200, content)
    assert found.headers["Content-Type"] == served
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in found.headers["Content-Security-Policy"]
    assert found.headers["Cache-Control"].startswith("private")


@pytest.mark.proves("imports.media.range")
def test_parts_and_what_is_known_are_answered_as_for_recordings(sender: Account) -> None:
    content = bytes(range(256)) * 20
    ref = ref_of(upload(sender, content, "a.bin"))
    part = sender.get(f"{MEDIA}/{ref}", headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, content[100:200])
    assert part.headers["Content-Range"] == f"bytes 100-199/{len(content)}"
    etag = part.headers["ETag"]
    assert sender.get(f"{MEDIA}/{ref}", headers={"If-None-Match": etag}).status_code == 304
    assert sender.get(f"{MEDIA}/{ref}", headers={"Range": "bytes=9999-"}).status_code == 416
    head = sender.request("HEAD", f"{MEDIA}/{ref}")
    assert (head.status_code, head.headers["Content-Length"], head.content) == (200, str(len(content)), b"")
    assert ref_of(upload(sender, content, "a.bin")) != ref


@pytest.mark.proves("imports.media.foreign")
def test_another_accounts_ref_is_404(sender: Account, model_server: RunningServer) -> None:
    ref = ref_of(upload(sender, png(), "a.png"))
    other = model_server.new_client(f"client {new_id()}")
    unknown = other.get(f"{MEDIA}/{new_id()}")
    for answer in (other.get(f"{MEDIA}/{ref}"), unknown):
        assert (answer.status_code, answer.json()) == (404, unknown.json())
    assert httpx2.get(f"{model_server.url}{MEDIA}/{ref}").status_code == 401


@pytest.mark.proves("imports.media.upload")
def test_a_file_over_the_bound_is_413_and_leaves_nothing(sender: Account) -> None:
    assert ref_of(upload(sender, b"x" * MAX_DOCUMENT_BYTES, "a.txt"))
    before = stored(sender)
    for size in (MAX_DOCUMENT_BYTES + 1, 3_000_000):
        answer = upload(sender, b"x" * size, "a.txt")
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "file_too_large"), answer.text
    assert stored(sender) == before


def stored(account: Account) -> list[str]:
    return sorted(entry.key for entry in Blobs(account.server.settings).list(f"{account.tenant_id}/media"))


@pytest.mark.parametrize(
    ("options", "code", "param"),
    [
        ({"files": {"other": ("a.txt", b"b")}}, "missing_file", "file"),
        ({"json": {"file": "b"}}, "missing_file", "file"),
        ({"content": b"b"}, "missing_file", "file"),
        ({"files": {"file": ("a.txt", b"")}}, "invalid_request_error", "file"),
    ],
)
def test_no_file_or_an_empty_one_is_400_and_leaves_nothing(
    sender: Account, options: dict[str, Any], code: str, param: str
) -> None:
    before = stored(sender)
    answer = sender.post(MEDIA, **options)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, code, param)
    assert stored(sender) == before


def test_a_repetition_under_its_key_is_the_same_upload(sender: Account) -> None:
    key = {"Idempotency-Key": new_id()}
    before = len(stored(sender))
    first = upload(sender, png(), "a.png", **key)
    again = upload(sender, png(), "a.png", **key)
    assert (again.status_code, again.json(), again.headers["Idempotency-Replayed"]) == (201, first.json(), "true")
    assert len(stored(sender)) == before + 1
    other = upload(sender, PDF, "a.png", **key)
    assert other.json()["error"]["code"] == "idempotency_key_reused"
    assert len(stored(sender)) == before + 1


def test_uploading_while_paused_is_403_and_reading_goes_on(
    model_server: RunningServer, pause: Callable[..., None]
) -> None:
    account = model_server.new_client(f"client {new_id()}")
    ref = ref_of(upload(account, png(), "a.png"))
    pause(account)
    assert upload(account, png(), "a.png").json()["error"]["code"] == "client_inactive"
    assert account.get(f"{MEDIA}/{ref}").status_code == 200


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (silent_video(), "a", "video"),
        (b"\xff\xd8\xff\xe0", "a.txt", "image/jpeg"),
        (b"GIF89a", "", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "", "image/webp"),
        (b"RIFF\0\0\0\0AVI LIST", "", "video/x-msvideo"),
        (b"RIFF\0\0\0\0JUNK", "", "application/octet-stream"),
        (b"\0\0\0\x18ftypM4A ", "", "audio/mp4"),
        (b"\0\0\0\x18ftypisom", "", "video/mp4"),
        (b"\0\0\0\x18ftypqt  ", "", "video/quicktime"),
        (b"\0\0\0\x18ftypheic", "", "image/heic"),
        (b"\0\0\0\x18ftyp3gp4", "", "video/3gpp"),
        (b"\x1aE\xdf\xa3\x01\0B\x82\x84webm", "", "video/webm"),
        (b"\x1aE\xdf\xa3\x01\0B\x82\x88matroska", "", "video/x-matroska"),
        (b"#!AMR\n", "", "audio/amr"),
        (b"\xff\xfb\x90\x00", "", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "", "audio/aac"),
        (b"\xff\xfe\x41\x00", "utf16.txt", "application/octet-stream"),
        (b"\xff\xff\xff\xff", "", "application/octet-stream"),
        (b"PK\x03\x04", "a.zip", "application/zip"),
        (
            b"PK\x03\x04",
            "a.docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (b"PK\x03\x04", "a.html", "application/zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", "application/msword"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.html", "application/octet-stream"),
        (b"BM note", "a.bmp", "text/plain"),
        ("Привет".encode(), "a.html", "text/plain"),
        (b"\xcf\xf0\xe8", "cp1251.txt", "application/octet-stream"),
        (b"a\0b", "a.txt", "application/octet-stream"),
        (b"", "a.png", "application/octet-stream"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_signatures_of_the_usual_files_are_known(head: bytes, name: str, expected: str) -> None:
    kind, mime = media_type(head, name)
    assert expected in (mime, kind)
    assert kind in ("audio", "image", "video", "file")
    assert Path(mime).name not in ("html", "svg+xml", "xhtml+xml", "javascript")
