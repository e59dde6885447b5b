"""Tables and queries of webhook deliveries: events to be sent, and each attempt to send them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id
from store.rounds import Place, behind
from store.scope import across_tenants

deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    id_column("id", primary_key=True),  # the event's id, the same in every attempt
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("event_key", sa.String(200), nullable=False),  # makes an event that is emitted twice one delivery
    sa.Column("event", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),  # the JSON text as it is signed and sent
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("is_account_url", sa.Boolean, nullable=False),  # the URL came from the account's settings
    id_column("key_id", nullable=True),  # of the request that the event belongs to
    id_column("communication_id", nullable=True),  # that the event is about; it may be gone
    sa.Column("status", sa.String(10), nullable=False),  # pending, delivered or failed
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),  # attempts on the present schedule: sending again begins a new one
    sa.Column("run", sa.Integer, nullable=False),  # counted up with every change of plan: a job of an older run is void
    time_column("next_attempt_at", nullable=True),
    time_column("delivered_at", nullable=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("tenant_id", "event_key"),
    sa.Index(None, "status", "next_attempt_at"),
    sa.Index(None, "tenant_id", "created_at", "id"),
    sa.Index(None, "tenant_id", "communication_id", "created_at"),
    sa.Index(None, "created_at"),
)

attempts = sa.Table(
    "webhook_attempts",
    metadata,
    id_column("delivery_id", sa.ForeignKey("webhook_deliveries.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    id_column("tenant_id", nullable=False),
    time_column("at", nullable=False),
    sa.Column("latency_ms", sa.Integer, nullable=False),
    sa.Column("status_code", sa.Integer, nullable=True),
    sa.Column("error", sa.String(300), nullable=True),
    sa.Column("answer_head", sa.Text, nullable=True),  # the first bytes of the receiver's answer
)

Status = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """`attempts` counts all there were, `tries` those on the present schedule; `next_attempt_at` is None once ended."""

    id: str
    tenant_id: str
    event_key: str
    event: str
    body: str
    url: str
    is_account_url: bool
    key_id: str | None
    communication_id: str | None
    status: Status
    attempts: int
    tries: int
    run: int
    next_attempt_at: datetime | None
    delivered_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """`error` is None for an answer of 2xx; `status_code` and `answer_head` are None where no answer came."""

    at: datetime
    latency_ms: int
    status_code: int | None = None
    error: str | None = None
    answer_head: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of a delivery after an attempt."""

    status: Status
    next_attempt_at: datetime | None = None


def _delivery(row: Row[Any]) -> Delivery:
    return Delivery(**row._mapping)


_ATTEMPT_COLUMNS = [attempts.c[name] for name in Attempt.__dataclass_fields__]


def add(
    tenant_id: str,
    connection: Connection,
    *,
    event_key: str,
    event: str,
    body: str,
    url: str,
    is_account_url: bool,
    key_id: str | None,
    communication_id: str | None = None,
) -> Delivery:
    """The event's delivery; the one that is there where the event was added before."""
    made_at = now()
    values = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "event_key": event_key,
        "event": event,
        "body": body,
        "url": url,
        "is_account_url": is_account_url,
        "key_id": key_id,
        "communication_id": communication_id,
        "status": "pending",
        "attempts": 0,
        "tries": 0,
        "run": 0,
        "next_attempt_at": made_at,
        "delivered_at": None,
        "created_at": made_at,
        "updated_at": made_at,
    }
    insert_ignoring(connection, deliveries, values)
    row = connection.execute(
        sa.select(deliveries).where(deliveries.c.tenant_id == tenant_id, deliveries.c.event_key == event_key)
    ).one()
    return _delivery(row)


def get(tenant_id: str, connection: Connection, delivery_id: str) -> Delivery | None:
    row = connection.execute(
        sa.select(deliveries).where(deliveries.c.tenant_id == tenant_id, deliveries.c.id == delivery_id)
    ).first()
    return _delivery(row) if row else None


