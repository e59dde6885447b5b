"""Fetching from real sockets: redirects that are checked, bounds, and going on where a connection broke."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from accounts.outbound import AddressRefused, Outbound, OutboundFailed, TimedOut, TooMuch
from accounts.outbound_fetch import fetch
from tests.support.receiver import Received, Receiver, Reply, receiving

CONTENT = bytes(range(256)) * 4000
LARGE = 10_000_000


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@pytest.fixture
def outbound() -> Outbound:
    return Outbound(["127.0.0.1"])


def get(
    outbound: Outbound, url: str, *, max_bytes: int = LARGE, timeout_s: float = 30.0, max_redirects: int = 5
) -> bytes:
    with fetch(outbound, url, max_bytes=max_bytes, timeout_s=timeout_s, max_redirects=max_redirects) as found:
        return b"".join(found)


def test_a_file_is_fetched_with_what_is_told_of_it(receiver: Receiver, outbound: Outbound) -> None:
    headers = {"Content-Type": "audio/wav", "Content-Disposition": "attachment; filename*=UTF-8''%D0%B7%D0%B2.wav"}
    url = receiver.answer("/file", Reply(body=CONTENT, headers=headers))
    with fetch(outbound, url, max_bytes=LARGE, timeout_s=30) as found:
        assert (found.url, found.content_type, found.size, found.file_name) == (
            url,
            "audio/wav",
            len(CONTENT),
            "зв.wav",
        )
        assert b"".join(found) == CONTENT
    (asked,) = receiver.requests
    assert (asked.method, asked.headers["accept-encoding"]) == ("GET", "identity")


@pytest.mark.parametrize(
    ("path", "disposition", "name"),
    [
        ("/a/call%201.wav?token=x", None, "call 1.wav"),
        ("/a/b", 'attachment; filename="../../etc/passwd"', "passwd"),
        ("/a/b", 'attachment; filename="C:\\\\calls\\\\one.wav"', "one.wav"),
        ("/", None, None),
    ],
)
def test_a_file_s_name_is_never_a_path(
    receiver: Receiver, outbound: Outbound, path: str, disposition: str | None, name: str | None
) -> None:
    headers = {"Content-Disposition": disposition} if disposition else {}
    url = receiver.answer(path, Reply(headers=headers))
    with fetch(outbound, url, max_bytes=LARGE, timeout_s=30) as found:
        assert found.file_name == name


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(receiver: Receiver, outbound: Outbound, status: int) -> None:
    receiver.answer("/there", Reply(body=CONTENT))
    url = receiver.answer("/here", Reply(status=status, headers={"Location": "/there"}))
    assert get(outbound, url) == CONTENT


@pytest.mark.proves("webhooks.guard.redirect-checked")
@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.2:{port}/secret",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:{port}/secret",
        "http://0x7f.2:{port}/secret",
        "//10.0.0.1/secret",
        "file:///etc/passwd",
        "ftp://127.0.0.1/secret",
        "http://user:password@127.0.0.1:{port}/secret",
    ],
)
def test_a_redirect_s_target_is_checked_like_the_url_itself(
    receiver: Receiver, outbound: Outbound, location: str
) -> None:
    url = receiver.answer("/here", Reply(status=302, headers={"Location": location.format(port=receiver.port)}))
    with pytest.raises(AddressRefused):
        get(outbound, url)
    assert receiver.at("/secret") == []


def test_redirects_come_to_an_end(receiver: Receiver, outbound: Outbound) -> None:
    url = receiver.answer("/round", Reply(status=302, headers={"Location": "/round"}))
    with pytest.raises(OutboundFailed, match="redirects"):
        get(outbound, url)
    assert len(receiver.at("/round")) == 6


@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 401, 403, 404, 410, 500, 503])
def test_any_status_but_200_is_a_failure_with_its_number(receiver: Receiver, outbound: Outbound, status: int) -> None:
    url = receiver.answer("/file", Reply(raw=f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()))
    with pytest.raises(OutboundFailed, match=str(status)) as failed:
        get(outbound, url)
    assert failed.value.status_code == status


def test_what_is_too_large_is_refused_before_it_is_read_or_as_soon_as_it_is(
    receiver: Receiver, outbound: Outbound
) -> None:
    said = receiver.answer("/said", Reply(body=CONTENT))
    with pytest.raises(TooMuch):
        get(outbound, said, max_bytes=len(CONTENT) - 1)
    assert get(outbound, said, max_bytes=len(CONTENT)) == CONTENT
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"a" * 1024 + b"\r\n"
    unsaid = receiver.answer("/unsaid", Reply(raw=endless + (b"400\r\n" + b"a" * 1024 + b"\r\n") * 100))
    with pytest.raises(TooMuch):
        get(outbound, unsaid, max_bytes=50_000)


def test_a_body_that_drips_ends_with_the_deadline(receiver: Receiver, outbound: Outbound) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    url = receiver.answer("/drip", Reply(drips=True, raw=head + b"a" * 1000))
    with pytest.raises(TimedOut):
        get(outbound, url, timeout_s=2)


def test_a_packed_answer_is_refused(receiver: Receiver, outbound: Outbound) -> None:
    url = receiver.answer("/gzip", Reply(headers={"Content-Encoding": "gzip"}))
    with pytest.raises(OutboundFailed, match="packs"):
        get(outbound, url)


def breaking(pieces: int, etag: str | Callable[[int], str] = '"v1"') -> Callable[[Received], Reply]:
    """A server that gives a part of CONTENT at a time, then breaks the connection."""
    asked = [0]

    def answer(received: Received) -> Reply:
        asked[0] += 1
        tag = etag if isinstance(etag, str) else etag(asked[0])
        found = re.fullmatch(r"bytes=([0-9]+)-", received.headers.get("range", ""))
        begin = int(found[1]) if found and received.headers.get("if-range") == tag else 0
        common = f"ETag: {tag}\r\nAccept-Ranges: bytes\r\nContent-Length: {len(CONTENT) - begin}\r\n"
        ranged = f"HTTP/1.1 206 Partial\r\nContent-Range: bytes {begin}-{len(CONTENT) - 1}/{len(CONTENT)}\r\n"
        head = (ranged if begin else "HTTP/1.1 200 OK\r\n") + common + "\r\n"
        return Reply(raw=head.encode() + CONTENT[begin : begin + len(CONTENT) // pieces + 1])

    return answer


def test_a_broken_connection_is_gone_on_with(receiver: Receiver, outbound: Outbound) -> None:
    assert get(outbound, receiver.answer_by("/file", breaking(3))) == CONTENT
    ranges = [each.headers.get("range") for each in receiver.at("/file")]
    assert ranges[0] is None
    assert all(each is not None for each in ranges[1:])
    assert len(ranges) == 3


@pytest.mark.parametrize(
    "answer",
    [breaking(3, lambda number: f'"v{number}"'), breaking(3, 'W/"v1"'), breaking(50)],
    ids=["another version", "no strong version", "again and again"],
)
def test_a_broken_connection_that_cannot_be_gone_on_with_is_a_failure(
    receiver: Receiver, outbound: Outbound, answer: Callable[[Received], Reply]
) -> None:
    with pytest.raises(OutboundFailed, match="broke"):
        get(outbound, receiver.answer_by("/file", answer))


def test_a_body_shorter_than_said_is_a_failure(receiver: Receiver, outbound: Outbound) -> None:
    url = receiver.answer("/short", Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"))
    with pytest.raises(OutboundFailed, match="broke"):
        get(outbound, url)
