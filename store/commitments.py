"""Promises that were found in conversations: by who made them or heard them, by when they are due, by words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import summary_items
from store.communications import communications
from store.speakers import communication_speakers

Order = Literal["newest", "due"]
_WILD_FROM = 4
_SAMPLE = 10_000  # promises that tell how rare a word is
_MOST_WEIGHED = 2_000  # finds that are ordered here; of more that are equal the database walks to the first


@dataclass(frozen=True, slots=True)
class Promise:
    """`speaker_id` is who made it, where that is known; `due_on` the day of its deadline."""

    id: str
    content: str
    meta: dict[str, Any] | None
    speaker_id: str | None
    due_on: date | None
    done_at: datetime | None
    communication_id: str
    kind: str
    channel_type: str
    title: str
    occured_at: datetime


@dataclass(frozen=True, slots=True)
class Wanted:
    """All that is given must hold. `speaker_id`: who made it, or to whom it was made. `since` (inclusive) and `until`
    (exclusive) bound the conversation, `due_from` and `due_to` the deadline, both inclusive. Of `word_parts`, in small
    letters, one at least is in its text, whatever the case, "ё" as "е"; a few that only look alike may be found too."""

    speaker_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    due_from: date | None = None
    due_to: date | None = None
    word_parts: Sequence[str] = ()
    is_open: bool = False
    """Only what nobody marked as kept."""

    @property
    def is_of_all(self) -> bool:
        """Whether a period at most bounds it."""
        return self.speaker_id is None and not (self.due_from or self.due_to or self.word_parts or self.is_open)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended. `at` is its last promise's conversation or deadline, by the order."""

    at: datetime | date
    communication_id: str
    id: str


_ITEM, _OF = summary_items.c, communications.c
# Written into the statement: an index over promises alone is of use only where that is seen.
_COMMITMENT = sa.literal("commitment", literal_execute=True)
_IS_COMMITMENT = _ITEM.item_type == _COMMITMENT
_COLUMNS: tuple[sa.Column[Any], ...] = (
    *(_ITEM.id, _ITEM.content, _ITEM.meta, _ITEM.speaker_id, _ITEM.due_on, _ITEM.done_at),
    *(_OF.id, _OF.kind, _OF.channel_type, _OF.title, _OF.occured_at),
)


def list_commitments(
    tenant_id: str, connection: Connection, wanted: Wanted, *, order: Order, limit: int, after: Place | None = None
) -> list[Promise]:
    """Those of the newest conversation first, or those that are due first; the latter have a deadline."""
    query = _select(tenant_id, order).where(*_conditions(tenant_id, wanted))
    if order == "newest" and wanted.is_of_all:
        # Read along the communications, as many as the page needs; all promises would be sorted else.
        query = query.where(_ITEM.communication_id.in_(_newest_with_any(tenant_id, connection, wanted, limit, after)))
    if after is not None:
        query = query.where(_behind(order, after))
    return [Promise(*row) for row in connection.execute(query.limit(limit))]


def list_best(tenant_id: str, connection: Connection, wanted: Wanted, *, order: Order, limit: int) -> list[Promise]:
    """At most `limit` of those that hold a word part, in the order that is asked for. Where there are more, they are
    those with the most and the rarest parts, and of equals the first: no common word hides a rare one."""
    assert wanted.word_parts
    assert limit < _MOST_WEIGHED
    holding = _holding(tenant_id, wanted, order)
    ids = list(connection.execute(sa.select(_ITEM.id).where(*holding).limit(limit + 1)).scalars())
    if len(ids) > limit:
        ids = _best(tenant_id, connection, wanted, holding, order, limit)
    return [Promise(*row) for row in connection.execute(_select(tenant_id, order).where(_ITEM.id.in_(ids)))]


