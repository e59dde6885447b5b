"""Lists of communications by who took part in them and what analysis made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import summaries
from store.communications import Communication, Cursor, communications
from store.speakers import communication_speakers


@dataclass(frozen=True, slots=True)
class Conditions:
    """All that is given must hold. `participants` all take part, `participant_role` is that of somebody who does;
    `since` is inclusive, `until` exclusive."""

    kind: str | None = None
    channel_type: str | None = None
    without_channel_types: Sequence[str] = ()
    direction: str | None = None
    category: str | None = None
    participants: Sequence[str] = ()
    participant_role: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_page(
    tenant_id: str, connection: Connection, wanted: Conditions, *, limit: int, before: Cursor | None = None
) -> list[Communication]:
    """Newest first, behind `before`."""
    table = communications.c
    query = sa.select(*(table[name] for name in Communication.__dataclass_fields__)).where(table.tenant_id == tenant_id)
    for name in ("kind", "channel_type", "direction"):
        if (value := getattr(wanted, name)) is not None:
            query = query.where(table[name] == value)
    if wanted.without_channel_types:
        query = query.where(table.channel_type.not_in(wanted.without_channel_types))
    if wanted.since is not None:
        query = query.where(table.occured_at >= wanted.since)
    if wanted.until is not None:
        query = query.where(table.occured_at < wanted.until)
    if wanted.category is not None:
        # Of the communication and so of its tenant: SQLite would look for the tenant's rows first.
        query = query.where(
            sa.exists().where(summaries.c.communication_id == table.id, summaries.c.category == wanted.category)
        )
    there = communication_speakers.c
    attended = sa.select(there.communication_id).where(there.tenant_id == tenant_id)
    for speaker_id in wanted.participants:
        query = query.where(table.id.in_(attended.where(there.speaker_id == speaker_id)))
    if wanted.participant_role is not None:
        query = query.where(
            sa.exists().where(there.communication_id == table.id, there.role == wanted.participant_role)
        )
    if before is not None:
        # Typed by hand, as in store/communications.py.
        place = sa.literal(before.occured_at, table.occured_at.type), sa.literal(before.id, table.id.type)
        query = query.where(sa.tuple_(table.occured_at, table.id) < sa.tuple_(*place))
    query = query.order_by(table.occured_at.desc(), table.id.desc()).limit(limit)
    return [Communication(*row) for row in connection.execute(query)]


def categories_of(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> dict[str, str]:
    """By communication, of those that have one."""
    table = summaries.c
    query = sa.select(table.communication_id, table.category).where(
        table.tenant_id == tenant_id, table.communication_id.in_(communication_ids), table.category.is_not(None)
    )
    return {row[0]: row[1] for row in connection.execute(query)}
