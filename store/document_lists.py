"""Lists of a space's documents, and what is shown of documents beside their passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.knowledge import Document, chunks, documents


@dataclass(frozen=True, slots=True)
class Listed:
    """`last_page` is that of its last passage; None where it has no pages."""

    document: Document
    last_page: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of documents ended."""

    created_at: datetime
    id: str


def list_page(
    tenant_id: str, connection: Connection, space_id: str, *, limit: int, before: Place | None = None
) -> list[Listed]:
    """Newest first, by when they were added."""
    table = documents.c
    last_page = (
        sa.select(chunks.c.page)
        .where(chunks.c.document_id == table.id, chunks.c.run == table.version, chunks.c.tenant_id == tenant_id)
        .order_by(chunks.c.idx.desc())
        .limit(1)
        .correlate(documents)
        .scalar_subquery()
    )
    columns = [table[name] for name in Document.__dataclass_fields__]
    query = sa.select(*columns, last_page).where(table.tenant_id == tenant_id, table.space_id == space_id)
    if before is not None:
        # Typed by hand, as in store/communications.py.
        place = sa.literal(before.created_at, table.created_at.type), sa.literal(before.id, table.id.type)
        query = query.where(sa.tuple_(table.created_at, table.id) < sa.tuple_(*place))
    query = query.order_by(table.created_at.desc(), table.id.desc()).limit(limit)
    return [Listed(Document(*row[:-1]), row[-1]) for row in connection.execute(query)]


def updated_at_of(tenant_id: str, connection: Connection, document_ids: Sequence[str]) -> dict[str, datetime]:
    query = sa.select(documents.c.id, documents.c.updated_at).where(
        documents.c.tenant_id == tenant_id, documents.c.id.in_(document_ids)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def addresses_of(tenant_id: str, connection: Connection, document_ids: Sequence[str]) -> dict[str, str]:
    """Where documents are loaded from, by their ids; uploads have no address."""
    query = sa.select(documents.c.id, documents.c.url).where(
        documents.c.tenant_id == tenant_id, documents.c.id.in_(document_ids), documents.c.url.is_not(None)
    )
    return {row[0]: row[1] for row in connection.execute(query)}
