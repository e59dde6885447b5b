"""The tool that finds documents: search_documents."""

from __future__ import annotations

from pydantic import BaseModel, Field

from mcp_server.registry import Arguments, Tool, ToolContext
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    FoundDocument,
    Id,
    Limit,
    QueryText,
    cursor_offset,
    found_document,
    local_time,
    ranked_cursor,
    snippet_characters,
)
from rag.index import Filter
from store import document_lists, space_access


class SearchDocuments(Arguments):
    query: QueryText = Field(description="The question or its key words, Russian or English.")
    space_ids: list[Id] | None = Field(
        None, min_length=1, max_length=50, description="Only these spaces; see list_kb_spaces. Without it: all."
    )
    limit: Limit = 10
    cursor: Cursor | None = None


class DocumentItem(FoundDocument):
    """`updated_at` is the document's."""

    updated_at: str


class DocumentPage(BaseModel):
    text_is: str = QUOTED
    items: list[DocumentItem]
    next_cursor: str | None


def search_documents(context: ToolContext, arguments: SearchDocuments) -> DocumentPage:
    offset = cursor_offset(arguments)
    spaces = allowed_spaces(context, arguments.space_ids)
    if spaces == ():
        return DocumentPage(items=[], next_cursor=None)
    wanted = Filter(kinds=("document",), space_ids=spaces)
    end = offset + arguments.limit
    looked = context.retriever.look(context.tenant_id, arguments.query, wanted, end + 1)
    length = snippet_characters(arguments.limit)
    passages = [found_document(context, passage, length) for passage in looked.passages[offset:end]]
    with context.database.read() as connection:
        times = document_lists.updated_at_of(
            context.tenant_id, connection, list({each.document_id for each in passages})
        )
    items = [
        DocumentItem(**dict(each), updated_at=local_time(context, times[each.document_id]))
        for each in passages
        if each.document_id in times  # deleted a moment ago
    ]
    cursor = ranked_cursor(arguments, end, more=len(looked.passages) > end, is_cut=looked.is_cut)
    return DocumentPage(items=items, next_cursor=cursor)


def allowed_spaces(context: ToolContext, asked: list[str] | None) -> tuple[str, ...] | None:
    """The spaces to search: what was asked for, within what the caller may see; None means all."""
    return space_access.within(context.space_ids, asked)


TOOLS = (
    Tool(
        name="search_documents",
        title="Search the knowledge base",
        description=(
            "Finds passages of the company's own documents (rules, prices, instructions) by words and by meaning. "
            "For what clients and employees said use search_communications."
        ),
        arguments=SearchDocuments,
        result=DocumentPage,
        function=search_documents,
        feature="kb",
    ),
)
