"""Which chats and API keys may see a limited space of the knowledge base. The cabinet sees every space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from store.accounts import LIVE_KEY, ApiKey, Tenant, key_and_tenant, tenants
from store.database import Connection, id_column, metadata, now
from store.kb_spaces import spaces
from store.scope import across_tenants

CHAT = "chat"
KEY = "key"

space_grants = sa.Table(
    "kb_space_grants",
    metadata,
    id_column("space_id", sa.ForeignKey("kb_spaces.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("kind", sa.String(4), primary_key=True),  # chat or key
    id_column("subject_id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Index(None, "tenant_id", "kind", "subject_id"),
)


@dataclass(frozen=True, slots=True)
class Access:
    """Who sees a limited space: these chats for those who write in them, and whoever calls with these keys."""

    chat_ids: tuple[str, ...]
    key_ids: tuple[str, ...]


def limit_space(tenant_id: str, connection: Connection, space_id: str, access: Access | None) -> None:
    """Limits a space to chats and keys; None opens it to all of the account's."""
    connection.execute(
        sa.update(spaces)
        .where(spaces.c.tenant_id == tenant_id, spaces.c.id == space_id)
        .values(is_limited=access is not None, updated_at=now())
    )
    connection.execute(
        sa.delete(space_grants).where(space_grants.c.tenant_id == tenant_id, space_grants.c.space_id == space_id)
    )
    if access is None:
        return
    granted = [(CHAT, each) for each in access.chat_ids] + [(KEY, each) for each in access.key_ids]
    rows = [
        {"tenant_id": tenant_id, "space_id": space_id, "kind": kind, "subject_id": subject_id}
        for kind, subject_id in dict.fromkeys(granted)
    ]
    if rows:
        connection.execute(sa.insert(space_grants), rows)


def forget_chat(tenant_id: str, connection: Connection, chat_id: str) -> None:
    """A chat that ends sees no limited space any more."""
    mine = (space_grants.c.tenant_id == tenant_id, space_grants.c.kind == CHAT, space_grants.c.subject_id == chat_id)
    connection.execute(sa.delete(space_grants).where(*mine))


def access_of(tenant_id: str, connection: Connection, space_ids: Sequence[str]) -> dict[str, Access]:
    """By id of those of the spaces that are limited."""
    limited = connection.execute(
        sa.select(spaces.c.id).where(spaces.c.tenant_id == tenant_id, spaces.c.id.in_(space_ids), spaces.c.is_limited)
    ).scalars()
    found: dict[str, dict[str, list[str]]] = {space_id: {CHAT: [], KEY: []} for space_id in limited}
    rows = connection.execute(
        sa.select(space_grants.c.space_id, space_grants.c.kind, space_grants.c.subject_id)
        .where(space_grants.c.tenant_id == tenant_id, space_grants.c.space_id.in_(list(found)))
        .order_by(space_grants.c.subject_id)
    )
    for space_id, kind, subject_id in rows:
        found[space_id][kind].append(subject_id)
    return {space_id: Access(tuple(each[CHAT]), tuple(each[KEY])) for space_id, each in found.items()}


# Asked at every request: statements made once.
_ANY_LIMITED = (
    sa.select(spaces.c.id).where(spaces.c.tenant_id == sa.bindparam("tenant_id"), spaces.c.is_limited).limit(1)
)
_GRANTED = sa.select(space_grants.c.space_id).where(
    space_grants.c.tenant_id == sa.bindparam("tenant_id"),
    space_grants.c.kind == sa.bindparam("kind"),
    space_grants.c.subject_id == sa.bindparam("subject_id"),
)
_ALLOWED = (
    sa.select(spaces.c.id)
    .where(spaces.c.tenant_id == sa.bindparam("tenant_id"), sa.or_(~spaces.c.is_limited, spaces.c.id.in_(_GRANTED)))
    .order_by(spaces.c.id)
)


_CALLER = LIVE_KEY.add_columns(
    sa.exists(sa.select(spaces.c.id).where(spaces.c.tenant_id == tenants.c.id, spaces.c.is_limited))
)


@across_tenants("the key is what tells the tenant")
def find_caller(connection: Connection, key_hash: str) -> tuple[ApiKey, Tenant, bool] | None:
    """The key that is not revoked, its tenant, and whether any space of that one is limited."""
    row = connection.execute(_CALLER, {"key_hash": key_hash}).first()
    return None if row is None else (*key_and_tenant(row), bool(row[-1]))


def allowed_spaces(
    tenant_id: str, connection: Connection, *, chat_id: str | None = None, key_id: str | None = None
) -> tuple[str, ...] | None:
    """The spaces that a chat, or who calls with a key, may see; None: all, as no space of the account is limited.

    Exactly one of `chat_id` and `key_id` is given.
    """
    if (chat_id is None) == (key_id is None):
        raise ValueError("give one of chat_id and key_id")
    if connection.execute(_ANY_LIMITED, {"tenant_id": tenant_id}).first() is None:
        return None
    kind, subject_id = (CHAT, chat_id) if chat_id is not None else (KEY, key_id)
    rows = connection.execute(_ALLOWED, {"tenant_id": tenant_id, "kind": kind, "subject_id": subject_id})
    return tuple(row[0] for row in rows)


def within(allowed: tuple[str, ...] | None, asked: Sequence[str] | None) -> tuple[str, ...] | None:
    """What was asked for, as far as it is allowed; None means every space, on either side."""
    if asked is None:
        return allowed
    if allowed is None:
        return tuple(asked)
    permitted = frozenset(allowed)
    return tuple(space_id for space_id in asked if space_id in permitted)
