"""What the rankings of people, signals and quality control share: which figures they count, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op

from store.figures import communication_figures, participation_figures
from store.speakers import STAFF_ROLES, speakers

PARTICIPATIONS = participation_figures.c
FIGURES = communication_figures.c
PERSON_NAMES = (speakers.c.name_key, speakers.c.external_id)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is counted: communications of a period, `start` inclusive and `end` exclusive, that fit all that is given.
    `speaker_id` takes part in them; `role` is the one that a counted person has there, staff any of the company's."""

    start: datetime
    end: datetime
    kind: str | None = None
    channel_type: str | None = None
    direction: str | None = None
    speaker_id: str | None = None
    role: str | None = None

    def of_people(self, tenant_id: str) -> list[sa.ColumnElement[bool]]:
        """Conditions on participation_figures."""
        return [PARTICIPATIONS.tenant_id == tenant_id, *self.of_rows(tenant_id)]

    def of_rows(self, tenant_id: str) -> list[sa.ColumnElement[bool]]:
        """The same but for whose rows they are."""
        found = self._of_table(tenant_id, participation_figures)
        if self.role == "staff":
            found.append(PARTICIPATIONS.role.in_(STAFF_ROLES))
        elif self.role is not None:
            found.append(PARTICIPATIONS.role == self.role)
        return found

    def of_communications(self, tenant_id: str) -> list[sa.ColumnElement[bool]]:
        """Conditions on communication_figures."""
        assert self.role is None, "a role is somebody's"
        return [FIGURES.tenant_id == tenant_id, *self._of_table(tenant_id, communication_figures)]

    def _of_table(self, tenant_id: str, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        found = [table.c.occured_at >= self.start, table.c.occured_at < self.end]
        for name in ("kind", "channel_type", "direction"):
            value = getattr(self, name)
            if value is not None:
                found.append(table.c[name] == value)
        if self.speaker_id is not None:
            own = participation_figures.alias("own").c
            theirs = sa.select(own.communication_id).where(
                own.tenant_id == tenant_id,
                own.speaker_id == self.speaker_id,
                own.occured_at.between(self.start, self.end),
            )
            found.append(table.c.communication_id.in_(theirs))
        return found


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of a ranking; `least` turns its order round, but not that of ties, and what has no figure is last."""

    limit: int
    offset: int = 0
    least: bool = False

    def cut(self, query: sa.Select[Any], by: sa.ColumnElement[Any], *ties: sa.ColumnElement[Any]) -> sa.Select[Any]:
        if isinstance(by.type, sa.Float):
            # Equal means may differ in their last bits, by the order in which they were added up.
            by = sa.func.round(sa.cast(by, sa.Numeric), 6)
        order = by.asc() if self.least else by.desc()
        return query.order_by(order.nulls_last(), *ties).limit(self.limit).offset(self.offset)


def unindexed(connection: Connection, column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """The column to group or join by, where SQLite would take that for a reason to walk an index in its order and look
    up each row: sorting the rows of a period takes half the time."""
    if connection.dialect.name != "sqlite":
        return column
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def by_name(connection: Connection, *names: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
    """The first of the names that there is, in the order of its characters' numbers on every database."""
    name = sa.func.coalesce(*names, "")
    return sa.collate(name, "C") if connection.dialect.name == "postgresql" else name


def share(part: sa.ColumnElement[Any], whole: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Of 1; null where there is no whole."""
    return sa.cast(part, sa.Float) / sa.func.nullif(whole, 0)


def with_profiles(tenant_id: str, connection: Connection, joined: sa.FromClause) -> sa.FromClause:
    """Participations with the profile of each person."""
    profile = speakers.c.id == unindexed(connection, PARTICIPATIONS.speaker_id)
    return joined.join(speakers, profile & (speakers.c.tenant_id == tenant_id))


def newest_of(
    rows: Iterable[Any], newest: Collection[tuple[Any, datetime | None]], keys_of: Callable[[Any], Iterable[Any]]
) -> dict[Any, str]:
    """The communication of each group's newest moment, by the group's key; of several at once that of the highest id.
    Rows have occured_at and communication_id."""
    found: dict[Any, str] = {}
    for row in rows:
        for key in keys_of(row):
            if (key, row.occured_at) in newest:
                found[key] = max(row.communication_id, found.get(key, ""))
    return found
