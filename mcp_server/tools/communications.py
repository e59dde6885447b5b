"""The tool that finds calls, chats and mails: search_communications."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from pydantic import BaseModel, Field

from mcp_server.registry import Arguments, Tool, ToolContext, ToolError
from mcp_server.tools.moments import Bound, in_order, since, until
from mcp_server.tools.shapes import (
    QUOTED,
    Category,
    ChannelType,
    CommunicationKind,
    Cursor,
    Direction,
    FoundCommunication,
    Id,
    Limit,
    QueryText,
    Quoted,
    Role,
    cursor_offset,
    cursor_position,
    found_communication,
    make_cursor,
    person_name,
    ranked_cursor,
    snippet_characters,
)
from rag.index import Filter
from rag.retrieval import Retriever
from rag.search import Found
from store import communications, conversation_lists, speakers
from store.communications import Communication
from store.conversation_lists import Conditions
from store.database import Connection
from store.speakers import Participant

CHUNKS_A_COMMUNICATION = 4
MOST_PEOPLE = 4
OPENING_TURNS = 6
_HEARD = re.compile(r"^(SPEAKER_\d{1,3}): ", re.MULTILINE)


class SearchCommunications(Arguments):
    query: QueryText | None = Field(
        None, description="What was said, in words or by meaning, Russian or English. Without it: the newest."
    )
    kind: CommunicationKind | None = None
    channel_type: ChannelType | None = None
    direction: Direction | None = Field(None, description="in: from the client to us.")
    participants: list[Id] | None = Field(
        None, min_length=1, max_length=5, description="Ids of people who all take part; see search_speakers."
    )
    participant_role: Role | None = None
    category: Category | None = None
    from_: Bound | None = Field(None, alias="from", description="First day (YYYY-MM-DD), or time with its offset.")
    to: Bound | None = Field(None, description="Last day, inclusive, or time, exclusive.")
    limit: Limit = 10
    cursor: Cursor | None = None


class CommunicationItem(FoundCommunication):
    """`people` are the names of the first few who take part."""

    direction: str | None
    category: str | None
    people: list[Quoted]


class CommunicationPage(BaseModel):
    text_is: str = QUOTED
    items: list[CommunicationItem]
    next_cursor: str | None


def search_communications(context: ToolContext, arguments: SearchCommunications) -> CommunicationPage:
    by_people = arguments.participants or arguments.participant_role
    if not context.sees_analysis and (by_people or arguments.category):
        raise ToolError("participants, participant_role and category cannot be searched by here; leave them out")
    in_order(since(context, arguments.from_), until(context, arguments.to))
    return _ranked(context, arguments) if arguments.query else _newest(context, arguments)


def _newest(context: ToolContext, arguments: SearchCommunications) -> CommunicationPage:
    position = cursor_position(arguments)
    before = communications.Cursor(*position) if position is not None else None
    wanted = Conditions(
        kind=arguments.kind,
        channel_type=arguments.channel_type,
        without_channel_types=context.hidden_channels,
        direction=arguments.direction,
        category=arguments.category,
        participants=arguments.participants or (),
        participant_role=arguments.participant_role,
        since=since(context, arguments.from_),
        until=until(context, arguments.to),
    )
    with context.database.read() as connection:
        rows = conversation_lists.list_page(
            context.tenant_id, connection, wanted, limit=arguments.limit + 1, before=before
        )
        page = rows[: arguments.limit]
        openings = {
            row.id: communications.list_content(context.tenant_id, connection, row.id, limit=OPENING_TURNS)
            for row in page
        }
        snippets = {id_: " ".join(item.text for _, item in content) for id_, content in openings.items()}
        items = _items(context, connection, page, snippets, {}, arguments.limit)
    more = len(rows) > arguments.limit
    cursor = make_cursor(arguments, at=page[-1].occured_at.isoformat(), id=page[-1].id) if more else None
    return CommunicationPage(items=items, next_cursor=cursor)


def _ranked(context: ToolContext, arguments: SearchCommunications) -> CommunicationPage:
    assert arguments.query
    offset = cursor_offset(arguments)
    first, end = since(context, arguments.from_), until(context, arguments.to)
    wanted = Filter(
        kinds=("communication",),
        communication_kind=arguments.kind,
        channel_type=arguments.channel_type,
        without_channel_types=context.hidden_channels,
        direction=arguments.direction,
        participants=tuple(dict.fromkeys(arguments.participants or ())),
        participant_role=arguments.participant_role,
        category=arguments.category,
        from_s=int(first.timestamp()) if first else None,
        to_s=ceil(end.timestamp()) - 1 if end else None,
    )
    last = offset + arguments.limit
    best, is_cut = best_passages(context.retriever, context.tenant_id, arguments.query, wanted, last + 1)
    ids = list(best)[offset:last]
    with context.database.read() as connection:
        rows = communications.get_many(context.tenant_id, connection, ids)
        # What was deleted a moment ago is on its way out of the index.
        page = [rows[id_] for id_ in ids if id_ in rows]
        snippets = {id_: best[id_].text for id_ in rows}
        items = _items(context, connection, page, snippets, best, arguments.limit)
    cursor = ranked_cursor(arguments, last, more=len(best) > last, is_cut=is_cut)
    return CommunicationPage(items=items, next_cursor=cursor)


def best_passages(
    retriever: Retriever, tenant_id: str, query: str, wanted: Filter, count: int
) -> tuple[dict[str, Found], bool]:
    """The best passage of each of the best `count` communications, by their ids. Fewer where there are no more, or
    where the search looks no deeper: then the second is true."""
    most = count * CHUNKS_A_COMMUNICATION
    while True:
        best: dict[str, Found] = {}
        looked = retriever.look(tenant_id, query, wanted, most)
        for passage in looked.passages:  # best first, so the first of a communication is its best
            best.setdefault(str(passage.payload["communication_id"]), passage)
        if len(best) >= count:
            return best, False
        # One long call may fill the list by itself: look further down then.
        if len(looked.passages) < most:
            return best, looked.is_cut
        most *= 4


def _items(
    context: ToolContext,
    connection: Connection,
    page: Sequence[Communication],
    snippets: dict[str, str],
    found: dict[str, Found],
    limit: int,
) -> list[CommunicationItem]:
    ids = [row.id for row in page] if context.sees_analysis else []
    people = speakers.list_participants_of(context.tenant_id, connection, ids)
    categories = conversation_lists.categories_of(context.tenant_id, connection, ids)
    length = snippet_characters(limit)
    items = []
    for row in page:
        present = people.get(row.id, ())
        item = found_communication(context, row, _named(snippets[row.id], present), length, found.get(row.id))
        names = [name for person in present if (name := person_name(person))]
        items.append(
            CommunicationItem(
                **dict(item),
                direction=row.direction,
                category=categories.get(row.id),
                people=names[:MOST_PEOPLE],
            )
        )
    return items


def _named(passage: str, people: Sequence[Participant]) -> str:
    """A passage's turns, with the names of those who are known in place of the labels that recognition gave them."""
    names = {person.label: " ".join(person_name(person).split()) for person in people}
    return _HEARD.sub(lambda found: f"{names.get(found[1]) or found[1]}: ", passage)


TOOLS = (
    Tool(
        name="search_communications",
        title="Search calls, chats and mails",
        description=(
            "Finds conversations with clients by words and by meaning, with filters. Use it for what was said, "
            "asked or agreed; for the company's own rules and prices use search_documents. "
            "Read a find with get_communication."
        ),
        arguments=SearchCommunications,
        result=CommunicationPage,
        function=search_communications,
    ),
)
