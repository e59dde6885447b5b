"""Forgets what cameras saw once an account keeps it no longer: pictures first, then their events, then the figures. Has
searches find what a release before this one saw."""

from __future__ import annotations

import time
from collections import defaultdict
from datetime import timedelta

import structlog

from ingest.vision.recorder import NEWEST_KEPT, newest_folder, newest_key
from ingest.workshop import Workshop, workshop
from store import camera_events, camera_streams, camera_traffic, camera_visitors
from store.database import now

log = structlog.get_logger(__name__)

_AT_ONCE = 500
_THOROUGH_EVERY_S, _LOST_EVERY_S = 3600.0, 24 * 3600.0
_LATEST = timedelta(hours=1)
LOST_AFTER = timedelta(hours=1)
"""A picture is written before the event that names it, never so long before."""
FIGURES_DAYS = 400
"""Traffic by the hour holds nobody's picture, and a year is compared with the one before."""


class CameraSweep:
    """A process's. Looks at the figures and at the newest pictures now and then alone."""

    def __init__(self) -> None:
        self._thorough_s = self._lost_s = self._keyed_s = float("-inf")

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
        self._fill_keys(house)
        if time.monotonic() - self._thorough_s < _THOROUGH_EVERY_S:
            return
        # Before the rows of ended streams go, by which their accounts are known.
        with house.database.read() as connection:
            watching = camera_events.list_accounts(connection)
        seeks_lost = time.monotonic() - self._lost_s >= _LOST_EVERY_S
        for tenant_id in watching:
            forget_newest(house, tenant_id)
            if seeks_lost:
                forget_lost(house, tenant_id)
        if seeks_lost:
            self._lost_s = time.monotonic()
        with house.database.write(durable=False) as connection:
            camera_traffic.forget_old(connection, days=FIGURES_DAYS)
            camera_visitors.forget_old(connection)
            camera_streams.forget_deleted(connection)
        self._thorough_s = time.monotonic()

    def _fill_keys(self, house: Workshop) -> None:
        """One batch of events that a worker of the release before writes beside this one: else a search for what was
        read finds them after the next migration alone. All of them once a day, the latest each time."""
        looks_at_all = time.monotonic() - self._keyed_s >= _LOST_EVERY_S
        with house.database.read() as connection:
            since = None if looks_at_all else now() - _LATEST
            unkeyed = camera_events.list_unkeyed(connection, since=since, limit=_AT_ONCE)
        if unkeyed:
            with house.database.write() as connection:
                camera_events.set_keys(connection, unkeyed)
        if looks_at_all and len(unkeyed) < _AT_ONCE:
            self._keyed_s = time.monotonic()


def forget_newest(house: Workshop, tenant_id: str) -> None:
    """Deletes the newest pictures of cameras that have sent none for a day, and of streams that are there no more."""
    kept = list(house.blobs.list(newest_folder(tenant_id)))
    if not kept:
        return
    with house.database.read() as connection:  # after the listing, so that every picture's stream is known
        streams = camera_streams.list_ids(tenant_id, connection)
    watched = {newest_key(tenant_id, stream_id) for stream_id in streams}
    for picture in kept:
        if picture.key not in watched or now() - picture.modified_at > NEWEST_KEPT:
            house.blobs.delete(picture.key)


def forget_lost(house: Workshop, tenant_id: str) -> None:
    """Deletes pictures that no event names: of a worker that died between the two."""
    by_stream: defaultdict[str, list[str]] = defaultdict(list)
    for picture in house.blobs.list(f"{camera_events.EVENT_PICTURES}/{tenant_id}"):
        if now() - picture.modified_at > LOST_AFTER:
            by_stream[picture.key.split("/")[-2]].append(picture.key)
    for stream_id, keys in by_stream.items():
        with house.database.read() as connection:
            named = camera_events.picture_keys(tenant_id, connection, stream_id)
        for key in keys:
            if key not in named:
                house.blobs.delete(key)
