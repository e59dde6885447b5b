"""Documents as the store holds them once they are indexed, without having been."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import sqlalchemy as sa

from store import kb_spaces, knowledge
from store.database import Database, now
from store.ids import new_id

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of one chunk, in a space of its own."""

    tenant_id: str
    space_id: str
    id: str
    title: str
    run: int
    chunk_id: str
    text: str

    def next_version(self, text: str) -> StoredDocument:
        return replace(self, run=self.run + 1, chunk_id=new_id(), text=text)

    def store(self, database: Database) -> None:
        """Writes it down, in place of the version before."""
        own = {"tenant_id": self.tenant_id, "document_id": self.id}
        values = {"status": "success", "progress": 1.0, "chunk_count": 1, "run": self.run, "version": self.run}
        where = (knowledge.documents.c.tenant_id == self.tenant_id, knowledge.documents.c.id == self.id)
        with database.write() as connection:
            connection.execute(sa.update(knowledge.documents).where(*where).values(**values))
            connection.execute(sa.delete(knowledge.chunks).where(knowledge.chunks.c.document_id == self.id))
            chunk = {"id": self.chunk_id, "run": self.run, "idx": 0, "text": self.text, "title_path": []}
            offsets = {"start_char": 0, "end_char": len(self.text)}
            connection.execute(sa.insert(knowledge.chunks).values(**own, **chunk, **offsets))


def add_document(database: Database, tenant_id: str, text: str, title: str = "", space_id: str = "") -> StoredDocument:
    """In a new space where none is named."""
    number = next(_numbers)
    document = StoredDocument(tenant_id, space_id or new_id(), new_id(), title or f"№ {number}", 1, new_id(), text)
    times = {"created_at": now(), "updated_at": now()}
    with database.write() as connection:
        if not space_id:
            space = {"id": document.space_id, "tenant_id": tenant_id, "name": "Space", "description": ""}
            connection.execute(sa.insert(kb_spaces.spaces).values(**space, **times))
        values = {
            "id": document.id,
            "tenant_id": tenant_id,
            "space_id": document.space_id,
            "title": document.title,
            "file_name": f"{document.title}.txt",
            "size_bytes": len(text.encode()),
            "sha256": f"{number:064x}",
            "blob_key": f"kb/{document.id}",
            "status": "pending",
            "progress": 0.0,
            "chunk_count": 0,
            "run": 1,
        }
        connection.execute(sa.insert(knowledge.documents).values(**values, **times))
    document.store(database)
    return document
