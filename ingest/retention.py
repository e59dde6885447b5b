"""Retention: what an account keeps no longer than some days is deleted, with its audio and out of the index."""

from __future__ import annotations

from datetime import timedelta

import structlog

from ingest.timelines import do_index_work
from ingest.workshop import Workshop, workshop
from store import accounts, audit, index_work, retention
from store.database import now
from store.index_work import DELETE_BLOB, FORGET_COMMUNICATION, IndexWork

log = structlog.get_logger(__name__)

BATCH = 50
ACTOR = "retention"


def sweep() -> None:
    """One batch of every account that has a bound; the next sweep goes on. What a kill leaves of a batch is open work
    on index and blobs, which `ingest/timelines.py` does."""
    house = workshop()
    with house.database.read() as connection:
        bounded = accounts.list_retentions(connection)
    for tenant_id in bounded:
        for work in remove_batch(house, tenant_id):
            try:
                do_index_work(house, work)
            # The communication is gone for everybody: searches look at the store too. The sweeper clears the rest.
            except Exception:
                log.exception("the index could not follow", subject=work.subject_id, action=work.action)


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
        blobs = retention.remove(tenant_id, connection, expired)
        work = [
            index_work.add(tenant_id, connection, action=FORGET_COMMUNICATION, subject_id=communication_id)
            for communication_id in expired
        ]
        work += [
            index_work.add(tenant_id, connection, action=DELETE_BLOB, subject_id=task_id, blob_key=blob_key)
            for task_id, blob_key in blobs
        ]
        details = {"count": len(expired), "older_than_days": tenant.retention_days}
        audit.add(tenant_id, connection, actor=ACTOR, action="communications.deleted", details=details)
    log.info("communications are over their time", tenant_id=tenant_id, count=len(expired))
    return work
