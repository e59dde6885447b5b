"""Tables and queries of the knowledge base's documents and their chunks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.database import id_column, insert_ignoring, is_older, metadata, now, time_column
from store.rounds import Place, among, behind
from store.scope import across_tenants

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
    # Of an upload's bytes; None for links, whose bytes change.
    sa.Column("sha256", sa.String(64), nullable=True),
    sa.Column("blob_key", sa.String(300), nullable=False),
    # Where its bytes are fetched from, at each run anew; None for uploads.
    sa.Column("url", sa.String(2000), nullable=True),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("progress", sa.Float, nullable=False),
    sa.Column("error_code", sa.String(32), nullable=True),
    sa.Column("error_message", sa.Text, nullable=True),
    sa.Column("chunk_count", sa.Integer, nullable=False),
    # Counts the indexing runs: each run is one durable job, named by the document's id and this number.
    sa.Column("run", sa.Integer, nullable=False),
    # The run whose chunks are found; 0: none yet. A run writes its chunks beside those of the one before it, and takes
    # their place when all of its own are in the index.
    sa.Column("version", sa.Integer, nullable=False, server_default="0"),
    id_column("key_id", nullable=True),  # of the upload: its key signs the document's events
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.UniqueConstraint("space_id", "sha256"),
    sa.UniqueConstraint("space_id", "url"),
    sa.Index(None, "tenant_id", "space_id", "created_at"),
    sa.Index(None, "status", "updated_at"),
)

chunks = sa.Table(
    "kb_chunks",
    metadata,
    id_column("document_id", sa.ForeignKey("kb_documents.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("run", sa.Integer, primary_key=True),
    sa.Column("idx", sa.Integer, primary_key=True),
    # Made of the document's id and the chunk's text, so that what a new run leaves as it was keeps its id.
    id_column("id", nullable=False),
    id_column("tenant_id", nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("title_path", sa.JSON, nullable=False),
    sa.Column("page", sa.Integer, nullable=True),
    sa.Column("start_char", sa.Integer, nullable=False),
    sa.Column("end_char", sa.Integer, nullable=False),
    # Where it is heard in a recording.
    sa.Column("start_ms", sa.BigInteger, nullable=True),
    sa.Column("end_ms", sa.BigInteger, nullable=True),
    sa.Index(None, "tenant_id", "id"),
)

UNFINISHED = ("pending", "processing")


@dataclass(frozen=True, slots=True)
class Document:
    """`version` is the run whose chunks are found, `chunk_count` how many they are; `url` is None for uploads."""

    id: str
    tenant_id: str
    space_id: str
    title: str
    file_name: str
    mime: str | None
    size_bytes: int
    sha256: str | None
    blob_key: str
    url: str | None
    status: str
    progress: float
    error_code: str | None
    error_message: str | None
    chunk_count: int
    run: int
    version: int
    key_id: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """`start_char` and `end_char` are offsets in the document's full text; `start_ms`, `end_ms` are of recordings."""

    id: str
    idx: int
    text: str
    title_path: list[str]
    page: int | None
    start_char: int
    end_char: int
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CurrentChunk:
    """A chunk of a document's current version, with what names the document."""

    id: str
    document_id: str
    space_id: str
    title: str
    idx: int
    text: str
    title_path: list[str]
    page: int | None
    start_char: int
    end_char: int
    start_ms: int | None
    end_ms: int | None


def _document(row: Row[Any]) -> Document:
    return Document(**row._mapping)


def add_document(
    tenant_id: str,
    connection: Connection,
    *,
    document_id: str,
    space_id: str,
    title: str,
    file_name: str,
    size_bytes: int,
    sha256: str | None,
    blob_key: str,
    url: str | None = None,
    key_id: str | None = None,
) -> tuple[Document, bool]:
    """The document with these bytes, or of this link, in this space, and whether it is new."""
    assert (sha256 is None) != (url is None)
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
        url=url,
        status="pending",
        progress=0.0,
        error_code=None,
        error_message=None,
        chunk_count=0,
        run=1,
        version=0,
        key_id=key_id,
        created_at=made_at,
        updated_at=made_at,
    )
    values = {name: getattr(document, name) for name in Document.__dataclass_fields__}
    same = documents.c.sha256 == sha256 if url is None else documents.c.url == url
    twin = sa.select(documents).where(documents.c.tenant_id == tenant_id, documents.c.space_id == space_id, same)
    while not insert_ignoring(connection, documents, values):
        if (row := connection.execute(twin).first()) is not None:
            return _document(row), False
        # Deleted between the two statements.
    return document, True


