"""Passages of what the tools found: the one shape that engines answer from and citations lead to."""

from __future__ import annotations

from chat.contract import Passage, PassageKind
from mcp_server.tools.shapes import FoundCommunication, FoundDocument, FoundMemory


def passage_of(item: FoundCommunication | FoundDocument | FoundMemory) -> Passage:
    found = item.found
    kind: PassageKind
    shape: type[FoundCommunication | FoundDocument | FoundMemory]
    if isinstance(item, FoundDocument):
        kind, id_, title, snippet = "document", item.chunk_id, item.title, item.snippet
        shape = FoundDocument
    elif isinstance(item, FoundMemory):
        kind, id_, title, snippet = "memory", item.id, item.speaker_name, item.content
        shape = FoundMemory
    else:
        kind, id_, title, snippet = "communication", item.id, item.title, item.snippet
        shape = FoundCommunication
    return Passage(
        kind=kind,
        id=found.id if found else id_,
        title=title,
        text=found.text if found else snippet,
        score=found.score if found else 0.0,
        coverage=found.coverage if found else None,
        cosine=found.dense if found else None,
        term_weights=found.idf if found else {},
        page=item.page if isinstance(item, FoundDocument) else None,
        url=item.url,
        start_ms=item.start_ms if isinstance(item, FoundCommunication) else None,
        # What a tool tells beside that is for agents: the context of a reply has a documented shape.
        context_item=item.model_dump(mode="json", include=set(shape.model_fields)),
    )
