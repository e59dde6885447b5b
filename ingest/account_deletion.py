"""Deleting an account with everything it has: rows, index, blobs, jobs and what they keep on disk.

It is closed in the transaction that orders it. The rest is done by sweeps, batch by batch, each of which may be cut off
anywhere; the account's own row goes last, once a pass found nothing more. A grace was weighed and left out: who asks
for deletion types the account's name, and wants to know at once that nobody reads it any more.
"""

from __future__ import annotations

import random
import time
from datetime import timedelta

import structlog

from ingest import calls, deletion_warning
from ingest.workshop import Workshop, workshop
from store import account_rows, accounts, limits, transcriptions
from store.accounts import Tenant
from store.camera_events import EVENT_PICTURES
from store.database import Connection, now

log = structlog.get_logger(__name__)

_AT_ONCE = 500
_SWEEP_S = 20.0
_SETTLES_AFTER_SWEEPS = 2


def begin(tenant: Tenant, connection: Connection, *, by: str) -> None:
    """Closes the account for good, in the caller's transaction; `sweep` does the rest. `by` is for the log, which
    outlives the account, and so names nobody."""
    account_rows.begin_deletion(tenant.id, connection)
    log.warning("an account is deleted with everything it has", tenant_id=tenant.id, by=by)


def sweep() -> bool:
    """Goes on with what is being deleted, and begins with what was paused for too long. False where an account could
    not be deleted yet."""
    house = workshop()
    _delete_long_paused(house)
    with house.database.read() as connection:
        deleting = account_rows.list_deleting(connection)
    settles = timedelta(seconds=_SETTLES_AFTER_SWEEPS * house.settings.sweep_s)
    until_s, all_well = time.monotonic() + _SWEEP_S, True
    # In any order: one that takes all of the time must not keep the others from theirs for good.
    for tenant_id, since in random.sample(deleting, len(deleting)):
        if time.monotonic() > until_s:
            break
        try:
            found = erase(house, tenant_id, until_s=until_s)
        # One account's broken shard must not keep the others' deletions waiting.
        except Exception:
            log.exception("an account could not be deleted yet", tenant_id=tenant_id)
            all_well = False
            continue
        # What was in work when it was closed may write for a moment more.
        if found == 0 and now() - since > settles:
            with house.database.count() as connection:
                limits.forget(tenant_id, connection)
            with house.database.write() as connection:
                account_rows.end_deletion(tenant_id, connection)
            house.database.begin_logs_anew()
            log.warning("an account is deleted", tenant_id=tenant_id)
    return all_well


def erase(house: Workshop, tenant_id: str, *, until_s: float) -> int:
    """One pass over all that the account has; how much there was of it. Stops early at `until_s`."""
    found = house.jobs.forget_account(tenant_id)
    _stop_calls(house, tenant_id)
    for table in account_rows.tables():
        while time.monotonic() < until_s:
            with house.database.write() as connection:
                deleted = account_rows.delete_some(tenant_id, connection, table, limit=_AT_ONCE)
            found += deleted
            if deleted < _AT_ONCE:
                break
        else:
            return max(found, 1)
    house.indexes.delete_tenant(tenant_id)
    for prefix in (tenant_id, f"{EVENT_PICTURES}/{tenant_id}"):
        found += house.blobs.delete_prefix(prefix)
        house.blobs.remove_folder(prefix)
    return found


def _stop_calls(house: Workshop, tenant_id: str) -> None:
    names = calls.in_work(house)
    with house.database.read() as connection:
        unfinished = transcriptions.unfinished_among(connection, names)
    for task_id, of_tenant in unfinished.items():
        if of_tenant == tenant_id:
            calls.drop_work(house, task_id)


def _delete_long_paused(house: Workshop) -> None:
    with house.database.write(durable=False) as connection:
        account_rows.note_pauses(connection)
    days = house.settings.delete_paused_days
    if not days:
        return
    deletion_warning.warn(house)
    age = {"paused_days": days, "warned_days": deletion_warning.days_before(house.settings)}
    with house.database.read() as connection:
        paused = account_rows.list_long_paused(connection, **age)
    for tenant_id in paused:
        with house.database.write() as connection:
            tenant = accounts.get_tenant(tenant_id, connection, lock=True)
            # It may have paid since, and be paused anew.
            if tenant is not None and account_rows.is_long_paused(tenant_id, connection, **age):
                begin(tenant, connection, by="paused for too long")
