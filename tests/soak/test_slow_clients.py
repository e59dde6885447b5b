"""Slow and greedy clients in number: all of them are let go in time while good requests are answered."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import httpx2
import pytest

from tests.soak.conftest import Size
from tests.support.server import Account, RunningServer
from tests.support.slow_clients import CLOSED_WITHIN_S, allow_many_connections, open_slow, wait_until_closed

pytestmark = pytest.mark.soak

UNTAKEN_WITHIN_S = 90.0


def test_slow_connections_are_closed_while_good_requests_are_answered(tmp_path: Path, size: Size) -> None:
    """A third sends a byte of a head now and then, a third a byte of a body, a third nothing at all."""
    allow_many_connections()
    server = RunningServer(tmp_path / "data")
    try:
        account = server.start().new_client("client")
        good = GoodClient(account)
        slow = open_slow(account, size.slow_clients)
        began = time.monotonic()
        good.start()
        closed_after_s = wait_until_closed(slow, began)
        good.stop()
        print(
            f"{len(slow)} slow connections: the last was closed after {closed_after_s:.1f} s; "
            f"{len(good.seconds)} good requests meanwhile, the slowest in {max(good.seconds) * 1000:.0f} ms, "
            f"median {sorted(good.seconds)[len(good.seconds) // 2] * 1000:.1f} ms"
        )
        assert good.failures == []
        assert len(good.seconds) > 10
        assert closed_after_s < CLOSED_WITHIN_S
    finally:
        server.close()


class GoodClient:
    """Asks all the time, on connections of its own."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.seconds: list[float] = []
        self.failures: list[str] = []

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=60)

    def _ask(self) -> None:
        number = 0
        with httpx2.Client(base_url=self._account.server.url, headers=self._account.headers, timeout=30) as http:
            while not self._stop.is_set():
                number += 1
                # Every other one on a connection of its own, as a new client comes.
                headers = {"Connection": "close"} if number % 4 > 1 else {}
                began = time.monotonic()
                try:
                    if number % 2:
                        answer = http.get("/public/v1/chats/list", headers=headers)
                    else:
                        answer = http.post("/public/v1/kb/spaces", json={"name": f"Space {number}"}, headers=headers)
                    if answer.status_code not in (200, 201):
                        self.failures.append(f"{answer.status_code} {answer.text}")
                except httpx2.HTTPError as error:
                    self.failures.append(repr(error))
                self.seconds.append(time.monotonic() - began)
                self._stop.wait(0.01)


def test_a_client_that_takes_nothing_of_its_answers_is_let_go(own_server: RunningServer) -> None:
    ask = b"GET /openapi/public.json HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.socket() as connection:
        # Small buffers on the server's side too: only a few answers are given on one connection at once.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        connection.settimeout(1)
        connection.connect(("127.0.0.1", own_server.port))
        assert is_closed_while_sending(connection, ask * 100)
        assert httpx2.get(own_server.url + "/healthz").status_code == 200
    text = httpx2.get(own_server.url + "/metrics").text
    assert 'parley_http_connections_closed_total{reason="answer_not_read"} 1.0' in text


def is_closed_while_sending(connection: socket.socket, data: bytes) -> bool:
    deadline = time.monotonic() + UNTAKEN_WITHIN_S
    while time.monotonic() < deadline:
        try:
            connection.sendall(data)
        except TimeoutError:
            continue
        except ConnectionError:
            return True
    return False
