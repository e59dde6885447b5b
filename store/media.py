"""Table and queries of media: files of messages, uploaded for them or found in an import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import id_column, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

_IDS_AT_ONCE = 5000  # databases bound the parameters of a statement

media = sa.Table(
    "media",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    # Null until a message names it. No foreign key: the blob has to be found when the communication is gone.
    id_column("communication_id", nullable=True),
    sa.Column("type", sa.String(8), nullable=False),  # audio, image, video or file
    sa.Column("mime", sa.String(100), nullable=False),
    sa.Column("name", sa.String(300), nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("blob_key", sa.String(300), nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    time_column("created_at", nullable=False),
    sa.Index(None, "tenant_id", "communication_id"),
    sa.Index(None, "communication_id", "created_at"),
)


@dataclass(frozen=True, slots=True)
class Media:
    """A file; `communication_id` is None while no message names it."""

    id: str
    tenant_id: str
    communication_id: str | None
    type: str
    mime: str
    name: str
    size_bytes: int
    blob_key: str
    sha256: str
    created_at: datetime


_COLUMNS = [media.c[name] for name in Media.__dataclass_fields__]


def create(
    tenant_id: str,
    connection: Connection,
    *,
    type: str,
    mime: str,
    name: str,
    size_bytes: int,
    blob_key: str,
    sha256: str,
    media_id: str | None = None,
    communication_id: str | None = None,
) -> Media:
    row = Media(
        media_id or new_id(), tenant_id, communication_id, type, mime, name, size_bytes, blob_key, sha256, now()
    )
    connection.execute(sa.insert(media).values(**asdict(row)))
    return row


def get(tenant_id: str, connection: Connection, media_id: str) -> Media | None:
    row = connection.execute(sa.select(*_COLUMNS).where(media.c.tenant_id == tenant_id, media.c.id == media_id)).first()
    return Media(*row) if row else None


def get_many(tenant_id: str, connection: Connection, media_ids: Sequence[str]) -> dict[str, Media]:
    """By id, however many; those that there are."""
    found: dict[str, Media] = {}
    for start in range(0, len(media_ids), _IDS_AT_ONCE):
        query = sa.select(*_COLUMNS).where(
            media.c.tenant_id == tenant_id, media.c.id.in_(media_ids[start : start + _IDS_AT_ONCE])
        )
        found |= {row[0]: Media(*row) for row in connection.execute(query)}
    return found


def attach(tenant_id: str, connection: Connection, media_ids: Sequence[str], communication_id: str) -> int:
    """Makes free files the communication's; how many there were. One that another communication has stays its."""
    statement = (
        sa.update(media)
        .where(media.c.tenant_id == tenant_id, media.c.id.in_(media_ids), media.c.communication_id.is_(None))
        .values(communication_id=communication_id)
    )
    return connection.execute(statement).rowcount


def list_of(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> list[Media]:
    """The files of communications."""
    query = sa.select(*_COLUMNS).where(media.c.tenant_id == tenant_id, media.c.communication_id.in_(communication_ids))
    return [Media(*row) for row in connection.execute(query)]


def delete_of(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> list[Media]:
    """Deletes the files of communications: what was deleted; the caller clears the blobs."""
    statement = (
        sa.delete(media)
        .where(media.c.tenant_id == tenant_id, media.c.communication_id.in_(communication_ids))
        .returning(*_COLUMNS)
    )
    return [Media(*row) for row in connection.execute(statement)]


def delete_unattached(tenant_id: str, connection: Connection, media_ids: Sequence[str]) -> list[Media]:
    """The same of files that still no message names."""
    statement = (
        sa.delete(media)
        .where(media.c.tenant_id == tenant_id, media.c.id.in_(media_ids), media.c.communication_id.is_(None))
        .returning(*_COLUMNS)
    )
    return [Media(*row) for row in connection.execute(statement)]


@across_tenants("the sweeper removes what was uploaded and never named")
def list_unattached(connection: Connection, *, before: datetime, limit: int = 200) -> list[tuple[str, str]]:
    """(tenant id, id) of files that no message names, uploaded before then."""
    query = (
        sa.select(media.c.tenant_id, media.c.id)
        .where(media.c.communication_id.is_(None), media.c.created_at < before)
        .order_by(media.c.created_at)
        .limit(limit)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]
