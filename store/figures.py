"""Figures of communications and of who takes part in them: what metrics and rankings add up, in tables of their own.

They are derived: every row follows from timeline, people and analysis of its communication, and is made anew in the
transaction that changes one of those (`store/figures_refresh.py`). Nothing else writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, time_column

# The bits of `qc_passed` and `qc_failed`. Rows are stored with them: a new criterion takes the next bit.
CRITERION_BITS = {
    code: bit
    for bit, code in enumerate(
        (
            "greeting",
            "brand_mention",
            "operator_self_intro",
            "ask_client_name",
            "address_by_name",
            "need_clarified",
            "identify_entity",
            "confirm_details",
            "contact_exchange",
            "official_contacts_only",
            "next_step_stated",
            "ask_reason",
            "handle_objection",
            "offer_presented",
            "verification_done",
            "disclaimer_stated",
            "thanks",
            "farewell",
            "aggression_response",
            "tone_of_voice",
        )
    )
}


def _of_both() -> list[sa.Column[object]]:
    """What is said of a communication in both tables, so that neither has to be joined with the other."""
    return [
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("channel_type", sa.String(16), nullable=False),
        sa.Column("direction", sa.String(3), nullable=True),
        sa.Column("duration_ms", sa.BigInteger, nullable=True),
        # Null where nobody can tell, as of a call that is not recognised yet.
        sa.Column("is_answered", sa.Boolean, nullable=True),
        sa.Column("category", sa.String(16), nullable=True),
        sa.Column("scenario_code", sa.String(32), nullable=True),
        sa.Column("score_pct", sa.Float, nullable=True),
        # Binary criteria that were met, and that were not, by CRITERION_BITS.
        sa.Column("qc_passed", sa.Integer, nullable=False),
        sa.Column("qc_failed", sa.Integer, nullable=False),
        # Which of store.signals.SIGNALS its summary has, by their bits.
        sa.Column("signals", sa.Integer, nullable=False),
    ]


# SQLite keeps the rows in the order of the primary key: a period is one stretch of the file.
communication_figures = sa.Table(
    "communication_figures",
    metadata,
    id_column("tenant_id", primary_key=True),
    time_column("occured_at", primary_key=True),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    *_of_both(),
    sa.Column("turns", sa.Integer, nullable=False),
    # Talk of a call by side; null where one of the sides is not known by its voice.
    sa.Column("client_ms", sa.BigInteger, nullable=True),
    sa.Column("staff_ms", sa.BigInteger, nullable=True),
    # From the client's first message to the first of the company after it; of chats and mails.
    sa.Column("first_reply_s", sa.BigInteger, nullable=True),
    # How quality control found the staff's tone, from 0 to 1; null where it could not tell.
    sa.Column("tone", sa.Float, nullable=True),
    sa.Column("commitments", sa.Integer, nullable=False),
    sa.UniqueConstraint("communication_id"),
    # What lists are narrowed down to: who asks for it must say it in these words, or SQLite does not see that it fits.
    sa.Index(
        "ix_communication_figures_unanswered",
        *("tenant_id", "kind", "direction", "occured_at", "communication_id", "is_answered"),
        sqlite_where=sa.text("is_answered IS 0"),
        postgresql_where=sa.text("is_answered IS FALSE"),
    ),
    sa.Index(
        "ix_communication_figures_signals",
        *("tenant_id", "occured_at", "communication_id", "signals", "kind", "channel_type", "direction"),
        sqlite_where=sa.text("signals != 0"),
        postgresql_where=sa.text("signals != 0"),
    ),
    sqlite_with_rowid=False,
)

participation_figures = sa.Table(
    "participation_figures",
    metadata,
    id_column("tenant_id", primary_key=True),
    time_column("occured_at", primary_key=True),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    id_column("speaker_id", sa.ForeignKey("speakers.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("role", sa.String(16), nullable=False),  # there; one of store.speakers.ROLES
    *_of_both(),
    # What the person said there: nothing where nobody knows which voice is theirs.
    sa.Column("turns", sa.Integer, nullable=False),
    sa.Column("talk_ms", sa.BigInteger, nullable=True),
    # All that was said there by everybody, to tell the person's share.
    sa.Column("all_talk_ms", sa.BigInteger, nullable=True),
    # Promises of this person.
    sa.Column("commitments", sa.Integer, nullable=False),
    sa.Index(None, "communication_id"),  # for making them anew, and for the cascade of a deletion
    # With all that is added up for a person, so that their rows are not looked up one by one.
    sa.Index(
        "ix_participation_figures_of_speaker",
        *("speaker_id", "occured_at", "role", "kind", "channel_type", "direction"),
        *("talk_ms", "all_talk_ms", "score_pct", "commitments"),
    ),
    sqlite_with_rowid=False,
)

Column = Literal["kind", "channel_type", "direction", "category"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Communications of a time, `start` inclusive and `end` exclusive, that fit all that is given."""

    start: datetime
    end: datetime
    kind: str | None = None
    channel_type: str | None = None
    direction: str | None = None


