"""Tools over the knowledge base: search_documents and list_kb_spaces."""

from __future__ import annotations

from pydantic import BaseModel, Field

from mcp_server.registry import Arguments, Tool, ToolContext
from mcp_server.tools.shapes import (
    Cursor,
    FoundDocument,
    Id,
    Limit,
    QueryText,
    cursor_offset,
    found_document,
    local_time,
    make_cursor,
    snippet_characters,
)
from rag.index import Filter
from store import knowledge

MOST_SPACES = 10_000


class SearchDocuments(Arguments):
    query: QueryText = Field(description="The question or its key words, Russian or English.")
    space_ids: list[Id] | None = Field(
        None, min_length=1, max_length=50, description="Only these spaces; see list_kb_spaces. Without it: all."
    )
    limit: Limit = 10
    cursor: Cursor | None = None


class DocumentPage(BaseModel):
    items: list[FoundDocument]
    next_cursor: str | None


def search_documents(context: ToolContext, arguments: SearchDocuments) -> DocumentPage:
    offset = cursor_offset(arguments.cursor)
    spaces = allowed_spaces(context, arguments.space_ids)
    if spaces == ():
        return DocumentPage(items=[], next_cursor=None)
    wanted = Filter(kind="document", space_ids=spaces)
    found = context.searcher.search(context.tenant_id, arguments.query, wanted, offset + arguments.limit + 1)
    page = found[offset : offset + arguments.limit]
    with context.database.read() as connection:
        there = knowledge.get_documents(
            context.tenant_id, connection, [str(passage.payload["document_id"]) for passage in page]
        )
    # What was deleted a moment ago may still be on its way out of the index.
    page = [passage for passage in page if passage.payload["document_id"] in there]
    more = len(found) > offset + arguments.limit
    return DocumentPage(
        items=[found_document(context, passage, snippet_characters(arguments.limit)) for passage in page],
        next_cursor=make_cursor(offset=offset + arguments.limit) if more else None,
    )


def allowed_spaces(context: ToolContext, asked: list[str] | None) -> tuple[str, ...] | None:
    """The spaces to search: what was asked for, within what the caller's chat is limited to; None means all."""
    if asked is None:
        return context.space_ids
    if context.space_ids is None:
        return tuple(asked)
    return tuple(space_id for space_id in asked if space_id in context.space_ids)


class ListSpaces(Arguments):
    limit: Limit = 50
    cursor: Cursor | None = None


class SpaceItem(BaseModel):
    id: str
    name: str
    description: str
    document_count: int
    updated_at: str


class SpacePage(BaseModel):
    items: list[SpaceItem]
    next_cursor: str | None


def list_kb_spaces(context: ToolContext, arguments: ListSpaces) -> SpacePage:
    offset = cursor_offset(arguments.cursor, most=MOST_SPACES)
    with context.database.read() as connection:
        rows, total = knowledge.list_spaces(context.tenant_id, connection, limit=arguments.limit, offset=offset)
    items = [
        SpaceItem(
            id=row.id,
            name=row.name,
            description=row.description,
            document_count=row.document_count,
            updated_at=local_time(context, row.updated_at),
        )
        for row in rows
        if context.space_ids is None or row.id in context.space_ids
    ]
    more = total > offset + arguments.limit
    return SpacePage(items=items, next_cursor=make_cursor(offset=offset + arguments.limit) if more else None)


TOOLS = (
    Tool(
        name="search_documents",
        title="Search the knowledge base",
        description=(
            "Finds passages of the company's own documents (rules, prices, instructions) by words and by meaning. "
            "For what clients and employees said use search_communications."
        ),
        arguments=SearchDocuments,
        function=search_documents,
        feature="kb",
    ),
    Tool(
        name="list_kb_spaces",
        title="List knowledge-base spaces",
        description="The spaces that the company's documents are kept in, with the number of documents in each.",
        arguments=ListSpaces,
        function=list_kb_spaces,
        feature="kb",
    ),
)
