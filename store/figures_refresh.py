"""Makes figures anew out of what they follow from, by SQL alone.

A write that changes a communication notes it (`store/changes.py`), and `Database.write()` comes here before it commits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from store.communications import communications
from store.figures import communication_figures, participation_figures
from store.figures_sources import IDS, TENANT, Sources, figures_query, participations_query
from store.scope import across_tenants

# Of so many even a plan that joins each with each is quick, as PostgreSQL makes one without statistics.
BATCH = 100


@across_tenants("a transaction may have changed communications of several")
def refresh(connection: Connection, changed: Iterable[tuple[str, str]]) -> None:
    """Makes the figures of these communications anew, each a (tenant id, id); of one that is gone there are none."""
    by_tenant: dict[str, list[str]] = defaultdict(list)
    for tenant_id, communication_id in sorted(changed):
        by_tenant[tenant_id].append(communication_id)
    for tenant_id, ids in by_tenant.items():
        remaining = iter(ids)
        while batch := list(islice(remaining, BATCH)):
            _refresh_batch(tenant_id, connection, batch)


@across_tenants("communications of an older release have no figures yet")
def fill_missing(connection: Connection, *, after: str | None = None, limit: int = 50 * BATCH) -> str | None:
    """Makes the figures of communications that have none, among the next `limit` in the order of ids behind `after`.
    The id to go on behind; None where that was all."""
    table = communications.c
    page = sa.select(table.tenant_id, table.id).order_by(table.id).limit(limit)
    if after is not None:
        page = page.where(table.id > after)
    there = page.subquery()
    figures = communication_figures.c
    query = sa.select(there.c.tenant_id, there.c.id, figures.communication_id).select_from(
        there.outerjoin(communication_figures, figures.communication_id == there.c.id)
    )
    rows = connection.execute(query).all()
    refresh(connection, [(row[0], row[1]) for row in rows if row[2] is None])
    return max(row[1] for row in rows) if len(rows) == limit else None


def _refresh_batch(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> None:
    """Two transactions that changed the same communication take turns: the second one sees what the first one did. Rows
    of figures are locked last of all, in the order of ids, so nobody who holds one waits for somebody who wants it."""
    given = {"tenant_id": tenant_id, "communication_ids": communication_ids}
    for statement in _statements(connection.dialect.name):
        connection.execute(statement, given)


@cache
def _statements(dialect: str) -> tuple[sa.Executable, ...]:
    """What is run for a batch, made once: making them costs more than running them."""
    figures, participations = communication_figures.c, participation_figures.c
    columns = figures.keys()
    into = sqlite.insert(communication_figures) if dialect == "sqlite" else postgresql.insert(communication_figures)
    insert = into.from_select(columns, figures_query(Sources.of(dialect)))
    put = insert.on_conflict_do_update(
        index_elements=["communication_id"],
        set_={name: insert.excluded[name] for name in columns if name != "communication_id"},
        where=figures.tenant_id == TENANT,
    )
    clear = sa.delete(participation_figures).where(
        participations.tenant_id == TENANT, participations.communication_id.in_(IDS)
    )
    names = participations.keys()
    add = sa.insert(participation_figures).from_select(names, participations_query())
    wait = (
        sa.select(figures.communication_id)
        .where(figures.tenant_id == TENANT, figures.communication_id.in_(IDS))
        .order_by(figures.communication_id)
        .with_for_update()
    )
    return (wait, put, clear, add) if dialect == "postgresql" else (put, clear, add)
