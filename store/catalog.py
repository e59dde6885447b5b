"""What MCP lists and completes over several aggregates: documents, people and cameras by age, sizes of texts, ids.

Pages are newest first, by the time a row was made, then id: so a page stays where it is while rows are changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.camera_streams import camera_streams
from store.communications import communications, content_items
from store.knowledge import chunks, documents
from store.speakers import Speaker, speakers

Kind = Literal["communications", "documents", "people", "cameras"]


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that has been read: its current version can be found."""

    id: str
    title: str
    file_name: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NamedCamera:
    id: str
    name: str
    scenarios: list[str]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended."""

    at: datetime
    id: str


_DOCUMENT = [documents.c[name] for name in ReadDocument.__dataclass_fields__]
_SPEAKER = [speakers.c[name] for name in Speaker.__dataclass_fields__]
_CAMERA = [camera_streams.c[name] for name in ("id", "name", "scenarios", "created_at", "updated_at")]
_TABLES: dict[Kind, sa.Table] = {
    "communications": communications,
    "documents": documents,
    "people": speakers,
    "cameras": camera_streams,
}


def list_documents(
    tenant_id: str, connection: Connection, *, limit: int, before: Place | None, space_ids: Collection[str] | None
) -> list[ReadDocument]:
    """`space_ids` bounds it to these spaces; None: all of the account."""
    query = sa.select(*_DOCUMENT).where(documents.c.tenant_id == tenant_id, *_can_be_found(space_ids))
    return [ReadDocument(*row) for row in connection.execute(_page(query, documents, limit, before))]


def list_people(tenant_id: str, connection: Connection, *, limit: int, before: Place | None) -> list[Speaker]:
    query = sa.select(*_SPEAKER).where(speakers.c.tenant_id == tenant_id)
    return [Speaker(*row) for row in connection.execute(_page(query, speakers, limit, before))]


def list_cameras(tenant_id: str, connection: Connection, *, limit: int, before: Place | None) -> list[NamedCamera]:
    query = sa.select(*_CAMERA).where(camera_streams.c.tenant_id == tenant_id, camera_streams.c.deleted_at.is_(None))
    return [NamedCamera(*row) for row in connection.execute(_page(query, camera_streams, limit, before))]


def _page(query: sa.Select[Any], table: sa.Table, limit: int, before: Place | None) -> sa.Select[Any]:
    if before is not None:
        # Typed by hand, as in store/communications.py.
        place = sa.literal(before.at, table.c.created_at.type), sa.literal(before.id, table.c.id.type)
        query = query.where(sa.tuple_(table.c.created_at, table.c.id) < sa.tuple_(*place))
    return query.order_by(table.c.created_at.desc(), table.c.id.desc()).limit(limit)


def _can_be_found(space_ids: Collection[str] | None) -> list[sa.ColumnElement[bool]]:
    among = [] if space_ids is None else [documents.c.space_id.in_(space_ids)]
    return [documents.c.version > 0, *among]


def communication_sizes(tenant_id: str, connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """The bytes of each timeline's text in UTF-8, by id; those that have none are left out."""
    query = (
        sa.select(content_items.c.communication_id, sa.func.sum(_octets(connection, content_items.c.text)))
        .where(content_items.c.tenant_id == tenant_id, content_items.c.communication_id.in_(ids))
        .group_by(content_items.c.communication_id)
    )
    return {row[0]: int(row[1]) for row in connection.execute(query)}


def document_sizes(tenant_id: str, connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """The bytes of each document's passages in UTF-8, by id, of its current version."""
    query = (
        sa.select(chunks.c.document_id, sa.func.sum(_octets(connection, chunks.c.text)))
        .join(documents, sa.and_(documents.c.id == chunks.c.document_id, documents.c.version == chunks.c.run))
        .where(documents.c.tenant_id == tenant_id, chunks.c.tenant_id == tenant_id, documents.c.id.in_(ids))
        .group_by(chunks.c.document_id)
    )
    return {row[0]: int(row[1]) for row in connection.execute(query)}


def _octets(connection: Connection, text: sa.Column[str]) -> sa.ColumnElement[int]:
    # SQLite has octet_length only since 3.43; a cast to bytes would have PostgreSQL read backslashes.
    if connection.dialect.name == "postgresql":
        return sa.func.octet_length(text)
    return sa.func.length(sa.cast(text, sa.LargeBinary))


def ids_beginning_with(
    tenant_id: str,
    connection: Connection,
    kind: Kind,
    beginning: str,
    *,
    limit: int,
    space_ids: Collection[str] | None = None,
) -> list[str]:
    """Ids of the kind, newest first. `beginning` is of hexadecimal digits, as they stand in an id, hyphens or not."""
    digits = beginning.replace("-", "").lower()
    if len(digits) > 32 or not set(digits) <= set("0123456789abcdef"):
        return []
    table = _TABLES[kind]
    lowest, highest = (sa.literal(_as_uuid(digits.ljust(32, fill)), table.c.id.type) for fill in "0f")
    query = sa.select(table.c.id).where(table.c.tenant_id == tenant_id, table.c.id.between(lowest, highest))
    if kind == "documents":
        query = query.where(*_can_be_found(space_ids))
    if kind == "cameras":
        query = query.where(camera_streams.c.deleted_at.is_(None))
    # Ids begin with the time.
    return list(connection.execute(query.order_by(table.c.id.desc()).limit(limit)).scalars())


def _as_uuid(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
