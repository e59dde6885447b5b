"""Tables and queries of the people who work in an account's cabinet, and of the links that are mailed to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import Tenant, get_tenant, tenants
from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

ROLES = ("viewer", "operator", "owner")
OWNER = "owner"

operators = sa.Table(
    "operators",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("email", sa.String(320), nullable=False),  # in lower case; one person may work in several accounts
    sa.Column("name", sa.String(200), nullable=True),
    sa.Column("role", sa.String(10), nullable=False),  # viewer, operator or owner
    time_column("created_at", nullable=False),
    time_column("seen_at", nullable=True),  # when a session was opened last; null: invited, has not come yet
    sa.UniqueConstraint("tenant_id", "email"),
    sa.Index(None, "email"),
)

mailed_codes = sa.Table(
    "mailed_codes",
    metadata,
    id_column("id", primary_key=True),
    sa.Column("email", sa.String(320), nullable=False),
    # An invitation opens this one's account alone; a sign-in link any account where the e-mail works.
    id_column("operator_id", sa.ForeignKey("operators.id", ondelete="CASCADE"), nullable=True),
    sa.Column("code_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("leads_to", sa.String(500), nullable=False),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=False),
    time_column("used_at", nullable=True),
    sa.Index(None, "operator_id"),
    sa.Index(None, "expires_at"),
)


@dataclass(frozen=True, slots=True)
class Operator:
    """A person with a role in an account. `seen_at` is null until they have signed in."""

    id: str
    tenant_id: str
    email: str
    name: str | None
    role: str
    created_at: datetime
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class MailedCode:
    """A one-time code as it is stored: without its text. `leads_to` is a path within the cabinet."""

    id: str
    email: str
    operator_id: str | None
    leads_to: str
    expires_at: datetime
    used_at: datetime | None

    @property
    def opens(self) -> bool:
        return self.used_at is None and self.expires_at > now()


OPERATOR_COLUMNS = [operators.c[name] for name in Operator.__dataclass_fields__]
_CODE_COLUMNS = [mailed_codes.c[name] for name in MailedCode.__dataclass_fields__]


def add(tenant_id: str, connection: Connection, *, email: str, name: str | None, role: str) -> Operator | None:
    """The new operator, or None where the e-mail works in the account already."""
    assert role in ROLES
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "email": email,
        "name": name,
        "role": role,
        "created_at": now(),
        "seen_at": None,
    }
    return Operator(**values) if insert_ignoring(connection, operators, values) else None


def get(tenant_id: str, connection: Connection, operator_id: str) -> Operator | None:
    query = sa.select(*OPERATOR_COLUMNS).where(operators.c.tenant_id == tenant_id, operators.c.id == operator_id)
    row = connection.execute(query).first()
    return Operator(**row._mapping) if row else None


def find(tenant_id: str, connection: Connection, email: str) -> Operator | None:
    query = sa.select(*OPERATOR_COLUMNS).where(operators.c.tenant_id == tenant_id, operators.c.email == email)
    row = connection.execute(query).first()
    return Operator(**row._mapping) if row else None


def list_page(tenant_id: str, connection: Connection, *, limit: int, offset: int = 0) -> tuple[list[Operator], int]:
    """(operators oldest first, how many there are in all)."""
    query = sa.select(*OPERATOR_COLUMNS).where(operators.c.tenant_id == tenant_id)
    rows = connection.execute(query.order_by(operators.c.created_at, operators.c.id).limit(limit).offset(offset))
    return [Operator(**row._mapping) for row in rows], count(tenant_id, connection)


def list_owners(tenant_id: str, connection: Connection) -> list[Operator]:
    query = sa.select(*OPERATOR_COLUMNS).where(operators.c.tenant_id == tenant_id, operators.c.role == OWNER)
    rows = connection.execute(query.order_by(operators.c.created_at, operators.c.id))
    return [Operator(**row._mapping) for row in rows]


def count(tenant_id: str, connection: Connection, *, role: str | None = None) -> int:
    query = sa.select(sa.func.count()).select_from(operators).where(operators.c.tenant_id == tenant_id)
    if role is not None:
        query = query.where(operators.c.role == role)
    return connection.execute(query).scalar_one()


def change(tenant_id: str, connection: Connection, operator_id: str, **values: Any) -> None:
    """Sets the given columns."""
    changed = sa.update(operators).where(operators.c.tenant_id == tenant_id, operators.c.id == operator_id)
    connection.execute(changed.values(**values))


def remove(tenant_id: str, connection: Connection, operator_id: str) -> bool:
    """True for the one transaction that removed it. A session of who is no operator any more opens nothing."""
    gone = sa.delete(operators).where(operators.c.tenant_id == tenant_id, operators.c.id == operator_id)
    return connection.execute(gone).rowcount == 1


def follow_email(tenant_id: str, connection: Connection, *, before: str | None, after: str | None) -> None:
    """The account's own e-mail is an owner: takes another address where the account does, and goes where it goes."""
    old = find(tenant_id, connection, before) if before else None
    if old is not None:
        remove(tenant_id, connection, old.id)
    if after is None:
        return
    there = find(tenant_id, connection, after)
    if there is not None:
        change(tenant_id, connection, there.id, role=OWNER)
    else:
        add(tenant_id, connection, email=after, name=old.name if old else None, role=OWNER)


