"""The tools that list what the knowledge base holds: list_kb_spaces, list_kb_documents and list_kb_chunks."""

from __future__ import annotations

from pydantic import BaseModel

from mcp_server.registry import Arguments, Tool, ToolContext, ToolError
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    Id,
    ListLimit,
    Quoted,
    cursor_offset,
    cursor_position,
    document_url,
    local_time,
    make_cursor,
    shorten,
    space_url,
)
from store import document_lists, kb_spaces, knowledge
from store.document_lists import Place

MOST_SPACES = 1_000_000
MOST_CHUNKS = 10_000_000
DESCRIPTION_CHARACTERS = 300
OPENING_CHARACTERS = 100
PATH_CHARACTERS = 200


class ListSpaces(Arguments):
    limit: ListLimit = 50
    cursor: Cursor | None = None


class SpaceItem(BaseModel):
    id: str
    name: Quoted
    description: Quoted
    document_count: int
    updated_at: str
    url: str


class SpacePage(BaseModel):
    text_is: str = QUOTED
    items: list[SpaceItem]
    next_cursor: str | None


def list_kb_spaces(context: ToolContext, arguments: ListSpaces) -> SpacePage:
    offset = cursor_offset(arguments, most=MOST_SPACES)
    with context.database.read() as connection:
        rows = kb_spaces.page_of_spaces(
            context.tenant_id, connection, limit=arguments.limit + 1, offset=offset, among=context.space_ids
        )
    items = [
        SpaceItem(
            id=row.id,
            name=row.name,
            description=shorten(row.description, DESCRIPTION_CHARACTERS),
            document_count=row.document_count,
            updated_at=local_time(context, row.updated_at),
            url=space_url(context, row.id),
        )
        for row in rows[: arguments.limit]
    ]
    more = len(rows) > arguments.limit
    return SpacePage(items=items, next_cursor=make_cursor(arguments, offset=offset + arguments.limit) if more else None)


class ListDocuments(Arguments):
    space_id: Id
    limit: ListLimit = 50
    cursor: Cursor | None = None


class CatalogueItem(BaseModel):
    """`pages` counts those that have text, `error_code` says why one could not be read."""

    id: str
    title: Quoted
    mime: str | None
    status: str
    error_code: str | None
    pages: int | None
    chunks: int
    updated_at: str
    url: str


class CataloguePage(BaseModel):
    text_is: str = QUOTED
    items: list[CatalogueItem]
    next_cursor: str | None


def list_kb_documents(context: ToolContext, arguments: ListDocuments) -> CataloguePage:
    position = cursor_position(arguments)
    before = Place(*position) if position is not None else None
    with context.database.read() as connection:
        space = kb_spaces.get_space(context.tenant_id, connection, arguments.space_id)
        if space is None or not _may_see(context, space.id):
            raise ToolError(f"space not found: {arguments.space_id}; see list_kb_spaces")
        rows = document_lists.list_page(
            context.tenant_id, connection, space.id, limit=arguments.limit + 1, before=before
        )
    page = rows[: arguments.limit]
    items = [
        CatalogueItem(
            id=row.document.id,
            title=row.document.title,
            mime=row.document.mime,
            status=row.document.status,
            error_code=row.document.error_code,
            pages=row.last_page,
            chunks=row.document.chunk_count,
            updated_at=local_time(context, row.document.updated_at),
            url=document_url(context, row.document.id),
        )
        for row in page
    ]
    more = len(rows) > arguments.limit
    last = page[-1].document if more else None
    cursor = make_cursor(arguments, at=last.created_at.isoformat(), id=last.id) if last is not None else None
    return CataloguePage(items=items, next_cursor=cursor)


class ListChunks(Arguments):
    document_id: Id
    limit: ListLimit = 50
    cursor: Cursor | None = None


class ChunkItem(BaseModel):
    """`position` counts from 0; `start_ms` is where it is heard in a recording."""

    id: str
    position: int
    title_path: Quoted
    opening: Quoted
    page: int | None
    start_ms: int | None
    url: str


class ChunkPage(BaseModel):
    """`total` is the number of the document's chunks."""

    text_is: str = QUOTED
    title: Quoted
    space_id: str
    status: str
    updated_at: str
    total: int
    items: list[ChunkItem]
    next_cursor: str | None


def list_kb_chunks(context: ToolContext, arguments: ListChunks) -> ChunkPage:
    offset = cursor_offset(arguments, most=MOST_CHUNKS)
    with context.database.read() as connection:
        document = knowledge.get_document(context.tenant_id, connection, arguments.document_id)
        if document is None or not _may_see(context, document.space_id):
            raise ToolError(f"document not found: {arguments.document_id}; see list_kb_documents")
        rows, total = knowledge.list_chunks(
            context.tenant_id, connection, document.id, limit=arguments.limit, offset=offset
        )
    items = [
        ChunkItem(
            id=row.id,
            position=row.idx,
            title_path=shorten(" › ".join(row.title_path), PATH_CHARACTERS),
            opening=shorten(" ".join(row.text.split()), OPENING_CHARACTERS),
            page=row.page,
            start_ms=row.start_ms,
            url=document_url(context, document.id, row.id),
        )
        for row in rows
    ]
    end = offset + arguments.limit
    return ChunkPage(
        title=document.title,
        space_id=document.space_id,
        status=document.status,
        updated_at=local_time(context, document.updated_at),
        total=total,
        items=items,
        next_cursor=make_cursor(arguments, offset=end) if total > end else None,
    )


def _may_see(context: ToolContext, space_id: str) -> bool:
    return context.space_ids is None or space_id in context.space_ids


TOOLS = (
    Tool(
        name="list_kb_spaces",
        title="List knowledge-base spaces",
        description=(
            "The spaces that the company's documents are kept in, with the number of documents in each. Use it for a "
            "space's id; to find an answer use search_documents."
        ),
        arguments=ListSpaces,
        result=SpacePage,
        function=list_kb_spaces,
        feature="kb",
    ),
    Tool(
        name="list_kb_documents",
        title="List the documents of a space",
        description=(
            "The documents of a space, newest first: whether each was read, its pages and passages. To find what a "
            "document says use search_documents."
        ),
        arguments=ListDocuments,
        result=CataloguePage,
        function=list_kb_documents,
        feature="kb",
    ),
    Tool(
        name="list_kb_chunks",
        title="List the passages of a document",
        description=(
            "A document's table of contents: each passage's headings, page and first words, in their order. Use it to "
            "see what a document covers; for what it says use search_documents."
        ),
        arguments=ListChunks,
        result=ChunkPage,
        function=list_kb_chunks,
        feature="kb",
    ),
)
