"""What an operator does with profiles: reads one with its aliases, renames, merges two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store import voices
from store.analysis import summary_items
from store.changes import communication_changed
from store.communications import communications, content_items
from store.database import now
from store.figures import participation_figures
from store.signals import value_key
from store.speakers import (
    MOST_FOLLOWED,
    Speaker,
    communication_speakers,
    list_former_names,
    name_key,
    note_former_name,
    speaker_aliases,
    speakers,
)

_THERE = communication_speakers.c


@dataclass(frozen=True, slots=True)
class Alias:
    """A profile that was merged into another one; `id` was its own."""

    id: str
    external_id: str | None
    name: str | None
    merged_at: datetime


def kept_id(tenant_id: str, connection: Connection, speaker_id: str) -> str | None:
    """The id of the profile that this one was merged into; None for one that never was."""
    query = sa.select(speaker_aliases.c.speaker_id).where(
        speaker_aliases.c.tenant_id == tenant_id, speaker_aliases.c.id == speaker_id
    )
    return connection.execute(query).scalar_one_or_none()


def list_aliases(tenant_id: str, connection: Connection, speaker_id: str) -> list[Alias]:
    """Newest first."""
    table = speaker_aliases.c
    query = (
        sa.select(*(table[name] for name in Alias.__dataclass_fields__))
        .where(table.tenant_id == tenant_id, table.speaker_id == speaker_id)
        .order_by(table.merged_at.desc(), table.id)
    )
    return [Alias(*row) for row in connection.execute(query)]


def span_of(tenant_id: str, connection: Connection, speaker_id: str) -> tuple[int, datetime | None, datetime | None]:
    """How many communications the person takes part in, and when the first and the last took place."""
    query = (
        sa.select(sa.func.count(), sa.func.min(communications.c.occured_at), sa.func.max(communications.c.occured_at))
        .select_from(communication_speakers.join(communications, communications.c.id == _THERE.communication_id))
        .where(_THERE.tenant_id == tenant_id, _THERE.speaker_id == speaker_id)
    )
    count, first_at, last_at = connection.execute(query).one()
    return count, first_at, last_at


def update(tenant_id: str, connection: Connection, speaker: Speaker, **values: Any) -> bool:
    """Sets name, role or department. A new role is also that of the conversations where it was unknown. False where
    nothing changes."""
    assert values.keys() <= {"name", "role", "department"}
    values = {name: value for name, value in values.items() if getattr(speaker, name) != value}
    if not values:
        return False
    if "name" in values:
        values["name_key"] = name_key(values["name"]) if values["name"] else None
        note_former_name(tenant_id, connection, speaker.id, speaker.name)
    connection.execute(
        sa.update(speakers)
        .where(speakers.c.tenant_id == tenant_id, speakers.c.id == speaker.id)
        .values(**values, updated_at=max(now(), speaker.updated_at))
    )
    if "role" in values:
        unknown = (_THERE.tenant_id == tenant_id, _THERE.speaker_id == speaker.id, _THERE.role == "unknown")
        changed = sa.update(communication_speakers).where(*unknown).values(role=values["role"])
        _follow(tenant_id, connection, connection.execute(changed.returning(_THERE.communication_id)).scalars().all())
    return True


def merge(tenant_id: str, connection: Connection, kept: Speaker, gone: Speaker) -> list[str]:
    """Makes two profiles one: all that belongs to `gone` belongs to `kept` then, who is also found by its external id
    and name. Gives the ids of the communications of `gone`. The caller has locked the account's row and makes the index
    follow."""
    assert kept.id != gone.id
    own = sa.select(_THERE.communication_id).where(_THERE.tenant_id == tenant_id, _THERE.speaker_id == gone.id)
    attended = list(connection.execute(own).scalars())
    theirs = sa.select(_THERE.communication_id).where(_THERE.tenant_id == tenant_id, _THERE.speaker_id == kept.id)
    for communication_id in connection.execute(own.where(_THERE.communication_id.in_(theirs))).scalars().all():
        _merge_in(tenant_id, connection, communication_id, kept.id, gone.id)
    for table in (communication_speakers, participation_figures, summary_items):
        moved = sa.update(table).where(table.c.tenant_id == tenant_id, table.c.speaker_id == gone.id)
        connection.execute(moved.values(speaker_id=kept.id))
    if kept.role != "unknown":
        for table in (communication_speakers, participation_figures):
            unknown = (table.c.tenant_id == tenant_id, table.c.speaker_id == kept.id, table.c.role == "unknown")
            connection.execute(sa.update(table).where(*unknown).values(role=kept.role))
    _drop_repeated(tenant_id, connection, kept.id)
    voices.merge_speakers(tenant_id, connection, kept.id, gone.id)
    _merge_profiles(tenant_id, connection, kept, gone)
    _follow(tenant_id, connection, attended)
    return attended


def _merge_in(tenant_id: str, connection: Connection, communication_id: str, kept_id: str, gone_id: str) -> None:
    """Both are in this communication: what was said under either label is said under one."""
    here = (_THERE.tenant_id == tenant_id, _THERE.communication_id == communication_id)
    query = sa.select(_THERE.speaker_id, _THERE.label, _THERE.role).where(
        *here, _THERE.speaker_id.in_((kept_id, gone_id))
    )
    rows = {row.speaker_id: row for row in connection.execute(query)}
    one, other = rows[kept_id], rows[gone_id]
    if one.label and other.label and one.label != other.label:
        items = content_items.c
        connection.execute(
            sa.update(content_items)
            .where(
                items.tenant_id == tenant_id,
                items.communication_id == communication_id,
                items.label == other.label,
            )
            .values(label=one.label)
        )
        voices.join_heard(tenant_id, connection, communication_id, one.label, other.label)
    for table in (communication_speakers, participation_figures):
        gone = (table.c.tenant_id == tenant_id, table.c.communication_id == communication_id)
        connection.execute(sa.delete(table).where(*gone, table.c.speaker_id == gone_id))
    role = other.role if one.role == "unknown" else one.role
    connection.execute(
        sa.update(communication_speakers)
        .where(*here, _THERE.speaker_id == kept_id)
        .values(label=one.label or other.label, role=role)
    )
    communication_changed(tenant_id, connection, communication_id)


def _drop_repeated(tenant_id: str, connection: Connection, speaker_id: str) -> None:
    """Of facts that say the same the newest stays."""
    items = summary_items.c
    query = (
        sa.select(items.id, items.content)
        .where(items.tenant_id == tenant_id, items.speaker_id == speaker_id, items.item_type == "memory")
        .order_by(items.created_at.desc(), items.id)
    )
    seen: set[int] = set()
    repeated = []
    for id_, content in connection.execute(query):
        key = value_key(content)
        if key in seen:
            repeated.append(id_)
        seen.add(key)
    if repeated:
        connection.execute(sa.delete(summary_items).where(items.tenant_id == tenant_id, items.id.in_(repeated)))


def _merge_profiles(tenant_id: str, connection: Connection, kept: Speaker, gone: Speaker) -> None:
    """What the kept profile lacks it takes from the other one."""
    aliases = sa.update(speaker_aliases).where(
        speaker_aliases.c.tenant_id == tenant_id, speaker_aliases.c.speaker_id == gone.id
    )
    connection.execute(aliases.values(speaker_id=kept.id))
    for former in reversed(list_former_names(tenant_id, connection, gone.id)):
        note_former_name(tenant_id, connection, kept.id, former)
    connection.execute(sa.delete(speakers).where(speakers.c.tenant_id == tenant_id, speakers.c.id == gone.id))
    takes_id = kept.external_id is None
    name = kept.name or gone.name
    connection.execute(
        sa.update(speakers)
        .where(speakers.c.tenant_id == tenant_id, speakers.c.id == kept.id)
        .values(
            external_id=gone.external_id if takes_id else kept.external_id,
            name=name,
            name_key=name_key(name) if name else None,
            role=gone.role if kept.role == "unknown" else kept.role,
            department=kept.department or gone.department,
            created_at=min(kept.created_at, gone.created_at),
            updated_at=max(now(), kept.updated_at),
        )
    )
    connection.execute(
        sa.insert(speaker_aliases).values(
            id=gone.id,
            tenant_id=tenant_id,
            speaker_id=kept.id,
            external_id=None if takes_id else gone.external_id,
            name=gone.name,
            name_key=name_key(gone.name) if gone.name else None,
            merged_at=now(),
        )
    )


def _follow(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> None:
    """Their figures are made anew: of somebody busy those of the rest when the index is made to follow."""
    for communication_id in communication_ids[:MOST_FOLLOWED]:
        communication_changed(tenant_id, connection, communication_id)
