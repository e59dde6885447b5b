"""A real HTTP server on loopback that records what it is sent and answers as it is told to."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WAIT_S = 120.0


@dataclass(frozen=True)
class Received:
    """One request as it came in. Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def is_signed_by(self, api_key: str) -> bool:
        """The signature as a client program checks it by the contract: from the raw body and the API key."""
        secret = hashlib.sha256(api_key.encode()).hexdigest()
        expected = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(self.headers["x-webhook-signature"], f"sha256={expected}")


@dataclass(frozen=True)
class Reply:
    """How a request is answered. `hangs`: not at all, until the receiver closes. `raw`: these bytes in place of HTTP,
    then the connection ends. `drips`: the raw bytes one at a time, again and again, until nobody listens."""

    status: int = 200
    body: bytes = b"thank you"
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    raw: bytes | None = None
    drips: bool = False


Answering = Callable[[Received], Reply]


class Receiver:
    """Answers 200 unless told otherwise; the last reply given for a path goes on."""

    def __init__(self, host: str) -> None:
        self.requests: list[Received] = []
        self._host = "127.0.0.1" if host == "0.0.0.0" else host
        self._replies: dict[str, list[Reply]] = {}
        self._answering: dict[str, Answering] = {}
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._server = _Server((host, 0), _handler(self))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def speak_tls(self, context: ssl.SSLContext) -> None:
        """For connections from now on; to be called before the first."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def url(self, path: str = "/hook", host: str = "") -> str:
        return f"http://{host or self._host}:{self.port}{path}"

    def answer(self, path: str, *replies: Reply) -> str:
        """The URL of a path that gives these replies, one after the other."""
        with self._changed:
            self._replies[path] = list(replies)
        return self.url(path)

    def answer_by(self, path: str, answering: Answering) -> str:
        with self._changed:
            self._answering[path] = answering
        return self.url(path)

    def at(self, path: str) -> list[Received]:
        with self._changed:
            return [each for each in self.requests if each.path == path]

    def wait(self, path: str, count: int = 1, *, wait_s: float = WAIT_S) -> list[Received]:
        """The requests to a path once there are `count`."""

        def found() -> list[Received] | None:
            there = [each for each in self.requests if each.path == path]
            return there if len(there) >= count else None

        with self._changed:
            there = self._changed.wait_for(found, wait_s)
            assert there, f"{len([r for r in self.requests if r.path == path])} of {count} requests to {path}"
            return there

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _reply(self, received: Received) -> Reply:
        with self._changed:
            self.requests.append(received)
            self._changed.notify_all()
            answering = self._answering.get(received.path)
            replies = self._replies.get(received.path, [])
            if answering is None:
                return Reply() if not replies else replies.pop(0) if len(replies) > 1 else replies[0]
        return answering(received)

    def _hang(self, connection: socket.socket) -> None:
        """Until the receiver closes or the other side goes away."""
        connection.settimeout(0.05)
        while not self._closing.is_set():
            try:
                if connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def _drip(self, connection: socket.socket, raw: bytes) -> None:
        with suppress(OSError):
            while not self._closing.is_set():
                for value in raw:
                    connection.sendall(bytes([value]))
                    if self._closing.wait(0.02):
                        return


class _Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is part of the tests."""


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = self.rfile.read(length)
            if len(body) < length:  # who sent it was killed in the middle
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = receiver._reply(Received(self.command, self.path, headers, body, time.time()))
            self.close_connection = True
            if reply.hangs:
                receiver._hang(self.connection)
            elif reply.drips:
                receiver._drip(self.connection, reply.raw or b"x")
            elif reply.raw is not None:
                self.connection.sendall(reply.raw)
            else:
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *arguments: object) -> None:
            """Quiet."""

    return Handler


@contextmanager
def receiving(host: str = "127.0.0.1") -> Iterator[Receiver]:
    """`host` 0.0.0.0 is reached at each address of loopback."""
    receiver = Receiver(host)
    try:
        yield receiver
    finally:
        receiver.close()
