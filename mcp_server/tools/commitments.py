"""The tool that finds tasks and promises: search_commitments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, timedelta
from typing import Literal

from pydantic import BaseModel, Field

from mcp_server.registry import Arguments, Tool, ToolContext
from mcp_server.tools.moments import Bound, Day, in_order, since, today, until
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    Id,
    Limit,
    QueryText,
    Quoted,
    communication_url,
    cursor_offset,
    cursor_time,
    foreign_cursor,
    local_time,
    make_cursor,
    open_cursor,
    person_name,
    shorten,
    snippet_characters,
)
from rag.text_terms import query_terms, terms
from store import commitments, speakers
from store.commitments import Place, Promise, Wanted
from store.database import Connection
from store.ids import as_id

MOST_CANDIDATES = 1_000
MOST_TERMS = 12
MOST_PEOPLE = 4
CONTENT_CHARACTERS = 400


class SearchCommitments(Arguments):
    query: QueryText | None = Field(None, description="Words of the promise, best match first.")
    speaker_id: Id | None = Field(None, description="Who made the promise, or to whom it was made.")
    from_: Bound | None = Field(None, alias="from", description="Of the conversation: first day, or time with offset.")
    to: Bound | None = Field(None, description="Last day, inclusive, or time, exclusive.")
    due_from: Day | None = Field(None, description="First day of the deadline.")
    due_to: Day | None = Field(None, description="Its last day, inclusive.")
    open: bool = Field(False, description="Only those that nobody marked as done.")
    overdue: bool = Field(False, description="Only open ones whose day is past.")
    order: Literal["newest", "due"] = Field(
        "newest", description="due: nearest deadline first, from today on unless overdue or due_* are given."
    )
    limit: Limit = 10
    cursor: Cursor | None = None


class CommitmentItem(BaseModel):
    """`people` are the names of the first few who took part, `promised_by` of who made it, where that is known."""

    id: str
    content: Quoted
    deadline: str | None
    overdue: bool | None
    done_at: str | None
    promised_by: Quoted | None
    speaker_id: str | None
    people: list[Quoted]
    communication_id: str
    kind: str
    channel_type: str
    title: Quoted
    occured_at: str
    url: str


class CommitmentPage(BaseModel):
    text_is: str = QUOTED
    items: list[CommitmentItem]
    next_cursor: str | None


def search_commitments(context: ToolContext, arguments: SearchCommitments) -> CommitmentPage:
    wanted = _wanted(context, arguments)
    with context.database.read() as connection:
        if arguments.query:
            page, cursor = _ranked(context, connection, arguments, wanted)
        else:
            page, cursor = _listed(context, connection, arguments, wanted)
        items = _items(context, connection, page, arguments.limit)
    return CommitmentPage(items=items, next_cursor=cursor)


def _wanted(context: ToolContext, arguments: SearchCommitments) -> Wanted:
    in_order(since(context, arguments.from_), until(context, arguments.to))
    in_order(arguments.due_from, arguments.due_to, "due_to")
    due_from, due_to = arguments.due_from, arguments.due_to
    if arguments.overdue:
        yesterday = today(context) - timedelta(days=1)
        due_to = min(due_to, yesterday) if due_to is not None else yesterday
    elif arguments.order == "due" and due_from is None and due_to is None:
        due_from = today(context)
    return Wanted(
        speaker_id=arguments.speaker_id,
        since=since(context, arguments.from_),
        until=until(context, arguments.to),
        due_from=due_from,
        due_to=due_to,
        is_open=arguments.open or arguments.overdue,
    )


def _listed(
    context: ToolContext, connection: Connection, arguments: SearchCommitments, wanted: Wanted
) -> tuple[list[Promise], str | None]:
    order, after = arguments.order, _place(arguments)
    found = commitments.list_commitments(
        context.tenant_id, connection, wanted, order=order, limit=arguments.limit + 1, after=after
    )
    page = found[: arguments.limit]
    return page, _cursor(arguments, page[-1]) if len(found) > arguments.limit else None


def _ranked(
    context: ToolContext, connection: Connection, arguments: SearchCommitments, wanted: Wanted
) -> tuple[list[Promise], str | None]:
    """Of the best MOST_CANDIDATES those with most of the query's words first; equals in the order that is asked for."""
    assert arguments.query
    offset = cursor_offset(arguments, most=MOST_CANDIDATES)
    asked = query_terms(arguments.query)[:MOST_TERMS]
    if not asked:
        return [], None
    # English stems end in "i" where their word has "y".
    parts = tuple(dict.fromkeys(term.removesuffix("i") if len(term) > 3 else term for term in asked))
    candidates = commitments.list_best(
        context.tenant_id,
        connection,
        Wanted(
            speaker_id=wanted.speaker_id,
            since=wanted.since,
            until=wanted.until,
            due_from=wanted.due_from,
            due_to=wanted.due_to,
            word_parts=parts,
            is_open=wanted.is_open,
        ),
        order=arguments.order,
        limit=MOST_CANDIDATES,
    )
    ranked = _by_words(candidates, asked)
    end = offset + arguments.limit
    more = len(ranked) > end
    if not more and len(candidates) == MOST_CANDIDATES:
        # Whoever goes on is told that this is not all.
        more, end = True, MOST_CANDIDATES + 1
    return ranked[offset:end], make_cursor(arguments, offset=end) if more else None


