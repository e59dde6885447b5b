"""Table and queries of orders for analysis: the durable record of what one communication is to be analysed for.

A communication has one order at a time. A new one takes the place of the old one under an id of its own, which is also
the id of its job, so that an analysis can be run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column, upsert
from store.scope import across_tenants

analyses = sa.Table(
    "analyses",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), nullable=False, unique=True),
    # Of a recording; its analysis waits until the task is done.
    id_column("task_id", nullable=True),
    sa.Column("status", sa.String(10), nullable=False),  # waiting, ready or done
    sa.Column("run", sa.Integer, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False),
    time_column("due_at", nullable=False),
    # Under which its stages are charged: a call's is the call's own.
    sa.Column("hold_key", sa.String(180), nullable=False),
    sa.Column("user_prompt", sa.Text, nullable=True),
    sa.Column("webhook_url", sa.String(4096), nullable=True),
    id_column("key_id", nullable=True),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id"),
    sa.Index(None, "status", "due_at"),
)


@dataclass(frozen=True, slots=True)
class Analysis:
    """`status` is waiting (for the text), ready (to be worked on) or done; `run` counts the jobs begun for it, the next
    of which begins at `due_at`; `failures` are those of the stage at work; `tokens` is what models took and gave."""

    id: str
    tenant_id: str
    communication_id: str
    task_id: str | None
    status: str
    run: int
    failures: int
    due_at: datetime
    hold_key: str
    user_prompt: str | None
    webhook_url: str | None
    key_id: str | None
    tokens: int
    created_at: datetime
    updated_at: datetime


_COLUMNS = [analyses.c[name] for name in Analysis.__dataclass_fields__]


def put(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    *,
    task_id: str | None,
    user_prompt: str | None,
    webhook_url: str | None,
    key_id: str | None,
    is_ready: bool,
    hold_key: str,
    analysis_id: str,
) -> Analysis:
    """The communication's order, in place of an earlier one."""
    made_at = now()
    made = Analysis(
        id=analysis_id,
        tenant_id=tenant_id,
        communication_id=communication_id,
        task_id=task_id,
        status="ready" if is_ready else "waiting",
        run=0,
        failures=0,
        due_at=made_at,
        hold_key=hold_key,
        user_prompt=user_prompt,
        webhook_url=webhook_url,
        key_id=key_id,
        tokens=0,
        created_at=made_at,
        updated_at=made_at,
    )
    statement = upsert(connection, analyses).values(**asdict(made))
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["communication_id"], set_=asdict(made), where=analyses.c.tenant_id == tenant_id
        )
    )
    return made


def get(tenant_id: str, connection: Connection, analysis_id: str) -> Analysis | None:
    query = sa.select(*_COLUMNS).where(analyses.c.tenant_id == tenant_id, analyses.c.id == analysis_id)
    row = connection.execute(query).first()
    return Analysis(*row) if row else None


def get_of(tenant_id: str, connection: Connection, communication_id: str) -> Analysis | None:
    """The order of a communication, where there is one."""
    query = sa.select(*_COLUMNS).where(
        analyses.c.tenant_id == tenant_id, analyses.c.communication_id == communication_id
    )
    row = connection.execute(query).first()
    return Analysis(*row) if row else None


def advance(tenant_id: str, connection: Connection, analysis_id: str, status: str) -> bool:
    """Waiting to ready to done. False where it was there already, or beyond: who gets True goes on alone."""
    before = {"ready": ("waiting",), "done": ("waiting", "ready")}[status]
    statement = (
        sa.update(analyses)
        .where(analyses.c.tenant_id == tenant_id, analyses.c.id == analysis_id, analyses.c.status.in_(before))
        .values(status=status, due_at=now(), updated_at=now())
    )
    return connection.execute(statement).rowcount == 1


def put_off(tenant_id: str, connection: Connection, analysis_id: str, run: int, delay_s: float) -> bool:
    """Has the run that follows `run` begin later. False where that was done before, or the order is done or gone."""
    statement = (
        sa.update(analyses)
        .where(
            analyses.c.tenant_id == tenant_id,
            analyses.c.id == analysis_id,
            analyses.c.run == run,
            analyses.c.status == "ready",
        )
        .values(
            run=run + 1,
            failures=analyses.c.failures + 1,
            due_at=now() + timedelta(seconds=delay_s),
            updated_at=now(),
        )
    )
    return connection.execute(statement).rowcount == 1


def add_tokens(tenant_id: str, connection: Connection, analysis_id: str, tokens: int) -> None:
    """Counts what a model took and gave for it."""
    connection.execute(
        sa.update(analyses)
        .where(analyses.c.tenant_id == tenant_id, analyses.c.id == analysis_id)
        .values(tokens=analyses.c.tokens + tokens)
    )


def forget_failures(tenant_id: str, connection: Connection, analysis_id: str) -> None:
    """The next stage has tries of its own."""
    connection.execute(
        sa.update(analyses).where(analyses.c.tenant_id == tenant_id, analyses.c.id == analysis_id).values(failures=0)
    )


@across_tenants("the sweeper starts what a crash left unstarted")
def list_due(connection: Connection, *, older_than_s: float, limit: int = 1000) -> list[tuple[str, str, int]]:
    """(tenant id, id, run) of orders that are ready and due for so long, the longest waiting first."""
    before = now() - timedelta(seconds=older_than_s)
    query = (
        sa.select(analyses.c.tenant_id, analyses.c.id, analyses.c.run)
        .where(analyses.c.status == "ready", analyses.c.due_at <= before)
        .order_by(analyses.c.due_at)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


@across_tenants("the sweeper looks at others first, the next time")
def put_back(connection: Connection, analysis_ids: Sequence[str]) -> None:
    """Has orders whose job is known wait behind those that the sweeper has not looked at."""
    connection.execute(sa.update(analyses).where(analyses.c.id.in_(analysis_ids)).values(due_at=now()))
