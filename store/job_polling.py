"""One look for all of DBOS's queues: which of them have a job that waits.

DBOS has a thread for each queue, and each look of such a thread is two to four transactions that nearly always find
nothing: on an idle server they cost most of its CPU, on a shared database most of its requests. Here one statement
answers for all of them, and only a queue with a job that waits is looked into.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection

from dbos import Queue
from dbos._sys_db import SystemDatabase  # it has no public name

_SETTINGS_KEPT_S = 10.0
"""How long what is set for a queue is taken as it was read: it changes when another release starts alone."""


class Polling:
    """Stands before `system` for the threads of these queues. `waiting` raises what the database raises."""

    def __init__(
        self, system: SystemDatabase, waiting: Callable[[], Collection[str]], queues: Collection[str], every_s: float
    ) -> None:
        """`waiting`: which queues have jobs that wait; asked at most once in `every_s`, and after each `look`."""
        self._waiting = waiting
        self._queues = frozenset(queues)
        self._every_s = every_s
        self._lock = threading.Lock()
        self._found: Collection[str] = ()
        self._looks_again_s = 0.0
        self._scopes = system.dequeue_scopes
        self._read_queue = system.get_queue
        self._kept: dict[str, tuple[float, Queue]] = {}
        system.dequeue_scopes = self._scopes_with_jobs  # type: ignore[method-assign]
        system.get_queue = self._kept_queue  # type: ignore[method-assign]

    def look(self) -> None:
        """Something was put into a queue."""
        self._looks_again_s = 0.0

    def _scopes_with_jobs(self, queue_name: str) -> list[str | None]:
        """Where a queue's thread may find jobs: DBOS's hook for databases in parts, where it asks those with work."""
        if queue_name in self._queues and queue_name not in self._with_jobs():
            return []
        return self._scopes(queue_name)

    def _with_jobs(self) -> Collection[str]:
        with self._lock:
            if time.monotonic() >= self._looks_again_s:
                # Before the look: what is put in during it is not to be missed.
                self._looks_again_s = time.monotonic() + self._every_s
                self._found = self._waiting()
            return self._found

    def _kept_queue(self, name: str, *, client_system_database: SystemDatabase | None = None) -> Queue | None:
        if name not in self._queues or client_system_database is not None:
            return self._read_queue(name, client_system_database=client_system_database)
        until_s, queue = self._kept.get(name, (0.0, None))
        if queue is None or time.monotonic() >= until_s:
            queue = self._read_queue(name)
            if queue is not None:
                self._kept[name] = (time.monotonic() + _SETTINGS_KEPT_S, queue)
        return queue
