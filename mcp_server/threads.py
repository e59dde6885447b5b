"""A few threads for the short work of requests, shared out among the accounts.

`anyio.to_thread` wakes another of its threads for each piece of work, which then waits for the interpreter lock with
the others; few threads, which take the next piece by themselves, answer a third more cheap requests a second
(`python -m bench.mcp`). Few would let one account's slow calls stop everybody's, so none may have them all, and those
who wait take turns.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from threading import Condition, Lock, Thread
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Job:
    """Work that an event loop waits for."""

    loop: asyncio.AbstractEventLoop
    ended: asyncio.Future[Any]
    work: Callable[[], Any]

    def do(self) -> None:
        result: object = None
        error: BaseException | None = None
        try:
            result = self.work()
        except StopIteration as stopped:  # no future takes it
            error = RuntimeError("the work raised StopIteration")
            error.__cause__ = stopped
        # Whatever it raises is the caller's.
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed, and nobody waits
            self.loop.call_soon_threadsafe(self._end, result, error)

    def _end(self, result: object, error: BaseException | None) -> None:
        if self.ended.done():  # cancelled
            return
        if error is not None:
            self.ended.set_exception(error)
        else:
            self.ended.set_result(result)


class Threads:
    """Runs work of event loops in at most `most` threads, and of one owner in at most `most_each` of them."""

    def __init__(self, most: int, most_each: int, name: str) -> None:
        assert 0 < most_each <= most
        self._most, self._most_each, self._name = most, most_each, name
        self._changed = Condition(Lock())
        self._started = self._idle = 0
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()

    async def run(self, owner: str, work: Callable[..., Result], *arguments: Any) -> Result:
        """What `work(*arguments)` returns or raises. It sees the caller's context variables, as the log's request id.
        Where the caller is cancelled, what waits is not begun; what runs, runs to its end.

        Raises RuntimeError where the system lets no thread start.
        """
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Result] = loop.create_future()
        job = _Job(loop, ended, partial(copy_context().run, work, *arguments))
        with self._changed:
            if self._idle:
                self._changed.notify()
            elif self._started < self._most:
                self._start()
            self._waiting.setdefault(owner, deque()).append(job)
        return await ended

    def _start(self) -> None:
        """Needs the lock."""
        thread = Thread(target=self._work_on, name=f"{self._name}-{self._started + 1}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more of them
            if not self._started:
                raise
        else:
            self._started += 1

    def _work_on(self) -> None:
        owner: str | None = None
        while True:
            with self._changed:
                if owner is not None:
                    self._leave(owner)
                while (found := self._next()) is None:
                    self._idle += 1
                    self._changed.wait()
                    self._idle -= 1
            owner, job = found
            job.do()
            del found, job  # nothing of a request is kept while there is none

    def _leave(self, owner: str) -> None:
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]

    def _next(self) -> tuple[str, _Job] | None:
        """What may be begun, counted as begun: an owner goes behind the others with each turn. Needs the lock."""
        for owner in list(self._waiting):
            if self._running[owner] >= self._most_each:
                continue
            jobs = self._waiting[owner]
            while jobs:
                job = jobs.popleft()
                if not job.ended.cancelled():
                    break
            else:
                del self._waiting[owner]
                continue
            if jobs:
                self._waiting.move_to_end(owner)
            else:
                del self._waiting[owner]
            self._running[owner] += 1
            return owner, job
        return None
