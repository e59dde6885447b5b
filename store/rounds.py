"""Sweeps over rows of which there may be more than one look takes: each look goes on behind the one before, and begins
anew after the last row. So nobody's backlog keeps another's row from being looked at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

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

    def go_on(self, looked_at: Sequence[Place], limit: int) -> None:
        """The places of the rows that a look for `limit` of them behind `after` found."""
        self.after = looked_at[-1] if len(looked_at) == limit else None


def behind(
    query: sa.Select[Any], at: sa.ColumnElement[Any], row_id: sa.ColumnElement[Any], after: Place | None, limit: int
) -> sa.Select[Any]:
    """The first rows of a query behind a place, in the order of such places."""
    if after is not None:
        place = sa.tuple_(sa.literal(after[0], at.type), sa.literal(after[1], row_id.type))
        query = query.where(sa.tuple_(at, row_id) > place)
    return query.order_by(at, row_id).limit(limit)
