"""Tables and queries of voices: what was heard under each label of a call, and the voice by which a speaker is known.

A voice is personal data: nothing is kept for an account that has not switched it on, and switching it off deletes all.
(A job in work carries what it heard in its own record, which is gone an hour after its end.)
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.communications import communications
from store.database import id_column, metadata, now, time_column
from store.speakers import communication_speakers

LEAST_CLEAN_MS = 3000
"""Less clean speech than this teaches nothing."""
MOST_WEIGHT_MS = 300_000
"""What is known weighs at most so much against what is new: voices age, and telephones change."""
_MADE_ANEW_OF = 100

speaker_voices = sa.Table(
    "speaker_voices",
    metadata,
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("model", sa.String(64), primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("embedding", sa.LargeBinary, nullable=False),
    sa.Column("clean_ms", sa.BigInteger, nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id"),
)

heard_voices = sa.Table(
    "heard_voices",
    metadata,
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("label", sa.String(64), primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("model", sa.String(64), nullable=False),
    sa.Column("embedding", sa.LargeBinary, nullable=False),
    sa.Column("clean_ms", sa.BigInteger, nullable=False),
    # Whose voice it taught already: a step that runs twice must not weigh it twice.
    id_column("taught_speaker_id", nullable=True),
    sa.Index(None, "tenant_id", "taught_speaker_id"),
)


@dataclass(frozen=True, slots=True)
class Voice:
    """`embedding` has unit length; it is made of `clean_ms` of speech in which nobody else was heard."""

    embedding: tuple[float, ...]
    clean_ms: int


def put_heard(
    tenant_id: str, connection: Connection, communication_id: str, *, model: str, voices: Mapping[str, Voice]
) -> None:
    """Puts the voices of a communication, by label, in place of what was there; what a label taught stays noted."""
    mine = (heard_voices.c.tenant_id == tenant_id, heard_voices.c.communication_id == communication_id)
    query = sa.select(heard_voices.c.label, heard_voices.c.taught_speaker_id).where(*mine)
    taught = {row[0]: row[1] for row in connection.execute(query)}
    connection.execute(sa.delete(heard_voices).where(*mine))
    rows = [
        {
            "tenant_id": tenant_id,
            "communication_id": communication_id,
            "label": label,
            "model": model,
            "embedding": _packed(voice.embedding),
            "clean_ms": voice.clean_ms,
            "taught_speaker_id": taught.get(label),
        }
        for label, voice in voices.items()
    ]
    if rows:
        connection.execute(sa.insert(heard_voices), rows)


def list_heard(tenant_id: str, connection: Connection, communication_id: str) -> dict[str, Voice]:
    """The voices of a communication, by label."""
    query = sa.select(heard_voices.c.label, heard_voices.c.embedding, heard_voices.c.clean_ms).where(
        heard_voices.c.tenant_id == tenant_id, heard_voices.c.communication_id == communication_id
    )
    return {row[0]: Voice(_unpacked(row[1]), row[2]) for row in connection.execute(query)}


def list_known(tenant_id: str, connection: Connection, speaker_ids: Sequence[str], *, model: str) -> dict[str, Voice]:
    """The voices that are known of these speakers; voices of different models cannot be compared."""
    if not speaker_ids:
        return {}
    table = speaker_voices.c
    query = sa.select(table.speaker_id, table.embedding, table.clean_ms).where(
        table.tenant_id == tenant_id, table.speaker_id.in_(speaker_ids), table.model == model
    )
    return {row[0]: Voice(_unpacked(row[1]), row[2]) for row in connection.execute(query)}


def teach(tenant_id: str, connection: Connection, communication_id: str, label: str, speaker_id: str) -> bool:
    """Adds the voice heard under a label to what is known of the speaker, once. False where it was added before, to
    anybody, or has too little clean speech, or nothing was kept of it. The caller has locked the account's row."""
    heard = heard_voices.c
    taken = connection.execute(
        sa.update(heard_voices)
        .where(
            heard.tenant_id == tenant_id,
            heard.communication_id == communication_id,
            heard.label == label,
            heard.clean_ms >= LEAST_CLEAN_MS,
            heard.taught_speaker_id.is_(None),
        )
        .values(taught_speaker_id=speaker_id)
        .returning(heard.model, heard.embedding, heard.clean_ms)
    ).first()
    if taken is None:
        return False
    model, embedding, clean_ms = taken
    new = Voice(_unpacked(embedding), clean_ms)
    known = list_known(tenant_id, connection, [speaker_id], model=model).get(speaker_id)
    _put(tenant_id, connection, speaker_id, model, _joined(known, new) if known else new)
    return True


