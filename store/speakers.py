"""Tables and queries of speakers: the people of an account's communications, and who spoke in which."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.changes import communication_changed
from store.communications import lock
from store.database import id_column, metadata, now, time_column
from store.database import upsert as insert_or
from store.errors import InvalidRequest
from store.ids import new_id

ROLES = ("client", "sales", "support", "employee", "unknown")
STAFF_ROLES = ("sales", "support", "employee")
MOST_NAME_CHARACTERS = 200
MOST_FOLLOWED = 500
"""Communications of a deleted person whose figures are made anew at once."""
_MOST_KEY_CHARACTERS = 400
_MOST_FORMER_NAMES = 100

speakers = sa.Table(
    "speakers",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("external_id", sa.String(64), nullable=True),
    sa.Column("name", sa.String(200), nullable=True),
    # The name as it is compared: SQLite's own lower() knows Latin letters only.
    sa.Column("name_key", sa.String(400), nullable=True),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("department", sa.String(200), nullable=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "external_id"),
    sa.Index(None, "tenant_id", "id"),  # to go through an account's people in the order in which figures are grouped
    sa.Index(None, "tenant_id", "name_key", "updated_at"),
)

communication_speakers = sa.Table(
    "communication_speakers",
    metadata,
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), primary_key=True),
    id_column("tenant_id", nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("role", sa.String(16), nullable=False),  # in this communication
    sa.Column("label", sa.String(64), nullable=True),  # joins content_items.label; null while unbound
    sa.Index(None, "tenant_id", "speaker_id"),
)

# Profiles that were merged into another one: `id` was theirs. By their external id or name the other one is found.
speaker_aliases = sa.Table(
    "speaker_aliases",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", nullable=False),
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), nullable=False),
    sa.Column("external_id", sa.String(64), nullable=True),
    sa.Column("name", sa.String(200), nullable=True),
    sa.Column("name_key", sa.String(400), nullable=True),
    time_column("merged_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "external_id"),
    sa.Index(None, "tenant_id", "name_key"),
    sa.Index(None, "speaker_id"),
)

# What people were called before: nobody is found by it, and it is taken out of texts when they are forgotten.
speaker_former_names = sa.Table(
    "speaker_former_names",
    metadata,
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", sa.String(200), primary_key=True),
    id_column("tenant_id", nullable=False),
    time_column("until", nullable=False),
    sa.Index(None, "tenant_id"),
)


@dataclass(frozen=True, slots=True)
class Speaker:
    """A person's profile."""

    id: str
    tenant_id: str
    external_id: str | None
    name: str | None
    role: str
    department: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Attending:
    """A person in a communication: the role is the one they have there, `label` their voice's once it is known."""

    speaker_id: str
    role: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Participant:
    """A person of a communication with the names of the profile."""

    id: str
    external_id: str | None
    name: str | None
    role: str
    label: str | None


_COLUMNS = [speakers.c[name] for name in Speaker.__dataclass_fields__]
_PARTICIPANT_COLUMNS = (
    speakers.c.id,
    speakers.c.external_id,
    speakers.c.name,
    communication_speakers.c.role,
    communication_speakers.c.label,
)
_ATTENDED = communication_speakers.join(speakers, speakers.c.id == communication_speakers.c.speaker_id)


def normal_role(role: str | None) -> str:
    """One of ROLES: what is empty is unknown, and what is none of them employee."""
    if role is None or not role.strip():
        return "unknown"
    return role if role in ROLES else "employee"


def name_key(name: str) -> str:
    """What a name is compared by: whole, whatever the case, in one Unicode form."""
    return unicodedata.normalize("NFC", name.strip().casefold())[:_MOST_KEY_CHARACTERS]


