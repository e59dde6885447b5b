"""Connections that begin a request and hardly go on with it."""

from __future__ import annotations

import resource
import selectors
import socket
import time

from tests.support.server import Account

CLOSED_WITHIN_S = 30.0


def allow_many_connections() -> None:
    """As many descriptors as this process, and the servers that it starts, may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def open_slow(account: Account, count: int) -> list[socket.socket]:
    """A third begins a head, a third sends a head and begins a body, a third sends nothing."""
    body_head = (
        f"POST /public/v1/kb/spaces HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n"
        f"Authorization: Bearer {account.made.api_key}\r\n\r\n"
    )
    starts = (b"GET /healthz HTTP/1.1\r\nX-Slow: ", body_head.encode(), b"")
    found = []
    for number in range(count):
        connection = socket.create_connection(("127.0.0.1", account.server.port), timeout=60)
        connection.sendall(starts[number % 3])
        connection.setblocking(False)
        found.append(connection)
    return found


def wait_until_closed(slow: list[socket.socket], began: float) -> float:
    """Seconds after which the server had closed the last; meanwhile each that began sends a byte a second. Raises
    AssertionError where one stays open for long."""
    selector = selectors.DefaultSelector()
    for number, connection in enumerate(slow):
        selector.register(connection, selectors.EVENT_READ, number)
    next_bytes = time.monotonic()
    last_s = 0.0
    while selector.get_map():
        assert time.monotonic() - began < 2 * CLOSED_WITHIN_S, f"{len(selector.get_map())} are still open"
        for key, _ in selector.select(timeout=0.1):
            connection = slow[key.data]
            try:
                is_open = bool(connection.recv(65536))
            except ConnectionError:
                is_open = False
            if not is_open:
                selector.unregister(connection)
                connection.close()
                last_s = time.monotonic() - began
        if time.monotonic() >= next_bytes:
            next_bytes = time.monotonic() + 1
            for key in list(selector.get_map().values()):
                if key.data % 3 != 2:
                    try:
                        slow[key.data].send(b"a")
                    except OSError:
                        continue  # closed meanwhile: seen at its next turn
    return last_s
