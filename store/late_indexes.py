"""Indexes that migrations leave for afterwards on PostgreSQL.

CREATE INDEX inside a migration's transaction keeps everybody from writing to the table for as long as it is built,
which is minutes on a large one. CONCURRENTLY keeps nobody, and cannot be inside a transaction. So a migration's index
on a table that is in use is left out, and what `metadata` has and the database lacks is built when the schema is up to
date: a run that was killed needs no note of how far it came.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
import structlog
from alembic.ddl.postgresql import PostgresqlImpl

from store.database import Connection, metadata

log = structlog.get_logger(__name__)

_USABLE = """
    SELECT name.relname FROM pg_index JOIN pg_class AS name ON name.oid = pg_index.indexrelid
    WHERE pg_index.indisvalid AND pg_table_is_visible(name.oid)
"""


class LeavesIndexesForLater(PostgresqlImpl):
    """Alembic's operations on PostgreSQL, batches included, without the building of indexes on `tables_in_use`, an
    option of `context.configure`. Unique ones are built at once: rows that break them must not get in meanwhile."""

    __dialect__ = "postgresql"

    def create_index(self, index: sa.Index, **options: Any) -> None:
        assert index.table is not None
        if index.unique or index.table.name not in self.context_opts.get("tables_in_use", ()):
            super().create_index(index, **options)

    def drop_index(self, index: sa.Index, **options: Any) -> None:
        """Of one that an earlier migration left out too."""
        super().drop_index(index, **{"if_exists": True} | options)


def missing(connection: Connection) -> list[sa.Index]:
    """The indexes of `metadata` that the database lacks or, left by a build that broke off, cannot use. Whoever asks
    has imported all tables, and the schema is up to date. None on SQLite, where migrations build all of theirs."""
    if connection.dialect.name == "sqlite":
        return []
    usable = set(connection.execute(sa.text(_USABLE)).scalars())
    of_tables = [index for _, table in sorted(metadata.tables.items()) for index in table.indexes if not index.unique]
    return sorted((index for index in of_tables if index.name not in usable), key=lambda index: str(index.name))


def build(connection: Connection) -> None:
    """Builds what is missing, while others read and write. The connection is one outside transactions."""
    for index in missing(connection):
        concurrent = _concurrent(index)
        log.info("an index is built", index=str(index.name))
        connection.execute(sa.schema.DropIndex(concurrent, if_exists=True))
        connection.execute(sa.schema.CreateIndex(concurrent))


def _concurrent(index: sa.Index) -> sa.Index:
    """A copy: `metadata` itself serves whoever makes a database at once, too."""
    assert index.table is not None
    (copy,) = (each for each in index.table.to_metadata(sa.MetaData()).indexes if each.name == index.name)
    copy.dialect_options["postgresql"]["concurrently"] = True
    return copy
