"""What a connection may take: memory and time for a head, time for a body and an answer; and connections at once."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest

from api.protocol import MAX_PIPELINED
from tests.support.server import Account, RunningServer

HEAD_TIMEOUT_S = 1
MAX_CONNECTIONS = 40
CLOSED_WITHIN_S = 120.0
UPLOAD = b"POST /public/v1/kb/spaces HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\nAuthorization: Bearer %b\r\n\r\n{"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of little patience and with few places."""
    running = RunningServer(
        tmp_path_factory.mktemp("strict"),
        head_timeout_s=str(HEAD_TIMEOUT_S),
        max_connections=str(MAX_CONNECTIONS),
        max_requests="2",
        shutdown_grace_s="600",  # longer than a test waits for the end
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture(scope="module")
def strict_account(strict: RunningServer) -> Account:
    return strict.new_client("client")


def connect(server: RunningServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=CLOSED_WITHIN_S)


def rest_of(connection: socket.socket) -> bytes:
    """What comes until the server closes, which it must."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def get_health(connection: socket.socket) -> None:
    """A whole request on a connection that stays open."""
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = b""
    while not answer.endswith(b'{"status":"ok"}'):
        part = connection.recv(65536)
        assert part, answer
        answer += part
    assert answer.startswith(b"HTTP/1.1 200 ")


def answer_of(raw: bytes) -> tuple[int, dict[str, str], Any]:
    head, _, body = raw.partition(b"\r\n\r\n")
    status_line, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return int(status_line.split(" ")[1]), headers, json.loads(body)


def checked(raw: bytes, status: int, code: str) -> None:
    """The whole documented answer, after which the connection ends."""
    found, headers, body = answer_of(raw)
    assert found == status, raw
    assert headers["connection"] == "close"
    assert headers["content-type"] == "application/json"
    assert headers["x-request-id"]
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert (body["error"]["type"], body["error"]["code"]) == ("invalid_request_error", code)


@pytest.mark.parametrize("begun", [b"", b"GET", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"\r\n\r\n"])
def test_a_head_that_does_not_come_is_answered_408(strict: RunningServer, begun: bytes) -> None:
    with connect(strict) as connection:
        connection.sendall(begun)
        checked(rest_of(connection), 408, "request_timeout")


def test_a_head_that_trickles_is_answered_408(strict: RunningServer) -> None:
    with connect(strict) as connection:
        connection.settimeout(0.05)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        deadline = time.monotonic() + CLOSED_WITHIN_S
        answer = b""
        while not answer:
            assert time.monotonic() < deadline, "a byte now and then kept the connection open"
            connection.sendall(b"a")
            try:
                answer = connection.recv(65536)
            except TimeoutError:
                continue
        checked(answer, 408, "request_timeout")


def test_the_head_of_a_connections_next_request_has_its_own_deadline(strict: RunningServer) -> None:
    with connect(strict) as connection:
        for _ in range(2):
            get_health(connection)
        connection.sendall(b"GET /heal")
        checked(rest_of(connection), 408, "request_timeout")


def test_a_body_that_comes_too_slowly_is_answered_408(strict: RunningServer, strict_account: Account) -> None:
    with connect(strict) as slow:
        slow.sendall(UPLOAD % strict_account.made.api_key.encode())
        checked(rest_of(slow), 408, "request_timeout")
    assert 'parley_http_connections_closed_total{reason="slow_body"}' in httpx2.get(strict.url + "/metrics").text


def test_a_body_that_waits_for_the_servers_continue_is_not_slow(strict: RunningServer, strict_account: Account) -> None:
    head = (UPLOAD[:-3] % strict_account.made.api_key.encode()) + b"Expect: 100-continue\r\n\r\n"
    with connect(strict) as connection:
        connection.sendall(head)
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"


def test_a_request_line_that_makes_no_sense_is_answered_in_the_documented_body(strict: RunningServer) -> None:
    for raw in (
        b"NONSENSE\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET  HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    ):
        with connect(strict) as connection:
            connection.sendall(raw)
            checked(rest_of(connection), 400, "invalid_request_error")


def test_a_request_that_could_be_read_in_two_ways_is_refused(strict: RunningServer) -> None:
    smuggled = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    for raw in (
        smuggled,
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ):
        with connect(strict) as connection:
            connection.sendall(raw)
            assert rest_of(connection).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("path", [b"/integration/v1/clients", b"/integration"])
def test_integration_gets_its_own_body_from_the_protocol_too(strict: RunningServer, path: bytes) -> None:
    with connect(strict) as connection:
        connection.sendall(b"GET " + path + b" HTTP/1.1\r\nX: ")
        status, _, body = answer_of(rest_of(connection))
    assert (status, set(body["error"]), body["error"]["code"]) == (
        408,
        {"code", "message", "details"},
        "request_timeout",
    )


@pytest.mark.parametrize(
    "head",
    [
        b"X-Endless: " + b"a" * 2_000_000,
        b"".join(b"X-%d: y\r\n" % number for number in range(50_000)) + b"\r\n",
    ],
    ids=["one header without an end", "very many headers"],
)
def test_a_head_over_the_bound_is_answered_431(server: RunningServer, head: bytes) -> None:
    with connect(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        connection.sendall(head[:100_000])
        checked(rest_of(connection), 431, "head_too_large")
    with connect(server) as connection:  # one that sends on regardless
        try:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + head)
        except ConnectionError:
            return
        assert rest_of(connection)[:12] in (b"", b"HTTP/1.1 431")


def test_connections_over_the_bound_are_answered_503_and_closed(strict: RunningServer, strict_account: Account) -> None:
    with ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS):
            stack.enter_context(connect(strict)).sendall(UPLOAD % strict_account.made.api_key.encode())
        for _ in range(10):
            with connect(strict) as refused:
                status, headers, body = answer_of(rest_of(refused))
            assert (status, body["error"]["type"]) == (503, "unavailable_error")
            assert int(headers["retry-after"]) > 0
            assert headers["x-request-id"] in body["error"]["message"]
    assert wait_for_health(strict)


def wait_for_health(server: RunningServer) -> bool:
    deadline = time.monotonic() + CLOSED_WITHIN_S
    while time.monotonic() < deadline:
        if httpx2.get(server.url + "/healthz").status_code == 200:
            return True
    return False


def test_requests_over_the_bound_are_answered_503_but_for_the_operators(
    strict: RunningServer, strict_account: Account
) -> None:
    """Two locked writers are in work; uploads that still come take no place."""
    body = json.dumps({"name": "A"}).encode()
    head = b"POST /public/v1/kb/spaces HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(body)
    head += b"Expect: 100-continue\r\nAuthorization: Bearer %b\r\n\r\n" % strict_account.made.api_key.encode()
    with ExitStack() as stack:
        uploads = [stack.enter_context(connect(strict)) for _ in range(8)]
        for upload in uploads:
            upload.sendall(head)
            assert upload.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"  # so its handler waits for the body
        assert strict_account.get("/public/v1/chats/list").status_code == 200
        with strict.database.write():  # nobody else writes meanwhile
            for upload in uploads[:2]:
                upload.sendall(body)
            deadline = time.monotonic() + CLOSED_WITHIN_S
            while (refused := strict_account.get("/public/v1/chats/list")).status_code != 503:
                assert time.monotonic() < deadline, "nobody is refused"
            assert refused.json()["error"]["type"] == "unavailable_error"
            assert int(refused.headers["Retry-After"]) > 0
            assert refused.headers["X-Request-Id"] in refused.json()["error"]["message"]
            assert httpx2.get(strict.url + "/healthz").status_code == 200
            assert httpx2.get(strict.url + "/metrics").status_code == 200
        for upload in uploads[:2]:
            assert upload.recv(65536).startswith(b"HTTP/1.1 201 ")
        assert strict_account.get("/public/v1/chats/list").status_code == 200


def test_a_large_upload_that_is_refused_gets_its_answer(strict: RunningServer, strict_account: Account) -> None:
    """The client is still sending when the server has answered; it may finish, and reads the answer."""
    for _ in range(5):
        with connect(strict) as connection:
            head = b"POST /public/v1/kb/spaces HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\nAuthorization: Bearer "
            connection.sendall(head + strict_account.made.api_key.encode() + b"\r\n\r\n")
            connection.sendall(b" " * 2_000_000)
            status, _, body = answer_of(rest_of(connection))
            assert (status, body["error"]["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_nobody_asked_for_is_bounded(strict: RunningServer, chunked: bool) -> None:
    kind = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 100000000"
    piece = b"10000\r\n" + b"a" * 65_536 + b"\r\n" if chunked else b"a" * 65_536
    with connect(strict) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + kind + b"\r\n\r\n")
        with pytest.raises(ConnectionError):
            connection.sendall(piece * 1500)


def test_an_idle_connection_with_blank_lines_is_closed(strict: RunningServer) -> None:
    with connect(strict) as connection:
        get_health(connection)
        connection.sendall(b"\r\n")
        checked(rest_of(connection), 408, "request_timeout")


def test_a_stop_waits_for_no_silent_connection(strict: RunningServer) -> None:
    with connect(strict), connect(strict) as half:
        half.sendall(b"GET /hea")
        assert strict.stop() == 0
    strict.start()


def test_requests_with_usual_heads_and_large_bodies_pass_on_one_connection(server: RunningServer) -> None:
    with httpx2.Client(base_url=server.url, headers={f"X-Usual-{number}": "y" * 500 for number in range(40)}) as http:
        for _ in range(5):
            assert http.get("/healthz").status_code == 200
            assert http.post("/mcp", content=b"x" * 300_000).status_code == 401


def test_requests_at_once_on_one_connection_are_bounded(strict: RunningServer) -> None:
    """What was taken is answered, the last of it says that the connection ends, and the client reads that."""
    with connect(strict) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 20_000)
        raw = rest_of(connection)
    answers = raw.split(b"HTTP/1.1 ")[1:]
    assert MAX_PIPELINED < len(answers) < 20_000
    assert all(answer.startswith(b"200 ") and answer.endswith(b'{"status":"ok"}') for answer in answers)
    assert b"connection: close" in answers[-1].lower()
    assert b"connection: close" not in b"".join(answers[:-1]).lower()
    assert 'closed_total{reason="too_many_pipelined"} 1.0' in httpx2.get(strict.url + "/metrics").text
