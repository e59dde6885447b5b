"""Blobs that are stored before a row names them. Each is noted first, so that it goes after a day where a kill keeps
anybody from taking it in or from discarding it."""

from __future__ import annotations

import uuid
from datetime import timedelta

import structlog

from store import index_work
from store.blobs import Blobs
from store.database import Connection, Database, now
from store.index_work import DELETE_BLOB

log = structlog.get_logger(__name__)

KEPT_FOR = timedelta(days=1)
"""Longer than it takes to receive, fetch or import anything."""
_BLOBS = uuid.UUID("0d0c6d1c-3f0e-4a35-8d0a-2f7b3a1d9c44")


def blob_id(blob_key: str) -> str:
    """The subject under which work on a blob is noted."""
    return str(uuid.uuid5(_BLOBS, blob_key))


def announce(database: Database, tenant_id: str, *blob_keys: str) -> None:
    """Notes blobs that are about to be stored."""
    with database.write() as connection:
        note(tenant_id, connection, *blob_keys)


def note(tenant_id: str, connection: Connection, *blob_keys: str) -> None:
    """The same in a transaction; noted again, they stay for longer."""
    index_work.add_many(
        tenant_id,
        connection,
        action=DELETE_BLOB,
        blob_keys={blob_id(key): key for key in blob_keys},
        not_before=now() + KEPT_FOR,
    )


def take_in(tenant_id: str, connection: Connection, *blob_keys: str) -> None:
    """The blobs are a row's from this transaction on."""
    index_work.withdraw(tenant_id, connection, DELETE_BLOB, [blob_id(key) for key in blob_keys])


def discard(database: Database, blobs: Blobs, tenant_id: str, *blob_keys: str) -> None:
    """Deletes blobs that were announced, or leaves that to the sweeper where the store is away."""
    try:
        for key in blob_keys:
            blobs.delete(key)
        with database.write() as connection:
            take_in(tenant_id, connection, *blob_keys)
    # The store may be away in any way; that keeps nobody from their answer.
    except Exception:
        log.exception("a blob is left to the sweeper", blobs=blob_keys)
