"""A few threads for the short work of requests, shared out among the accounts.

`anyio.to_thread` wakes another of its threads for each piece of work, which then waits for the interpreter lock with
the others; one queue before few threads answers a third more cheap requests a second (`python -m bench.mcp`). Few
threads would let one account's slow calls stop everybody's, so none may have them all, and those who wait take turns.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")


class Threads:
    """Runs work of an event loop in at most `most` threads, and of one owner in at most `most_each` of them. Used from
    one event loop."""

    def __init__(self, most: int, most_each: int, name: str) -> None:
        assert 0 < most_each <= most
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._free = most
        self._most_each = most_each
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def run(self, owner: str, work: Callable[..., Result], *arguments: Any) -> Result:
        """What `work(*arguments)` returns or raises. It sees the caller's context variables, as the log's request id.
        Where the caller is cancelled, what waits is not begun; what runs, runs to its end."""
        await self._enter(owner)
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, copy_context().run, work, *arguments)
        finally:
            self._leave(owner)

    async def _enter(self, owner: str) -> None:
        if self._free and self._running[owner] < self._most_each:
            self._take(owner)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(owner, turn)
            else:  # it came in the same moment
                self._leave(owner)
            raise

    def _take(self, owner: str) -> None:
        self._free -= 1
        self._running[owner] += 1

    def _leave(self, owner: str) -> None:
        self._free += 1
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]
        self._let_in()

    def _let_in(self) -> None:
        """The next of those who may: an owner goes behind the others with each turn."""
        for owner in list(self._waiting):
            if not self._free:
                return
            if self._running[owner] >= self._most_each:
                continue
            turns = self._waiting[owner]
            while turns and turns[0].done():  # cancelled, and not forgotten yet
                turns.popleft()
            if turns:
                self._take(owner)
                turns.popleft().set_result(None)
                self._waiting.move_to_end(owner)
            if not turns:
                del self._waiting[owner]

    def _forget(self, owner: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(owner)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[owner]
