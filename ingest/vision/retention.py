"""Forgets what cameras saw once an account keeps it no longer: pictures first, then their events, then the figures."""

from __future__ import annotations

import time

import structlog

from ingest.workshop import workshop
from store import camera_events, camera_streams, camera_traffic

log = structlog.get_logger(__name__)

_AT_ONCE = 500
_FIGURES_EVERY_S = 3600.0
FIGURES_DAYS = 400
"""Traffic by the hour holds nobody's picture, and a year is compared with the one before."""


class CameraSweep:
    """A process's. Looks at the figures now and then alone."""

    def __init__(self) -> None:
        self._figures_s = float("-inf")

    def sweep(self) -> None:
        """One batch of events; the next sweep goes on."""
        house = workshop()
        with house.database.read() as connection:
            expired = camera_events.list_expired(connection, limit=_AT_ONCE)
        for event in expired:
            if event.snapshot_key is not None:
                house.blobs.delete(event.snapshot_key)
        if expired:
            with house.database.write() as connection:
                camera_events.remove(connection, [event.id for event in expired])
            log.info("what cameras saw is over its time", count=len(expired))
        if time.monotonic() - self._figures_s < _FIGURES_EVERY_S:
            return
        self._figures_s = time.monotonic()
        with house.database.write(durable=False) as connection:
            camera_traffic.forget_old(connection, days=FIGURES_DAYS)
            camera_streams.forget_deleted(connection)
