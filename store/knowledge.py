"""Tables and queries of the knowledge base: spaces, documents and their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.database import id_column, insert_ignoring, metadata, now, time_column
from store.ids import new_id
from store.scope import across_tenants

spaces = sa.Table(
    "kb_spaces",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id", "created_at"),
)

documents = sa.Table(
    "kb_documents",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("space_id", sa.ForeignKey("kb_spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("title", sa.String(300), nullable=False),
    sa.Column("file_name", sa.String(300), nullable=False),
    sa.Column("mime", sa.String(100), nullable=True),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("blob_key", sa.String(300), nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("progress", sa.Float, nullable=False),
    sa.Column("error_code", sa.String(32), nullable=True),
    sa.Column("error_message", sa.Text, nullable=True),
    sa.Column("chunk_count", sa.Integer, nullable=False),
    # Counts the indexing runs: each run is one durable job, named by the document's id and this number.
    sa.Column("run", sa.Integer, nullable=False),
    id_column("key_id", nullable=True),  # of the upload: its key signs the document's events
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("space_id", "sha256"),
    sa.Index(None, "tenant_id", "space_id", "created_at"),
    sa.Index(None, "status", "updated_at"),
)

chunks = sa.Table(
    "kb_chunks",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", nullable=False),
    id_column("document_id", sa.ForeignKey("kb_documents.id", ondelete="CASCADE"), nullable=False),
    sa.Column("idx", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("title_path", sa.JSON, nullable=False),
    sa.Column("page", sa.Integer, nullable=True),
    sa.Column("start_char", sa.Integer, nullable=False),
    sa.Column("end_char", sa.Integer, nullable=False),
    sa.UniqueConstraint("document_id", "idx"),
)

UNFINISHED = ("pending", "processing")


@dataclass(frozen=True, slots=True)
class Space:
    id: str
    tenant_id: str
    name: str
    description: str
    created_at: datetime
    updated_at: datetime
    document_count: int


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    tenant_id: str
    space_id: str
    title: str
    file_name: str
    mime: str | None
    size_bytes: int
    sha256: str
    blob_key: str
    status: str
    progress: float
    error_code: str | None
    error_message: str | None
    chunk_count: int
    run: int
    key_id: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """`start_char` and `end_char` are offsets in the document's full text."""

    id: str
    idx: int
    text: str
    title_path: list[str]
    page: int | None
    start_char: int
    end_char: int


def _spaces_query(tenant_id: str) -> sa.Select[Any]:
    counted = (
        sa.select(sa.func.count())
        .where(documents.c.space_id == spaces.c.id)
        .correlate(spaces)
        .scalar_subquery()
        .label("document_count")
    )
    return sa.select(spaces, counted).where(spaces.c.tenant_id == tenant_id)


def _document(row: Row[Any]) -> Document:
    return Document(**row._mapping)


def create_space(tenant_id: str, connection: Connection, *, name: str, description: str) -> Space:
    made_at = now()
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "name": name,
        "description": description,
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


def list_spaces(tenant_id: str, connection: Connection, *, limit: int, offset: int = 0) -> tuple[list[Space], int]:
    """A page in the order of creation, and the number of all."""
    query = _spaces_query(tenant_id).order_by(spaces.c.created_at, spaces.c.id).limit(limit).offset(offset)
    total = sa.select(sa.func.count()).select_from(spaces).where(spaces.c.tenant_id == tenant_id)
    return [Space(**row._mapping) for row in connection.execute(query)], connection.execute(total).scalar_one()


def update_space(tenant_id: str, connection: Connection, space_id: str, **values: Any) -> None:
    """Sets the given columns: name or description."""
    connection.execute(
        sa.update(spaces)
        .where(spaces.c.tenant_id == tenant_id, spaces.c.id == space_id)
        .values(**values, updated_at=now())
    )


def delete_space(tenant_id: str, connection: Connection, space_id: str) -> None:
    """Its documents go with it; blobs and index are the caller's to clear."""
    connection.execute(sa.delete(spaces).where(spaces.c.tenant_id == tenant_id, spaces.c.id == space_id))


def add_document(
    tenant_id: str,
    connection: Connection,
    *,
    document_id: str,
    space_id: str,
    title: str,
    file_name: str,
    size_bytes: int,
    sha256: str,
    blob_key: str,
    key_id: str | None = None,
) -> tuple[Document, bool]:
    """The document with these bytes in this space, and whether it is new."""
    made_at = now()
    document = Document(
        id=document_id,
        tenant_id=tenant_id,
        space_id=space_id,
        title=title,
        file_name=file_name,
        mime=None,
        size_bytes=size_bytes,
        sha256=sha256,
        blob_key=blob_key,
        status="pending",
        progress=0.0,
        error_code=None,
        error_message=None,
        chunk_count=0,
        run=1,
        key_id=key_id,
        created_at=made_at,
        updated_at=made_at,
    )
    values = {name: getattr(document, name) for name in Document.__dataclass_fields__}
    if insert_ignoring(connection, documents, values):
        return document, True
    row = connection.execute(
        sa.select(documents).where(
            documents.c.tenant_id == tenant_id, documents.c.space_id == space_id, documents.c.sha256 == sha256
        )
    ).one()
    return _document(row), False


