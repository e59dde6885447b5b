"""Moves what an installation keeps to another database and another place for blobs, in either direction.

Rows go table by table, those that others refer to first. A move that was broken off, or that the source went on after,
is begun again: what is there and not in the source goes first, then each row is as in the source. Everything is
compared at the end, each table by its number of rows and a checksum of them, all blobs by one of their contents. The
index is moved by `rag/index_move.py`, and records of jobs stay behind: what was in work begins again. Nothing is
changed here of the source.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from store import migrate
from store.accounts import tenants
from store.backup_outcomes import backup_outcomes
from store.blobs import Blobs
from store.camera_events import EVENT_PICTURES
from store.database import Connection, Database, metadata, put_all
from store.errors import Conflict
from store.heartbeats import is_one_alive, workers
from store.housekeeping import housekeeping

_ROWS_AT_ONCE = 500
_NOT_MOVED = frozenset({workers.name, housekeeping.name, backup_outcomes.name, "alembic_version"})
_SUM = 2**256

Tell = Callable[[str, int], None]
"""Told the name of what was moved, and how many of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A table, all blobs, or the index: what the source has and what the target has of it."""

    name: str
    source: tuple[int, str]  # how many, and their checksum
    target: tuple[int, str]

    @property
    def is_whole(self) -> bool:
        return self.source == self.target


class Checksum:
    """Of things in whatever order: databases sort texts differently."""

    def __init__(self) -> None:
        self._count = 0
        self._total = 0

    def add(self, digest: bytes) -> None:
        self._total = (self._total + int.from_bytes(digest)) % _SUM
        self._count += 1

    @property
    def value(self) -> tuple[int, str]:
        """How many, and their sum."""
        return self._count, f"{self._total:064x}"


def total(values: Iterable[tuple[int, str]]) -> tuple[int, str]:
    """The value of all that several checksums were made of."""
    count = summed = 0
    for each, checksum in values:
        count, summed = count + each, (summed + int(checksum, 16)) % _SUM
    return count, f"{summed:064x}"


def prepare(source: Database, target: Database, *, carried: Set[str] = frozenset(), fresh_for_s: float = 0.0) -> None:
    """Makes the target's tables. Raises Conflict where a server was heard there within `fresh_for_s`, where it holds
    accounts that are neither the source's nor among those that moves `carried`, the source is not of this release, or
    the target of a newer one."""
    if not migrate.is_current(source):
        raise Conflict("The database to be moved is not up to date: run `parley migrate` first.", code="not_current")
    if says := migrate.newer(target):
        raise Conflict(says, code="not_current")
    migrate.import_tables()
    there = accounts_of(target) if migrate.current_revision(target) is not None else set()
    with target.read() as theirs:
        heard = fresh_for_s > 0 and is_one_alive(theirs, fresh_for_s=fresh_for_s)
    if there - accounts_of(source) - carried:
        raise Conflict("The target holds accounts of another installation.", code="target_not_empty")
    if heard:
        raise Conflict("A server works on the target: stop it first.", code="server_runs")
    if not migrate.is_current(target):  # else figures would be made of what is there by halves
        migrate.migrate(target)
    if not there:
        _empty(target)  # what migrations put in, as tariffs: the source has its own
    if not target.is_sqlite:
        # A server that ran there before noted jobs as done that belong to other rows.
        with target.write() as connection:
            connection.exec_driver_sql("DROP SCHEMA IF EXISTS dbos CASCADE")


def move_rows(source: Database, target: Database, tell: Tell) -> None:
    """Makes every row of the target as it is in the source."""
    for table in reversed(_tables()):
        _delete_strays(source, target, table)
    try:
        _put_rows(source, target, tell)
    # What only one row may have went from one to another since a move before: in no order of rows is there room for it.
    except sa.exc.IntegrityError:
        _empty(target)
        _put_rows(source, target, tell)


def _empty(target: Database) -> None:
    with target.write() as connection:
        for table in reversed(_tables()):
            connection.execute(sa.delete(table))


def _put_rows(source: Database, target: Database, tell: Tell) -> None:
    for table in _tables():
        count = 0
        with source.read() as reading:
            for rows in _batches(reading, sa.select(table)):
                with target.write() as connection:
                    put_all(connection, table, [dict(row._mapping) for row in rows])
                count += len(rows)
        tell(table.name, count)


def move_blobs(source: Blobs, target: Blobs, tenant_ids: Collection[str], tell: Tell) -> None:
    """Copies every lasting blob that the target lacks, or has of another size, and deletes those that these accounts
    have there alone; among them are accounts that the source had."""
    count = 0
    for entry in source.list_lasting():
        if not (target.exists(entry.key) and target.size(entry.key) == entry.size):
            target.put_stream(entry.key, source.stream(entry.key))
        count += 1
    for entry in list(target.list_lasting()):
        if _owner_of(entry.key) in tenant_ids and not source.exists(entry.key):
            target.delete(entry.key)
    tell("blobs", count)


def _owner_of(blob_key: str) -> str:
    first, second, *_ = [*blob_key.split("/"), ""]
    return second if first == EVENT_PICTURES else first


def accounts_of(database: Database) -> set[str]:
    with database.read() as connection:
        return set(connection.execute(sa.select(tenants.c.id)).scalars())


def compare(source: Database, target: Database, source_blobs: Blobs, target_blobs: Blobs) -> Iterator[Part]:
    """Every table, then the blobs, read again on both sides."""
    for table in _tables():
        with source.read() as ours, target.read() as theirs:
            yield Part(table.name, _checksum(ours, table), _checksum(theirs, table))
    yield Part("blobs", _checksum_of_blobs(source_blobs), _checksum_of_blobs(target_blobs))


def _tables() -> list[sa.Table]:
    """Those that are referred to first."""
    return [table for table in metadata.sorted_tables if table.name not in _NOT_MOVED]


def _delete_strays(source: Database, target: Database, table: sa.Table) -> None:
    key = list(table.primary_key.columns)
    where = sa.tuple_(*key) if len(key) > 1 else key[0]
    with target.read() as there:
        found = [[tuple(row) for row in rows] for rows in _batches(there, sa.select(*key))]
    for keys in found:
        asked = keys if len(key) > 1 else [each for (each,) in keys]
        with source.read() as connection:
            known = {tuple(row) for row in connection.execute(sa.select(*key).where(where.in_(asked)))}
        strays = [each for each in keys if each not in known]
        if strays:
            gone = strays if len(key) > 1 else [each for (each,) in strays]
            with target.write() as connection:
                connection.execute(sa.delete(table).where(where.in_(gone)))


def _batches(connection: Connection, query: sa.Select[Any]) -> Iterator[list[sa.Row[Any]]]:
    found = connection.execution_options(stream_results=True).execute(query)
    for rows in found.partitions(_ROWS_AT_ONCE):
        yield list(rows)


def _checksum(connection: Connection, table: sa.Table) -> tuple[int, str]:
    found = Checksum()
    columns = list(table.columns)
    for rows in _batches(connection, sa.select(table)):
        for row in rows:
            plain = [_plain(value, column) for value, column in zip(row, columns, strict=True)]
            text = json.dumps(plain, sort_keys=True)
            found.add(hashlib.sha256(text.encode()).digest())
    return found.value


def _plain(value: Any, column: sa.Column[Any]) -> Any:
    """The value in one spelling, whichever database it came from."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int) and isinstance(column.type, sa.Float):
        return float(value)  # SQLite keeps whole numbers as such
    return value.hex() if isinstance(value, bytes) else value


def _checksum_of_blobs(blobs: Blobs) -> tuple[int, str]:
    found = Checksum()
    for entry in blobs.list_lasting():
        digest = hashlib.sha256(entry.key.encode())
        for piece in blobs.stream(entry.key):
            digest.update(piece)
        found.add(digest.digest())
    return found.value
