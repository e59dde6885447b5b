"""Tables and queries of one-time codes that open the cabinet, and of the cabinet's sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.operators import OPERATOR_COLUMNS, OWNER, Operator, operators
from store.scope import across_tenants

# What ended is kept this long, so that a page can still say what became of it.
KEPT_AFTER_END = timedelta(days=1)

session_codes = sa.Table(
    "session_codes",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("code_hash", sa.String(64), nullable=False, unique=True),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=False),
    time_column("used_at", nullable=True),
    sa.Index(None, "tenant_id"),
    sa.Index(None, "expires_at"),
)

cabinet_sessions = sa.Table(
    "cabinet_sessions",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    # Who signed in by their e-mail; null: opened by a session link of the API, as an owner.
    id_column("operator_id", nullable=True),
    # Came by an invitation: whoever has that link may be in this account alone, whatever else the e-mail opens.
    sa.Column("is_bound", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    time_column("created_at", nullable=False),
    time_column("expires_at", nullable=False),
    time_column("ended_at", nullable=True),
    sa.Index(None, "tenant_id"),
    sa.Index(None, "operator_id"),
    sa.Index(None, "expires_at"),
)

# Labelled, since both tables have an id, and a tenant's.
_WHO = [column.label(f"operator_{column.name}_") for column in OPERATOR_COLUMNS]


@dataclass(frozen=True, slots=True)
class Code:
    """A one-time code as it is stored: without its text."""

    id: str
    tenant_id: str
    expires_at: datetime
    used_at: datetime | None

    @property
    def opens(self) -> bool:
        return self.used_at is None and self.expires_at > now()


@dataclass(frozen=True, slots=True)
class Session:
    """A browser's session of the cabinet. `operator` is who signed in; None where a session link of the API let in
    whoever held it, as an owner. `is_bound`: it changes over to no other account of the same person."""

    id: str
    tenant_id: str
    expires_at: datetime
    operator: Operator | None = None
    is_bound: bool = False

    @property
    def role(self) -> str:
        return self.operator.role if self.operator is not None else OWNER

    @property
    def actor(self) -> str:
        """As the audit log names it: "cabinet anna@shop.example", "cabinet"."""
        return f"cabinet {self.operator.email}" if self.operator is not None else "cabinet"


def add_code(tenant_id: str, connection: Connection, *, code_hash: str, expires_at: datetime) -> str:
    """The id of the new code."""
    code_id = new_id()
    connection.execute(
        sa.insert(session_codes).values(
            id=code_id,
            tenant_id=tenant_id,
            code_hash=code_hash,
            created_at=now(),
            expires_at=expires_at,
            used_at=None,
        )
    )
    return code_id


@across_tenants("the code is what tells the tenant")
def find_code(connection: Connection, code_hash: str) -> Code | None:
    columns = [session_codes.c[name] for name in Code.__dataclass_fields__]
    row = connection.execute(sa.select(*columns).where(session_codes.c.code_hash == code_hash)).first()
    return Code(**row._mapping) if row else None


@across_tenants("the code is what tells the tenant")
def spend_code(connection: Connection, code_hash: str) -> tuple[str, str] | None:
    """(tenant id, code id) for the one transaction that spends a code which is neither used nor expired."""
    moment = now()
    row = connection.execute(
        sa.update(session_codes)
        .where(
            session_codes.c.code_hash == code_hash,
            session_codes.c.used_at.is_(None),
            session_codes.c.expires_at > moment,
        )
        .values(used_at=moment)
        .returning(session_codes.c.tenant_id, session_codes.c.id)
    ).first()
    return (row[0], row[1]) if row else None


def add_session(
    tenant_id: str,
    connection: Connection,
    *,
    token_hash: str,
    expires_at: datetime,
    operator: Operator | None = None,
    is_bound: bool = False,
) -> Session:
    session = Session(new_id(), tenant_id, expires_at, operator, is_bound)
    connection.execute(
        sa.insert(cabinet_sessions).values(
            id=session.id,
            tenant_id=tenant_id,
            operator_id=operator.id if operator is not None else None,
            is_bound=is_bound,
            token_hash=token_hash,
            created_at=now(),
            expires_at=expires_at,
            ended_at=None,
        )
    )
    return session


@across_tenants("the cookie is what tells the tenant")
def find_session(connection: Connection, token_hash: str) -> Session | None:
    """The session that has neither ended nor expired, and whose operator is still one."""
    table = cabinet_sessions.c
    row = connection.execute(
        sa.select(table.id, table.tenant_id, table.expires_at, table.operator_id, table.is_bound, *_WHO)
        .select_from(cabinet_sessions.outerjoin(operators, operators.c.id == table.operator_id))
        .where(
            table.token_hash == token_hash,
            table.ended_at.is_(None),
            table.expires_at > now(),
            sa.or_(table.operator_id.is_(None), operators.c.id.is_not(None)),
        )
    ).first()
    if row is None:
        return None
    who = Operator(*row[5:]) if row[3] is not None else None
    return Session(row[0], row[1], row[2], who, row.is_bound)


def end_session(tenant_id: str, connection: Connection, session_id: str) -> bool:
    """True for the one transaction that ended it."""
    changed = connection.execute(
        sa.update(cabinet_sessions)
        .where(
            cabinet_sessions.c.tenant_id == tenant_id,
            cabinet_sessions.c.id == session_id,
            cabinet_sessions.c.ended_at.is_(None),
        )
        .values(ended_at=now())
    )
    return changed.rowcount == 1


def end_sessions_of(tenant_id: str, connection: Connection, operator_id: str) -> int:
    """Ends every session of an operator; how many they were."""
    ended = sa.update(cabinet_sessions).where(
        cabinet_sessions.c.tenant_id == tenant_id,
        cabinet_sessions.c.operator_id == operator_id,
        cabinet_sessions.c.ended_at.is_(None),
    )
    return connection.execute(ended.values(ended_at=now())).rowcount


@across_tenants("the sweeper forgets what ended")
def forget_ended(connection: Connection) -> None:
    """Deletes codes and sessions that expired, or ended, a while ago."""
    before = now() - KEPT_AFTER_END
    connection.execute(sa.delete(session_codes).where(session_codes.c.expires_at < before))
    connection.execute(
        sa.delete(cabinet_sessions).where(
            sa.or_(cabinet_sessions.c.expires_at < before, cabinet_sessions.c.ended_at < before)
        )
    )