def _put(tenant_id: str, connection: Connection, speaker_id: str, model: str, voice: Voice) -> None:
    """Makes it the voice that is known of the speaker."""
    table = speaker_voices.c
    mine = (table.tenant_id == tenant_id, table.speaker_id == speaker_id, table.model == model)
    values = {"embedding": _packed(voice.embedding), "clean_ms": voice.clean_ms, "updated_at": now()}
    if connection.execute(sa.update(speaker_voices).where(*mine).values(**values)).rowcount == 0:
        connection.execute(
            sa.insert(speaker_voices).values(tenant_id=tenant_id, speaker_id=speaker_id, model=model, **values)
        )


def forget_speaker(tenant_id: str, connection: Connection, speaker_id: str) -> None:
    """Deletes the speaker's voice and what was heard of it: what taught it, and what is under a label of theirs. The
    caller has locked the account's row."""
    attended = communication_speakers.c
    theirs = sa.exists().where(
        attended.tenant_id == tenant_id,
        attended.speaker_id == speaker_id,
        attended.communication_id == heard_voices.c.communication_id,
        attended.label == heard_voices.c.label,
    )
    connection.execute(
        sa.delete(heard_voices).where(
            heard_voices.c.tenant_id == tenant_id,
            sa.or_(heard_voices.c.taught_speaker_id == speaker_id, theirs),
        )
    )
    known = speaker_voices.c
    connection.execute(sa.delete(speaker_voices).where(known.tenant_id == tenant_id, known.speaker_id == speaker_id))


def take_back(tenant_id: str, connection: Connection, communication_id: str, label: str) -> None:
    """What was heard under a label was not the one whom it taught: that person's voice is made anew of what else taught
    it. The caller has locked the account's row."""
    heard = heard_voices.c
    here = (heard.tenant_id == tenant_id, heard.communication_id == communication_id, heard.label == label)
    _take_back(tenant_id, connection, *here)