def get_document(tenant_id: str, connection: Connection, document_id: str) -> Document | None:
    row = connection.execute(
        sa.select(documents).where(documents.c.tenant_id == tenant_id, documents.c.id == document_id)
    ).first()
    return _document(row) if row else None


def list_documents(
    tenant_id: str,
    connection: Connection,
    space_id: str,
    *,
    limit: int,
    offset: int = 0,
    statuses: Collection[str] | None = None,
    title: str | None = None,
) -> tuple[list[Document], int]:
    """A page, newest first, and the number of all: of those with one of these statuses and with `title` in theirs."""
    where = [documents.c.tenant_id == tenant_id, documents.c.space_id == space_id]
    if statuses is not None:
        where.append(documents.c.status.in_(statuses))
    if title is not None:
        # SQLite folds the case of ASCII alone.
        written = {title, title.lower(), title.upper(), title.capitalize()}
        where.append(sa.or_(*(documents.c.title.icontains(each, autoescape=True) for each in sorted(written))))
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
    """A new run; what was found before is found until it is done."""
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


def advance(tenant_id: str, connection: Connection, document_id: str, run: int, progress: float) -> bool:
    """Sets a run's progress, which never goes back. False where the run is over."""
    further = sa.case((documents.c.progress < progress, progress), else_=documents.c.progress)
    return update_document(tenant_id, connection, document_id, run, progress=further)


def switch_version(
    tenant_id: str, connection: Connection, document_id: str, run: int, chunk_count: int, **values: Any
) -> bool:
    """The run's chunks take the place of those before, along with the given columns. False where the run is over."""
    done = update_document(
        tenant_id,
        connection,
        document_id,
        run,
        status="success",
        progress=1.0,
        error_code=None,
        error_message=None,
        version=run,
        chunk_count=chunk_count,
        **values,
    )
    if done:
        connection.execute(
            sa.delete(chunks).where(
                chunks.c.tenant_id == tenant_id, chunks.c.document_id == document_id, chunks.c.run != run
            )
        )
    return done


def delete_document(tenant_id: str, connection: Connection, document_id: str) -> Document | None:
    """The document as it was at its end; None where there is none."""
    row = connection.execute(
        sa.delete(documents)
        .where(documents.c.tenant_id == tenant_id, documents.c.id == document_id)
        .returning(*documents.c)
    ).first()
    return _document(row) if row else None


def put_chunks(tenant_id: str, connection: Connection, document_id: str, run: int, rows: Sequence[StoredChunk]) -> None:
    """The chunks of a run, in place of what an earlier try of it left; they are found when the version is switched."""
    own = (chunks.c.tenant_id == tenant_id, chunks.c.document_id == document_id, chunks.c.run == run)
    connection.execute(sa.delete(chunks).where(*own))
    if rows:
        fixed = {"tenant_id": tenant_id, "document_id": document_id, "run": run}
        connection.execute(
            sa.insert(chunks),
            [fixed | {name: getattr(row, name) for name in StoredChunk.__dataclass_fields__} for row in rows],
        )


def drop_chunks(tenant_id: str, connection: Connection, document_id: str, run: int) -> None:
    """Those of a run that failed or is over, and of runs before it that left theirs, but for the version's."""
    version = sa.select(documents.c.version).where(documents.c.id == document_id).scalar_subquery()
    connection.execute(
        sa.delete(chunks).where(
            chunks.c.tenant_id == tenant_id,
            chunks.c.document_id == document_id,
            chunks.c.run <= run,
            chunks.c.run != version,
        )
    )


def list_chunks(
    tenant_id: str, connection: Connection, document_id: str, *, limit: int, offset: int = 0, run: int | None = None
) -> tuple[list[StoredChunk], int]:
    """A page of the chunks of the current version, or of a run, and the number of all."""
    version = sa.select(documents.c.version).where(documents.c.id == document_id).scalar_subquery()
    where = (
        chunks.c.tenant_id == tenant_id,
        chunks.c.document_id == document_id,
        chunks.c.run == (version if run is None else run),
    )
    columns = [chunks.c[name] for name in StoredChunk.__dataclass_fields__]
    # By the bounds of `idx`, which counts from 0: an offset would read all that is before it.
    page = sa.select(*columns).where(*where, chunks.c.idx >= offset).order_by(chunks.c.idx).limit(limit)
    rows = connection.execute(page).all()
    total = connection.execute(sa.select(sa.func.count()).select_from(chunks).where(*where)).scalar_one()
    return [StoredChunk(**row._mapping) for row in rows], total


