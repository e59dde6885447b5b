"""Table and queries of the audit log: what was done in an account, by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

Action = Literal[
    "account.deletion_warned",
    "account.export_deleted",
    "account.export_fetched",
    "account.exported",
    "audio.deleted",
    "balance.added",
    "chat.changed",
    "chat.created",
    "chat.deleted",
    "chat.key_rotated",
    "client.created",
    "client.deactivated",
    "client.reactivated",
    "client.updated",
    "commitment.done",
    "commitment.undone",
    "communication.analysed",
    "communication.cancelled",
    "communication.corrected",
    "communication.deleted",
    "communication.exported",
    "communication.imported",
    "communication.uploaded",
    "communications.deleted",
    "conversation.answered",
    "conversation.released",
    "conversation.taken_over",
    "delivery.resent",
    "document.added",
    "document.deleted",
    "document.reindexed",
    "evaluation.begun",
    "key.created",
    "key.revoked",
    "key.rotated",
    "operator.changed",
    "operator.invited",
    "operator.invited_again",
    "operator.removed",
    "payment.received",
    "payment_link.created",
    "qc_scenarios.changed",
    "question.changed",
    "question.created",
    "question.deleted",
    "session.ended",
    "session.opened",
    "session_link.created",
    "settings.changed",
    "space.changed",
    "space.created",
    "space.deleted",
    "speaker.changed",
    "speaker.deleted",
    "speaker.merged",
    "speaker.voice_deleted",
    "stream.changed",
    "stream.created",
    "stream.deleted",
    "tariff.changed",
    "view.deleted",
    "view.saved",
]
"""Each has its words in ui/cabinet/pages/settings/audit-texts.ts."""
ACTIONS: tuple[Action, ...] = get_args(Action)

OF_PEOPLE_ALONE: frozenset[Action] = frozenset(
    {
        "communication.analysed",
        "communication.cancelled",
        "communication.exported",
        "communication.imported",
        "communication.uploaded",
        "conversation.answered",
        "document.added",
    }
)
"""What programs do by the thousand, which would bury the rest: of them it is not noted."""

audit_entries = sa.Table(
    "audit_entries",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    time_column("at", nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),  # "key sk_live_AbCdEf", "integration NAME", "operator", …
    sa.Column("action", sa.String(64), nullable=False),
    sa.Column("subject", sa.String(200), nullable=True),
    sa.Column("details", sa.JSON, nullable=False),
    sa.Index(None, "tenant_id", "at", "id"),
    sa.Index(None, "at"),
)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """`subject` is what it was done to: an id, or null for the account itself."""

    id: str
    at: datetime
    actor: str
    action: str
    subject: str | None
    details: dict[str, Any]


def add(
    tenant_id: str,
    connection: Connection,
    *,
    actor: str,
    action: Action,
    subject: str | None = None,
    details: dict[str, Any] | None = None,
) -> None:
    """Notes what was done, in the transaction that does it. `details` hold no secrets, and nothing of what a
    communication or a document holds: the log outlives both."""
    values = {"id": new_id(), "tenant_id": tenant_id, "at": now(), "actor": actor[:200], "action": action}
    connection.execute(sa.insert(audit_entries).values(**values, subject=subject, details=details or {}))


def list_page(
    tenant_id: str,
    connection: Connection,
    *,
    actor: str | None = None,
    actions: Sequence[str] = (),
    since: datetime | None = None,
    before: datetime | None = None,
    limit: int,
    offset: int = 0,
) -> tuple[list[AuditEntry], int]:
    """(entries newest first, how many there are in all). `actor` is part of a name, in any case; each of
    `actions` an action or what it begins with before a point, such as "key"; `since` <= at < `before`."""
    table = audit_entries.c
    conditions: list[Any] = [table.tenant_id == tenant_id]
    if actor is not None:
        conditions.append(table.actor.icontains(actor, autoescape=True))
    if actions:
        kinds = (table.action.startswith(f"{action}.", autoescape=True) for action in actions)
        conditions.append(sa.or_(table.action.in_(actions), *kinds))
    if since is not None:
        conditions.append(table.at >= since)
    if before is not None:
        conditions.append(table.at < before)
    columns = [table[name] for name in AuditEntry.__dataclass_fields__]
    query = sa.select(*columns).where(*conditions).order_by(table.at.desc(), table.id.desc())
    rows = connection.execute(query.limit(limit).offset(offset))
    total = sa.select(sa.func.count()).select_from(audit_entries).where(*conditions)
    return [AuditEntry(**row._mapping) for row in rows], connection.execute(total).scalar_one()


@across_tenants("housekeeping")
def purge(connection: Connection, *, before: datetime, limit: int = 1000) -> int:
    """Deletes entries from before `before`, the oldest first, at most `limit`; how many they were."""
    table = audit_entries.c
    old = sa.select(table.id).where(table.at < before).order_by(table.at).limit(limit)
    return connection.execute(sa.delete(audit_entries).where(table.id.in_(old))).rowcount
