"""Compares one subject with what an index holds of it, and puts in what is lacking. What changes meanwhile comes out
right: the store is read again afterwards, until it says the same twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ingest.documents.passages import document_passages, settle_document
from ingest.timelines import communication_passages, memory_passages
from ingest.workshop import Workshop
from rag.generation import Passage
from store import knowledge
from store.errors import Unavailable

_LOOKS = 5
_TOGETHER = 256
_MOST_CHUNKS = 1_000_000


def fill_together(
    house: Workshop, name: str, tenant_id: str, subject_ids: Sequence[str], read: Callable[..., list[Passage]]
) -> None:
    """Puts in what is lacking of many subjects at once, since an index takes a hundred passages about as fast as one.

    What changes meanwhile is not looked at: each of them is to be filled by itself afterwards, which then is quick.
    """
    gathered: list[Passage] = []
    for subject_id in subject_ids:
        gathered += read(house, tenant_id, subject_id)
        if len(gathered) >= _TOGETHER:
            house.indexes.fill(name, tenant_id, gathered)
            gathered = []
    house.indexes.fill(name, tenant_id, gathered)


def fill_communication(house: Workshop, name: str, tenant_id: str, communication_id: str) -> None:
    def read() -> list[Passage]:
        return communication_passages(house, tenant_id, communication_id)

    _fill(house, name, tenant_id, read, communication_id=communication_id)


def fill_memory(house: Workshop, name: str, tenant_id: str, speaker_id: str) -> None:
    def read() -> list[Passage]:
        return memory_passages(house, tenant_id, speaker_id)

    _fill(house, name, tenant_id, read, speaker_id=speaker_id)


def fill_document(house: Workshop, name: str, tenant_id: str, document_id: str) -> None:
    """Its current version; what a run in work puts in beside it is left alone."""
    for _ in range(_LOOKS):
        passages = passages_of_document(house, tenant_id, document_id)
        house.indexes.fill(name, tenant_id, passages)
        settle_document(house, tenant_id, document_id)
        if passages_of_document(house, tenant_id, document_id) == passages:
            return
    raise Unavailable("what the index must follow goes on changing")


def passages_of_document(house: Workshop, tenant_id: str, document_id: str) -> list[Passage]:
    """Of its current version; none where it was deleted or has none yet."""
    with house.database.read() as connection:
        document = knowledge.get_document(tenant_id, connection, document_id)
        if document is None:
            return []
        chunks, _ = knowledge.list_chunks(tenant_id, connection, document_id, limit=_MOST_CHUNKS)
    return document_passages(document, chunks)


def _fill(house: Workshop, name: str, tenant_id: str, read: Callable[[], list[Passage]], **subject: str) -> None:
    generation = house.indexes.in_use(name)
    if generation is None:
        raise Unavailable(f"the index {name} is not in use here")
    index = generation.index
    for _ in range(_LOOKS):
        # First: what is put in from here on, by whoever it is, is not old.
        there = index.ids_of(tenant_id, **subject)
        passages = read()
        house.indexes.fill(name, tenant_id, passages)
        if left := there - {passage.id for passage in passages}:
            index.delete_points(tenant_id, left)
        if read() == passages:
            return
    raise Unavailable("what the index must follow goes on changing")
