"""The list of communications as people look through it: by their figures, which stand in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import stages, summaries
from store.communications import Cursor, communications
from store.figures import communication_figures, participation_figures
from store.rankings_signals import signals_bits
from store.transcriptions import transcription_tasks

Tone = Literal["unfriendly", "even", "friendly"]
# From, inclusive, and to, exclusive: what the tone's number from 0 to 1 is called.
_TONES: dict[Tone, tuple[float, float]] = {"unfriendly": (-1, 0.4), "even": (0.4, 0.7), "friendly": (0.7, 2)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """All that is given must hold. `since` is inclusive, `until` exclusive; scores are inclusive. `answered` fits only
    those of which it can be told; `replied` only chats and mails; `signal` is one of store.signals.SIGNALS."""

    kind: str | None = None
    channel_type: str | None = None
    direction: str | None = None
    category: str | None = None
    uncategorised: bool = False
    participant: str | None = None
    scenario: str | None = None
    score_from: float | None = None
    score_to: float | None = None
    tone: Tone | None = None
    answered: bool | None = None
    replied: bool | None = None
    signal: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list shows of a communication beside its own fields; of a stage that never was, its status is None."""

    category: str | None
    scenario_code: str | None
    score_pct: float | None
    turns: int
    summary_text: str | None
    transcription_status: str | None
    summary_status: str | None


_FIGURES = communication_figures.c


def _conditions(tenant_id: str, wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    equal = {
        "kind": wanted.kind,
        "channel_type": wanted.channel_type,
        "direction": wanted.direction,
        "category": wanted.category,
        "scenario_code": wanted.scenario,
    }
    conditions: list[sa.ColumnElement[bool]] = [_FIGURES.tenant_id == tenant_id]
    conditions += [_FIGURES[name] == value for name, value in equal.items() if value is not None]
    if wanted.score_from is not None:
        conditions.append(_FIGURES.score_pct >= wanted.score_from)
    if wanted.score_to is not None:
        conditions.append(_FIGURES.score_pct <= wanted.score_to)
    if wanted.uncategorised:
        conditions.append(_FIGURES.category.is_(None))
    if wanted.tone is not None:
        least, under = _TONES[wanted.tone]
        conditions += [_FIGURES.tone >= least, _FIGURES.tone < under]
    if wanted.replied is not None:
        has_reply = _FIGURES.first_reply_s.is_not(None)
        conditions.append(has_reply if wanted.replied else sa.and_(_FIGURES.kind != "call", ~has_reply))
    if wanted.answered is not None:
        conditions.append(_FIGURES.is_answered.is_(wanted.answered))
    if wanted.signal is not None:
        # Not as a parameter: SQLite must see that the partial index holds all of these.
        conditions.append(_FIGURES.signals != sa.literal_column("0"))
        conditions.append(_FIGURES.signals.bitwise_and(signals_bits(wanted.signal)) != 0)
    if wanted.since is not None:
        conditions.append(_FIGURES.occured_at >= wanted.since)
    if wanted.until is not None:
        conditions.append(_FIGURES.occured_at < wanted.until)
    if wanted.participant is not None:
        there = participation_figures.c
        attended = sa.select(there.communication_id).where(
            there.tenant_id == tenant_id, there.speaker_id == wanted.participant
        )
        conditions.append(_FIGURES.communication_id.in_(attended))
    return conditions


def list_ids(
    tenant_id: str, connection: Connection, wanted: Wanted, *, limit: int, before: Cursor | None = None
) -> list[str]:
    """Newest first, behind `before`."""
    conditions = _conditions(tenant_id, wanted)
    if before is not None:
        # Typed by hand, as in store/communications.py.
        place = (
            sa.literal(before.occured_at, _FIGURES.occured_at.type),
            sa.literal(before.id, _FIGURES.communication_id.type),
        )
        conditions.append(sa.tuple_(_FIGURES.occured_at, _FIGURES.communication_id) < sa.tuple_(*place))
    query = (
        sa.select(_FIGURES.communication_id)
        .where(*conditions)
        .order_by(_FIGURES.occured_at.desc(), _FIGURES.communication_id.desc())
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def count(tenant_id: str, connection: Connection, wanted: Wanted) -> int:
    query = sa.select(sa.func.count()).select_from(communication_figures).where(*_conditions(tenant_id, wanted))
    return connection.execute(query).scalar_one()


def fitting(tenant_id: str, connection: Connection, communication_ids: Sequence[str], wanted: Wanted) -> set[str]:
    """Those of the given that fit."""
    query = sa.select(_FIGURES.communication_id).where(
        *_conditions(tenant_id, wanted), _FIGURES.communication_id.in_(communication_ids)
    )
    return set(connection.execute(query).scalars())


def listed(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> dict[str, Listed]:
    """By communication, of those that are there."""
    newer = transcription_tasks.alias("tasks")
    newest = (
        sa.select(newer.c.status)
        .where(newer.c.tenant_id == tenant_id, newer.c.communication_id == communications.c.id)
        .order_by(newer.c.created_at.desc())
        .limit(1)
        .correlate(communications)
        .scalar_subquery()
    )
    summary = stages.alias("summary_stage")
    joined: Any = (
        communications.outerjoin(communication_figures, _FIGURES.communication_id == communications.c.id)
        .outerjoin(summaries, summaries.c.communication_id == communications.c.id)
        .outerjoin(summary, (summary.c.communication_id == communications.c.id) & (summary.c.stage == "summary"))
    )
    query = (
        sa.select(
            communications.c.id,
            _FIGURES.category,
            _FIGURES.scenario_code,
            _FIGURES.score_pct,
            sa.func.coalesce(_FIGURES.turns, 0),
            summaries.c.text,
            newest,
            summary.c.status,
        )
        .select_from(joined)
        .where(communications.c.tenant_id == tenant_id, communications.c.id.in_(communication_ids))
    )
    return {row[0]: Listed(*row[1:]) for row in connection.execute(query)}
