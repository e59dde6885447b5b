"""What runs in a child process (`ingest.children`), and the messages that both sides speak: length, then bytes."""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import select
import signal
import socket
import struct
import threading
import time
import traceback
from pathlib import Path

from ingest import freed_memory

_MOST_OF_NAME = 15
"""So many characters of a process' name the kernel keeps."""
_REST_MS = 1000
"""Who has waited so long for work is likely to wait longer."""
_HEADER = struct.Struct("!Q")
_READ_BYTES = 1024 * 1024


def serve_child(name: str, socket_number: int, memory_bytes: int, nice: int) -> None:
    """The child's life: answers requests, one after another, until the server goes away. Never returns. `name`: that of
    its pool, which the system's list of processes shows."""
    with contextlib.suppress(OSError):  # another system
        Path("/proc/self/comm").write_text(name[:_MOST_OF_NAME])
    # The server decides when a child ends: on Ctrl-C or a service manager's SIGTERM it may still finish its work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection = socket.socket(fileno=socket_number)
    connection.set_inheritable(False)
    os.nice(nice)
    _limit_resources(memory_bytes)
    threading.Thread(target=_die_with_the_server, args=(connection,), daemon=True).start()
    asked = select.poll()
    asked.register(connection, select.POLLIN)
    while True:
        if not asked.poll(_REST_MS):
            freed_memory.give_back()
        request = receive(connection, None)
        if request is None:
            os._exit(0)
        answer = _answer(request)
        del request
        try:
            send(connection, answer)
        except OSError:
            os._exit(0)
        del answer


def _limit_resources(memory_bytes: int) -> None:
    import resource

    if memory_bytes:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # Native code that crashes on a document is expected now and then: no core file for each.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _die_with_the_server(connection: socket.socket) -> None:
    """Ends the child, and what it started, when the server's end of the socket closes, even in the middle of work."""
    poll = select.poll()
    poll.register(connection, select.POLLHUP | getattr(select, "POLLRDHUP", 0))
    poll.poll()
    os.killpg(0, signal.SIGKILL)


def _answer(request: bytearray) -> bytes:
    try:
        try:
            function, args = pickle.loads(request)
            outcome, value = "returned", function(*args)
        except MemoryError:
            outcome, value = "out_of_memory", traceback.format_exc()
        # Whatever the engine raises belongs to the caller in the server; the child lives on.
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.ENOMEM:
                raise MemoryError from error
            error.add_note(f"In the child process:\n{traceback.format_exc()}")
            outcome, value = "raised", error
            pickle.loads(pickle.dumps(error))
        return pickle.dumps((outcome, value), protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps(("out_of_memory", traceback.format_exc()))
    # Pickling runs the classes' own code, which may raise anything.
    except Exception as error:
        return pickle.dumps(("failed", f"{type(error).__name__}: {error}\nof: {value!r:.2000}"))


def send(connection: socket.socket, message: bytes) -> None:
    """One whole message. Raises OSError, TimeoutError among them."""
    connection.sendall(_HEADER.pack(len(message)))
    connection.sendall(message)


def receive(connection: socket.socket, deadline_s: float | None) -> bytearray | None:
    """One whole message, or None where the other side is gone. Raises TimeoutError after the deadline."""
    header = _read(connection, _HEADER.size, deadline_s)
    return None if header is None else _read(connection, _HEADER.unpack(header)[0], deadline_s)


def _read(connection: socket.socket, size: int, deadline_s: float | None) -> bytearray | None:
    data = bytearray()
    while len(data) < size:
        if deadline_s is not None:
            remaining_s = deadline_s - time.monotonic()
            if remaining_s <= 0:
                raise TimeoutError
            connection.settimeout(remaining_s)
        try:
            piece = connection.recv(min(size - len(data), _READ_BYTES))
        except ConnectionResetError:
            return None
        if not piece:
            return None
        data += piece
    return data
