"""A pool of child processes for engines that are heavy, slow or easily hurt by hostile input.

Each child has a socket of its own to the server and shares no lock with its siblings: one that is killed in the middle
of an answer takes down its own work and nothing else. (Pools whose children share a pipe or a queue break as a whole.)

A child is a plain `python -c`, not a `multiprocessing` spawn, so the server's `__main__` is not imported again; it
inherits no socket but its own. It lives until the server lets it go, or until the server's end of the socket closes,
which the kernel does however the server ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

_HEADER = struct.Struct("!Q")
_READ_BYTES = 1024 * 1024
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ingest.children import serve_child; serve_child(*map(int, sys.argv[2:]))"
)


class ChildError(Exception):
    """The work was not done, for a reason that lies in the child process and not in the function's own answer."""


class ChildDied(ChildError):
    """The child ended before it answered: killed, out of the machine's memory, or crashed in native code."""


class ChildTimedOut(ChildError):
    """The work took longer than the pool allows; its child was killed."""


class ChildOutOfMemory(ChildError):
    """The work asked for more memory than the pool allows a child."""


class ChildFailed(ChildError):
    """The function raised, or returned, something that cannot be sent between processes."""


class PoolClosed(ChildError):
    """The pool was closed before the work was done."""


class ChildPool:
    """At most `places` children, started when work comes and let go after `idle_s` without any.

    `timeout_s` bounds one piece of work, a child's start included, waiting for a place not. `memory_bytes` limits a
    child's address space (0: no limit). `nice` is added to the server's own priority number.
    """

    def __init__(
        self,
        name: str,
        places: int,
        timeout_s: float,
        memory_bytes: int = 0,
        nice: int = 10,
        idle_s: float = 300.0,
    ) -> None:
        if places < 1 or timeout_s <= 0 or memory_bytes < 0 or idle_s <= 0:
            raise ValueError("places, timeout_s and idle_s must be positive, memory_bytes at least 0")
        self.name = name
        self.places = places
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._nice = nice
        self._idle_s = idle_s
        self._changed = threading.Condition()
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._taken = 0
        self._closed = False
        self._reaper: threading.Timer | None = None

    def __enter__(self) -> ChildPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def child_pids(self) -> list[int]:
        """Process ids of the children that live now."""
        with self._changed:
            return [child.pid for child in (*self._idle, *self._busy)]

    def run(self, function: Callable[..., Result], *args: object) -> Result:
        """Calls `function(*args)` in a child and returns what it returns. Blocks; may be called from any thread.

        The function must be found by name in an importable module. What it raises is raised here, with the child's
        traceback as a note. Raises ChildDied, ChildTimedOut, ChildOutOfMemory, ChildFailed or PoolClosed.
        """
        if function.__module__ == "__main__" or "<" in function.__qualname__:
            raise TypeError(f"{function!r} cannot be found by name in a child process")
        request = pickle.dumps((function, args), protocol=pickle.HIGHEST_PROTOCOL)
        child = self._take()
        reusable = False
        try:
            outcome, value = child.ask(request, self._timeout_s)
            reusable = outcome != "out_of_memory"
        except ChildDied:
            if self._closed:
                raise PoolClosed(f"The {self.name} pool was closed while the work ran.") from None
            raise
        finally:
            self._give_back(child, reusable)
        if outcome == "returned":
            result: Result = value
            return result
        if outcome == "raised":
            raise value
        if outcome == "out_of_memory":
            raise ChildOutOfMemory(f"The {self.name} child needed more memory than it may take.\n{value}")
        raise ChildFailed(value)

    def close(self) -> None:
        """Ends all children. Work that still runs raises PoolClosed in the thread that waits for it."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = list(self._busy)
            if self._reaper is not None:
                self._reaper.cancel()
            self._changed.notify_all()
        for child in idle:
            child.stop()
        for child in busy:
            child.kill()
        with self._changed:
            self._changed.wait_for(lambda: self._taken == 0)

    def _take(self) -> _Child:
        """Waits for a place; the child used last comes first, since its models are loaded."""
        dead: list[_Child] = []
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._taken < self.places)
            if self._closed:
                raise PoolClosed(f"The {self.name} pool is closed.")
            self._taken += 1
            child = None
            while self._idle and child is None:
                child = self._idle.pop()
                if child.has_ended:
                    dead.append(child)
                    child = None
            if child is not None:
                self._busy.add(child)
        for each in dead:
            each.stop()
        return child or self._start()

    def _start(self) -> _Child:
        try:
            child = _Child(self.name, self._memory_bytes, self._nice)
        # The place goes back whatever kept the child from starting.
        except BaseException:
            with self._changed:
                self._taken -= 1
                self._changed.notify_all()
            raise
        with self._changed:
            self._busy.add(child)
            closed = self._closed
        if closed:
            child.kill()
        return child

    def _give_back(self, child: _Child, reusable: bool) -> None:
        with self._changed:
            self._busy.discard(child)
            kept = reusable and not self._closed
            if kept:
                child.idle_since_s = time.monotonic()
                self._idle.append(child)
                self._watch_idle()
        if not kept:
            child.stop()
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()

    def _watch_idle(self) -> None:
        """Starts the timer that lets idle children go, unless it runs. Needs the lock."""
        if self._reaper is None and self._idle and not self._closed:
            oldest_s = min(child.idle_since_s for child in self._idle)
            wait_s = max(oldest_s + self._idle_s - time.monotonic(), 0.0)
            self._reaper = threading.Timer(wait_s, self._let_idle_go)
            self._reaper.daemon = True
            self._reaper.name = f"{self.name}-idle-children"
            self._reaper.start()

    def _let_idle_go(self) -> None:
        with self._changed:
            limit_s = time.monotonic() - self._idle_s
            gone = [child for child in self._idle if child.idle_since_s <= limit_s]
            self._idle = [child for child in self._idle if child.idle_since_s > limit_s]
            self._reaper = None
            self._watch_idle()
        for child in gone:
            child.stop()


class _Child:
    """The server's side of one child process: one question at a time."""

    def __init__(self, name: str, memory_bytes: int, nice: int) -> None:
        self.idle_since_s = 0.0
        self._name = name
        self._socket, theirs = socket.socketpair()
        try:
            with theirs:
                number = theirs.fileno()
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START, json.dumps(sys.path), str(number), str(memory_bytes), str(nice)],
                    pass_fds=(number,),
                    stdin=subprocess.DEVNULL,
                    stdout=2,  # the server's own output may be a protocol or a table
                    process_group=0,  # so that Ctrl-C reaches the server alone, and a kill the child's own children
                )
        except BaseException:
            self._socket.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, request: bytes, timeout_s: float) -> tuple[str, Any]:
        """Sends one request and waits for its answer, at most `timeout_s`. Raises ChildDied or ChildTimedOut."""
        deadline_s = time.monotonic() + timeout_s
        try:
            self._socket.settimeout(timeout_s)
            _send(self._socket, request)
            answer = _receive(self._socket, deadline_s)
        except TimeoutError:
            raise ChildTimedOut(f"The {self._name} work took longer than {timeout_s:g} s.") from None
        except OSError:
            answer = None
        if answer is None:
            raise ChildDied(f"The {self._name} child died before it answered ({self._ending()}).")
        outcome, value = pickle.loads(answer)
        return outcome, value

    def kill(self) -> None:
        """Kills the child and what it started; returns at once."""
        if not self.has_ended:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Kills the child, waits for its end and frees what it held."""
        self.kill()
        self._process.wait()
        self._socket.close()

    def _ending(self) -> str:
        # Its socket closes a moment before the process can be waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(timeout=5)
            if status < 0:
                hint = ", perhaps for want of memory" if -status == signal.SIGKILL else ""
                return f"{signal.Signals(-status).name}{hint}"
            return f"exit status {status}"
        return "it closed its connection"


def serve_child(socket_number: int, memory_bytes: int, nice: int) -> None:
    """The child's life: answers requests, one after another, until the server goes away. Never returns."""
    # The server decides when a child ends: on Ctrl-C or a service manager's SIGTERM it may still finish its work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection = socket.socket(fileno=socket_number)
    connection.set_inheritable(False)
    os.nice(nice)
    _limit_resources(memory_bytes)
    threading.Thread(target=_die_with_the_server, args=(connection,), daemon=True).start()
    while True:
        request = _receive(connection, None)
        if request is None:
            os._exit(0)
        answer = _answer(request)
        del request
        try:
            _send(connection, answer)
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
    import select

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
            error.add_note(f"In the child process:\n{traceback.format_exc()}")
            outcome, value = "raised", error
            pickle.loads(pickle.dumps(error))
        return pickle.dumps((outcome, value), protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps(("out_of_memory", "while the result was sent"))
    # Pickling runs the classes' own code, which may raise anything.
    except Exception as error:
        return pickle.dumps(("failed", f"{type(error).__name__}: {error}\nof: {value!r:.2000}"))


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(_HEADER.pack(len(message)))
    connection.sendall(message)


def _receive(connection: socket.socket, deadline_s: float | None) -> bytearray | None:
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
