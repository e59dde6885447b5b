"""Tables and queries of communications: the conversation itself and its timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.changes import communication_changed
from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

communications = sa.Table(
    "communications",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("kind", sa.String(8), nullable=False),
    sa.Column("channel_type", sa.String(16), nullable=False),
    sa.Column("request_record_id", sa.String(64), nullable=True),
    sa.Column("direction", sa.String(3), nullable=True),
    sa.Column("language", sa.String(8), nullable=True),
    sa.Column("duration_ms", sa.BigInteger, nullable=True),
    sa.Column("title", sa.String(300), nullable=False),
    sa.Column("is_closed", sa.Boolean, nullable=False),
    # Of what came in as text: the same thing imported twice is one communication.
    sa.Column("import_key", sa.String(64), nullable=True),
    time_column("occured_at", nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id", "occured_at", "id"),
    sa.Index(None, "tenant_id", "request_record_id"),
    # An index, not a constraint: SQLite would write the whole table anew for one.
    sa.Index("uq_communications_import_key", "tenant_id", "import_key", unique=True),
)

content_items = sa.Table(
    "content_items",
    metadata,
    id_column("communication_id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("idx", sa.Integer, primary_key=True),
    id_column("tenant_id", nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    time_column("at", nullable=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("label", sa.String(64), nullable=True),
    sa.Column("start_ms", sa.BigInteger, nullable=True),
    sa.Column("end_ms", sa.BigInteger, nullable=True),
    sa.Column("media", sa.JSON, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Communication:
    id: str
    tenant_id: str
    kind: str
    channel_type: str
    request_record_id: str | None
    direction: str | None
    language: str | None
    duration_ms: int | None
    title: str
    is_closed: bool
    import_key: str | None
    occured_at: datetime
    created_at: datetime
    updated_at: datetime

    def status(self, *, chat_quiet_s: float) -> str:
        """active or closed; a chat closes by itself when nobody has written for `chat_quiet_s`."""
        quiet = self.kind == "chat" and now() - self.updated_at > timedelta(seconds=chat_quiet_s)
        return "closed" if self.is_closed or quiet else "active"


@dataclass(frozen=True, slots=True)
class ContentItem:
    """One turn of the timeline. Times are milliseconds from the recording's start; `at` is absolute."""

    kind: str
    text: str
    label: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    at: datetime | None = None
    media: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended: lists are newest first by `occured_at`, then id."""

    occured_at: datetime
    id: str


def _communication(row: Row[Any]) -> Communication:
    return Communication(**row._mapping)


def create(
    tenant_id: str,
    connection: Connection,
    *,
    kind: str,
    channel_type: str,
    occured_at: datetime,
    title: str,
    request_record_id: str | None = None,
    direction: str | None = None,
    is_closed: bool = False,
    language: str | None = None,
    duration_ms: int | None = None,
    communication_id: str | None = None,
    import_key: str | None = None,
) -> Communication:
    """The new communication, or the one that is there with the given id, or with the given import key."""
    made_at = now()
    row = Communication(
        id=communication_id or new_id(),
        tenant_id=tenant_id,
        kind=kind,
        channel_type=channel_type,
        request_record_id=request_record_id,
        direction=direction,
        language=language,
        duration_ms=duration_ms,
        title=title,
        is_closed=is_closed,
        import_key=import_key,
        occured_at=occured_at,
        created_at=made_at,
        updated_at=made_at,
    )
    if not insert_ignoring(connection, communications, asdict(row)):
        there = get(tenant_id, connection, row.id)
        if there is None and import_key is not None:
            there = find_import(tenant_id, connection, import_key)
        assert there is not None, "an id belongs to one tenant"
        return there
    communication_changed(tenant_id, connection, row.id)
    return row


def get(tenant_id: str, connection: Connection, communication_id: str) -> Communication | None:
    row = connection.execute(
        sa.select(communications).where(
            communications.c.tenant_id == tenant_id, communications.c.id == communication_id
        )
    ).first()
    return _communication(row) if row else None


def get_many(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> dict[str, Communication]:
    rows = connection.execute(
        sa.select(communications).where(
            communications.c.tenant_id == tenant_id, communications.c.id.in_(communication_ids)
        )
    )
    return {row.id: _communication(row) for row in rows}


def find_newest(
    tenant_id: str, connection: Connection, *, communication_id: str | None, request_record_id: str | None
) -> Communication | None:
    """The newest communication that matches every alternative given."""
    assert communication_id or request_record_id
    query = sa.select(communications).where(communications.c.tenant_id == tenant_id)
    if communication_id:
        query = query.where(communications.c.id == communication_id)
    if request_record_id:
        query = query.where(communications.c.request_record_id == request_record_id)
    query = query.order_by(communications.c.created_at.desc(), communications.c.id.desc()).limit(1)
    row = connection.execute(query).first()
    return _communication(row) if row else None


def find_import(tenant_id: str, connection: Connection, import_key: str) -> Communication | None:
    row = connection.execute(
        sa.select(communications).where(
            communications.c.tenant_id == tenant_id, communications.c.import_key == import_key
        )
    ).first()
    return _communication(row) if row else None


def list_page(
    tenant_id: str,
    connection: Connection,
    *,
    limit: int,
    before: Cursor | None = None,
    kind: str | None = None,
    channel_type: str | None = None,
    direction: str | None = None,
    occured_from: datetime | None = None,
    occured_to: datetime | None = None,
) -> list[Communication]:
    """Newest first. `occured_from` is inclusive, `occured_to` exclusive."""
    table = communications.c
    query = sa.select(communications).where(table.tenant_id == tenant_id)
    for column, value in ((table.kind, kind), (table.channel_type, channel_type), (table.direction, direction)):
        if value is not None:
            query = query.where(column == value)
    if occured_from is not None:
        query = query.where(table.occured_at >= occured_from)
    if occured_to is not None:
        query = query.where(table.occured_at < occured_to)
    if before is not None:
        # Typed by hand: inside a tuple SQLAlchemy would bind the values in another form than the columns store.
        position = sa.literal(before.occured_at, table.occured_at.type), sa.literal(before.id, table.id.type)
        query = query.where(sa.tuple_(table.occured_at, table.id) < sa.tuple_(*position))
    query = query.order_by(table.occured_at.desc(), table.id.desc()).limit(limit)
    return [_communication(row) for row in connection.execute(query)]


def count(tenant_id: str, connection: Connection) -> int:
    query = sa.select(sa.func.count()).select_from(communications).where(communications.c.tenant_id == tenant_id)
    return connection.execute(query).scalar_one()


def update(tenant_id: str, connection: Connection, communication_id: str, **values: Any) -> None:
    """Sets the given columns: language, duration_ms, title, is_closed, import_key or occured_at."""
    connection.execute(
        sa.update(communications)
        .where(communications.c.tenant_id == tenant_id, communications.c.id == communication_id)
        .values(**values, updated_at=now())
    )
    communication_changed(tenant_id, connection, communication_id)


def lock(tenant_id: str, connection: Connection, communication_id: str) -> bool:
    """No other transaction that locks it goes on before this one ends. On SQLite writers are one at a time anyway.
    False where it is gone."""
    statement = (
        sa.select(communications.c.id)
        .where(communications.c.tenant_id == tenant_id, communications.c.id == communication_id)
        .with_for_update(key_share=True)
    )
    return connection.execute(statement).first() is not None


def replace_content(
    tenant_id: str, connection: Connection, communication_id: str, items: Sequence[ContentItem]
) -> None:
    """Puts the whole timeline in place of what was there: a job's step may run twice."""
    connection.execute(
        sa.delete(content_items).where(
            content_items.c.tenant_id == tenant_id, content_items.c.communication_id == communication_id
        )
    )
    if items:
        rows = [
            {"tenant_id": tenant_id, "communication_id": communication_id, "idx": idx, **asdict(item)}
            for idx, item in enumerate(items)
        ]
        connection.execute(sa.insert(content_items), rows)
    communication_changed(tenant_id, connection, communication_id)


