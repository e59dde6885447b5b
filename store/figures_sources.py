"""What figures are made of, as SQL: the people, timeline and findings of a batch of communications.

The sides of a conversation are those of the people whose voices, or authors, are known; of two voices of which one is
known, the other is the other side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from store.analysis import qc_evaluations, summaries, summary_items
from store.communications import communications, content_items
from store.figures import CRITERION_BITS, communication_figures, participation_figures
from store.signals import SIGNALS
from store.speakers import STAFF_ROLES, communication_speakers
from store.widget_roles import SIDES

TENANT: sa.BindParameter[Any] = sa.bindparam("tenant_id")
IDS: sa.BindParameter[Any] = sa.bindparam("communication_ids", expanding=True)
# The criterion of quality control that gives a number for the staff's tone.
TONE = "tone_of_voice"


@dataclass(frozen=True, slots=True)
class Sources:
    """One row a communication each, but for `voices`: one a label."""

    voices: sa.CTE
    heard: sa.CTE
    replied: sa.CTE
    judged: sa.CTE
    noted: sa.CTE

    @classmethod
    def of(cls, dialect: str) -> Sources:
        voices = _voices()
        return cls(voices, _heard(voices), _replied(voices, dialect), _judged(dialect), _noted())


def _of_batch(table: sa.Table) -> tuple[sa.ColumnElement[bool], ...]:
    key = table.c.id if table is communications else table.c.communication_id
    own = table.c.tenant_id == TENANT
    if table is communication_speakers:
        # SQLite, which has no statistics, would read all people of the account by their index.
        own = sa.case((own, 1), else_=0) == 1
    return own, key.in_(IDS)


def _spoken() -> sa.CTE:
    """Each label of a timeline with what was said under it."""
    items = content_items.c
    return (
        sa.select(
            items.communication_id,
            items.label,
            sa.func.count().label("turns"),
            sa.func.sum(items.end_ms - items.start_ms).label("talk_ms"),
        )
        .where(*_of_batch(content_items), items.text != "")
        .group_by(items.communication_id, items.label)
        .cte("spoken")
    )


def _voices() -> sa.CTE:
    """What was spoken, with the side of each label."""
    people = communication_speakers.c
    role_side = sa.case((people.role == "client", "client"), (people.role.in_(STAFF_ROLES), "staff"))
    named = (
        sa.select(people.communication_id, people.label, sa.func.min(role_side).label("side"))
        .where(*_of_batch(communication_speakers), people.label.is_not(None))
        .group_by(people.communication_id, people.label)
        .having(sa.func.min(role_side) == sa.func.max(role_side))  # a label that two sides claim is nobody's
        .cte("named")
    )
    spoken = _spoken()
    of_widget = [
        (sa.and_(communications.c.channel_type == "widget", spoken.c.label == label), side)
        for label, side in SIDES.items()
    ]
    known = (
        sa.select(spoken, sa.func.coalesce(named.c.side, sa.case(*of_widget)).label("known_side"))
        .select_from(
            spoken.join(communications, communications.c.id == spoken.c.communication_id).outerjoin(
                named, sa.and_(named.c.communication_id == spoken.c.communication_id, named.c.label == spoken.c.label)
            )
        )
        .cte("known")
    )
    side, of_one = known.c.known_side, known.c.communication_id
    one_of_two = sa.and_(
        known.c.label.is_not(None),
        sa.func.count(known.c.label).over(partition_by=of_one) == 2,
        sa.func.count(side).over(partition_by=of_one) == 1,
    )
    other = sa.case((sa.func.max(side).over(partition_by=of_one) == "client", "staff"), else_="client")
    settled = sa.func.coalesce(side, sa.case((one_of_two, other)))
    return sa.select(known, settled.label("side")).cte("voices")


def _heard(voices: sa.CTE) -> sa.CTE:
    def of(side: str, value: sa.ColumnElement[Any]) -> sa.Case[Any]:
        return sa.case((voices.c.side == side, value))

    return (
        sa.select(
            voices.c.communication_id,
            sa.func.sum(voices.c.turns).label("turns"),
            sa.func.sum(voices.c.talk_ms).label("talk_ms"),
            sa.func.sum(of("client", voices.c.talk_ms)).label("client_ms"),
            sa.func.sum(of("staff", voices.c.talk_ms)).label("staff_ms"),
            sa.func.count().label("voices"),
            sa.func.count(of("client", voices.c.turns)).label("clients"),
            sa.func.count(of("staff", voices.c.turns)).label("staff"),
        )
        .group_by(voices.c.communication_id)
        .cte("heard")
    )


def _replied(voices: sa.CTE, dialect: str) -> sa.CTE:
    """Seconds from the client's first message to the company's first one after it."""
    items = content_items.c
    said = (
        sa.select(
            items.communication_id,
            items.at,
            voices.c.side,
            sa.func.min(sa.case((voices.c.side == "client", items.at)))
            .over(partition_by=items.communication_id)
            .label("asked_at"),
        )
        .where(*_of_batch(content_items), items.text != "", items.at.is_not(None))
        .join(
            voices,
            sa.and_(voices.c.communication_id == items.communication_id, voices.c.label == items.label),
        )
        .cte("said")
    )
    replied_at = sa.func.min(said.c.at)
    reply_s = _epoch_s(replied_at, dialect) - _epoch_s(said.c.asked_at, dialect)
    return (
        sa.select(said.c.communication_id, reply_s.label("reply_s"))
        .where(said.c.side == "staff", said.c.at >= said.c.asked_at)
        .group_by(said.c.communication_id, said.c.asked_at)
        .cte("replied")
    )


def _epoch_s(moment: sa.ColumnElement[Any], dialect: str) -> sa.ColumnElement[int]:
    """Whole seconds: SQLite gives no others."""
    epoch = sa.extract("epoch", moment)
    return epoch if dialect == "sqlite" else sa.cast(sa.func.floor(epoch), sa.BigInteger)


def _judged(dialect: str) -> sa.CTE:
    """Score, the bits of what was met and what was not, and the tone."""
    table = qc_evaluations.c
    is_number: sa.ColumnElement[bool]
    if dialect == "sqlite":
        each = sa.func.json_each(table.criteria).table_valued("value").alias("criterion")
        code = sa.func.json_extract(each.c.value, "$.code")
        value = sa.func.json_type(each.c.value, "$.value")
        number, is_number = sa.func.json_extract(each.c.value, "$.value"), value.in_(("real", "integer"))
    else:
        each = sa.func.json_array_elements(table.criteria).table_valued(sa.column("value", sa.JSON)).alias("criterion")
        code = sa.func.json_extract_path_text(each.c.value, "code")
        value = number = sa.func.json_extract_path_text(each.c.value, "value")
        is_number = value.regexp_match(r"^[0-9.]+$")
    tone = sa.case((sa.and_(code == TONE, is_number), sa.cast(number, sa.Float)))
    bit = sa.case({name: 1 << bit for name, bit in CRITERION_BITS.items()}, value=code)
    masks = [
        sa.func.coalesce(sa.func.sum(sa.distinct(sa.case((value == word, bit)))), 0).label(name)
        for name, word in (("qc_passed", "true"), ("qc_failed", "false"))
    ]
    return (
        sa.select(table.communication_id, table.scenario_code, table.score_pct, *masks, sa.func.max(tone).label("tone"))
        .select_from(qc_evaluations.outerjoin(each, sa.true()))
        .where(*_of_batch(qc_evaluations))
        .group_by(table.communication_id, table.scenario_code, table.score_pct)
        .cte("judged")
    )


def _noted() -> sa.CTE:
    table = summary_items.c
    bit = sa.case({name: 1 << bit for bit, name in enumerate(SIGNALS)}, value=table.subtype)
    signal = sa.case((table.item_type == "criteria", bit))
    return (
        sa.select(
            table.communication_id,
            sa.func.coalesce(sa.func.sum(sa.distinct(signal)), 0).label("signals"),
            sa.func.count(sa.case((table.item_type == "commitment", 1))).label("commitments"),
        )
        .where(*_of_batch(summary_items), table.item_type != "memory")
        .group_by(table.communication_id)
        .cte("noted")
    )


def _joined(sources: Sources) -> sa.FromClause:
    joined: sa.FromClause = communications
    for source in (summaries, sources.heard, sources.replied, sources.judged, sources.noted):
        joined = joined.outerjoin(source, source.c.communication_id == communications.c.id)
    return joined


def _is_answered(heard: sa.CTE) -> sa.ColumnElement[bool | None]:
    """Of a call: somebody was reached. Of a chat or a mail: both sides wrote. Null where that cannot be told."""
    own = communications.c
    is_silent = sa.func.coalesce(heard.c.voices, 0) == 0
    call = sa.case(
        (summaries.c.category == "no_contact", sa.false()),
        (sa.and_(is_silent, own.is_closed), sa.false()),
        (is_silent, sa.null()),
        # One voice may be a machine's; analysis tells.
        (sa.or_(summaries.c.category.is_not(None), heard.c.voices >= 2), sa.true()),
    )
    text = sa.case(
        (sa.and_(heard.c.clients > 0, heard.c.staff > 0), sa.true()),
        (heard.c.voices == 1, sa.false()),
    )
    return sa.case((own.kind == "call", call), else_=text)


def figures_query(sources: Sources) -> sa.Select[Any]:
    heard = sources.heard.c
    # Colleagues among themselves are no two sides.
    has_sides = sa.and_(
        communications.c.kind == "call",
        heard.clients > 0,
        heard.staff > 0,
        sa.func.coalesce(summaries.c.category, "") != "internal",
    )
    own, judged, noted = communications.c, sources.judged.c, sources.noted.c
    values = {
        "tenant_id": own.tenant_id,
        "occured_at": own.occured_at,
        "communication_id": own.id,
        "kind": own.kind,
        "channel_type": own.channel_type,
        "direction": own.direction,
        "duration_ms": own.duration_ms,
        "is_answered": _is_answered(sources.heard),
        "category": summaries.c.category,
        "scenario_code": judged.scenario_code,
        "score_pct": judged.score_pct,
        "qc_passed": sa.func.coalesce(judged.qc_passed, 0),
        "qc_failed": sa.func.coalesce(judged.qc_failed, 0),
        "signals": sa.func.coalesce(noted.signals, 0),
        "turns": sa.func.coalesce(heard.turns, 0),
        "client_ms": sa.case((has_sides, heard.client_ms)),
        "staff_ms": sa.case((has_sides, heard.staff_ms)),
        "first_reply_s": sa.case((communications.c.kind != "call", sources.replied.c.reply_s)),
        "tone": judged.tone,
        "commitments": sa.func.coalesce(noted.commitments, 0),
    }
    query = sa.select(*(values[column.name] for column in communication_figures.columns))
    return query.select_from(_joined(sources)).where(*_of_batch(communications))


def participations_query() -> sa.Select[Any]:
    """Of the communications whose figures are made already."""
    people, items, own = communication_speakers.c, summary_items.c, communication_figures.c
    spoken = _spoken()
    promised = (
        sa.select(items.communication_id, items.speaker_id, sa.func.count().label("commitments"))
        .where(*_of_batch(summary_items), items.item_type == "commitment", items.speaker_id.is_not(None))
        .group_by(items.communication_id, items.speaker_id)
        .cte("promised")
    )
    all_talk = (
        sa.select(spoken.c.communication_id, sa.func.sum(spoken.c.talk_ms).label("talk_ms"))
        .group_by(spoken.c.communication_id)
        .cte("all_talk")
    )
    values = dict(own) | {
        "speaker_id": people.speaker_id,
        "role": people.role,
        "turns": sa.func.coalesce(spoken.c.turns, 0),
        "talk_ms": spoken.c.talk_ms,
        "all_talk_ms": all_talk.c.talk_ms,
        "commitments": sa.func.coalesce(promised.c.commitments, 0),
    }
    of_one = communication_speakers.join(communication_figures, own.communication_id == people.communication_id)
    for source, further in ((spoken, "label"), (promised, "speaker_id"), (all_talk, None)):
        same = source.c.communication_id == people.communication_id
        of_one = of_one.outerjoin(source, sa.and_(same, source.c[further] == people[further]) if further else same)
    query = sa.select(*(values[column.name] for column in participation_figures.columns))
    return query.select_from(of_one).where(*_of_batch(communication_speakers), *_of_batch(communication_figures))
