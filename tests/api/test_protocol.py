"""What a request's head may take."""

from __future__ import annotations

import socket

import pytest

from tests.support.server import RunningServer


@pytest.mark.parametrize(
    "head",
    [
        b"X-Endless: " + b"a" * 2_000_000,
        b"".join(b"X-%d: y\r\n" % number for number in range(50_000)) + b"\r\n",
    ],
    ids=["one header without an end", "very many headers"],
)
def test_a_head_over_the_bound_is_refused(server: RunningServer, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        answer = b""
        try:
            connection.sendall(head)
            answer = connection.recv(4096)
        except ConnectionError:
            pass  # closed before all of it was sent, which refuses it too
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


def test_requests_with_usual_heads_and_large_bodies_pass_on_one_connection(server: RunningServer) -> None:
    import httpx2

    with httpx2.Client(base_url=server.url, headers={f"X-Usual-{number}": "y" * 500 for number in range(40)}) as http:
        for _ in range(5):
            assert http.get("/healthz").status_code == 200
            assert http.post("/mcp", content=b"x" * 300_000).status_code == 401