def place_of_chunk(tenant_id: str, connection: Connection, document_id: str, chunk_id: str) -> int | None:
    """The number of a chunk in the document's current version; None where it is none of it."""
    version = sa.select(documents.c.version).where(documents.c.id == document_id).scalar_subquery()
    return connection.execute(
        sa.select(chunks.c.idx).where(
            chunks.c.tenant_id == tenant_id,
            chunks.c.document_id == document_id,
            chunks.c.run == version,
            chunks.c.id == chunk_id,
        )
    ).scalar_one_or_none()


def chunk_ids(tenant_id: str, connection: Connection, document_id: str) -> set[str]:
    """Of the current version and of a run in work."""
    own = (chunks.c.tenant_id == tenant_id, chunks.c.document_id == document_id)
    return set(connection.execute(sa.select(chunks.c.id).where(*own)).scalars())


def _current_query(tenant_id: str) -> sa.Select[Any]:
    own = ("id", "idx", "text", "title_path", "page", "start_char", "end_char", "start_ms", "end_ms")
    return (
        sa.select(
            *(chunks.c[name] for name in own),
            documents.c.id.label("document_id"),
            documents.c.space_id,
            documents.c.title,
        )
        .join(documents, sa.and_(documents.c.id == chunks.c.document_id, documents.c.version == chunks.c.run))
        .where(chunks.c.tenant_id == tenant_id, documents.c.tenant_id == tenant_id)
    )


def current_chunks(tenant_id: str, connection: Connection, ids: Sequence[str]) -> dict[str, CurrentChunk]:
    """By id, those of the chunks that are of a current version: not of documents that are gone, nor of runs in work."""
    rows = connection.execute(_current_query(tenant_id).where(chunks.c.id.in_(ids)))
    return {row.id: CurrentChunk(**row._mapping) for row in rows}


def findable(tenant_id: str, connection: Connection, ids: Collection[str]) -> set[str]:
    """Those of the documents that have a version to be found."""
    table = documents.c
    query = sa.select(table.id).where(table.tenant_id == tenant_id, table.id.in_(ids), table.version > 0)
    return set(connection.execute(query).scalars())


def neighbours(
    tenant_id: str, connection: Connection, document_id: str, *, first: int, last: int
) -> list[CurrentChunk]:
    """The current version's chunks `first` to `last`, both included, by their numbers in it."""
    rows = connection.execute(
        _current_query(tenant_id)
        .where(chunks.c.document_id == document_id, chunks.c.idx.between(first, last))
        .order_by(chunks.c.idx)
    )
    return [CurrentChunk(**row._mapping) for row in rows]


def count_found(tenant_id: str, connection: Connection, space_id: str) -> tuple[int, int]:
    """(documents, chunks) of a space that can be found."""
    row = connection.execute(
        sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(documents.c.chunk_count), 0)).where(
            documents.c.tenant_id == tenant_id, documents.c.space_id == space_id, documents.c.version > 0
        )
    ).one()
    return int(row[0]), int(row[1])


@across_tenants("the sweeper starts what a crash left unstarted")
def list_unfinished(
    connection: Connection, *, older_than_s: float, limit: int, after: Place | None = None
) -> list[Document]:
    """Documents that were accepted and have not ended, the longest unchanged first, from behind `after` on."""
    query = sa.select(documents).where(
        documents.c.status.in_(UNFINISHED), is_older(documents.c.updated_at, older_than_s)
    )
    rows = connection.execute(behind(query, documents.c.updated_at, documents.c.id, after, limit))
    return [_document(row) for row in rows]


@across_tenants("what a machine has in work is of whichever tenants")
def unfinished_among(connection: Connection, names: Collection[str]) -> set[tuple[str, int]]:
    """(id, run) of each document among `names` that has not ended."""
    query = sa.select(documents.c.id, documents.c.run).where(documents.c.status.in_(UNFINISHED))
    return {(row.id, row.run) for row in among(connection, query, documents.c.id, names)}


@across_tenants("the index of all tenants is made anew")
def page_of_all(connection: Connection, *, after: str | None, limit: int) -> list[tuple[str, str]]:
    """(tenant id, id) in the order of ids, behind the id `after`."""
    query = sa.select(documents.c.tenant_id, documents.c.id).order_by(documents.c.id).limit(limit)
    if after is not None:
        query = query.where(documents.c.id > after)
    return [(row[0], row[1]) for row in connection.execute(query)]
