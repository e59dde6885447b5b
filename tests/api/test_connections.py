"""The protocol and the places over handlers that do what the platform's own do only at times: they answer early, never
read, or stay in work."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

import api.protocol
from api.middleware import Places

CLOSED_WITHIN_S = 120.0
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"


@contextmanager
def serving(handler: Callable[[Request], Awaitable[Response]], **bounds: float) -> Iterator[int]:
    """The port of a server in this process whose every POST is the handler's."""

    class Server(uvicorn.Server):
        async def on_tick(self, counter: int) -> bool:
            api.protocol.sweep(self.server_state.connections, 0.1)
            return await super().on_tick(counter)

    patient = {"head_timeout_s": 600.0, "body_min_bytes_per_s": 256.0, "max_connections": 100}
    protocol = api.protocol.bounded_protocol(api.protocol.Bounds(**(patient | bounds)))  # type: ignore[arg-type]
    app = Starlette(routes=[Route("/", handler, methods=["POST"])])
    config = uvicorn.Config(app, loop="uvloop", http=protocol, ws="none", log_config=None, lifespan="off")
    server = Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(timeout=CLOSED_WITHIN_S)
        listening.close()
        assert not thread.is_alive()


async def refuse(request: Request) -> Response:
    return Response("no", status_code=401)


def test_a_body_that_stops_after_its_early_answer_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of it came at once before."""
    monkeypatch.setattr(api.protocol, "BODY_WINDOW_S", 1.0)
    with serving(refuse) as port, socket.create_connection(("127.0.0.1", port), CLOSED_WITHIN_S) as connection:
        connection.sendall(POST % 10_000_000)
        answer = b""
        while not answer.endswith(b"no"):
            answer += connection.recv(65536)
        connection.sendall(b"x" * 100_000)
        assert connection.recv(65536) == b""


@pytest.mark.parametrize("begun", [b"", b"POST / HT", POST % 100])
def test_clients_that_leave_early_take_nobody_the_time_to_read_a_refusal(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a load balancer's probes do, of which there are many more than connections may linger."""
    monkeypatch.setattr(api.protocol, "MOST_LINGERING", 2)
    with serving(refuse) as port:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port), CLOSED_WITHIN_S) as leaver:
                leaver.sendall(begun)
                if begun.endswith(b"\r\n\r\n"):
                    assert leaver.recv(65536)
                leaver.shutdown(socket.SHUT_WR)
                while leaver.recv(65536):
                    pass  # what is left of the answer, until the server has seen the end
        with socket.create_connection(("127.0.0.1", port), CLOSED_WITHIN_S) as connection:
            connection.sendall(b"NONSENSE\r\n\r\n")
            while connection.recv(65536):
                pass
            for _ in range(20):
                connection.sendall(b"still sending")  # a reset, were it closed at once


class Watcher:
    """A handler in work until its client is gone, which it asks as a chat's does."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.saw_the_end = threading.Event()
        self.calls = 0

    async def __call__(self, request: Request) -> Response:
        self.calls += 1
        self.began.set()
        deadline = time.monotonic() + CLOSED_WITHIN_S
        while time.monotonic() < deadline:
            if await request.is_disconnected():
                self.saw_the_end.set()
                break
            await asyncio.sleep(0.02)
        return Response("done")


@pytest.mark.parametrize(
    "behind", [b"", POST % 0, (POST % 0) * 3, (POST % 0) + b"POST", (POST % 0) + b"NONSENSE\r\n\r\n", (POST % 0) * 100]
)
def test_a_client_that_leaves_is_seen_by_the_request_in_work_whatever_it_sent_behind(
    behind: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = Watcher()

    async def handler(request: Request) -> Response:
        return await watcher(request)

    with serving(handler) as port:
        with socket.create_connection(("127.0.0.1", port), CLOSED_WITHIN_S) as connection:
            connection.sendall(POST % 0 + behind)
            assert watcher.began.wait(CLOSED_WITHIN_S)
        assert watcher.saw_the_end.wait(CLOSED_WITHIN_S)
    assert watcher.calls == 1
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_body_behind_a_request_in_work_is_bounded() -> None:
    """Asking whether the client is there lets uvicorn read on, and nobody takes what it reads."""
    watcher = Watcher()

    async def handler(request: Request) -> Response:
        return await watcher(request)

    with (
        serving(handler) as port,
        socket.create_connection(("127.0.0.1", port), CLOSED_WITHIN_S) as connection,
    ):
        connection.sendall(POST % 0)
        assert watcher.began.wait(CLOSED_WITHIN_S)
        connection.sendall(POST % 1_000_000_000)
        with pytest.raises(ConnectionError):
            connection.sendall(b"a" * 100_000_000)
        assert watcher.saw_the_end.wait(CLOSED_WITHIN_S)


def statuses_of_ten_at_once(app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> list[int]:
    """What ten requests get from a server with two places, each of which announces a body that never comes."""
    statuses: list[int] = []

    async def ask(places: Places) -> None:
        async def receive() -> Message:
            await asyncio.sleep(600)
            raise AssertionError

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [(b"content-length", b"1")]
        await places({"type": "http", "path": "/x", "method": "GET", "headers": headers, "state": {}}, receive, send)

    async def ask_all() -> None:
        places = Places(app, 2)
        await asyncio.wait_for(asyncio.gather(*(ask(places) for _ in range(10))), CLOSED_WITHIN_S)
        assert places._free == 2

    asyncio.run(ask_all())
    return sorted(statuses)


async def answer_200(send: Send, in_work: Callable[[], Awaitable[object]]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await in_work()
    await send({"type": "http.response.body"})


def test_a_request_that_announces_a_body_takes_a_place_where_nobody_reads_it() -> None:
    async def work(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.05)
        await answer_200(send, lambda: asyncio.sleep(0))

    assert statuses_of_ten_at_once(work) == [200] * 2 + [503] * 8


def test_a_request_that_is_being_answered_takes_a_place_though_its_body_is_outstanding() -> None:
    """An answer in parts listens for the client's end meanwhile."""

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        async def listen_a_moment() -> None:
            listening: asyncio.Future[Message] = asyncio.ensure_future(receive())
            await asyncio.sleep(0.05)
            listening.cancel()
            await asyncio.wait([listening])

        await answer_200(send, listen_a_moment)

    assert statuses_of_ten_at_once(stream) == [200] * 2 + [503] * 8