@across_tenants("one person may work in several accounts")
def list_of_email(connection: Connection, email: str) -> list[tuple[Operator, Tenant]]:
    """Where an e-mail works, by the accounts' names."""
    query = sa.select(*OPERATOR_COLUMNS).join(tenants, tenants.c.id == operators.c.tenant_id)
    rows = connection.execute(query.where(operators.c.email == email).order_by(tenants.c.name, tenants.c.id)).all()
    return [(Operator(**row._mapping), _tenant(connection, row.tenant_id)) for row in rows]


@across_tenants("the code names the operator")
def of_code(connection: Connection, operator_id: str) -> tuple[Operator, Tenant] | None:
    row = connection.execute(sa.select(*OPERATOR_COLUMNS).where(operators.c.id == operator_id)).first()
    return (Operator(**row._mapping), _tenant(connection, row.tenant_id)) if row else None


def _tenant(connection: Connection, tenant_id: str) -> Tenant:
    found = get_tenant(tenant_id, connection)
    assert found is not None, "an operator has a tenant"
    return found


@across_tenants("a sign-in link is a person's, before it is known which account they choose")
def add_code(
    connection: Connection,
    *,
    email: str,
    operator_id: str | None,
    code_hash: str,
    leads_to: str,
    expires_at: datetime,
) -> str:
    """The id of the new code."""
    code_id = new_id()
    connection.execute(
        sa.insert(mailed_codes).values(
            id=code_id,
            email=email,
            operator_id=operator_id,
            code_hash=code_hash,
            leads_to=leads_to,
            created_at=now(),
            expires_at=expires_at,
            used_at=None,
        )
    )
    return code_id


@across_tenants("the code is what tells the person")
def find_code(connection: Connection, code_hash: str) -> MailedCode | None:
    row = connection.execute(sa.select(*_CODE_COLUMNS).where(mailed_codes.c.code_hash == code_hash)).first()
    return MailedCode(**row._mapping) if row else None


@across_tenants("the code is what tells the person")
def spend_code(connection: Connection, code_hash: str) -> bool:
    """True for the one transaction that spends a code which is neither used nor expired."""
    moment = now()
    spent = sa.update(mailed_codes).where(
        mailed_codes.c.code_hash == code_hash, mailed_codes.c.used_at.is_(None), mailed_codes.c.expires_at > moment
    )
    return connection.execute(spent.values(used_at=moment)).rowcount == 1


@across_tenants("the sweeper forgets what ended")
def forget_codes(connection: Connection, *, before: datetime) -> None:
    """Deletes codes that expired before `before`."""
    connection.execute(sa.delete(mailed_codes).where(mailed_codes.c.expires_at < before))