def _by_words(candidates: Sequence[Promise], asked: Sequence[str]) -> list[Promise]:
    """Those that hold a word of what is asked, the rarer a word the more it counts; equals stay in their order."""
    wanted = frozenset(asked)
    held = [wanted.intersection(terms(each.content)) for each in candidates]
    counts = Counter(term for each in held for term in each)
    weight = {term: math.log1p(len(candidates) / count) for term, count in counts.items()}
    scored = [(sum(weight[term] for term in each), each) for each in held]
    order = sorted(range(len(candidates)), key=lambda place: -scored[place][0])
    return [candidates[place] for place in order if held[place]]


def _items(context: ToolContext, connection: Connection, page: Sequence[Promise], limit: int) -> list[CommitmentItem]:
    people = speakers.list_participants_of(
        context.tenant_id, connection, list({each.communication_id for each in page})
    )
    makers = speakers.get_many(context.tenant_id, connection, [each.speaker_id for each in page if each.speaker_id])
    day = today(context)
    length = min(CONTENT_CHARACTERS, snippet_characters(limit))
    items = []
    for each in page:
        names = [name for person in people[each.communication_id] if (name := person_name(person))]
        maker = makers.get(each.speaker_id) if each.speaker_id else None
        items.append(
            CommitmentItem(
                id=each.id,
                content=shorten(each.content, length),
                deadline=(each.meta or {}).get("deadline"),
                overdue=None if each.due_on is None else each.due_on < day and each.done_at is None,
                done_at=local_time(context, each.done_at) if each.done_at is not None else None,
                promised_by=person_name(maker) if maker is not None else None,
                speaker_id=each.speaker_id,
                people=names[:MOST_PEOPLE],
                communication_id=each.communication_id,
                kind=each.kind,
                channel_type=each.channel_type,
                title=each.title,
                occured_at=local_time(context, each.occured_at),
                url=communication_url(context, each.communication_id),
            )
        )
    return items


def _cursor(arguments: SearchCommitments, last: Promise) -> str:
    at = last.due_on if arguments.order == "due" else last.occured_at.astimezone(UTC)
    assert at is not None, "what is ordered by its deadline has one"
    return make_cursor(arguments, at=at.isoformat(), of=last.communication_id, id=last.id)


def _place(arguments: SearchCommitments) -> Place | None:
    values = open_cursor(arguments, "at", "of", "id")
    if values is None:
        return None
    try:
        at: date = date.fromisoformat(values["at"]) if arguments.order == "due" else cursor_time(values["at"])
        return Place(at, as_id(values["of"]), as_id(values["id"]))
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise foreign_cursor() from None


TOOLS = (
    Tool(
        name="search_commitments",
        title="Search tasks and promises",
        description=(
            "What employees promised in conversations, with deadlines: of a person or of all, by words, by when it "
            "was said or is due. For the words of the conversation itself use search_communications."
        ),
        arguments=SearchCommitments,
        result=CommitmentPage,
        function=search_commitments,
        of_analysis=True,
    ),
)