@dataclass(frozen=True, slots=True)
class Sums:
    """What adds up over communications: averages and shares come of it. `durations`, `replies` and `scores` say of how
    many there is a duration, a first reply and a score."""

    count: int = 0
    durations: int = 0
    duration_ms: int = 0
    answered: int = 0
    unanswered: int = 0
    client_ms: int = 0
    staff_ms: int = 0
    replies: int = 0
    first_reply_s: int = 0
    commitments: int = 0
    scores: int = 0
    score_pct: float = 0.0

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(one + another for one, another in zip(astuple(self), astuple(other), strict=True)))


_figures = communication_figures.c
_SUMS = (
    sa.func.count(),
    sa.func.count(_figures.duration_ms),
    sa.func.sum(_figures.duration_ms),
    sa.func.count().filter(_figures.is_answered.is_(True)),
    sa.func.count().filter(_figures.is_answered.is_(False)),
    sa.func.sum(_figures.client_ms),
    sa.func.sum(_figures.staff_ms),
    sa.func.count(_figures.first_reply_s),
    sa.func.sum(_figures.first_reply_s),
    sa.func.sum(_figures.commitments),
    sa.func.count(_figures.score_pct),
    sa.func.sum(_figures.score_pct),
)


def _selected(tenant_id: str, selection: Selection) -> list[sa.ColumnElement[bool]]:
    conditions = [
        _figures.tenant_id == tenant_id,
        _figures.occured_at >= selection.start,
        _figures.occured_at < selection.end,
    ]
    for name in ("kind", "channel_type", "direction"):
        value = getattr(selection, name)
        if value is not None:
            conditions.append(_figures[name] == value)
    return conditions


def _sums(row: Sequence[Any]) -> Sums:
    """PostgreSQL adds integers up to decimals, and nothing adds up to null."""
    values: list[Any] = [value if isinstance(value, float) else int(value or 0) for value in row]
    return Sums(*values)


def sum_up(tenant_id: str, connection: Connection, selection: Selection) -> Sums:
    row = connection.execute(sa.select(*_SUMS).where(*_selected(tenant_id, selection))).one()
    return _sums(row)


def sum_up_by(tenant_id: str, connection: Connection, selection: Selection, column: Column) -> dict[str | None, Sums]:
    """By the values of a column, None for what has none."""
    by = _figures[column]
    query = sa.select(by, *_SUMS).where(*_selected(tenant_id, selection)).group_by(by)
    return {row[0]: _sums(row[1:]) for row in connection.execute(query)}


@dataclass(frozen=True, slots=True)
class Kind:
    """What analysis calls some communications: how many there are, and the sum of the scores of those that have one.
    Null: not analysed, or not evaluated."""

    category: str | None
    scenario_code: str | None
    count: int
    scores: int
    score_pct: float


def list_kinds(tenant_id: str, connection: Connection, selection: Selection) -> list[Kind]:
    """Each pair of category and scenario that there is, in one pass."""
    by = (_figures.category, _figures.scenario_code)
    query = (
        sa.select(*by, sa.func.count(), sa.func.count(_figures.score_pct), sa.func.sum(_figures.score_pct))
        .where(*_selected(tenant_id, selection))
        .group_by(*by)
    )
    return [Kind(row[0], row[1], row[2], row[3], row[4] or 0.0) for row in connection.execute(query)]
