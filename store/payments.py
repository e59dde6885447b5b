"""Table and queries of payment links."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.scope import across_tenants

payment_links = sa.Table(
    "payment_links",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("amount_micro", sa.BigInteger, nullable=False),
    sa.Column("status", sa.String(10), nullable=False),  # pending, paid, expired, cancelled or failed
    sa.Column("customer_email", sa.String(320), nullable=False),
    sa.Column("purpose", sa.String(300), nullable=False),
    sa.Column("provider", sa.String(16), nullable=False),
    sa.Column("provider_payment_id", sa.String(100), nullable=True),
    sa.Column("payment_url", sa.Text, nullable=True),
    sa.Column("redirect_url", sa.Text, nullable=True),
    sa.Column("fail_redirect_url", sa.Text, nullable=True),
    time_column("expires_at", nullable=False),
    time_column("paid_at", nullable=True),
    # When the provider is asked next for what it did not tell, and how often it was; null: not any more.
    time_column("next_check_at", nullable=True),
    sa.Column("checks", sa.Integer, nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("provider", "provider_payment_id"),
    sa.Index(None, "tenant_id", "created_at"),
    sa.Index(None, "status", "expires_at"),
    sa.Index(None, "next_check_at"),
)


@dataclass(frozen=True, slots=True)
class PaymentLink:
    """`status` is pending, paid, expired, cancelled or failed; `customer_email` is empty where none is known."""

    id: str
    tenant_id: str
    amount_micro: int
    status: str
    customer_email: str
    purpose: str
    provider: str
    provider_payment_id: str | None
    payment_url: str | None
    redirect_url: str | None
    fail_redirect_url: str | None
    expires_at: datetime
    paid_at: datetime | None
    next_check_at: datetime | None
    checks: int
    created_at: datetime
    updated_at: datetime

    @property
    def shown_status(self) -> str:
        """The status, where a pending link that outlived its time is expired already."""
        return "expired" if self.status == "pending" and self.expires_at <= now() else self.status


def create(tenant_id: str, connection: Connection, link: PaymentLink) -> bool:
    """False where a link of this id is there."""
    assert link.tenant_id == tenant_id
    return insert_ignoring(connection, payment_links, asdict(link))


def get(tenant_id: str, connection: Connection, link_id: str) -> PaymentLink | None:
    row = connection.execute(
        sa.select(payment_links).where(payment_links.c.tenant_id == tenant_id, payment_links.c.id == link_id)
    ).first()
    return PaymentLink(**row._mapping) if row else None


@across_tenants("the payer's page and the provider name a link by its id alone")
def find(connection: Connection, link_id: str) -> PaymentLink | None:
    row = connection.execute(sa.select(payment_links).where(payment_links.c.id == link_id)).first()
    return PaymentLink(**row._mapping) if row else None


@across_tenants("the provider names a payment by its own id alone")
def find_by_payment(connection: Connection, provider: str, payment_id: str) -> PaymentLink | None:
    row = connection.execute(
        sa.select(payment_links).where(
            payment_links.c.provider == provider, payment_links.c.provider_payment_id == payment_id
        )
    ).first()
    return PaymentLink(**row._mapping) if row else None


def set_started(
    tenant_id: str,
    connection: Connection,
    link_id: str,
    *,
    payment_id: str | None,
    payment_url: str,
    next_check_at: datetime | None,
) -> None:
    """What the provider said of a payment that it made. Its status may have moved meanwhile and stays."""
    values: dict[str, Any] = {"provider_payment_id": payment_id, "payment_url": payment_url, "updated_at": now()}
    if next_check_at is not None:
        values["next_check_at"] = sa.case((payment_links.c.status == "pending", next_check_at), else_=None)
    connection.execute(
        sa.update(payment_links)
        .where(payment_links.c.tenant_id == tenant_id, payment_links.c.id == link_id)
        .values(**values)
    )


def mark_paid(tenant_id: str, connection: Connection, link_id: str, *, payment_id: str | None) -> bool:
    """True for the one transaction that made it paid, whatever it was before."""
    moment = now()
    changed = connection.execute(
        sa.update(payment_links)
        .where(
            payment_links.c.tenant_id == tenant_id,
            payment_links.c.id == link_id,
            payment_links.c.status != "paid",
        )
        .values(
            status="paid",
            paid_at=moment,
            provider_payment_id=sa.func.coalesce(payment_links.c.provider_payment_id, payment_id),
            next_check_at=None,
            updated_at=moment,
        )
    )
    return changed.rowcount == 1


def mark_ended(tenant_id: str, connection: Connection, link_id: str, *, status: str) -> bool:
    """True where a pending link got this status. One that expired stays so, and is not asked about any more."""
    changed = connection.execute(
        sa.update(payment_links)
        .where(
            payment_links.c.tenant_id == tenant_id,
            payment_links.c.id == link_id,
            payment_links.c.status.in_(("pending", "expired")),
        )
        .values(
            status=sa.case((payment_links.c.status == "pending", status), else_=payment_links.c.status),
            next_check_at=None,
            updated_at=now(),
        )
    )
    return changed.rowcount == 1


@across_tenants("the sweeper ends what outlived its time")
def expire_due(connection: Connection) -> int:
    moment = now()
    changed = connection.execute(
        sa.update(payment_links)
        .where(payment_links.c.status == "pending", payment_links.c.expires_at <= moment)
        .values(status="expired", updated_at=moment)
    )
    return changed.rowcount


@across_tenants("the sweeper asks for what the provider did not tell")
def list_due(connection: Connection, provider: str, *, limit: int) -> list[PaymentLink]:
    """Links whose state is to be asked for now, the longest due first."""
    rows = connection.execute(
        sa.select(payment_links)
        .where(payment_links.c.provider == provider, payment_links.c.next_check_at <= now())
        .order_by(payment_links.c.next_check_at)
        .limit(limit)
    )
    return [PaymentLink(**row._mapping) for row in rows]


def end_checks(tenant_id: str, connection: Connection, link_id: str) -> None:
    """The provider has answered, and is not asked again."""
    connection.execute(
        sa.update(payment_links)
        .where(payment_links.c.tenant_id == tenant_id, payment_links.c.id == link_id)
        .values(next_check_at=None, updated_at=now())
    )


def claim_check(tenant_id: str, connection: Connection, link: PaymentLink, *, next_check_at: datetime | None) -> bool:
    """True for the one process that asks now."""
    changed = connection.execute(
        sa.update(payment_links)
        .where(
            payment_links.c.tenant_id == tenant_id,
            payment_links.c.id == link.id,
            payment_links.c.checks == link.checks,
            payment_links.c.next_check_at.is_not(None),
        )
        .values(checks=link.checks + 1, next_check_at=next_check_at, updated_at=now())
    )
    return changed.rowcount == 1