def upsert(
    tenant_id: str,
    connection: Connection,
    *,
    external_id: str | None,
    name: str | None,
    role: str | None = None,
    department: str | None = None,
) -> Speaker:
    """The profile of the external id, else of the name (the one updated last), made where there is none.

    What is given replaces what the profile has; what is empty leaves it. A person with neither id nor name gets a
    profile at each call. One transaction a tenant at a time goes through here. Raises InvalidRequest for a name or
    department of more than 200 characters.
    """
    external_id, name, department = ((text or "").strip() or None for text in (external_id, name, department))
    for field, text in (("name", name), ("department", department)):
        if text is not None and len(text) > MOST_NAME_CHARACTERS:
            raise InvalidRequest(
                f"speakers: {field} has at most {MOST_NAME_CHARACTERS} characters.", param=f"speakers.{field}"
            )
    _wait_for_others(tenant_id, connection)
    there = None
    if external_id is not None:
        there = find(tenant_id, connection, external_id=external_id)
    elif name is not None:
        there = find(tenant_id, connection, name=name)
    known_role = normal_role(role)
    if there is not None:
        if not _goes_by(there, external_id, name):
            name = there.name or name  # of who was merged into them
        name = name or there.name
        values = {
            "name": name,
            "role": there.role if known_role == "unknown" else known_role,
            "department": department or there.department,
            "updated_at": max(now(), there.updated_at),
        }
        connection.execute(
            sa.update(speakers)
            .where(speakers.c.tenant_id == tenant_id, speakers.c.id == there.id)
            .values(**values, name_key=name_key(name) if name else None)
        )
        if name != there.name:
            note_former_name(tenant_id, connection, there.id, there.name)
        return Speaker(**{**asdict(there), **values})
    made_at = now()
    made = Speaker(new_id(), tenant_id, external_id, name, known_role, department, made_at, made_at)
    connection.execute(sa.insert(speakers).values(**asdict(made), name_key=name_key(name) if name else None))
    return made


def note_former_name(tenant_id: str, connection: Connection, speaker_id: str, name: str | None) -> None:
    """Keeps what a person was called until now; of very many names those that were in use last."""
    if not name:
        return
    table = speaker_former_names.c
    noted = insert_or(connection, speaker_former_names).values(
        tenant_id=tenant_id, speaker_id=speaker_id, name=name, until=now()
    )
    connection.execute(noted.on_conflict_do_update(index_elements=["speaker_id", "name"], set_={"until": now()}))
    over = list_former_names(tenant_id, connection, speaker_id)[_MOST_FORMER_NAMES:]
    mine = (table.tenant_id == tenant_id, table.speaker_id == speaker_id)
    if over:
        connection.execute(sa.delete(speaker_former_names).where(*mine, table.name.in_(over)))


def list_former_names(tenant_id: str, connection: Connection, speaker_id: str) -> list[str]:
    """The last one first."""
    table = speaker_former_names.c
    query = sa.select(table.name).where(table.tenant_id == tenant_id, table.speaker_id == speaker_id)
    return list(connection.execute(query.order_by(table.until.desc(), table.name)).scalars())


def _wait_for_others(tenant_id: str, connection: Connection) -> None:
    """Until the transaction ends no other one makes profiles of this tenant: names have no unique key, and people given
    in different orders must not lock each other's rows. On SQLite writers are one at a time anyway."""
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(f"speakers of {tenant_id}".encode()).digest()[:8], "big", signed=True)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))


def get(tenant_id: str, connection: Connection, speaker_id: str) -> Speaker | None:
    return find(tenant_id, connection, speaker_id=speaker_id)


def get_many(tenant_id: str, connection: Connection, speaker_ids: Sequence[str]) -> dict[str, Speaker]:
    query = sa.select(*_COLUMNS).where(speakers.c.tenant_id == tenant_id, speakers.c.id.in_(speaker_ids))
    return {row[0]: Speaker(*row) for row in connection.execute(query)}


def find(
    tenant_id: str,
    connection: Connection,
    *,
    speaker_id: str | None = None,
    external_id: str | None = None,
    name: str | None = None,
) -> Speaker | None:
    """The profile that matches all that is given; of several the one updated last. Where there is none, the one that
    such a profile was merged into."""
    assert speaker_id or external_id or name is not None
    query = sa.select(*_COLUMNS).where(speakers.c.tenant_id == tenant_id)
    if speaker_id is not None:
        query = query.where(speakers.c.id == speaker_id)
    if external_id is not None:
        query = query.where(speakers.c.external_id == external_id)
    if name is not None:
        query = query.where(speakers.c.name_key == name_key(name))
    row = connection.execute(query.order_by(speakers.c.updated_at.desc(), speakers.c.id.desc()).limit(1)).first()
    if row is None and speaker_id is None:
        row = _find_merged(tenant_id, connection, external_id, name)
    return Speaker(*row) if row else None


