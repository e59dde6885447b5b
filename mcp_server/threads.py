"""A few threads for the short work of a request.

`anyio.to_thread` wakes another of its threads for each piece of work, which then waits for the interpreter lock with
the others; one queue before few threads answers a third more cheap requests a second (`python -m bench.mcp`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")


class Threads:
    """Runs work of an event loop in at most `most` threads; what comes beyond waits for its turn."""

    def __init__(self, most: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """What `work(*arguments)` returns or raises. It sees the caller's context variables, as the log's request id,
        and runs to its end where the caller is cancelled."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, work, *arguments)