def get_document(tenant_id: str, connection: Connection, document_id: str) -> Document | None:
    row = connection.execute(
        sa.select(documents).where(documents.c.tenant_id == tenant_id, documents.c.id == document_id)
    ).first()
    return _document(row) if row else None


def get_documents(tenant_id: str, connection: Connection, document_ids: Sequence[str]) -> dict[str, Document]:
    rows = connection.execute(
        sa.select(documents).where(documents.c.tenant_id == tenant_id, documents.c.id.in_(document_ids))
    )
    return {row.id: _document(row) for row in rows}


def list_documents(
    tenant_id: str, connection: Connection, space_id: str, *, limit: int, offset: int = 0
) -> tuple[list[Document], int]:
    """A page, newest first, and the number of all."""
    where = (documents.c.tenant_id == tenant_id, documents.c.space_id == space_id)
    order = (documents.c.created_at.desc(), documents.c.id.desc())
    rows = connection.execute(sa.select(documents).where(*where).order_by(*order).limit(limit).offset(offset))
    total = connection.execute(sa.select(sa.func.count()).select_from(documents).where(*where)).scalar_one()
    return [_document(row) for row in rows], total


def update_document(tenant_id: str, connection: Connection, document_id: str, run: int, **values: Any) -> bool:
    """Sets the given columns of a document whose run has not ended. False where it had: the document is gone, a newer
    run has begun, or this one came to its end."""
    result = connection.execute(
        sa.update(documents)
        .where(
            documents.c.tenant_id == tenant_id,
            documents.c.id == document_id,
            documents.c.run == run,
            documents.c.status.in_(UNFINISHED),
        )
        .values(**values, updated_at=now())
    )
    return result.rowcount == 1


def begin_reindex(tenant_id: str, connection: Connection, document_id: str) -> None:
    connection.execute(
        sa.update(documents)
        .where(documents.c.tenant_id == tenant_id, documents.c.id == document_id)
        .values(
            status="pending",
            progress=0.0,
            error_code=None,
            error_message=None,
            run=documents.c.run + 1,
            updated_at=now(),
        )
    )


def delete_document(tenant_id: str, connection: Connection, document_id: str) -> bool:
    result = connection.execute(
        sa.delete(documents).where(documents.c.tenant_id == tenant_id, documents.c.id == document_id)
    )
    return result.rowcount == 1


def replace_chunks(tenant_id: str, connection: Connection, document_id: str, rows: Sequence[StoredChunk]) -> None:
    connection.execute(sa.delete(chunks).where(chunks.c.tenant_id == tenant_id, chunks.c.document_id == document_id))
    if rows:
        names = StoredChunk.__dataclass_fields__
        connection.execute(
            sa.insert(chunks),
            [
                {"tenant_id": tenant_id, "document_id": document_id, **{name: getattr(row, name) for name in names}}
                for row in rows
            ],
        )


def list_chunks(
    tenant_id: str, connection: Connection, document_id: str, *, limit: int, offset: int = 0
) -> tuple[list[StoredChunk], int]:
    where = (chunks.c.tenant_id == tenant_id, chunks.c.document_id == document_id)
    columns = [chunks.c[name] for name in StoredChunk.__dataclass_fields__]
    rows = connection.execute(sa.select(*columns).where(*where).order_by(chunks.c.idx).limit(limit).offset(offset))
    total = connection.execute(sa.select(sa.func.count()).select_from(chunks).where(*where)).scalar_one()
    return [StoredChunk(**row._mapping) for row in rows], total


@across_tenants("the sweeper starts what a crash left unstarted")
def list_unfinished(connection: Connection, *, older_than_s: float, limit: int = 1000) -> list[tuple[str, str, int]]:
    """(tenant id, document id, run) of documents that were accepted and have not ended, oldest first."""
    rows = connection.execute(
        sa.select(documents.c.tenant_id, documents.c.id, documents.c.run)
        .where(documents.c.status.in_(UNFINISHED), documents.c.updated_at < now() - timedelta(seconds=older_than_s))
        .order_by(documents.c.updated_at)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in rows]


@across_tenants("the index of all tenants is made anew")
def page_of_all(connection: Connection, *, after: str | None, limit: int) -> list[tuple[str, str]]:
    """(tenant id, id) in the order of ids, behind the id `after`."""
    query = sa.select(documents.c.tenant_id, documents.c.id).order_by(documents.c.id).limit(limit)
    if after is not None:
        query = query.where(documents.c.id > after)
    return [(row[0], row[1]) for row in connection.execute(query)]
