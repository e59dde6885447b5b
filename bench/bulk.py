"""Rows by the thousand, written past SQLAlchemy's own work a row: what benches and tests of size stand on."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.database import Database
from store.kb_spaces import spaces
from store.knowledge import chunks, documents


class Made(IntEnum):
    """Which table an id is of."""

    COMMUNICATION = 1
    PERSON = 2
    TASK = 3
    SUMMARY = 4
    ITEM = 5
    EVALUATION = 6
    SPACE = 7
    DOCUMENT = 8
    CHUNK = 9


def made_id(tenant_id: str, kind: Made, number: int) -> str:
    """An id in the form of UUIDv7, which no other account has: rows that are made together lie together."""
    account = zlib.crc32(tenant_id.encode())
    return (
        f"0190{kind:04x}-{account >> 16:04x}-7000-8{number >> 36:03x}-{account & 0xFFF:03x}{number & 0xFFFFFFFFF:09x}"
    )


def insert_rows(connection: Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Rows with the same columns each; values are converted as the columns' types convert them."""
    if not rows:
        return
    names = list(rows[0])
    converters = [_converter(connection, table.c[name]) for name in names]
    values = [
        tuple(convert(value) if convert else value for convert, value in zip(converters, row.values(), strict=True))
        for row in rows
    ]
    columns = ", ".join(f'"{name}"' for name in names)
    cursor: Any = connection.connection.cursor()
    if connection.dialect.name == "sqlite":
        cursor.executemany(f"INSERT INTO {table.name} ({columns}) VALUES ({', '.join('?' * len(names))})", values)
        return
    with cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
        for each in values:
            copy.write_row(each)


def _converter(connection: Connection, column: sa.Column[Any]) -> Callable[[Any], Any] | None:
    if isinstance(column.type, sa.JSON):
        return lambda value: None if value is None else json.dumps(value, ensure_ascii=False)
    return column.type.dialect_impl(connection.dialect).bind_processor(connection.dialect)


def fill_documents(
    database: Database,
    tenant_id: str,
    count: int = 2_500,
    *,
    chunks_each: int = 4,
    title: str = "Документ {}",
    text: str = "Доставка заказа {} до двери, часть {}.",
) -> tuple[str, list[str]]:
    """A new space with so many documents that the store calls found: rows without a file, a job or vectors. The
    space's id and the documents', newest first."""
    with database.read() as connection:
        of_tenant = sa.select(sa.func.count()).select_from(spaces).where(spaces.c.tenant_id == tenant_id)
        there = connection.execute(of_tenant).scalar_one()
    made_at = datetime.now(UTC)
    space_id = made_id(tenant_id, Made.SPACE, there)
    space = {"id": space_id, "tenant_id": tenant_id, "name": f"Пространство {there}", "description": ""}
    times = {"created_at": made_at, "updated_at": made_at}
    document_ids = [made_id(tenant_id, Made.DOCUMENT, (there << 24) + number) for number in range(count)]
    of_documents, of_chunks = [], []
    for number, document_id in enumerate(document_ids):
        own = {"tenant_id": tenant_id, "document_id": document_id, "run": 1}
        at = made_at - timedelta(seconds=number)
        of_documents.append(
            {
                "id": document_id,
                "tenant_id": tenant_id,
                "space_id": space_id,
                "title": title.format(number),
                "file_name": f"{number}.txt",
                "mime": "text/plain",
                "size_bytes": 1000,
                "sha256": f"{number:064x}",
                "blob_key": f"kb/{document_id}",
                "status": "success",
                "progress": 1.0,
                "chunk_count": chunks_each,
                "run": 1,
                "version": 1,
                "created_at": at,
                "updated_at": at,
            }
        )
        for idx in range(chunks_each):
            said = text.format(number, idx)
            chunk = {"id": made_id(tenant_id, Made.CHUNK, (there << 32) + (number << 12) + idx), "idx": idx}
            offsets = {"start_char": idx * len(said), "end_char": (idx + 1) * len(said)}
            of_chunks.append({**own, **chunk, "text": said, "title_path": [f"Глава {idx}"], **offsets})
    with database.write() as connection:
        insert_rows(connection, spaces, [{**space, "is_limited": False, **times}])
        insert_rows(connection, documents, of_documents)
        insert_rows(connection, chunks, of_chunks)
    return space_id, document_ids
