"""Blobs that are noted before they are stored, and the day after which they go where no row took them in."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from store.database import Database, now
from store.index_work import DELETE_BLOB, index_work


def noted(database: Database) -> set[str]:
    """Keys of blobs that go when a day is over."""
    with database.read() as connection:
        found = connection.execute(sa.select(index_work.c.blob_key).where(index_work.c.action == DELETE_BLOB))
        return set(found.scalars())


def pass_a_day(database: Database) -> None:
    with database.write() as connection:
        late = now() - timedelta(seconds=1)
        connection.execute(sa.update(index_work).where(index_work.c.action == DELETE_BLOB).values(changed_at=late))