def _best(
    tenant_id: str,
    connection: Connection,
    wanted: Wanted,
    holding: Sequence[sa.ColumnElement[bool]],
    order: Order,
    limit: int,
) -> list[str]:
    """The ids of `limit` of more than so many, the heaviest."""
    weight = _weight(tenant_id, connection, wanted.word_parts)
    heaviest = (
        sa.select(_ITEM.id, _ITEM.communication_id, _ITEM.due_on, weight.label("weight"))
        .where(*holding)
        .order_by(sa.desc("weight"))
        .limit(_MOST_WEIGHED)
        .subquery()
    )
    at = (heaviest.c.due_on,) if order == "due" else (_OF.occured_at, _OF.id)
    query = sa.select(heaviest.c.weight, heaviest.c.id, *at).join(communications, _OF.id == heaviest.c.communication_id)
    found = [(row[0], row[1], tuple(row[2:])) for row in connection.execute(query.where(_OF.tenant_id == tenant_id))]
    found.sort(key=lambda each: each[1])
    found.sort(key=lambda each: each[2], reverse=order == "newest")
    found.sort(key=lambda each: each[0], reverse=True)
    last = found[limit - 1][0]
    if len(found) < _MOST_WEIGHED or found[-1][0] < last:
        return [id_ for _, id_, _ in found[:limit]]
    heavier = [id_ for heavy, id_, _ in found if heavy > last]
    # So many are as heavy as the last that the first of them are soon met in their order.
    equals = _select(tenant_id, order).with_only_columns(_ITEM.id).where(*holding, weight == last)
    if order == "newest":
        newest = _newest_with_any(
            tenant_id, connection, wanted, limit, None, *_of_item(tenant_id, wanted), weight == last
        )
        equals = equals.where(_ITEM.communication_id.in_(newest))
    return heavier + list(connection.execute(equals.limit(limit - len(heavier))).scalars())


def _weight(tenant_id: str, connection: Connection, parts: Sequence[str]) -> sa.ColumnElement[int]:
    """What the parts that a promise holds weigh together, the rarer the more; whole numbers, which compare exactly."""
    sample = sa.select(_ITEM.content).where(_ITEM.tenant_id == tenant_id, _IS_COMMITMENT).limit(_SAMPLE).subquery()
    held = (sa.func.coalesce(sa.func.sum(sa.case((_holds(sample.c.content, part), 1), else_=0)), 0) for part in parts)
    total, *counts = connection.execute(sa.select(sa.func.count(), *held).select_from(sample)).one()
    weights = (round(1000 * math.log1p((total + 1) / (count + 1))) for count in counts)
    cases = [sa.case((_holds(_ITEM.content, part), each), else_=0) for part, each in zip(parts, weights, strict=True)]
    together: sa.ColumnElement[int] = cases[0]
    for each in cases[1:]:
        together = together + each
    return together


def _select(tenant_id: str, order: Order) -> sa.Select[Any]:
    query = (
        sa.select(*_COLUMNS)
        .join(communications, _OF.id == _ITEM.communication_id)
        .where(_ITEM.tenant_id == tenant_id, _OF.tenant_id == tenant_id, _IS_COMMITMENT)
    )
    if order == "due":
        return query.where(_ITEM.due_on.is_not(None)).order_by(_ITEM.due_on, _ITEM.id)
    return query.order_by(_OF.occured_at.desc(), _OF.id.desc(), _ITEM.id)


def _newest_with_any(
    tenant_id: str,
    connection: Connection,
    wanted: Wanted,
    limit: int,
    after: Place | None,
    *which: sa.ColumnElement[bool],
) -> list[str]:
    """The ids of the newest communications of the period with such a promise, the one that the page before ended in
    included."""
    has_any = sa.exists().where(_ITEM.communication_id == _OF.id, _IS_COMMITMENT, *which)
    query = sa.select(_OF.id).where(_OF.tenant_id == tenant_id, has_any, *_in_period(wanted))
    if after is not None:
        query = query.where(sa.tuple_(_OF.occured_at, _OF.id) <= _conversation_at(after))
    return list(connection.execute(query.order_by(_OF.occured_at.desc(), _OF.id.desc()).limit(limit + 1)).scalars())