def list_page(
    tenant_id: str,
    connection: Connection,
    *,
    status: str | None = None,
    event: str | None = None,
    communication_id: str | None = None,
    limit: int,
    offset: int,
) -> tuple[list[Delivery], int]:
    """A page, newest first, and how many there are in all. Of a communication: the events about it."""
    conditions = [deliveries.c.tenant_id == tenant_id]
    if status is not None:
        conditions.append(deliveries.c.status == status)
    if event is not None:
        conditions.append(deliveries.c.event == event)
    if communication_id is not None:
        conditions.append(deliveries.c.communication_id == communication_id)
    total = connection.execute(sa.select(sa.func.count()).select_from(deliveries).where(*conditions)).scalar_one()
    rows = connection.execute(
        sa.select(deliveries)
        .where(*conditions)
        .order_by(deliveries.c.created_at.desc(), deliveries.c.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [_delivery(row) for row in rows], total


def attempts_of(
    tenant_id: str, connection: Connection, delivery_ids: Sequence[str], *, newest: int
) -> dict[str, list[Attempt]]:
    """The last `newest` attempts of each delivery, oldest first."""
    place = sa.func.row_number().over(partition_by=attempts.c.delivery_id, order_by=attempts.c.number.desc())
    ranked = (
        sa.select(attempts, place.label("place"))
        .where(attempts.c.tenant_id == tenant_id, attempts.c.delivery_id.in_(delivery_ids))
        .subquery()
    )
    rows = connection.execute(
        sa.select(ranked.c.delivery_id, *(ranked.c[column.name] for column in _ATTEMPT_COLUMNS))
        .where(ranked.c.place <= newest)
        .order_by(ranked.c.number)
    )
    found: dict[str, list[Attempt]] = {delivery_id: [] for delivery_id in delivery_ids}
    for delivery_id, *values in rows:
        found[delivery_id].append(Attempt(*values))
    return found


def record_attempt(
    tenant_id: str, connection: Connection, delivery: Delivery, attempt: Attempt, plan: Plan, *, was_sent: bool = True
) -> Delivery | None:
    """Logs an attempt and, where the delivery is still in the run that it was made in, follows the plan. An attempt
    that was not sent is logged only where the plan is followed.

    The delivery as it is then; None where it is gone or was planned anew meanwhile.
    """
    this = (deliveries.c.tenant_id == tenant_id, deliveries.c.id == delivery.id)
    in_run = (deliveries.c.run == delivery.run, deliveries.c.status == "pending")
    number = connection.execute(
        sa.update(deliveries)
        .where(*this, *(() if was_sent else in_run))
        .values(attempts=deliveries.c.attempts + 1, updated_at=now())
        .returning(deliveries.c.attempts)
    ).scalar_one_or_none()
    if number is None:
        return None
    logged = {name: getattr(attempt, name) for name in Attempt.__dataclass_fields__}
    connection.execute(
        sa.insert(attempts).values(delivery_id=delivery.id, number=number, tenant_id=tenant_id, **logged)
    )
    row = connection.execute(
        sa.update(deliveries)
        .where(*this, *in_run)
        .values(
            status=plan.status,
            tries=deliveries.c.tries + 1,
            run=deliveries.c.run + 1,
            next_attempt_at=plan.next_attempt_at,
            delivered_at=attempt.at if plan.status == "delivered" else deliveries.c.delivered_at,
        )
        .returning(*deliveries.c)
    ).first()
    return _delivery(row) if row else None


def put_off(
    tenant_id: str, connection: Connection, delivery_id: str, run: int, *, next_attempt_at: datetime
) -> Delivery | None:
    """Begins the same try anew at a later time. None where it is gone or was planned anew meanwhile."""
    row = connection.execute(
        sa.update(deliveries)
        .where(
            deliveries.c.tenant_id == tenant_id,
            deliveries.c.id == delivery_id,
            deliveries.c.run == run,
            deliveries.c.status == "pending",
        )
        .values(run=deliveries.c.run + 1, next_attempt_at=next_attempt_at, updated_at=now())
        .returning(*deliveries.c)
    ).first()
    return _delivery(row) if row else None


def send_again(tenant_id: str, connection: Connection, delivery_id: str) -> Delivery | None:
    """Begins a new schedule at once, whatever became of the last. None where there is no such delivery."""
    row = connection.execute(
        sa.update(deliveries)
        .where(deliveries.c.tenant_id == tenant_id, deliveries.c.id == delivery_id)
        .values(status="pending", tries=0, run=deliveries.c.run + 1, next_attempt_at=now(), updated_at=now())
        .returning(*deliveries.c)
    ).first()
    return _delivery(row) if row else None


@across_tenants("the sweeper starts what a crash left unstarted")
def list_due(connection: Connection, *, before: datetime, after: Place | None, limit: int) -> list[Delivery]:
    """Pending deliveries whose time came before `before`, by time and id, from behind `after` on."""
    query = sa.select(deliveries).where(deliveries.c.status == "pending", deliveries.c.next_attempt_at < before)
    rows = connection.execute(behind(query, deliveries.c.next_attempt_at, deliveries.c.id, after, limit))
    return [_delivery(row) for row in rows]


@across_tenants("housekeeping")
def purge(connection: Connection, *, before: datetime, limit: int = 1000) -> int:
    """Deletes deliveries that ended and were made before `before`, at most `limit`; how many they were."""
    old = (
        sa.select(deliveries.c.id)
        .where(deliveries.c.created_at < before, deliveries.c.status != "pending")
        .order_by(deliveries.c.created_at)
        .limit(limit)
    )
    return connection.execute(sa.delete(deliveries).where(deliveries.c.id.in_(old))).rowcount
