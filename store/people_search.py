"""People found by name, external id, role and department, with how often and when they were last heard of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.communications import communications
from store.speakers import Speaker, communication_speakers, name_key, speakers

MOST_WORDS = 8
FEW = 500
"""Communications of a person that are looked through one by one."""
_SPEAKER = [speakers.c[name] for name in Speaker.__dataclass_fields__]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: how well its last person fits, and when that profile was updated."""

    rank: int
    updated_at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class FoundSpeaker:
    """`rank` is 0 for who is called exactly so, 1 where the name begins so, 2 where its words do, 3 for the rest."""

    speaker: Speaker
    rank: int

    @property
    def place(self) -> Place:
        return Place(self.rank, self.speaker.updated_at, self.speaker.id)


@dataclass(frozen=True, slots=True)
class Contacts:
    """`last_at` is when the newest of the communications took place."""

    count: int
    last_at: datetime


def plain_key(name: str) -> str:
    """`name_key` with "ё" read as "е"."""
    return name_key(name).replace("ё", "е")


def search(
    tenant_id: str,
    connection: Connection,
    *,
    query: str = "",
    parts: Sequence[str] | None = None,
    role: str | None = None,
    department: str | None = None,
    limit: int,
    after: Place | None = None,
) -> list[FoundSpeaker]:
    """Who fits best comes first, then who was updated last. Each of the query's words, or of `parts` in their stead,
    is somewhere in the name, or the external id begins as the query does. No query: everybody."""
    table = speakers.c
    rank: sa.ColumnElement[int] = sa.literal(0)
    statement = sa.select(*_SPEAKER)
    key = " ".join(plain_key(query).split())
    if key:
        name = sa.func.replace(table.name_key, "ё", "е")
        words = [plain_key(part) for part in parts] if parts is not None else key.split()[:MOST_WORDS]
        begins = [
            sa.or_(name.startswith(word, autoescape=True), name.contains(f" {word}", autoescape=True)) for word in words
        ]
        in_name = sa.and_(*(name.contains(word, autoescape=True) for word in words))
        by_external_id = table.external_id.istartswith(query.strip(), autoescape=True)
        statement = statement.where(sa.or_(in_name, by_external_id))
        rank = sa.case(
            (sa.or_(name == key, table.external_id == query.strip()), 0),
            (name.startswith(key, autoescape=True), 1),
            (sa.and_(*begins), 2),
            else_=3,
        )
    statement = statement.add_columns(rank.label("rank")).where(table.tenant_id == tenant_id)
    if role is not None:
        statement = statement.where(table.role == role)
    if department is not None:
        statement = statement.where(in_any_case(table.department, plain_key(department)))
    if after is not None:
        # Typed by hand, as in store/communications.py.
        place = sa.literal(after.updated_at, table.updated_at.type), sa.literal(after.id, table.id.type)
        behind = sa.tuple_(table.updated_at, table.id) < sa.tuple_(*place)
        if key:
            behind = sa.or_(rank > after.rank, sa.and_(rank == after.rank, behind))
        statement = statement.where(behind)
    order = (table.updated_at.desc(), table.id.desc())
    statement = statement.order_by(*((rank, *order) if key else order)).limit(limit)
    return [FoundSpeaker(Speaker(*row[:-1]), row[-1]) for row in connection.execute(statement)]


def in_any_case(column: sa.ColumnElement[Any], part: str) -> sa.ColumnElement[bool]:
    """Whether the column has the lower-case `part` in it, written small, large, or with a capital; "ё" as "е". SQLite
    itself ignores the case of Latin letters only."""
    text = sa.func.replace(sa.func.replace(column, "ё", "е"), "Ё", "Е")
    forms = dict.fromkeys((part, part.capitalize(), part.title(), part.upper()))
    return sa.or_(*(text.contains(form, autoescape=True) for form in forms))


def contacts_of(tenant_id: str, connection: Connection, speaker_ids: Sequence[str]) -> dict[str, Contacts]:
    """By person, of those who took part in a communication."""
    there = communication_speakers.c
    own = (there.tenant_id == tenant_id, there.speaker_id.in_(speaker_ids))
    counting = sa.select(there.speaker_id, sa.func.count()).where(*own).group_by(there.speaker_id)
    counts = {row[0]: int(row[1]) for row in connection.execute(counting)}
    rare = [speaker_id for speaker_id, count in counts.items() if count <= FEW]
    latest = (
        sa.select(there.speaker_id, sa.func.max(communications.c.occured_at))
        .join(communications, communications.c.id == there.communication_id)
        .where(there.tenant_id == tenant_id, there.speaker_id.in_(rare))
        .group_by(there.speaker_id)
    )
    last_at = {row[0]: row[1] for row in connection.execute(latest)}
    for speaker_id in counts.keys() - last_at.keys():
        # Who takes part in much is soon met among the newest.
        is_there = sa.exists().where(there.communication_id == communications.c.id, there.speaker_id == speaker_id)
        newest = (
            sa.select(communications.c.occured_at)
            .where(communications.c.tenant_id == tenant_id, is_there)
            .order_by(communications.c.occured_at.desc())
            .limit(1)
        )
        found = connection.execute(newest).scalar_one_or_none()
        if found is not None:
            last_at[speaker_id] = found
    return {speaker_id: Contacts(counts[speaker_id], at) for speaker_id, at in last_at.items()}
