"""The tool over what is remembered of people: search_memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from mcp_server.registry import Arguments, Tool, ToolContext
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    FoundMemory,
    Id,
    Limit,
    QueryText,
    cursor_offset,
    cursor_position,
    found_memory,
    make_cursor,
    ranked_cursor,
    snippet_characters,
)
from rag.index import Filter
from rag.search import Found
from store import analysis, speakers
from store.analysis import Item, Position
from store.database import Connection


class SearchMemory(Arguments):
    query: QueryText | None = Field(
        None, description="What you want to know, in words or by meaning. Without it: the newest."
    )
    speaker_id: Id | None = Field(None, description="Only of this person.")
    limit: Limit = 10
    cursor: Cursor | None = None


class MemoryPage(BaseModel):
    text_is: str = QUOTED
    items: list[FoundMemory]
    next_cursor: str | None


def search_memory(context: ToolContext, arguments: SearchMemory) -> MemoryPage:
    return _ranked(context, arguments) if arguments.query else _newest(context, arguments)


def _ranked(context: ToolContext, arguments: SearchMemory) -> MemoryPage:
    assert arguments.query
    offset = cursor_offset(arguments)
    end = offset + arguments.limit
    condition = Filter(kinds=("memory",), speaker_id=arguments.speaker_id)
    looked = context.retriever.look(context.tenant_id, arguments.query, condition, end + 1)
    passages = {passage.id: passage for passage in looked.passages[offset:end]}
    with context.database.read() as connection:
        rows = analysis.get_items(context.tenant_id, connection, list(passages))
        # What was replaced or deleted a moment ago may still be on its way out of the index.
        items = _shown(context, connection, [rows[id_] for id_ in passages if id_ in rows], arguments, passages)
    cursor = ranked_cursor(arguments, end, more=len(looked.passages) > end, is_cut=looked.is_cut)
    return MemoryPage(items=items, next_cursor=cursor)


def _newest(context: ToolContext, arguments: SearchMemory) -> MemoryPage:
    position = cursor_position(arguments)
    before = Position(*position) if position is not None else None
    with context.database.read() as connection:
        rows = analysis.list_newest_memory(
            context.tenant_id,
            connection,
            speaker_id=arguments.speaker_id,
            limit=arguments.limit + 1,
            before=before,
        )
        page = rows[: arguments.limit]
        items = _shown(context, connection, page, arguments, {})
    more = len(rows) > arguments.limit
    cursor = make_cursor(arguments, at=page[-1].created_at.isoformat(), id=page[-1].id) if more else None
    return MemoryPage(items=items, next_cursor=cursor)


def _shown(
    context: ToolContext,
    connection: Connection,
    items: Sequence[Item],
    arguments: SearchMemory,
    passages: Mapping[str, Found],
) -> list[FoundMemory]:
    people = speakers.get_many(context.tenant_id, connection, [item.speaker_id for item in items if item.speaker_id])
    length = snippet_characters(arguments.limit)
    return [
        found_memory(context, item, people[item.speaker_id], length, passages.get(item.id))
        for item in items
        if item.speaker_id in people
    ]


TOOLS = (
    Tool(
        name="search_memory",
        title="Search what is remembered of people",
        description=(
            "Facts about clients that outlive a single contact: what they own, where they are, what they prefer and "
            "plan. Use it before you talk to or about somebody; for what was said in one conversation use "
            "search_communications."
        ),
        arguments=SearchMemory,
        feature="memory",
        result=MemoryPage,
        function=search_memory,
        of_analysis=True,
    ),
)
