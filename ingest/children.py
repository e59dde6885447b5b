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
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from ingest.child_line import Line, Work
from ingest.child_main import receive, send
from store import meters, traces

Result = TypeVar("Result")

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ingest.child_main import serve_child; serve_child(sys.argv[2], *map(int, sys.argv[3:]))"
)

_POLL_S = 60.0
"""`poll` knows no waits of a month."""
_ANSWER_S = 10.0
"""So long at least has an answer that has begun."""
_MOST_TIMES = 10
"""So many times its limit may a piece of work take, however little of a core it gets."""


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


class WorkCancelled(ChildError):
    """The work was cancelled under its tag, while it waited or while a child was at it."""


class PoolClosed(ChildError):
    """The pool was closed before the work was done."""


class ChildPool:
    """At most `places` children, started when work comes and let go after `idle_s` without any.

    Who finds no place stands in one line (`ingest.child_line`): urgent work first, then fairly by owner.
    `timeout_s` bounds one piece of work, a child's start included; not the wait for a place, nor, up to ten times as
    long, the time in which the child's main thread was ready and had no core: that is the machine's doing and not the
    work's. `memory_bytes` limits a child's address space (0: no limit). `nice` is added to the server's own priority
    number.
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
        self._line: Line[_Child] = Line()
        self._works: set[Work[_Child]] = set()  # that wait or hold a place
        self._taken = 0
        self._closed = False
        self._reaper: threading.Timer | None = None
        for each in (meters.CHILDREN_FAILED, meters.CHILD_WAIT):
            each.labels(name)  # 0 from the beginning (`store.meters`)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def child_pids(self) -> list[int]:
        """Process ids of the children that live now."""
        with self._changed:
            busy = [work.child for work in self._works if work.child is not None]
            return [child.pid for child in (*self._idle, *busy)]

    @property
    def tags(self) -> set[str]:
        """The tags of the works that wait or are in work now."""
        with self._changed:
            return {work.tag for work in self._works if work.tag}

    def run(
        self,
        function: Callable[..., Result],
        *args: object,
        urgent: bool = False,
        owner: str = "",
        tag: str = "",
    ) -> Result:
        """Calls `function(*args)` in a child and returns what it returns. Blocks; may be called from any thread.

        Of those who wait for a place, urgent work goes first, then the `owner` who was served least recently, then who
        came first. Under its `tag` work can be cancelled.

        The function, or that of a `partial`, must be found by name in an importable module; one that imports nothing of
        the server's, since each child imports it anew. What it raises is raised here, with the child's traceback as a
        note. Raises ChildDied, ChildTimedOut, ChildOutOfMemory, ChildFailed, WorkCancelled or PoolClosed.
        """
        named: Callable[..., Result] = function.func if isinstance(function, partial) else function
        if named.__module__ == "__main__" or "<" in named.__qualname__:
            raise TypeError(f"{function!r} cannot be found by name in a child process")
        request = pickle.dumps((function, args), protocol=pickle.HIGHEST_PROTOCOL)
        work: Work[_Child] = Work(urgent, owner, tag)
        self._wait_for_place(work)
        child = self._take(work)
        try:
            with traces.span(f"child {self.name}", attributes={"code.function.name": named.__qualname__}):
                outcome, value = self._ask(work, child, request)
        # One that was killed for the pool's end or for a cancel did not just die.
        except (ChildDied, ChildTimedOut):
            if self._closed:
                raise self._is_closed() from None
            if not work.is_cancelled:
                meters.CHILDREN_FAILED.labels(self.name).inc()
                raise
        if work.is_cancelled:
            raise self._was_cancelled(work)
        if outcome == "returned":
            result: Result = value
            return result
        if outcome == "raised":
            raise value
        if outcome == "out_of_memory":
            meters.CHILDREN_FAILED.labels(self.name).inc()
            raise ChildOutOfMemory(f"The {self.name} child needed more memory than it may take.\n{value}")
        raise ChildFailed(value)

    def cancel(self, tag: str) -> bool:
        """Ends what waits or is in work under the tag: its child is killed, its threads raise WorkCancelled. False
        where there is none (any more). A second cancel does no harm, and kills again what should still run."""
        if not tag:
            raise ValueError("work without a tag cannot be cancelled")
        with self._changed:
            found = [work for work in self._works if work.tag == tag]
            for work in found:
                work.cancel()
                self._line.leave(work)
            self._changed.notify_all()
        return bool(found)

    def close(self) -> None:
        """Ends all children. Work that waits or runs raises PoolClosed in the thread that waits for it."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = [work.child for work in self._works if work.child is not None]
            if self._reaper is not None:
                self._reaper.cancel()
            self._changed.notify_all()
        for child in idle:
            child.stop()
        for child in busy:
            child.kill()
        with self._changed:
            self._changed.wait_for(lambda: not self._works)

    def _is_closed(self) -> PoolClosed:
        return PoolClosed(f"The {self.name} pool was closed before the work was done.")

    def _was_cancelled(self, work: Work[_Child]) -> WorkCancelled:
        return WorkCancelled(f"The {self.name} work {work.tag} was cancelled.")

    def _wait_for_place(self, work: Work[_Child]) -> None:
        """Raises WorkCancelled or PoolClosed."""
        came_s = time.monotonic()
        with self._changed:
            self._works.add(work)
            self._line.join(work)
            try:
                self._hand_out_places()
                self._changed.wait_for(lambda: work.has_place or work.is_cancelled or self._closed)
                self._check_is_wanted(work)
                meters.CHILD_WAIT.labels(self.name).observe(time.monotonic() - came_s)
            # Whatever ends the wait, an interrupt too: neither the line nor the place may keep it.
            except BaseException:
                self._forget(work)
                raise

    def _hand_out_places(self) -> None:
        """Needs the lock."""
        while self._line and self._taken < self.places:
            self._line.next().has_place = True
            self._taken += 1
        self._changed.notify_all()

    def _forget(self, work: Work[_Child]) -> None:
        """Its place goes to the next. Needs the lock."""
        self._works.discard(work)
        self._line.leave(work)
        if work.has_place:
            work.has_place = False
            self._taken -= 1
        self._hand_out_places()

    def _check_is_wanted(self, work: Work[_Child]) -> None:
        """Raises WorkCancelled or PoolClosed. Needs the lock."""
        if self._closed:
            raise self._is_closed()
        if work.is_cancelled:
            raise self._was_cancelled(work)

    def _take(self, work: Work[_Child]) -> _Child:
        """The child used last comes first, since its models are loaded. Raises WorkCancelled or PoolClosed: a cancel
        that came before there was a child to kill must not be lost."""
        dead: list[_Child] = []
        try:
            with self._changed:
                self._check_is_wanted(work)
                while self._idle and work.child is None:
                    child = self._idle.pop()
                    if child.has_ended:
                        dead.append(child)
                    else:
                        work.child = child
            for each in dead:
                each.stop()
            return work.child or self._start(work)
        # The place goes back whatever kept the work from a child.
        except BaseException:
            with self._changed:
                self._forget(work)
            raise

    def _start(self, work: Work[_Child]) -> _Child:
        child = _Child(self.name, self._memory_bytes, self._nice)
        meters.CHILDREN_STARTED.labels(self.name).inc()
        with self._changed:
            work.child = child
            if self._closed or work.is_cancelled:
                child.kill()
        return child

    def _ask(self, work: Work[_Child], child: _Child, request: bytes) -> tuple[str, Any]:
        """What the child answers; child and place are free then. Raises ChildDied or ChildTimedOut."""
        reusable = False
        try:
            outcome, value = child.ask(request, self._timeout_s)
            # A library that was imported by halves cannot be imported again.
            reusable = outcome != "out_of_memory" and not isinstance(value, ImportError)
            return outcome, value
        finally:
            self._give_back(work, child, reusable)

    def _give_back(self, work: Work[_Child], child: _Child, reusable: bool) -> None:
        with self._changed:
            work.child = None  # from here on a cancel kills it no more
            kept = reusable and not self._closed and not work.is_cancelled
            if kept:
                child.idle_since_s = time.monotonic()
                self._idle.append(child)
                self._watch_idle()
                self._forget(work)
        if not kept:
            child.stop()
            with self._changed:
                self._forget(work)

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
                    [sys.executable, "-c", _START, json.dumps(sys.path), name, *map(str, (number, memory_bytes, nice))],
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
        """Sends one request and waits for its answer, at most `timeout_s` in which the child had a core or wanted none.
        Raises ChildDied or ChildTimedOut."""
        began_s, before_s = time.monotonic(), self._without_core_s()

        def left_s() -> float:
            most_s = timeout_s + min(self._without_core_s() - before_s, (_MOST_TIMES - 1) * timeout_s)
            return max(most_s - (time.monotonic() - began_s), 0.0)

        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        try:
            self._socket.settimeout(timeout_s)
            send(self._socket, request)
            while not poll.poll(min(left_s(), _POLL_S) * 1000):
                if not left_s():
                    raise TimeoutError
            answer = receive(self._socket, time.monotonic() + max(left_s(), _ANSWER_S))
        except TimeoutError:
            raise ChildTimedOut(f"The {self._name} work took longer than {timeout_s:g} s.") from None
        except OSError:
            answer = None
        if answer is None:
            raise ChildDied(f"The {self._name} child died before it answered ({ending_of(self._process)}).")
        outcome, value = pickle.loads(answer)
        return outcome, value

    def _without_core_s(self) -> float:
        """For how long the child's first thread stood ready in all while others had the cores; 0 where the system does
        not tell."""
        try:
            return int(Path(f"/proc/{self.pid}/schedstat").read_bytes().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0

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


def ending_of(process: subprocess.Popen[bytes]) -> str:
    """In words, how a child ended that closed its connection."""
    # Its socket closes a moment before the process can be waited for.
    with contextlib.suppress(subprocess.TimeoutExpired):
        status = process.wait(timeout=5)
        if status < 0:
            hint = ", perhaps for want of memory" if -status == signal.SIGKILL else ""
            return f"{signal.Signals(-status).name}{hint}"
        return f"exit status {status}"
    return "it closed its connection"
