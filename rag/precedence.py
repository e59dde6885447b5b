"""Chats before background work, on the one local model that both use.

A question of a chat never waits for background work: that is stopped when the question comes, and none starts until the
last chat in work is done. Counts and wakes across threads and event loops; nothing here blocks.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class Interrupted(Exception):
    """A chat took the model; the work was stopped and may be asked for again."""


class _Turn:
    """One piece of background work, stopped from any thread."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.task: asyncio.Task[Any] | None = None
        self.interrupted = False

    def interrupt(self) -> None:
        with contextlib.suppress(RuntimeError):  # its loop is closed, and the work with it
            self.loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        self.interrupted = True
        if self.task is not None:
            self.task.cancel()


class Precedence:
    """Who may use the model now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chats = 0
        self._turns: set[_Turn] = set()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = set()

    @property
    def waiting(self) -> int:
        """Pieces of background work that wait for a chat to end."""
        with self._lock:
            return len(self._waiting)

    @contextlib.contextmanager
    def chat(self) -> Iterator[None]:
        """A chat's use of the model. Entering stops the background work; never waits."""
        with self._lock:
            self._chats += 1
            turns = list(self._turns)
        for turn in turns:
            turn.interrupt()
        try:
            yield
        finally:
            with self._lock:
                self._chats -= 1
                freed = list(self._waiting) if not self._chats else []
                self._waiting.difference_update(freed)
            for loop, waiter in freed:
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(_wake, waiter)

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Does `work` as a task once no chat is in work. Raises Interrupted when one came meanwhile."""
        turn = _Turn()
        await self._enter(turn)
        try:
            task = asyncio.ensure_future(work())
            turn.task = task  # no await since the turn began: no interruption is missed
            try:
                return await task
            except asyncio.CancelledError:
                if turn.interrupted and not _is_cancelled_itself():
                    raise Interrupted from None
                raise
        finally:
            with self._lock:
                self._turns.discard(turn)

    async def _enter(self, turn: _Turn) -> None:
        while True:
            with self._lock:
                if not self._chats:
                    self._turns.add(turn)
                    return
                entry = (turn.loop, turn.loop.create_future())
                self._waiting.add(entry)
            try:
                await entry[1]
            finally:
                with self._lock:
                    self._waiting.discard(entry)


def _is_cancelled_itself() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
