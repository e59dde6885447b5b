"""Who and what quality control scores best and worst: people, departments, scenarios, categories, criteria; by SQL
alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import UtcDateTime
from store.figures import CRITERION_BITS, communication_figures, participation_figures
from store.rankings import (
    FIGURES,
    PARTICIPATIONS,
    PERSON_NAMES,
    Page,
    Wanted,
    by_name,
    newest_of,
    unindexed,
    with_profiles,
)
from store.speakers import speakers

Group = Literal["person", "department", "scenario", "criterion", "category"]


@dataclass(frozen=True, slots=True)
class Scored:
    """`key` is a person's id, a department, or a code. `score` is the mean of the `evaluations`, 0 to 100; of a
    criterion the part of those that decided it in which it was met. `newest_at` is when the newest of them was held, of
    a criterion the newest that failed it."""

    key: str
    evaluations: int
    score: float
    newest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Weakest:
    """The criterion that was met least often; `score` as in Scored."""

    code: str
    score: float


def rank_qc(
    tenant_id: str, connection: Connection, wanted: Wanted, page: Page, *, group: Group, min_evaluations: int
) -> list[Scored]:
    """Groups with at least so many evaluations, best first, or worst where the page asks for the least."""
    evaluated = _evaluated(tenant_id, connection, wanted, group).subquery("evaluated").c
    if group == "criterion":
        return _criteria(connection, evaluated, page, min_evaluations)
    counted = (
        sa.select(
            evaluated.key,
            sa.func.count().label("evaluations"),
            sa.func.avg(evaluated.score_pct, type_=sa.Float()).label("score"),
            sa.func.max(evaluated.occured_at, type_=UtcDateTime()).label("newest_at"),
        )
        .group_by(evaluated.key)
        .subquery("counted")
    )
    joined: sa.FromClause = counted
    if group == "person":
        joined = counted.join(speakers, (speakers.c.id == counted.c.key) & (speakers.c.tenant_id == tenant_id))
        ties = [by_name(connection, *PERSON_NAMES), counted.c.key]
    else:
        ties = [by_name(connection, counted.c.key)]
    query = sa.select(counted).select_from(joined).where(counted.c.evaluations >= min_evaluations)
    return [Scored(*row) for row in connection.execute(page.cut(query, counted.c.score, *ties))]


def weakest(
    tenant_id: str, connection: Connection, wanted: Wanted, keys: Sequence[str], *, group: Group
) -> dict[str, Weakest]:
    """The weakest criterion of each of these groups, by their keys; of those in which any was decided."""
    if group == "criterion":
        return {}
    evaluated = _evaluated(tenant_id, connection, wanted, group).subquery("evaluated").c
    query = sa.select(evaluated.key, *_sums(evaluated)).group_by(evaluated.key)
    if group == "person":  # of the others there are few, and PostgreSQL would look up each row of theirs
        query = query.where(evaluated.key.in_(keys))
    found = {}
    for row in connection.execute(query):
        scores = [Weakest(code, score) for code, score, _ in _met(row[1:])]
        if scores and row[0] in keys:
            found[row[0]] = min(scores, key=lambda each: (each.score, each.code))
    return found


def newest(
    tenant_id: str, connection: Connection, wanted: Wanted, scored: Sequence[Scored], *, group: Group
) -> dict[str, str]:
    """The ids of the communications that `newest_at` is of, by the keys of the groups."""
    moments = [each.newest_at for each in scored if each.newest_at is not None]
    evaluated = _evaluated(tenant_id, connection, wanted, group).subquery("evaluated").c
    rows = connection.execute(
        sa.select(evaluated.key, evaluated.occured_at, evaluated.communication_id, evaluated.qc_failed).where(
            evaluated.occured_at.in_(moments)
        )
    )

    def keys_of(row: Any) -> list[str]:
        if group != "criterion":
            return [row.key]
        return [each.key for each in scored if row.qc_failed >> CRITERION_BITS[each.key] & 1]

    return newest_of(rows, {(each.key, each.newest_at) for each in scored}, keys_of)


def _evaluated(tenant_id: str, connection: Connection, wanted: Wanted, group: Group) -> sa.Select[Any]:
    """One row for each evaluation and group: key, occured_at, communication_id, score_pct, qc_passed, qc_failed."""
    if group in ("scenario", "category", "criterion"):
        of_groups = {"scenario": FIGURES.scenario_code, "category": FIGURES.category}
        key: sa.ColumnElement[Any] = of_groups.get(group, sa.literal(""))
        query = sa.select(key.label("key"), *_columns(FIGURES)).select_from(communication_figures)
        return query.where(*wanted.of_communications(tenant_id), FIGURES.score_pct.is_not(None), key.is_not(None))
    conditions = [*wanted.of_people(tenant_id), PARTICIPATIONS.score_pct.is_not(None)]
    if group == "person":
        key = unindexed(connection, PARTICIPATIONS.speaker_id)
        return sa.select(key.label("key"), *_columns(PARTICIPATIONS)).where(*conditions)
    # However many of a department were there, it is one evaluation: what is said of it is the same in each of its rows.
    when, where, *figures = _columns(PARTICIPATIONS)
    return (
        sa.select(
            speakers.c.department.label("key"), when, where, *(sa.func.max(one).label(one.name) for one in figures)
        )
        .select_from(with_profiles(tenant_id, connection, participation_figures))
        .where(*conditions, speakers.c.department.is_not(None))
        .group_by(when, where, speakers.c.department)
    )


def _columns(table: Any) -> list[sa.Column[Any]]:
    return [table.occured_at, table.communication_id, table.score_pct, table.qc_passed, table.qc_failed]


def _criteria(connection: Connection, evaluated: Any, page: Page, min_evaluations: int) -> list[Scored]:
    failed_at = [
        sa.func.max(sa.case((_bit(evaluated.qc_failed, bit) == 1, evaluated.occured_at)), type_=UtcDateTime())
        for bit in CRITERION_BITS.values()
    ]
    row = connection.execute(sa.select(*_sums(evaluated), *failed_at)).one()
    newest_of_code = dict(zip(CRITERION_BITS, row[-len(failed_at) :], strict=True))
    found = [
        Scored(code, decided, score, newest_of_code[code])
        for code, score, decided in _met(row[: -len(failed_at)])
        if decided >= min_evaluations
    ]
    found.sort(key=lambda each: (each.score if page.least else -each.score, each.key))
    return found[page.offset : page.offset + page.limit]


def _sums(evaluated: Any) -> list[sa.ColumnElement[Any]]:
    """How often each criterion was met, then how often it was not."""
    return [
        sa.func.sum(_bit(mask, bit))
        for mask in (evaluated.qc_passed, evaluated.qc_failed)
        for bit in CRITERION_BITS.values()
    ]


def _met(sums: Sequence[int | None]) -> Iterator[tuple[str, float, int]]:
    """(code, score, how often it was decided) of the criteria that were decided at all."""
    count = len(CRITERION_BITS)
    for code, passed, failed in zip(CRITERION_BITS, sums[:count], sums[count:], strict=True):
        decided = (passed or 0) + (failed or 0)
        if decided:
            yield code, 100 * (passed or 0) / decided, decided


def _bit(mask: sa.ColumnElement[int], bit: int) -> sa.ColumnElement[int]:
    return mask.bitwise_rshift(bit).bitwise_and(1)
