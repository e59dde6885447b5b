"""A relay on loopback that adds a client's key to each request, for programs that cannot be told of headers.

All else passes as it is, Host and Origin too. A connection carries one request, which is said to both sides.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Iterator

LONGEST_HEAD = 64 * 1024
PART = 64 * 1024
IDLE_S = 60.0
HEAD_END = b"\r\n\r\n"


class _Relay(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, key: str) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.upstream = ("127.0.0.1", port)
        self.added = f"\r\nAuthorization: Bearer {key}\r\nConnection: close".encode()

    def handle_error(self, request: object, client_address: object) -> None:
        """A side that went away in the middle is nothing to tell of."""


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Relay)
        self.request.settimeout(IDLE_S)
        received = b""
        while HEAD_END not in received:
            part = self.request.recv(PART)
            if not part or len(received) > LONGEST_HEAD:
                return
            received += part
        head, _, body = received.partition(HEAD_END)
        kept = [
            line for line in head.split(b"\r\n") if not line.lower().startswith((b"connection:", b"authorization:"))
        ]
        with socket.create_connection(self.server.upstream, timeout=IDLE_S) as upstream:
            upstream.sendall(b"\r\n".join(kept) + self.server.added + HEAD_END + body)
            # What is left of the body, until the client has heard the answer and closes.
            threading.Thread(target=_copy, args=(self.request, upstream), daemon=True).start()
            _copy(upstream, self.request)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(PART):
            target.sendall(part)


@contextlib.contextmanager
def key_relay(port: int, key: str) -> Iterator[str]:
    """The base URL of a relay to a port of this machine."""
    with _Relay(port, key) as relay:
        thread = threading.Thread(target=relay.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{relay.server_address[1]}"
        finally:
            relay.shutdown()
            thread.join()
