"""Promises that were found in conversations: by who made them or heard them, by when they are due, by words."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Promise:
    """`speaker_id` is who made it, where that is known; `due_on` the day of its deadline."""

    id: str
    content: str
    meta: dict[str, Any] | None
    speaker_id: str | None
    due_on: date | None
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

    @property
    def is_of_all(self) -> bool:
        """Whether a period at most bounds it."""
        return self.speaker_id is None and self.due_from is None and self.due_to is None and not self.word_parts


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
    *(_ITEM.id, _ITEM.content, _ITEM.meta, _ITEM.speaker_id, _ITEM.due_on),
    *(_OF.id, _OF.kind, _OF.channel_type, _OF.title, _OF.occured_at),
)


def list_commitments(
    tenant_id: str, connection: Connection, wanted: Wanted, *, order: Order, limit: int, after: Place | None = None
) -> list[Promise]:
    """Those of the newest conversation first, or those that are due first; the latter have a deadline."""
    query = (
        sa.select(*_COLUMNS)
        .join(communications, _OF.id == _ITEM.communication_id)
        .where(_ITEM.tenant_id == tenant_id, _OF.tenant_id == tenant_id, _IS_COMMITMENT)
    )
    if order == "newest" and wanted.is_of_all:
        # Read along the communications, as many as the page needs; all promises would be sorted else.
        query = query.where(_ITEM.communication_id.in_(_newest_with_any(tenant_id, connection, wanted, limit, after)))
    for condition in _conditions(tenant_id, wanted):
        query = query.where(condition)
    if order == "due":
        query = query.where(_ITEM.due_on.is_not(None)).order_by(_ITEM.due_on, _ITEM.id)
    else:
        query = query.order_by(_OF.occured_at.desc(), _OF.id.desc(), _ITEM.id)
    if after is not None:
        query = query.where(_behind(order, after))
    return [Promise(*row) for row in connection.execute(query.limit(limit))]


def _newest_with_any(
    tenant_id: str, connection: Connection, wanted: Wanted, limit: int, after: Place | None
) -> list[str]:
    """The ids of the newest communications with a promise, the one that the page before ended in included."""
    has_any = sa.exists().where(_ITEM.communication_id == _OF.id, _IS_COMMITMENT)
    query = sa.select(_OF.id).where(_OF.tenant_id == tenant_id, has_any)
    for condition in _conditions(tenant_id, wanted):
        query = query.where(condition)
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
    found: list[sa.ColumnElement[bool]] = []
    if wanted.speaker_id is not None:
        there = communication_speakers.c
        attended = sa.select(there.communication_id).where(
            there.tenant_id == tenant_id, there.speaker_id == wanted.speaker_id
        )
        found.append(_ITEM.communication_id.in_(attended))
        # What a colleague is known to have promised in the same conversation is neither theirs nor made to them.
        as_client = attended.where(there.role.in_(("client", "unknown")))
        found.append(
            sa.or_(
                _ITEM.speaker_id.is_(None),
                _ITEM.speaker_id == wanted.speaker_id,
                _ITEM.communication_id.in_(as_client),
            )
        )
    if wanted.since is not None:
        found.append(_OF.occured_at >= wanted.since)
    if wanted.until is not None:
        found.append(_OF.occured_at < wanted.until)
    if wanted.due_from is not None:
        found.append(_ITEM.due_on >= wanted.due_from)
    if wanted.due_to is not None:
        found.append(_ITEM.due_on <= wanted.due_to)
    if wanted.word_parts:
        # Looked for by itself, along the promises alone.
        named = summary_items.alias("named").c
        patterns = dict.fromkeys(pattern for part in wanted.word_parts for pattern in _patterns(part))
        holding = sa.select(named.id).where(
            named.tenant_id == tenant_id,
            named.item_type == _COMMITMENT,
            sa.or_(*(named.content.like(pattern, escape="\\") for pattern in patterns)),
        )
        found.append(_ITEM.id.in_(holding))
    return found


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
