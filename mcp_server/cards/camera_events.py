"""What all cameras of an account saw, searched: by period, scenario, type, camera, and what was read."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import Field

from ingest.vision.scenarios.findings import EventType
from mcp_server.cards.camera import event_details, event_heading
from mcp_server.cards.frame import SCHEME, Card, Words
from mcp_server.quoting import FOOT_TOKENS, MOST_TOKENS, Block, fit
from mcp_server.registry import Arguments, ToolContext, ToolError
from mcp_server.tools.moments import Bound, in_order, since, until
from mcp_server.tools.shapes import Cursor, Id, cursor_position, make_cursor
from rag.language_model import estimate_tokens
from store import camera_events, camera_streams
from store.camera_events import Event
from store.camera_streams import Scenario

EVENTS_URI = f"{SCHEME}camera-events"
MOST_EVENTS = 200


class EventSearch(Arguments):
    """What the template takes, by its names."""

    from_: Bound | None = Field(None, alias="from")
    to: Bound | None = None
    scenario: Scenario | None = None
    type: EventType | None = None
    text: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    stream_id: Id | None = None
    cursor: Cursor | None = None


def camera_events_card(context: ToolContext, search: EventSearch) -> Card:
    """Newest first. Raises ToolError for a cursor of another search, a period that ends before it
    begins, or a text that has nothing to search for."""
    in_order(search.from_, search.to)
    key = None if search.text is None else camera_events.search_key(search.text)
    if key == "":
        raise ToolError("text: has no letter and no digit")
    with context.database.read() as connection:
        rows = camera_events.list_page(
            context.tenant_id,
            connection,
            stream_id=search.stream_id,
            scenario=search.scenario,
            kind=search.type,
            text=key,
            begin=since(context, search.from_),
            end=until(context, search.to),
            after=cursor_position(search),
            limit=MOST_EVENTS + 1,
        )
        names = camera_streams.names_of(context.tenant_id, connection, {row.stream_id for row in rows})
    words = Words(context)
    head = [words.heading("camera_events", None), words["note"], f"## {words['seen']}"]
    if not rows:
        head.append(words["none_found"])
    before = "\n\n".join(head)
    page = rows[:MOST_EVENTS]
    blocks = [_block(context, number, row, names.get(row.stream_id, "")) for number, row in enumerate(page)]
    room = MOST_TOKENS - 2 * FOOT_TOKENS - estimate_tokens(before)  # the address of the next part has the search in it
    shown, goes_on = fit(blocks, None, room)
    count = len(page) if goes_on is None else goes_on.index
    foot = []
    if count < len(rows) and count:
        foot.append(f"{words['goes_on']} {_address(search, page[count - 1])}")
    return Card("\n\n".join([before, *shown, *foot]) + "\n", goes_on)


def _block(context: ToolContext, number: int, row: Event, name: str) -> Block:
    text = "\n".join(filter(None, (name, event_details(row))))
    return Block(number, f"{event_heading(context, row)} {SCHEME}cameras/{row.stream_id}", text)


def _address(search: EventSearch, last: Event) -> str:
    asked: dict[str, Any] = search.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"cursor"})
    cursor = make_cursor(search, at=last.occurred_at.isoformat(), id=last.id)
    return f"{EVENTS_URI}?{urlencode({**asked, 'cursor': cursor})}"
