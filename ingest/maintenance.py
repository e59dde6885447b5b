"""What keeps searches fast, now and then and in the background: heavy work in a child process of its own."""

from __future__ import annotations

import threading
import time

import structlog

from ingest.children import PoolClosed
from ingest.workshop import Workshop, workshop

log = structlog.get_logger(__name__)

EVERY_S = 60.0


class Maintenance:
    """One at a time, in a thread of its own, so that the sweeper goes on; none before `EVERY_S` after the start."""

    def __init__(self) -> None:
        self._ended_s = time.monotonic()
        self._thread: threading.Thread | None = None

    def sweep(self) -> None:
        at_work = self._thread is not None and self._thread.is_alive()
        if at_work or time.monotonic() - self._ended_s < EVERY_S:
            return
        self._thread = threading.Thread(target=self._work, args=(workshop(),), name="index-maintenance", daemon=True)
        self._thread.start()

    def _work(self, house: Workshop) -> None:
        try:
            house.indexes.maintain(house.pools.maintenance)
        except PoolClosed:
            pass  # the server stops
        # It is tried again; searches are as fast as they were.
        except Exception:
            log.exception("the index could not be maintained")
        finally:
            self._ended_s = time.monotonic()