def _conversation_at(place: Place) -> sa.Tuple:
    # Typed by hand, as in store/communications.py.
    return sa.tuple_(sa.literal(place.at, _OF.occured_at.type), sa.literal(place.communication_id, _OF.id.type))


def _behind(order: Order, place: Place) -> sa.ColumnElement[bool]:
    item_id = sa.literal(place.id, _ITEM.id.type)
    if order == "due":
        return sa.tuple_(_ITEM.due_on, _ITEM.id) > sa.tuple_(sa.literal(place.at, _ITEM.due_on.type), item_id)
    older = sa.tuple_(_OF.occured_at, _OF.id) < _conversation_at(place)
    return sa.or_(older, sa.and_(_OF.id == place.communication_id, _ITEM.id > item_id))


def _conditions(tenant_id: str, wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    return [*_of_item(tenant_id, wanted), *_in_period(wanted)]


def _in_period(wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    found: list[sa.ColumnElement[bool]] = []
    if wanted.since is not None:
        found.append(_OF.occured_at >= wanted.since)
    if wanted.until is not None:
        found.append(_OF.occured_at < wanted.until)
    return found


def _holding(tenant_id: str, wanted: Wanted, order: Order) -> list[sa.ColumnElement[bool]]:
    """That it is wanted, told of the promise alone: the conversation is looked at where a word was found."""
    found = [_ITEM.tenant_id == tenant_id, _IS_COMMITMENT, *_of_item(tenant_id, wanted)]
    if order == "due":
        found.append(_ITEM.due_on.is_not(None))
    if period := _in_period(wanted):
        there = sa.exists().where(_OF.tenant_id == tenant_id, _OF.id == _ITEM.communication_id, *period)
        found.append(there.correlate(summary_items))
    return found


def _of_item(tenant_id: str, wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    found: list[sa.ColumnElement[bool]] = []
    if wanted.speaker_id is not None:
        found += of_person(tenant_id, wanted.speaker_id)
    if wanted.due_from is not None:
        found.append(_ITEM.due_on >= wanted.due_from)
    if wanted.due_to is not None:
        found.append(_ITEM.due_on <= wanted.due_to)
    if wanted.is_open:
        found.append(_ITEM.done_at.is_(None))
    if wanted.word_parts:
        found.append(any_part_of(_ITEM.content, wanted.word_parts))
    return found


def of_person(tenant_id: str, speaker_id: str) -> list[sa.ColumnElement[bool]]:
    """That a person made the promise, or that it was made to them."""
    there = communication_speakers.c
    attended = sa.select(there.communication_id).where(there.tenant_id == tenant_id, there.speaker_id == speaker_id)
    # What a colleague is known to have promised in the same conversation is neither theirs nor made to them.
    as_client = attended.where(there.role.in_(("client", "unknown")))
    return [
        _ITEM.communication_id.in_(attended),
        sa.or_(_ITEM.speaker_id.is_(None), _ITEM.speaker_id == speaker_id, _ITEM.communication_id.in_(as_client)),
    ]


def any_part_of(content: sa.ColumnElement[str], parts: Sequence[str]) -> sa.ColumnElement[bool]:
    """That one of the parts at least is in the text, however it is written."""
    return sa.or_(*(_holds(content, part) for part in parts))


def _holds(content: sa.ColumnElement[str], part: str) -> sa.ColumnElement[bool]:
    return sa.or_(*(content.like(pattern, escape="\\") for pattern in _patterns(part)))


def _patterns(part: str) -> list[str]:
    """LIKE patterns that find the part however it is written. SQLite ignores the case of Latin letters only, and to
    change a text costs more than to read it: of all but short parts the first letter, and each "е", may be any."""
    if len(part) < _WILD_FROM:
        forms = [form for each in (part, part.replace("е", "ё")) for form in (each, each.capitalize(), each.upper())]
        return [f"%{_escaped(form)}%" for form in dict.fromkeys(forms)]
    small, large = (_escaped(form).replace("е", "_").replace("Е", "_") for form in (part, part.upper()))
    return [f"%_{small[1:]}%" if part[0].isalpha() else f"%{small}%", f"%{large}%"]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
