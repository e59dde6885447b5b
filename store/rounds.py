"""Sweeps over rows of which there may be more than one look takes: each look goes on behind the one before, and begins
anew after the last row. So nobody's backlog keeps another's row from being looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from store.database import Connection, is_older
from store.ids import parse_id
from store.scope import across_tenants

AT_ONCE = 1000

Place = tuple[datetime, str]
"""Of a row in its order: its time, then its id."""


class Waiting(NamedTuple):
    """A row that was accepted and has not ended; `since` is the time that it is ordered by."""

    tenant_id: str
    id: str
    since: datetime


class Round:
    """How far the sweep of a process is."""

    def __init__(self) -> None:
        self.after: Place | None = None

    def go_on(self, looked_at: Sequence[Place]) -> None:
        """The places of the rows that a look for `AT_ONCE` of them behind `after` found."""
        self.after = looked_at[-1] if len(looked_at) == AT_ONCE else None


def behind(
    query: sa.Select[Any], at: sa.ColumnElement[Any], row_id: sa.ColumnElement[Any], after: Place | None, limit: int
) -> sa.Select[Any]:
    """The first rows of a query behind a place, in the order of such places."""
    if after is not None:
        place = sa.tuple_(sa.literal(after[0], at.type), sa.literal(after[1], row_id.type))
        query = query.where(sa.tuple_(at, row_id) > place)
    return query.order_by(at, row_id).limit(limit)


@across_tenants("who calls says why")
def among(
    connection: Connection, query: sa.Select[Any], row_id: sa.ColumnElement[Any], names: Collection[str]
) -> Iterator[sa.Row[Any]]:
    """The rows of a query whose id is among `names`, of which some may be no ids."""
    ids = [found for found in map(parse_id, names) if found is not None]
    for start in range(0, len(ids), AT_ONCE):
        yield from connection.execute(query.where(row_id.in_(ids[start : start + AT_ONCE])))


@across_tenants("the sweeper starts what a crash left unstarted")
def list_waiting(
    connection: Connection,
    unfinished: sa.ColumnElement[bool],
    at: sa.Column[datetime],
    *,
    older_than_s: float,
    limit: int,
    after: Place | None,
) -> list[Waiting]:
    """The unfinished rows of the table of `at`, by that time, the oldest first, from behind `after` on."""
    table = at.table.c
    query = sa.select(table.tenant_id, table.id, at).where(unfinished, is_older(at, older_than_s))
    return [Waiting(*row) for row in connection.execute(behind(query, at, table.id, after, limit))]