def _find_merged(
    tenant_id: str, connection: Connection, external_id: str | None, name: str | None
) -> sa.Row[Any] | None:
    table = speaker_aliases.c
    query = (
        sa.select(*_COLUMNS)
        .join(speaker_aliases, table.speaker_id == speakers.c.id)
        .where(speakers.c.tenant_id == tenant_id, table.tenant_id == tenant_id)
    )
    if external_id is not None:
        query = query.where(table.external_id == external_id)
    if name is not None:
        by_name = table.name_key == name_key(name)
        query = query.where(by_name if external_id is None else by_name | (speakers.c.name_key == name_key(name)))
    return connection.execute(query.order_by(table.merged_at.desc(), table.id).limit(1)).first()


def _goes_by(speaker: Speaker, external_id: str | None, name: str | None) -> bool:
    """Whether the profile itself was found by what was given, and not one that was merged into it."""
    if external_id is not None:
        return speaker.external_id == external_id
    return name is not None and speaker.name is not None and name_key(speaker.name) == name_key(name)


def delete(tenant_id: str, connection: Connection, speaker_id: str) -> bool:
    """Deletes a profile with what is remembered of the person; what they said stays, and what was heard of their voice
    goes by `voices.forget_speaker`. False where there is none."""
    # Of somebody busy all of them would keep other writers waiting: the rest follows when the index is made to follow.
    for communication_id in list_attended(tenant_id, connection, speaker_id)[:MOST_FOLLOWED]:
        communication_changed(tenant_id, connection, communication_id)
    deleted = connection.execute(
        sa.delete(speakers).where(speakers.c.tenant_id == tenant_id, speakers.c.id == speaker_id)
    )
    return deleted.rowcount == 1


def attach(tenant_id: str, connection: Connection, communication_id: str, people: Sequence[Attending]) -> None:
    """Adds people to a communication in their order. Who is there already stays as they are: a step may run twice."""
    if not people:
        return
    rows = [
        {"tenant_id": tenant_id, "communication_id": communication_id, "position": position, **asdict(person)}
        for position, person in enumerate(people)
    ]
    connection.execute(insert_or(connection, communication_speakers).on_conflict_do_nothing(), rows)
    communication_changed(tenant_id, connection, communication_id)


def list_attended(tenant_id: str, connection: Connection, speaker_id: str) -> list[str]:
    """The ids of all communications that a person takes part in."""
    table = communication_speakers.c
    query = sa.select(table.communication_id).where(table.tenant_id == tenant_id, table.speaker_id == speaker_id)
    return list(connection.execute(query).scalars())


def bind_label(
    tenant_id: str, connection: Connection, communication_id: str, speaker_id: str, label: str | None
) -> bool:
    """Says whose voice a label is; it is nobody else's then. False where the person is not in the communication."""
    lock(tenant_id, connection, communication_id)
    table = communication_speakers.c
    here = (table.tenant_id == tenant_id, table.communication_id == communication_id)
    bound = connection.execute(
        sa.update(communication_speakers).where(*here, table.speaker_id == speaker_id).values(label=label)
    )
    communication_changed(tenant_id, connection, communication_id)
    if bound.rowcount == 1 and label is not None:
        others = sa.update(communication_speakers).where(*here, table.speaker_id != speaker_id, table.label == label)
        connection.execute(others.values(label=None))
    return bound.rowcount == 1


PARTICIPANTS = (
    sa.select(*_PARTICIPANT_COLUMNS)
    .select_from(_ATTENDED)
    .where(
        communication_speakers.c.tenant_id == sa.bindparam("tenant_id"),
        communication_speakers.c.communication_id == sa.bindparam("communication_id"),
    )
    .order_by(communication_speakers.c.position, communication_speakers.c.speaker_id)
)


def list_participants(tenant_id: str, connection: Connection, communication_id: str) -> list[Participant]:
    given = {"tenant_id": tenant_id, "communication_id": communication_id}
    return [Participant(*row) for row in connection.execute(PARTICIPANTS, given)]


def list_participants_of(
    tenant_id: str, connection: Connection, communication_ids: Sequence[str]
) -> dict[str, list[Participant]]:
    """By communication, in one statement."""
    if not communication_ids:
        return {}
    table = communication_speakers.c
    query = (
        sa.select(table.communication_id, *_PARTICIPANT_COLUMNS)
        .select_from(_ATTENDED)
        .where(table.tenant_id == tenant_id, table.communication_id.in_(communication_ids))
        .order_by(table.position, table.speaker_id)
    )
    found: dict[str, list[Participant]] = {communication_id: [] for communication_id in communication_ids}
    for row in connection.execute(query):
        found[row[0]].append(Participant(*row[1:]))
    return found
