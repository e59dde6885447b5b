"""What one camera saw: how it goes with it, its visitors by the day, and its events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from mcp_server.cards.frame import ITEM_CHARACTERS, Card, Words, part, uri_of
from mcp_server.quoting import Block, Place
from mcp_server.registry import ToolContext
from mcp_server.tools.shapes import local_time, shorten
from store import camera_events, camera_streams, camera_traffic
from store.camera_events import Event
from store.camera_streams import Stream
from store.database import Connection, now

DAYS = 7
EVENTS_AT_ONCE = 200
_OF_THE_PICTURE = frozenset(("box", "frame", "floor", "track_id"))
"""What of an event's metadata says where in the picture it was: of no use without the picture."""


def camera_card(context: ToolContext, stream_id: str, place: Place | None) -> Card | None:
    """The camera, before the first part, and its events from `place` on, newest first."""
    if "vision" not in context.tenant.features:
        return None
    with context.database.read() as connection:
        stream = camera_streams.get(context.tenant_id, connection, stream_id)
        if stream is None:
            return None
        words = Words(context)
        head = [words.heading("camera", place), _facts(context, words, stream, place), words["note"]]
        head += words.section("name", stream.name, level="")
        if place is None:
            head += words.section("address", stream.shown_url, level="")
            head += words.section("place", stream.site_id or "", level="")
            head += words.section("trouble", "\n".join(filter(None, (stream.message, *stream.notes))), level="")
            head += _traffic(context, words, connection, stream)
        head.append(f"## {words['seen']}")
        first = place.index if place is not None else 0
        blocks = _events(context, connection, stream_id, first)
        if place is None and stream.last_event_at is None:
            head.append(words["nothing"])
        return part(words, head, blocks, place, uri_of("cameras", stream_id))


def _facts(context: ToolContext, words: Words, stream: Stream, place: Place | None) -> str:
    lines = [uri_of("cameras", stream.id)]
    if place is None:
        lines.append(f"{words['status']}: {stream.status}")
        lines.append(f"{words['scenarios']}: {', '.join(stream.scenarios)}")
        if stream.last_event_at is not None:
            lines.append(f"{words['last_event']}: {local_time(context, stream.last_event_at)}")
    return "\n".join(f"- {line}" for line in lines)


def _traffic(context: ToolContext, words: Words, connection: Connection, stream: Stream) -> list[str]:
    if "traffic" not in stream.scenarios:
        return []
    day = timedelta(days=1)
    end = now().replace(hour=0, minute=0, second=0, microsecond=0) + day
    buckets = camera_traffic.series(context.tenant_id, connection, stream.id, end - DAYS * day, end, step=day)
    lines = [
        f"- {each.begin.date()}: {each.entered}, {each.left}, {each.unique_visitors}, {each.avg_queue_sec:g}"
        for each in buckets
    ]
    return [f"## {words['traffic']}", "\n".join(lines)]


def _events(context: ToolContext, connection: Connection, stream_id: str, first: int) -> Iterator[Block]:
    """Numbered from the newest; what comes in between two parts moves the others on, so some are told twice."""
    while True:
        rows = camera_events.list_page(
            context.tenant_id, connection, stream_id=stream_id, offset=first, limit=EVENTS_AT_ONCE
        )
        for index, row in enumerate(rows, start=first):
            yield Block(index, f"[{index}] {event_heading(context, row)}", event_details(row))
        if len(rows) < EVENTS_AT_ONCE:
            return
        first += len(rows)


def event_heading(context: ToolContext, row: Event) -> str:
    return f"{local_time(context, row.occurred_at)} {row.scenario} {row.type} {row.confidence:.0%}"


def event_details(row: Event) -> str:
    """Zones are named by people, and what is read is on plates and parcels: quoted, all of it."""
    told = (f"{name}: {value}" for name, value in row.metadata.items() if name not in _OF_THE_PICTURE)
    return shorten("; ".join(told), ITEM_CHARACTERS) or "-"
