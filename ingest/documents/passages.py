"""A document's stored chunks as the passages that are indexed."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.workshop import Workshop
from rag.generation import Passage
from store import knowledge
from store.database import Connection
from store.errors import Unavailable
from store.knowledge import Document, StoredChunk

_LOOKS = 5
_TOGETHER = 128
_MOST_CHUNKS = 1_000_000


def document_passages(document: Document, chunks: Sequence[StoredChunk]) -> list[Passage]:
    return [
        Passage(
            id=chunk.id,
            text=chunk.text,
            payload={
                "kind": "document",
                "document_id": document.id,
                "space_id": document.space_id,
                "title": " › ".join(dict.fromkeys([document.title, *chunk.title_path])),
                "page": chunk.page,
                "idx": chunk.idx,
            },
            # A chunk's text begins with its own heading; the headings above it are its context.
            context="\n".join(title for title in chunk.title_path if title not in chunk.text),
        )
        for chunk in chunks
    ]


def settle_document(house: Workshop, tenant_id: str, document_id: str) -> None:
    """Makes each index in use agree with the store: takes out what belongs neither to the document's version nor to a
    run in work, and puts in what it lacks of the version. Raises Unavailable where it goes on changing, and what the
    index raises."""
    for name in house.indexes.names:
        _settle_in(house, name, tenant_id, document_id)


def _settle_in(house: Workshop, name: str, tenant_id: str, document_id: str) -> None:
    for _ in range(_LOOKS):
        generation = house.indexes.in_use(name)
        if generation is None:  # it was replaced meanwhile
            return
        there = generation.index.ids_of(tenant_id, document_id=document_id)
        with house.database.read() as connection:
            # Read after the index: a run writes its chunks down before it indexes them.
            wanted = knowledge.chunk_ids(tenant_id, connection, document_id)
            document = knowledge.get_document(tenant_id, connection, document_id)
            lacking = [] if wanted <= there else _lacking(tenant_id, connection, document_id, there)
        surplus = there - wanted
        if not surplus and not lacking:
            return
        if surplus:
            generation.index.delete_points(tenant_id, surplus)
        if document is not None:
            for start in range(0, len(lacking), _TOGETHER):
                passages = document_passages(document, lacking[start : start + _TOGETHER])
                if generation.lacks_model:
                    house.indexes.put(tenant_id, passages)
                else:
                    house.indexes.fill(name, tenant_id, passages)
        # Another run, or another worker, may have done the contrary meanwhile: look again.
    raise Unavailable("what the index must hold of a document goes on changing")


def _lacking(tenant_id: str, connection: Connection, document_id: str, there: set[str]) -> list[StoredChunk]:
    """The version's chunks that are not there; nobody else puts them in."""
    current, _ = knowledge.list_chunks(tenant_id, connection, document_id, limit=_MOST_CHUNKS)
    return [chunk for chunk in current if chunk.id not in there]
