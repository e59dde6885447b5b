"""All people of an account in an order that a list of them shows: by their last contact, or by name.

Who has no contact yet, or no name, comes last. Pages are walked to along an index: an account may have 100,000 people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.figures import participation_figures
from store.people_search import in_any_case, plain_key
from store.speakers import Speaker, get_many, speakers

Order = Literal["last_contact", "name"]
FEW = 5_000
"""People whose last contacts are looked up one by one."""
_PERSON = speakers.c


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a page ended: the last contact or the name, as it is compared, of its last person; None for one without."""

    key: datetime | str | None
    id: str


@dataclass(frozen=True, slots=True)
class Ordered:
    speaker: Speaker
    spot: Spot


def list_people(
    tenant_id: str,
    connection: Connection,
    order: Order,
    *,
    role: str | None = None,
    department: str | None = None,
    limit: int,
    after: Spot | None = None,
) -> list[Ordered]:
    """Who was in touch last comes first; names go from A to Z."""
    wanted = [_PERSON.tenant_id == tenant_id]
    if role is not None:
        wanted.append(_PERSON.role == role)
    if department is not None:
        wanted.append(in_any_case(_PERSON.department, plain_key(department)))
    spots: list[Spot] = []
    if after is None or after.key is not None:
        if order == "name":
            query = _by_name(wanted, after)
        elif len(wanted) > 1 and (few := _few(connection, wanted)) is not None:
            query = _by_last_contact_of(few, after)
        else:
            query = _by_last_contact(tenant_id, wanted, after)
        spots = [Spot(row[1], row[0]) for row in connection.execute(query.limit(limit))]
    if len(spots) < limit:
        query = _others(order, wanted, after if after is not None and after.key is None else None)
        spots += [Spot(None, row[0]) for row in connection.execute(query.limit(limit - len(spots)))]
    found = get_many(tenant_id, connection, [spot.id for spot in spots])
    return [Ordered(found[spot.id], spot) for spot in spots if spot.id in found]


def _few(connection: Connection, wanted: Sequence[sa.ColumnElement[bool]]) -> list[str] | None:
    """The ids of those that are wanted; None where they are many."""
    found = list(connection.execute(sa.select(_PERSON.id).where(*wanted).limit(FEW + 1)).scalars())
    return found if len(found) <= FEW else None


def _by_last_contact(tenant_id: str, wanted: Sequence[sa.ColumnElement[bool]], after: Spot | None) -> sa.Select[Any]:
    """Walks back through the conversations: who takes part in no later one is at their last contact."""
    there, later = participation_figures.c, participation_figures.alias("later").c
    is_later = sa.tuple_(later.occured_at, later.communication_id) > sa.tuple_(there.occured_at, there.communication_id)
    # By the person alone: with the tenant, whose person it is, SQLite would look through all that the tenant has.
    met_again = sa.exists().where(later.speaker_id == there.speaker_id, is_later)
    query = sa.select(there.speaker_id, there.occured_at).where(there.tenant_id == tenant_id, ~met_again)
    if len(wanted) > 1:
        query = query.where(sa.exists().where(_PERSON.id == there.speaker_id, *wanted))
    query = query.order_by(there.occured_at.desc(), there.speaker_id.desc())
    return query if after is None else query.where(*_behind(there.occured_at, there.speaker_id, after))


def _by_last_contact_of(speaker_ids: Sequence[str], after: Spot | None) -> sa.Select[Any]:
    """The last contact of each of a few: the walk to them may be long."""
    there = participation_figures.c
    last = sa.select(sa.func.max(there.occured_at)).where(there.speaker_id == _PERSON.id).correlate(speakers)
    few = sa.select(_PERSON.id, last.scalar_subquery().label("at")).where(_PERSON.id.in_(speaker_ids))
    people = few.subquery("people").c
    query = sa.select(people.id, people.at).where(people.at.is_not(None)).order_by(people.at.desc(), people.id.desc())
    return query if after is None else query.where(*_behind(people.at, people.id, after))


def _behind(at: sa.ColumnElement[Any], id_: sa.ColumnElement[Any], after: Spot) -> list[sa.ColumnElement[bool]]:
    # Said twice: a comparison of rows that are no index's columns narrows no index down.
    place = sa.literal(after.key, at.type), sa.literal(after.id, id_.type)
    return [at <= place[0], sa.tuple_(at, id_) < sa.tuple_(*place)]


def _by_name(wanted: Sequence[sa.ColumnElement[bool]], after: Spot | None) -> sa.Select[Any]:
    key, id_ = _PERSON.name_key, _PERSON.id
    query = sa.select(id_, key).where(*wanted, key.is_not(None)).order_by(key, id_)
    if after is None:
        return query
    place = sa.literal(after.key, key.type), sa.literal(after.id, id_.type)
    return query.where(key >= place[0], sa.tuple_(key, id_) > sa.tuple_(*place))


def _others(order: Order, wanted: Sequence[sa.ColumnElement[bool]], after: Spot | None) -> sa.Select[Any]:
    """Those that the order says nothing of, newest first."""
    there = participation_figures.c
    has_contact = sa.exists().where(there.speaker_id == _PERSON.id)
    is_other = _PERSON.name_key.is_(None) if order == "name" else ~has_contact
    query = sa.select(_PERSON.id).where(*wanted, is_other).order_by(_PERSON.id.desc())
    return query if after is None else query.where(_PERSON.id < sa.literal(after.id, _PERSON.id.type))
