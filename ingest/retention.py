"""Retention: what an account keeps no longer than some days is deleted, with its audio and out of the index."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import structlog

from ingest.deletion import remove
from ingest.timelines import FOLLOW_S, follow
from ingest.workshop import Workshop, workshop
from store import accounts, audit, index_work, retention, tool_calls, widget
from store.database import Connection, Database, now
from store.errors import Unavailable
from store.index_work import DELETE_BLOB, IndexWork
from store.settings import Settings

log = structlog.get_logger(__name__)

BATCH = 50
_CALLS_AT_ONCE = 1000
_CALLS_A_SWEEP = 20_000
COUNT_EVERY_S = 3600.0
ACTOR = "retention"


def sweep() -> None:
    """One batch of every account that has something over its time; the next sweep goes on. What is left of a batch, by
    a kill or since there is much of it, is open work on index and blobs, which `ingest/timelines.py` does."""
    house = workshop()
    with house.database.read() as connection:
        due = retention.list_due(connection)
        due_audio = retention.list_due_audio(connection)
    until_s = time.monotonic() + FOLLOW_S
    failed: list[Exception] = []
    for remove_some, tenant_ids in ((remove_batch, due), (remove_audio_batch, due_audio)):
        for tenant_id in tenant_ids:
            try:
                follow(house, remove_some(house, tenant_id), until_s=until_s)
            except Unavailable:
                raise
            # One account's trouble must not keep what others want gone.
            except Exception as error:
                failed.append(error)
    if failed:
        raise ExceptionGroup("what some accounts no longer keep could not be deleted yet", failed)


def remove_batch(house: Workshop, tenant_id: str) -> list[IndexWork]:
    """Deletes up to `BATCH` communications that are over their time; the work that index and blobs now have to follow
    with, committed with the deletion."""
    with house.database.write() as connection:
        tenant = accounts.get_tenant(tenant_id, connection)
        if tenant is None or tenant.retention_days is None:  # changed meanwhile
            return []
        before = now() - timedelta(days=tenant.retention_days)
        expired = retention.list_expired(tenant_id, connection, before=before, limit=BATCH)
        if not expired:
            return []
        widget.lock(tenant_id, connection, expired)
        locked = accounts.get_tenant(tenant_id, connection, lock=True)  # who learns a voice holds it too
        if locked is None or locked.retention_days != tenant.retention_days:
            return []
        work = remove(tenant_id, connection, expired)
        details = {"count": len(expired), "older_than_days": tenant.retention_days}
        audit.add(tenant_id, connection, actor=ACTOR, action="communications.deleted", details=details)
    log.info("communications are over their time", tenant_id=tenant_id, count=len(expired))
    return work


def remove_audio_batch(house: Workshop, tenant_id: str) -> list[IndexWork]:
    """Takes away the sound of up to `BATCH` recordings, and of as many messages, that is over its own time; their texts
    stay. The work that the blobs have to follow with is committed with it."""
    with house.database.write() as connection:
        tenant = accounts.get_tenant(tenant_id, connection)
        if tenant is None or tenant.audio_days is None:  # changed meanwhile
            return []
        before = now() - timedelta(days=tenant.audio_days)
        recordings, files = retention.list_expired_audio(tenant_id, connection, before=before, limit=BATCH)
        if not recordings and not files:
            return []
        retention.forget_audio(tenant_id, connection, [each for each, _ in recordings], [each for each, _ in files])
        work = [
            index_work.add(tenant_id, connection, action=DELETE_BLOB, subject_id=subject_id, blob_key=blob_key)
            for subject_id, blob_key in (*recordings, *files)
        ]
        details = {"count": len(work), "older_than_days": tenant.audio_days}
        audit.add(tenant_id, connection, actor=ACTOR, action="audio.deleted", details=details)
    log.info("recordings are over their time", tenant_id=tenant_id, count=len(work))
    return work


class ToolCallSweep:
    """Bounds the log of tool calls in age, by the server's setting and an account's own, and in number an account."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._counted_s = -COUNT_EVERY_S

    def sweep(self) -> None:
        """In batches, up to a bound; the next sweep goes on."""
        before = now() - timedelta(days=self._settings.tool_calls_days)
        left = _CALLS_A_SWEEP - self._delete(partial(tool_calls.purge, before=before), _CALLS_A_SWEEP)
        with self._database.read() as connection:
            due = tool_calls.list_due(connection)
        for tenant_id in due:
            left -= self._delete(partial(self._purge_of, tenant_id), left)
        # Counting reads a whole index, and that many calls do not come in a hurry.
        if left > 0 and time.monotonic() - self._counted_s >= COUNT_EVERY_S:
            self._delete_what_is_over(left)

    def _purge_of(self, tenant_id: str, connection: Connection, *, limit: int) -> int:
        tenant = accounts.get_tenant(tenant_id, connection)
        if tenant is None or tenant.retention_days is None:  # changed meanwhile
            return 0
        before = now() - timedelta(days=tenant.retention_days)
        return tool_calls.purge_of(tenant_id, connection, before=before, limit=limit)

    def _delete_what_is_over(self, left: int) -> None:
        kept = self._settings.tool_calls_max
        with self._database.read() as connection:
            found = {
                each: tool_calls.time_of_nth(each, connection, kept) for each in tool_calls.list_over(connection, kept)
            }
        for tenant_id, before in found.items():
            if before is not None:
                left -= self._delete(partial(tool_calls.purge_of, tenant_id, before=before), left)
        if left > 0:
            self._counted_s = time.monotonic()

    def _delete(self, delete: Callable[..., int], limit: int) -> int:
        """How many `delete` took, at most `limit`, a batch a transaction."""
        done = 0
        while done < limit:
            batch = min(_CALLS_AT_ONCE, limit - done)
            with self._database.write(durable=False) as connection:
                deleted = delete(connection, limit=batch)
            done += deleted
            if deleted < batch:
                break
        return done
