"""Promises as the cabinet lists them: by their deadline, those that are open and those that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import summary_items
from store.commitments import any_part_of, of_person
from store.communications import communications
from store.database import now
from store.speakers import speakers

State = Literal["overdue", "today", "week", "later", "no_date", "open", "done", "all"]
STATES: tuple[State, ...] = get_args(State)
Side = Literal["ours", "theirs"]
WEEK_DAYS = 7
_ITEM, _OF = summary_items.c, communications.c
# Written into the statement: partial indexes are of use only where that is seen.
_IS_COMMITMENT = _ITEM.item_type == sa.literal("commitment", literal_execute=True)


@dataclass(frozen=True, slots=True)
class Listed:
    """A promise with its conversation. `speaker_id` is who made it, where that is known."""

    id: str
    content: str
    meta: dict[str, Any] | None
    speaker_id: str | None
    due_on: date | None
    done_at: datetime | None
    done_by: str | None
    communication_id: str
    kind: str
    channel_type: str
    direction: str | None
    title: str
    occured_at: datetime


@dataclass(frozen=True, slots=True)
class Wanted:
    """All that is given must hold. `speaker_id`: who made it, or to whom it was made; `maker_id`: who made it. `side`:
    theirs are a client's, ours all others. Each of the `words` is in its text. `since` (inclusive) and `until`
    (exclusive) bound the conversation."""

    today: date
    speaker_id: str | None = None
    maker_id: str | None = None
    side: Side | None = None
    words: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None


_COLUMNS: tuple[sa.Column[Any], ...] = (
    *(_ITEM.id, _ITEM.content, _ITEM.meta, _ITEM.speaker_id, _ITEM.due_on, _ITEM.done_at, _ITEM.done_by),
    *(_OF.id, _OF.kind, _OF.channel_type, _OF.direction, _OF.title, _OF.occured_at),
)


def list_page(
    tenant_id: str, connection: Connection, wanted: Wanted, state: State, *, limit: int, offset: int
) -> list[Listed]:
    """Those that are due first come first, those without a day last; of the overdue the latest, of those without a day
    the newest, of the kept ones the last that were marked. Of all, kept or not, the latest day comes first."""
    if state != "open":
        page = _page(tenant_id, connection, wanted, state, limit, offset)
    else:
        # One after the other: an order of both at once would sort all that there is.
        page = _page(tenant_id, connection, wanted, "dated", limit, offset)
        if len(page) < limit:
            conditions = (*_conditions(tenant_id, wanted), _ITEM.done_at.is_(None), _ITEM.due_on.is_not(None))
            dated: int = connection.execute(sa.select(sa.func.count()).where(*conditions)).scalar_one()
            page += _page(tenant_id, connection, wanted, "no_date", limit - len(page), max(0, offset - dated))
    found = {each.id: each for each in _by_id(tenant_id, connection, page)}
    return [found[id_] for id_ in page if id_ in found]


def _page(
    tenant_id: str, connection: Connection, wanted: Wanted, state: State | Literal["dated"], limit: int, offset: int
) -> list[str]:
    ids = sa.select(_ITEM.id).where(*_conditions(tenant_id, wanted), *_of_state(wanted.today, state))
    order: tuple[sa.ColumnElement[Any], ...] = (_ITEM.due_on, _ITEM.id)
    if state in ("overdue", "no_date", "all"):
        order = (_ITEM.due_on.desc(), _ITEM.id.desc())
    elif state == "done":
        order = (_ITEM.done_at.desc(), _ITEM.id.desc())
    return list(connection.execute(ids.order_by(*order).limit(limit).offset(offset)).scalars())


def get(tenant_id: str, connection: Connection, commitment_id: str) -> Listed | None:
    return next(iter(_by_id(tenant_id, connection, [commitment_id])), None)


def count_by_state(tenant_id: str, connection: Connection, wanted: Wanted) -> dict[State, int]:
    """How many there are in each state; those of today are of the week too, all but the kept ones are open."""
    conditions = _conditions(tenant_id, wanted)
    states = [state for state in STATES if state not in ("open", "done", "all")]
    sums = [
        sa.func.coalesce(sa.func.sum(sa.case((sa.and_(*_of_day(wanted.today, state)), 1), else_=0)), 0)
        for state in states
    ]
    still_open = connection.execute(
        sa.select(sa.func.count(), *sums).select_from(summary_items).where(*conditions, _ITEM.done_at.is_(None))
    ).one()
    kept = sa.select(sa.func.count()).select_from(summary_items).where(*conditions, _ITEM.done_at.is_not(None))
    done: int = connection.execute(kept).scalar_one()
    counts = {state: int(value) for state, value in zip(states, still_open[1:], strict=True)}
    return {**counts, "open": still_open[0], "done": done, "all": still_open[0] + done}


def mark(tenant_id: str, connection: Connection, commitment_id: str, *, is_done: bool, by: str) -> bool:
    """Marks a promise as kept, or as not kept after all. A second mark of the same kind changes nothing. False where
    nothing changed."""
    own = (_ITEM.tenant_id == tenant_id, _ITEM.id == commitment_id, _IS_COMMITMENT)
    changes = _ITEM.done_at.is_(None) if is_done else _ITEM.done_at.is_not(None)
    values = {"done_at": now() if is_done else None, "done_by": by[:200] if is_done else None}
    return connection.execute(sa.update(summary_items).where(*own, changes).values(**values)).rowcount == 1


def _by_id(tenant_id: str, connection: Connection, ids: Sequence[str]) -> list[Listed]:
    query = (
        sa.select(*_COLUMNS)
        .join(communications, _OF.id == _ITEM.communication_id)
        .where(_ITEM.tenant_id == tenant_id, _OF.tenant_id == tenant_id, _IS_COMMITMENT, _ITEM.id.in_(ids))
    )
    return [Listed(*row) for row in connection.execute(query)]


def _conditions(tenant_id: str, wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    found = [_ITEM.tenant_id == tenant_id, _IS_COMMITMENT]
    if wanted.speaker_id is not None:
        found += of_person(tenant_id, wanted.speaker_id)
    if wanted.maker_id is not None:
        found.append(_ITEM.speaker_id == wanted.maker_id)
    if wanted.side is not None:
        clients = sa.select(speakers.c.id).where(speakers.c.tenant_id == tenant_id, speakers.c.role == "client")
        theirs = _ITEM.speaker_id.in_(clients)
        found.append(theirs if wanted.side == "theirs" else sa.or_(_ITEM.speaker_id.is_(None), ~theirs))
    if wanted.since is not None or wanted.until is not None:
        held = sa.select(_OF.id).where(_OF.tenant_id == tenant_id)
        if wanted.since is not None:
            held = held.where(_OF.occured_at >= wanted.since)
        if wanted.until is not None:
            held = held.where(_OF.occured_at < wanted.until)
        found.append(_ITEM.communication_id.in_(held))
    found += [any_part_of(_ITEM.content, (word,)) for word in wanted.words]
    return found


def _of_state(today: date, state: State | Literal["dated"]) -> list[sa.ColumnElement[bool]]:
    if state == "all":
        return []
    if state == "done":
        return [_ITEM.done_at.is_not(None)]
    if state == "dated":
        return [_ITEM.done_at.is_(None), _ITEM.due_on.is_not(None)]
    return [_ITEM.done_at.is_(None), *_of_day(today, state)]


def _of_day(today: date, state: State) -> list[sa.ColumnElement[bool]]:
    last = today + timedelta(days=WEEK_DAYS - 1)
    days: dict[State, list[sa.ColumnElement[bool]]] = {
        "overdue": [_ITEM.due_on < today],
        "today": [_ITEM.due_on == today],
        "week": [_ITEM.due_on >= today, _ITEM.due_on <= last],
        "later": [_ITEM.due_on > last],
        "no_date": [_ITEM.due_on.is_(None)],
    }
    return days.get(state, [])
