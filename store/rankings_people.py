"""Which people and departments talk most, are judged best, have most promises to keep: by SQL alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import summary_items
from store.database import UtcDateTime
from store.figures import participation_figures
from store.rankings import PARTICIPATIONS, PERSON_NAMES, Page, Wanted, by_name, share, unindexed, with_profiles
from store.speakers import speakers

Group = Literal["person", "department"]
By = Literal["communications", "talk", "talk_share", "qc_score", "promises", "open_promises", "overdue_promises"]
_OF_PROMISES = ("promises", "open_promises", "overdue_promises")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A person or a department, by `key`: an id, or a name. Talk is of calls in which the voice is known;
    None where there is none. A communication counts once, however many of a group are in it. `overdue_promises` and
    `kept_promises` are counted where the ranking is by promises, and None elsewhere."""

    key: str
    communications: int
    talk_ms: int | None
    talk_share: float | None
    qc_score: float | None
    evaluations: int
    promises: int
    last_at: datetime
    overdue_promises: int | None = None
    kept_promises: int | None = None


def rank_people(
    tenant_id: str, connection: Connection, wanted: Wanted, page: Page, *, group: Group, by: By, today: date
) -> list[Ranked]:
    """A promise is kept when somebody marked it so, else overdue when its day was before `today`, and open until then
    or without a day. Departments are of
    those people who have one."""
    ranking = _Ranking(tenant_id, connection, wanted, group)
    counted = (ranking.each_person() if group == "person" else ranking.each_group()).subquery("counted")
    figures = counted.c
    columns: list[sa.ColumnElement[Any]] = [
        figures.key,
        figures.communications,
        figures.talk_ms,
        share(figures.talk_ms, figures.all_talk_ms).label("talk_share"),
        figures.qc_score,
        figures.evaluations,
        figures.promises,
        figures.last_at,
    ]
    joined: sa.FromClause = counted
    if group == "person":
        joined = joined.join(speakers, (speakers.c.id == figures.key) & (speakers.c.tenant_id == tenant_id))
        ties = [by_name(connection, *PERSON_NAMES), figures.key]
    else:
        ties = [by_name(connection, figures.key)]
    by_figure = {"talk": figures.talk_ms, **{column.name: column for column in columns}}
    if by in _OF_PROMISES:
        late = ranking.overdue(today).subquery("late")
        kept = ranking.kept().subquery("kept")
        overdue, done = sa.func.coalesce(late.c.promises, 0), sa.func.coalesce(kept.c.promises, 0)
        columns += [overdue, done]
        joined = joined.outerjoin(late, late.c.key == figures.key).outerjoin(kept, kept.c.key == figures.key)
        by_figure |= {"overdue_promises": overdue, "open_promises": figures.promises - overdue - done}
    query = page.cut(sa.select(*columns).select_from(joined), by_figure[by], *ties)
    return [Ranked(*row) for row in connection.execute(query)]


class _Ranking:
    """Queries with one row for each group."""

    def __init__(self, tenant_id: str, connection: Connection, wanted: Wanted, group: Group) -> None:
        self._tenant_id, self._connection, self._wanted = tenant_id, connection, wanted
        self.key: sa.Column[Any] = PARTICIPATIONS.speaker_id if group == "person" else speakers.c.department
        self._conditions = [*wanted.of_people(tenant_id), self.key.is_not(None)]
        self._by_profile = group == "department"
        # What everybody said, where it is known how much of it was theirs.
        self._heard = sa.case((PARTICIPATIONS.talk_ms.is_not(None), PARTICIPATIONS.all_talk_ms))

    def each_person(self) -> sa.Select[Any]:
        if self._connection.dialect.name != "sqlite":
            query = sa.select(self.key.label("key")).where(*self._conditions).group_by(self.key)
            return _added_up(query, PARTICIPATIONS, self._heard)
        # SQLite groups by sorting, which took most of the time. So it goes from person to person, in their order, and
        # through the rows of each by an index that holds all that is added up.
        theirs = PARTICIPATIONS.speaker_id == speakers.c.id
        query = (
            sa.select(speakers.c.id.label("key"))
            .select_from(speakers.join(participation_figures, theirs))
            .where(speakers.c.tenant_id == self._tenant_id)
            .where(unindexed(self._connection, PARTICIPATIONS.tenant_id) == self._tenant_id)
            .where(*self._wanted.of_rows(self._tenant_id))
            .group_by(speakers.c.id)
        )
        return _added_up(query, PARTICIPATIONS, self._heard)

    def each_group(self) -> sa.Select[Any]:
        """What a group's people did in one communication together counts once."""
        once = (
            sa.select(
                self.key.label("key"),
                PARTICIPATIONS.occured_at,
                sa.cast(sa.func.sum(PARTICIPATIONS.talk_ms), sa.BigInteger).label("talk_ms"),
                sa.func.max(self._heard).label("all_talk_ms"),
                sa.func.max(PARTICIPATIONS.score_pct).label("score_pct"),
                sa.func.sum(PARTICIPATIONS.commitments).label("commitments"),
            )
            .select_from(self._joined(participation_figures))
            .where(*self._conditions)
            .group_by(PARTICIPATIONS.occured_at, PARTICIPATIONS.communication_id, self.key)
            .subquery("once")
        )
        return _added_up(sa.select(once.c.key).group_by(once.c.key), once.c, once.c.all_talk_ms)

    def overdue(self, today: date) -> sa.Select[Any]:
        """key, promises: of those that have any that are overdue."""
        return self._promises((summary_items.c.due_on < today) & summary_items.c.done_at.is_(None))

    def kept(self) -> sa.Select[Any]:
        """key, promises: of those that have any that were kept."""
        return self._promises(summary_items.c.done_at.is_not(None))

    def _promises(self, condition: sa.ColumnElement[bool]) -> sa.Select[Any]:
        items = summary_items.c
        theirs = (
            (items.tenant_id == self._tenant_id)
            & (items.communication_id == PARTICIPATIONS.communication_id)
            & (items.speaker_id == PARTICIPATIONS.speaker_id)
            & condition
        )
        return (
            sa.select(self.key.label("key"), sa.func.count().label("promises"))
            .select_from(self._joined(participation_figures.join(summary_items, theirs)))
            .where(*self._conditions, PARTICIPATIONS.commitments > 0)
            .group_by(unindexed(self._connection, self.key))
        )

    def _joined(self, joined: sa.FromClause) -> sa.FromClause:
        return with_profiles(self._tenant_id, self._connection, joined) if self._by_profile else joined


def _added_up(query: sa.Select[Any], figures: Any, heard: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return query.add_columns(
        sa.func.count().label("communications"),
        sa.cast(sa.func.sum(figures.talk_ms), sa.BigInteger).label("talk_ms"),
        sa.cast(sa.func.sum(heard), sa.BigInteger).label("all_talk_ms"),
        sa.func.avg(figures.score_pct, type_=sa.Float()).label("qc_score"),
        sa.func.count(figures.score_pct).label("evaluations"),
        sa.cast(sa.func.sum(figures.commitments), sa.BigInteger).label("promises"),
        sa.func.max(figures.occured_at, type_=UtcDateTime()).label("last_at"),
    )