def append_content(tenant_id: str, connection: Connection, communication_id: str, items: Sequence[ContentItem]) -> None:
    """Adds turns at the end. The communication's row is locked first, so that two writers
    do not take the same index."""
    lock(tenant_id, connection, communication_id)
    last = connection.execute(
        sa.select(sa.func.max(content_items.c.idx)).where(
            content_items.c.tenant_id == tenant_id, content_items.c.communication_id == communication_id
        )
    ).scalar_one()
    first = 0 if last is None else last + 1
    rows = [
        {"tenant_id": tenant_id, "communication_id": communication_id, "idx": first + offset, **asdict(item)}
        for offset, item in enumerate(items)
    ]
    connection.execute(sa.insert(content_items), rows)
    communication_changed(tenant_id, connection, communication_id)


CONTENT = (
    sa.select(content_items.c.idx, *(content_items.c[name] for name in ContentItem.__dataclass_fields__))
    .where(
        content_items.c.tenant_id == sa.bindparam("tenant_id"),
        content_items.c.communication_id == sa.bindparam("communication_id"),
    )
    .order_by(content_items.c.idx)
)


def list_content(
    tenant_id: str, connection: Connection, communication_id: str, *, first_idx: int = 0, limit: int | None = None
) -> list[tuple[int, ContentItem]]:
    """(idx, item) in order. Items with neither text nor media are left out."""
    statement = CONTENT
    if first_idx:
        statement = statement.where(content_items.c.idx >= first_idx)
    if limit is not None:
        statement = statement.limit(limit)
    given = {"tenant_id": tenant_id, "communication_id": communication_id}
    items = ((row[0], ContentItem(*row[1:])) for row in connection.execute(statement, given))
    return [(idx, item) for idx, item in items if item.text or item.media]


@across_tenants("the index of all tenants is made anew")
def page_of_all(connection: Connection, *, after: str | None, limit: int) -> list[tuple[str, str]]:
    """(tenant id, id) in the order of ids, behind the id `after`."""
    query = sa.select(communications.c.tenant_id, communications.c.id).order_by(communications.c.id).limit(limit)
    if after is not None:
        query = query.where(communications.c.id > after)
    return [(row[0], row[1]) for row in connection.execute(query)]
