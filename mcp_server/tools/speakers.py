"""The tool that finds clients and employees: search_speakers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from mcp_server.registry import Arguments, Tool, ToolContext
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    Limit,
    QueryText,
    Quoted,
    Role,
    cursor_time,
    foreign_cursor,
    local_time,
    make_cursor,
    open_cursor,
    person_name,
    person_url,
    plain_text,
)
from rag.text_terms import query_terms
from store import people_order, people_search
from store.database import Connection
from store.ids import as_id
from store.people_order import Order, Spot
from store.people_search import FoundSpeaker, Place
from store.speakers import Speaker

_SHORTEST_STEM = 3


class SearchSpeakers(Arguments):
    query: QueryText | None = Field(None, description="A name or a part of it, or an external id.")
    role: Role | None = None
    department: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(plain_text)] | None = Field(
        None, description="Its name or a part of it."
    )
    order: Literal["updated", "last_contact", "name"] = Field(
        "updated", description="Without a query. With one, who fits best comes first."
    )
    limit: Limit = 10
    cursor: Cursor | None = None


class SpeakerItem(BaseModel):
    id: str
    name: Quoted
    external_id: Quoted | None
    role: str
    department: Quoted | None
    communications: int
    last_contact_at: str | None
    updated_at: str
    url: str


class SpeakerPage(BaseModel):
    text_is: str = QUOTED
    items: list[SpeakerItem]
    next_cursor: str | None


def search_speakers(context: ToolContext, arguments: SearchSpeakers) -> SpeakerPage:
    with context.database.read() as connection:
        if arguments.order == "updated" or arguments.query:
            page, next_cursor = _best(context, connection, arguments)
        else:
            page, next_cursor = _in_order(context, connection, arguments, arguments.order)
        ids = [speaker.id for speaker in page]
        contacts = people_search.contacts_of(context.tenant_id, connection, ids)
    items = []
    for speaker in page:
        heard = contacts.get(speaker.id)
        items.append(
            SpeakerItem(
                id=speaker.id,
                name=person_name(speaker),
                external_id=speaker.external_id,
                role=speaker.role,
                department=speaker.department,
                communications=heard.count if heard else 0,
                last_contact_at=local_time(context, heard.last_at) if heard else None,
                updated_at=local_time(context, speaker.updated_at),
                url=person_url(context, speaker.id),
            )
        )
    return SpeakerPage(items=items, next_cursor=next_cursor)


def _in_order(
    context: ToolContext, connection: Connection, arguments: SearchSpeakers, order: Order
) -> tuple[list[Speaker], str | None]:
    """A page of everybody, and the cursor of the next."""
    found = people_order.list_people(
        context.tenant_id,
        connection,
        order,
        role=arguments.role,
        department=arguments.department,
        limit=arguments.limit + 1,
        after=_spot(arguments, order),
    )
    page = found[: arguments.limit]
    cursor = None
    if len(found) > len(page):
        spot = page[-1].spot
        key = spot.key.isoformat() if isinstance(spot.key, datetime) else spot.key
        cursor = make_cursor(arguments, key=key, id=spot.id)
    return [each.speaker for each in page], cursor


def _spot(arguments: SearchSpeakers, order: Order) -> Spot | None:
    values = open_cursor(arguments, "key", "id")
    if values is None:
        return None
    try:
        key = values["key"]
        if key is not None and not isinstance(key, str):
            raise ValueError
        return Spot(cursor_time(key) if key is not None and order == "last_contact" else key, as_id(values["id"]))
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise foreign_cursor() from None


def _best(context: ToolContext, connection: Connection, arguments: SearchSpeakers) -> tuple[list[Speaker], str | None]:
    """A page of those that fit, the best first, and the cursor of the next."""
    found = _found(context, connection, arguments, _place(arguments))
    page = found[: arguments.limit]
    cursor = _cursor(arguments, page[-1].place) if len(found) > len(page) else None
    return [each.speaker for each in page], cursor


def _found(
    context: ToolContext, connection: Connection, arguments: SearchSpeakers, after: Place | None
) -> list[FoundSpeaker]:
    def search(parts: list[str] | None = None) -> list[FoundSpeaker]:
        return people_search.search(
            context.tenant_id,
            connection,
            query=arguments.query or "",
            parts=parts,
            role=arguments.role,
            department=arguments.department,
            limit=arguments.limit + 1,
            after=after,
        )

    found = search()
    if found or not arguments.query:
        return found
    # A name as it stands in a question, in another case: of each word what its cases share.
    stems = [stem for stem in query_terms(arguments.query) if len(stem) >= _SHORTEST_STEM]
    return search(stems[: people_search.MOST_WORDS]) if stems else []


def _cursor(arguments: SearchSpeakers, place: Place) -> str:
    return make_cursor(arguments, rank=place.rank, at=place.updated_at.isoformat(), id=place.id)


def _place(arguments: SearchSpeakers) -> Place | None:
    values = open_cursor(arguments, "rank", "at", "id")
    if values is None:
        return None
    try:
        if type(values["rank"]) is not int or not 0 <= values["rank"] <= 3:
            raise ValueError
        return Place(values["rank"], cursor_time(values["at"]), as_id(values["id"]))
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise foreign_cursor() from None


TOOLS = (
    Tool(
        name="search_speakers",
        title="Search clients and employees",
        description=(
            "Finds people by name, external id, role or department, with their last contact. Use it for the id that "
            "other tools take; for what is known of somebody use search_memory."
        ),
        arguments=SearchSpeakers,
        result=SpeakerPage,
        function=search_speakers,
        of_analysis=True,
    ),
)
