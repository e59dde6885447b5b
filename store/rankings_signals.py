"""How often signals came up: which, what was said, with whom, in which departments and categories; by SQL alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import summary_items
from store.communications import communications
from store.database import UtcDateTime
from store.figures import communication_figures, participation_figures
from store.rankings import (
    FIGURES,
    PARTICIPATIONS,
    PERSON_NAMES,
    Page,
    Wanted,
    by_name,
    newest_of,
    share,
    unindexed,
    with_profiles,
)
from store.signals import SIGNALS
from store.speakers import speakers

Group = Literal["signal", "value", "client", "staff", "department", "category"]


@dataclass(frozen=True, slots=True)
class Counted:
    """`key` is a signal, a value's key, a person's id, a department or a category; `count` are the communications in
    which the signal came up, `share` of those of the group: of a value, of those with its signal."""

    key: str | int
    count: int
    share: float
    newest_at: datetime


@dataclass(frozen=True, slots=True)
class Example:
    """The newest item that a group was counted by."""

    signal: str
    content: str
    quote: str | None
    communication_id: str
    kind: str
    title: str
    occured_at: datetime


def signals_bits(signal: str | None) -> int:
    """The bit of one signal; without one those of all."""
    return (1 << len(SIGNALS)) - 1 if signal is None else 1 << SIGNALS.index(signal)


def rank_signals(
    tenant_id: str, connection: Connection, wanted: Wanted, page: Page, *, group: Group, signal: str | None
) -> list[Counted]:
    """Groups in which the signal, or any signal, came up. Values are of one signal; the newest of those that came up as
    often comes first."""
    if group == "signal":
        return _signals(tenant_id, connection, wanted, page, signal)
    if group == "value":
        assert signal is not None, "values are of one signal"
        return _values(tenant_id, connection, wanted, page, signal)
    return _groups(tenant_id, connection, wanted, page, group, signals_bits(signal))


def _signals(tenant_id: str, connection: Connection, wanted: Wanted, page: Page, signal: str | None) -> list[Counted]:
    conditions = wanted.of_communications(tenant_id)
    chosen = [name for name in SIGNALS if signal in (None, name)]
    columns: list[sa.ColumnElement[Any]] = [sa.func.count()]
    for name in chosen:
        came_up = _came_up(communication_figures, signals_bits(name))
        columns += [sa.func.count(came_up), sa.func.max(came_up, type_=UtcDateTime())]
    total, *counts = connection.execute(sa.select(*columns).where(*conditions)).one()
    found = [
        Counted(name, count, count / total, newest)
        for name, count, newest in zip(chosen, counts[::2], counts[1::2], strict=True)
        if count
    ]
    found.sort(key=lambda each: (-each.count, each.key))
    return found[page.offset : page.offset + page.limit]


def _values(tenant_id: str, connection: Connection, wanted: Wanted, page: Page, signal: str) -> list[Counted]:
    items = summary_items.c
    has_signal = FIGURES.signals.bitwise_and(signals_bits(signal)) != 0
    conditions = [*wanted.of_communications(tenant_id), has_signal]
    total = sa.select(sa.func.count()).select_from(communication_figures).where(*conditions).scalar_subquery()
    count, newest = sa.func.count(), sa.func.max(FIGURES.occured_at, type_=UtcDateTime())
    query = (
        sa.select(items.value_key, count, share(count, total), newest)
        .select_from(communication_figures.join(summary_items, _said(tenant_id, signal)))
        .where(*conditions)
        .group_by(items.value_key)
    )
    return [Counted(*row) for row in connection.execute(page.cut(query, count, newest.desc(), items.value_key))]


def _said(tenant_id: str, signal: str) -> sa.ColumnElement[bool]:
    items = summary_items.c
    same = (items.tenant_id == tenant_id) & (items.communication_id == FIGURES.communication_id)
    return same & (items.subtype == signal) & items.value_key.is_not(None)


def _groups(
    tenant_id: str, connection: Connection, wanted: Wanted, page: Page, group: Group, bits: int
) -> list[Counted]:
    joined: sa.FromClause
    if group == "category":
        conditions = wanted.of_communications(tenant_id)
        query = sa.select(FIGURES.category.label("key")).where(*conditions, FIGURES.category.is_not(None))
        query = query.group_by(FIGURES.category)
        counted = _counted(query, _came_up(communication_figures, bits)).subquery("counted")
        joined, ties = counted, [by_name(connection, counted.c.key)]
    elif group == "department":
        counted = _departments(tenant_id, connection, wanted, bits).subquery("counted")
        joined, ties = counted, [by_name(connection, counted.c.key)]
    else:
        key = unindexed(connection, PARTICIPATIONS.speaker_id)
        query = sa.select(key.label("key")).where(*wanted.of_people(tenant_id)).group_by(key)
        counted = _counted(query, _came_up(participation_figures, bits)).subquery("counted")
        joined = counted.join(speakers, (speakers.c.id == counted.c.key) & (speakers.c.tenant_id == tenant_id))
        ties = [by_name(connection, *PERSON_NAMES), counted.c.key]
    figures = counted.c
    query = sa.select(figures.key, figures.count, share(figures.count, figures.total), figures.newest_at)
    query = query.select_from(joined).where(figures.count > 0)
    return [Counted(*row) for row in connection.execute(page.cut(query, figures.count, *ties))]


def _departments(tenant_id: str, connection: Connection, wanted: Wanted, bits: int) -> sa.Select[Any]:
    """A communication counts once, however many of a department are in it."""
    once = (
        sa.select(
            speakers.c.department, PARTICIPATIONS.occured_at, sa.func.max(PARTICIPATIONS.signals).label("signals")
        )
        .select_from(with_profiles(tenant_id, connection, participation_figures))
        .where(*wanted.of_people(tenant_id), speakers.c.department.is_not(None))
        .group_by(PARTICIPATIONS.occured_at, PARTICIPATIONS.communication_id, speakers.c.department)
        .subquery("once")
    )
    query = sa.select(once.c.department.label("key")).group_by(once.c.department)
    return _counted(query, _came_up(once, bits))


def _came_up(figures: sa.FromClause, bits: int) -> sa.ColumnElement[datetime]:
    """When the communication was in which one of the signals came up; null for others."""
    return sa.case((figures.c.signals.bitwise_and(bits) != 0, figures.c.occured_at))


def _counted(query: sa.Select[Any], came_up: sa.ColumnElement[datetime]) -> sa.Select[Any]:
    return query.add_columns(
        sa.func.count(came_up).label("count"),
        sa.func.count().label("total"),
        sa.func.max(came_up, type_=UtcDateTime()).label("newest_at"),
    )


def examples(
    tenant_id: str,
    connection: Connection,
    wanted: Wanted,
    counted: Sequence[Counted],
    *,
    group: Group,
    signal: str | None,
) -> dict[str | int, Example]:
    """The newest item of each group, by its key."""
    bits = {each.key: signals_bits(str(each.key) if group == "signal" else signal) for each in counted}
    moments = [each.newest_at for each in counted]

    def keys_of(row: Any) -> list[str | int]:
        keys = list(bits) if group == "signal" else [row.key]
        return [key for key in keys if row.signals & bits.get(key, 0)]

    rows = connection.execute(_at_moments(tenant_id, connection, wanted, moments, group, signal))
    chosen = newest_of(rows, {(each.key, each.newest_at) for each in counted}, keys_of)
    items = _signal_items(tenant_id, connection, list(chosen.values()))
    found = {}
    for key, communication_id in chosen.items():
        for item in items.get(communication_id, ()):
            is_meant = item.value_key == key if group == "value" else True
            if is_meant and signals_bits(item.subtype) & bits[key]:
                quote = (item.meta or {}).get("quote")
                found[key] = Example(
                    item.subtype, item.content, quote, communication_id, item.kind, item.title, item.occured_at
                )
                break
    return found


def _at_moments(
    tenant_id: str,
    connection: Connection,
    wanted: Wanted,
    moments: Sequence[datetime],
    group: Group,
    signal: str | None,
) -> sa.Select[Any]:
    """key, occured_at, communication_id, signals of what happened at these moments."""
    if group in ("signal", "value", "category"):
        key: sa.ColumnElement[Any] = sa.null() if group == "signal" else FIGURES.category
        joined: sa.FromClause = communication_figures
        if group == "value":
            assert signal is not None
            key, joined = summary_items.c.value_key, joined.join(summary_items, _said(tenant_id, signal))
        table, conditions = FIGURES, wanted.of_communications(tenant_id)
    else:
        is_person = group != "department"
        key = PARTICIPATIONS.speaker_id if is_person else speakers.c.department
        joined = participation_figures
        joined = joined if is_person else with_profiles(tenant_id, connection, joined)
        table, conditions = PARTICIPATIONS, wanted.of_people(tenant_id)
    query = sa.select(key.label("key"), table.occured_at, table.communication_id, table.signals).select_from(joined)
    return query.where(*conditions, table.occured_at.in_(moments), table.signals != 0)


def _signal_items(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> dict[str, list[Any]]:
    items = summary_items.c
    query = (
        sa.select(
            *(items.communication_id, items.subtype, items.content, items.meta, items.value_key),
            *(communications.c.kind, communications.c.title, communications.c.occured_at),
        )
        .join(communications, communications.c.id == items.communication_id)
        .where(
            items.tenant_id == tenant_id,
            communications.c.tenant_id == tenant_id,
            items.communication_id.in_(communication_ids),
            items.item_type == "criteria",
            items.subtype.in_(SIGNALS),
        )
        .order_by(items.created_at, items.id)
    )
    found: dict[str, list[Any]] = {}
    for row in connection.execute(query):
        found.setdefault(row.communication_id, []).append(row)
    return found
