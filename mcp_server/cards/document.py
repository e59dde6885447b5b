"""The text of a document of the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_server.cards.frame import Card, Words, clock, part, uri_of
from mcp_server.quoting import Block, Place
from mcp_server.registry import ToolContext
from mcp_server.tools.shapes import local_time
from store import knowledge
from store.database import Connection
from store.knowledge import Document

CHUNKS_AT_ONCE = 500


def document_card(context: ToolContext, document_id: str, place: Place | None) -> Card | None:
    """The document's text from `place` on, passage by passage as it was cut, each character once."""
    with context.database.read() as connection:
        document = knowledge.get_document(context.tenant_id, connection, document_id)
        if document is None or (context.space_ids is not None and document.space_id not in context.space_ids):
            return None
        words = Words(context)
        head = [words.heading("document", place), _document_facts(context, words, document, place), words["note"]]
        head += words.section("title", document.title, level="")
        head.append(f"## {words['text']}")
        blocks = _passages(context, words, connection, document_id, place.index if place is not None else 0)
        return part(words, head, blocks, place, uri_of("documents", document_id))


def _document_facts(context: ToolContext, words: Words, document: Document, place: Place | None) -> str:
    lines = [uri_of("documents", document.id), f"{context.public_url}/cabinet/documents/{document.id}"]
    if place is None:
        lines.append(f"{words['updated']}: {local_time(context, document.updated_at)}")
        lines.append(f"{words['pages']}: {document.chunk_count}")
        if document.status != "success":
            lines.append(f"{words['status']}: {document.status}")
    return "\n".join(f"- {line}" for line in lines)


def _passages(
    context: ToolContext, words: Words, connection: Connection, document_id: str, first: int
) -> Iterator[Block]:
    """Passages of one section overlap: what the one before has is left out, also of the first of a part."""
    offset, end = max(0, first - 1), 0
    while True:
        chunks, _ = knowledge.list_chunks(
            context.tenant_id, connection, document_id, limit=CHUNKS_AT_ONCE, offset=offset
        )
        for chunk in chunks:
            text = chunk.text[max(0, end - chunk.start_char) :]
            end = max(end, chunk.end_char)
            if chunk.idx >= first and text.strip():
                page = f" {words['page']} {chunk.page}" if chunk.page is not None else ""
                heard = f" {clock(chunk.start_ms)}" if chunk.start_ms is not None else ""
                yield Block(chunk.idx, f"[{chunk.idx}]{page}{heard}", text)
        if len(chunks) < CHUNKS_AT_ONCE:
            return
        offset = chunks[-1].idx + 1
