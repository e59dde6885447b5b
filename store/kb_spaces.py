"""Table and queries of the knowledge base's spaces."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.knowledge import documents
from store.scope import across_tenants

spaces = sa.Table(
    "kb_spaces",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    # Only the chats and keys of `space_grants` see it then; the cabinet sees every space.
    sa.Column("is_limited", sa.Boolean, nullable=False, server_default=sa.false()),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id", "created_at"),
)


@dataclass(frozen=True, slots=True)
class Space:
    id: str
    tenant_id: str
    name: str
    description: str
    is_limited: bool
    created_at: datetime
    updated_at: datetime
    document_count: int


def _spaces_query(tenant_id: str | sa.BindParameter[Any]) -> sa.Select[Any]:
    counted = (
        sa.select(sa.func.count())
        .where(documents.c.space_id == spaces.c.id)
        .correlate(spaces)
        .scalar_subquery()
        .label("document_count")
    )
    return sa.select(spaces, counted).where(spaces.c.tenant_id == tenant_id)


def create_space(tenant_id: str, connection: Connection, *, name: str, description: str) -> Space:
    made_at = now()
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "name": name,
        "description": description,
        "is_limited": False,
        "created_at": made_at,
        "updated_at": made_at,
    }
    connection.execute(sa.insert(spaces).values(**values))
    return Space(**values, document_count=0)


def get_space(tenant_id: str, connection: Connection, space_id: str) -> Space | None:
    row = connection.execute(_spaces_query(tenant_id).where(spaces.c.id == space_id)).first()
    return Space(**row._mapping) if row else None


def hold_space(tenant_id: str, connection: Connection, space_id: str) -> bool:
    """Whether the space is there; it stays until the transaction ends."""
    query = sa.select(spaces.c.id).where(spaces.c.tenant_id == tenant_id, spaces.c.id == space_id)
    return connection.execute(query.with_for_update(read=True)).first() is not None


def find_space(tenant_id: str, connection: Connection, *, name: str) -> Space | None:
    """The oldest space of that name."""
    row = connection.execute(
        _spaces_query(tenant_id).where(spaces.c.name == name).order_by(spaces.c.created_at).limit(1)
    ).first()
    return Space(**row._mapping) if row else None


_COUNT = sa.select(sa.func.count()).select_from(spaces).where(spaces.c.tenant_id == sa.bindparam("tenant_id"))
_PAGE = _spaces_query(sa.bindparam("tenant_id")).order_by(spaces.c.created_at, spaces.c.id)
_PAGE = _PAGE.limit(sa.bindparam("limit", type_=sa.Integer)).offset(sa.bindparam("offset", type_=sa.Integer))


def list_spaces(
    tenant_id: str, connection: Connection, *, limit: int, offset: int = 0, among: Collection[str] | None = None
) -> tuple[list[Space], int]:
    """A page in the order of creation, and the number of all; `among` bounds both to these spaces."""
    rows = page_of_spaces(tenant_id, connection, limit=limit, offset=offset, among=among)
    total = _COUNT if among is None else _COUNT.where(spaces.c.id.in_(among))
    return rows, connection.execute(total, {"tenant_id": tenant_id}).scalar_one()


def page_of_spaces(
    tenant_id: str, connection: Connection, *, limit: int, offset: int = 0, among: Collection[str] | None = None
) -> list[Space]:
    """As `list_spaces`, without the number of all."""
    query = _PAGE if among is None else _PAGE.where(spaces.c.id.in_(among))
    rows = connection.execute(query, {"tenant_id": tenant_id, "limit": limit, "offset": offset})
    return [Space(*row) for row in rows]


def update_space(tenant_id: str, connection: Connection, space_id: str, **values: Any) -> None:
    """Sets the given columns: name or description."""
    connection.execute(
        sa.update(spaces)
        .where(spaces.c.tenant_id == tenant_id, spaces.c.id == space_id)
        .values(**values, updated_at=now())
    )


def delete_empty_space(tenant_id: str, connection: Connection, space_id: str) -> bool:
    """False where documents are in it, which have more to be cleared than rows. True also where it is gone."""
    held = sa.select(spaces.c.id).where(spaces.c.tenant_id == tenant_id, spaces.c.id == space_id).with_for_update()
    if connection.execute(held).first() is None:
        return True
    inside = sa.select(documents.c.id).where(documents.c.tenant_id == tenant_id, documents.c.space_id == space_id)
    if connection.execute(inside.limit(1)).first() is not None:
        return False
    connection.execute(sa.delete(spaces).where(spaces.c.tenant_id == tenant_id, spaces.c.id == space_id))
    return True


@across_tenants("the command line names a space by its id alone")
def tenant_of(connection: Connection, space_id: str) -> str | None:
    found: str | None = connection.execute(sa.select(spaces.c.tenant_id).where(spaces.c.id == space_id)).scalar()
    return found