def take_back_all(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> None:
    """`take_back` of every label of communications that are deleted in this transaction."""
    heard = heard_voices.c
    _take_back(tenant_id, connection, heard.tenant_id == tenant_id, heard.communication_id.in_(communication_ids))


def _take_back(tenant_id: str, connection: Connection, *where: sa.ColumnElement[bool]) -> None:
    heard, known = heard_voices.c, speaker_voices.c
    taught = sa.select(heard.taught_speaker_id).where(*where, heard.taught_speaker_id.is_not(None))
    gone = sa.delete(speaker_voices).where(known.tenant_id == tenant_id, known.speaker_id.in_(taught))
    speaker_ids = set(connection.execute(gone.returning(known.speaker_id)).scalars())
    connection.execute(sa.update(heard_voices).where(*where).values(taught_speaker_id=None))
    for speaker_id in sorted(speaker_ids):
        _make_anew(tenant_id, connection, speaker_id)


def _make_anew(tenant_id: str, connection: Connection, speaker_id: str) -> None:
    """The speaker's voice, of the newest that taught it: what is older weighs little by then."""
    heard = heard_voices.c
    query = (
        sa.select(heard.model, heard.embedding, heard.clean_ms)
        .join(communications, communications.c.id == heard.communication_id)
        .where(heard.tenant_id == tenant_id, heard.taught_speaker_id == speaker_id)
        .order_by(communications.c.occured_at.desc(), heard.communication_id, heard.label)
        .limit(_MADE_ANEW_OF)
    )
    made: dict[str, Voice] = {}
    for model, embedding, clean_ms in reversed(connection.execute(query).all()):
        new = Voice(_unpacked(embedding), clean_ms)
        made[model] = _joined(made[model], new) if model in made else new
    for model, voice in made.items():
        _put(tenant_id, connection, speaker_id, model, voice)


def forget_heard(tenant_id: str, connection: Connection, communication_id: str, label: str) -> None:
    """Deletes what was heard under a label that is not used any more."""
    heard = heard_voices.c
    connection.execute(
        sa.delete(heard_voices).where(
            heard.tenant_id == tenant_id, heard.communication_id == communication_id, heard.label == label
        )
    )


def join_heard(tenant_id: str, connection: Connection, communication_id: str, label: str, gone: str) -> None:
    """What was said under the label `gone` is said under `label` now. One voice is kept of both, and whom either
    taught."""
    heard = heard_voices.c
    here = (heard.tenant_id == tenant_id, heard.communication_id == communication_id)
    query = sa.select(heard.label, heard.taught_speaker_id).where(*here, heard.label.in_((label, gone)))
    taught = {row[0]: row[1] for row in connection.execute(query)}
    if gone not in taught:
        return
    # The one that taught: of it the voice that is known is made.
    if taught.get(label) is None and taught[gone] is not None:
        connection.execute(sa.delete(heard_voices).where(*here, heard.label == label))
        connection.execute(sa.update(heard_voices).where(*here, heard.label == gone).values(label=label))
    else:
        forget_heard(tenant_id, connection, communication_id, gone)


def merge_speakers(tenant_id: str, connection: Connection, kept_id: str, gone_id: str) -> None:
    """What is known of one voice and what it was taught by belong to the other one. The caller has locked the account's
    row."""
    table, heard = speaker_voices.c, heard_voices.c
    taught = sa.update(heard_voices).where(heard.tenant_id == tenant_id, heard.taught_speaker_id == gone_id)
    connection.execute(taught.values(taught_speaker_id=kept_id))
    query = sa.select(table.model, table.embedding, table.clean_ms).where(table.tenant_id == tenant_id)
    for model, embedding, clean_ms in connection.execute(query.where(table.speaker_id == gone_id)).all():
        new = Voice(_unpacked(embedding), clean_ms)
        known = list_known(tenant_id, connection, [kept_id], model=model).get(kept_id)
        voice = _joined(known, new) if known else new
        gone = (table.tenant_id == tenant_id, table.model == model, table.speaker_id == gone_id)
        connection.execute(sa.delete(speaker_voices).where(*gone))
        _put(tenant_id, connection, kept_id, model, voice)


def newest_known(tenant_id: str, connection: Connection, speaker_id: str) -> tuple[int, datetime] | None:
    """(clean speech in milliseconds, when it was last added to) of the voice that is known of a speaker."""
    table = speaker_voices.c
    query = (
        sa.select(table.clean_ms, table.updated_at)
        .where(table.tenant_id == tenant_id, table.speaker_id == speaker_id)
        .order_by(table.updated_at.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return (row[0], row[1]) if row else None


def forget_all(tenant_id: str, connection: Connection) -> None:
    """Deletes every voice of an account."""
    connection.execute(sa.delete(heard_voices).where(heard_voices.c.tenant_id == tenant_id))
    connection.execute(sa.delete(speaker_voices).where(speaker_voices.c.tenant_id == tenant_id))


def _joined(known: Voice, new: Voice) -> Voice:
    """The mean of both, weighted by their clean speech, at unit length."""
    weight = min(known.clean_ms, MOST_WEIGHT_MS)
    added = min(new.clean_ms, MOST_WEIGHT_MS)
    total = [weight * old + added * fresh for old, fresh in zip(known.embedding, new.embedding, strict=True)]
    length = sum(value * value for value in total) ** 0.5
    return Voice(tuple(value / length for value in total), known.clean_ms + new.clean_ms)


def _packed(embedding: Sequence[float]) -> bytes:
    return array("f", embedding).tobytes()


def _unpacked(data: bytes) -> tuple[float, ...]:
    values = array("f")
    values.frombytes(data)
    return tuple(values)
