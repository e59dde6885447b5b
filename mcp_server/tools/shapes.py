"""Shapes that several tools share: found items, pages and their cursors, and arguments with the same meaning."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Protocol
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, Field

from mcp_server.quoting import QUOTED as QUOTED
from mcp_server.quoting import Quoted as Quoted
from mcp_server.registry import ToolContext, ToolError
from rag.search import Found
from store.analysis import Item
from store.communications import Communication
from store.ids import as_id
from store.speakers import Participant, Speaker

# A whole passage has at most 1,000; a full page of 50 stays within about 20,000 tokens.
SNIPPET_CHARACTERS = 1000
PAGE_CHARACTERS = 20_000
# How far a ranked list is paged: what is further down fits no better than what was never found.
MOST_OFFSET = 1_000


def with_zone(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("needs a time zone, for example 2026-01-31T09:00:00Z")
    return moment


def plain_text(text: str) -> str:
    if "\x00" in text:
        raise ValueError("holds a NUL character")
    return text


Id = Annotated[str, AfterValidator(as_id), Field(json_schema_extra={"format": "uuid"})]
QueryText = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(plain_text)]
Limit = Annotated[int, Field(ge=1, le=50, description="Over 20, snippets are shorter.")]
ListLimit = Annotated[int, Field(ge=1, le=50)]
# Its name says that it is the `next_cursor` of the page before.
Cursor = Annotated[str, Field(max_length=2000)]
_FOR = "for"  # of a cursor: the list that it goes on in


class Paged(Protocol):
    """Arguments of a list that comes in pages."""

    @property
    def cursor(self) -> str | None: ...

    def model_dump_json(self, *, exclude: set[str]) -> str: ...


CommunicationKind = Literal["call", "chat", "email"]
ChannelType = Literal["phone", "telegram", "whatsapp", "email", "widget"]
Direction = Literal["in", "out"]
Role = Literal["client", "sales", "support", "employee", "unknown"]
Category = Literal["no_contact", "sales", "renewal", "support", "billing", "supply", "complaint", "internal"]


class FoundCommunication(BaseModel):
    id: str
    kind: str
    channel_type: str
    occured_at: str
    title: Quoted
    snippet: Quoted
    score: float | None
    start_ms: int | None = None
    url: str
    # The whole passage with the evidence that it fits: for the chat agent, not for the wire.
    found: Found | None = Field(None, exclude=True)


class FoundDocument(BaseModel):
    document_id: str
    space_id: str
    chunk_id: str
    title: Quoted
    snippet: Quoted
    page: int | None
    url: str
    score: float
    found: Found | None = Field(None, exclude=True)


class FoundMemory(BaseModel):
    """Something that is remembered of a person, with the conversation that taught it."""

    id: str
    speaker_id: str
    speaker_name: Quoted
    content: Quoted
    created_at: str
    communication_id: str | None
    score: float | None
    url: str
    found: Found | None = Field(None, exclude=True)


def communication_url(context: ToolContext, communication_id: str) -> str:
    return f"{context.public_url}/cabinet/communications/{communication_id}"


def space_url(context: ToolContext, space_id: str) -> str:
    return f"{context.public_url}/cabinet/knowledge/{space_id}"


def person_url(context: ToolContext, speaker_id: str) -> str:
    return f"{context.public_url}/cabinet/people/{speaker_id}"


def document_url(context: ToolContext, document_id: str, chunk_id: str | None = None) -> str:
    document = f"{context.public_url}/cabinet/documents/{document_id}"
    return f"{document}#chunk-{chunk_id}" if chunk_id is not None else document


def local_time(context: ToolContext, moment: datetime) -> str:
    """ISO 8601 in the account's time zone, with its offset."""
    return moment.astimezone(ZoneInfo(context.tenant.time_zone)).isoformat(timespec="seconds")


def found_communication(
    context: ToolContext, row: Communication, snippet: str, length: int, found: Found | None = None
) -> FoundCommunication:
    """`found` is the passage that a search found in it; without one it is an item of a plain list.

    `length` is the most characters that `snippet` may have.
    """
    return FoundCommunication(
        id=row.id,
        kind=row.kind,
        channel_type=row.channel_type,
        occured_at=local_time(context, row.occured_at),
        title=row.title,
        snippet=shorten(snippet, length),
        score=round(found.score, 4) if found else None,
        start_ms=_number(found, "start_ms") if found else None,
        url=communication_url(context, row.id),
        found=found,
    )


def found_document(context: ToolContext, found: Found, length: int) -> FoundDocument:
    payload = found.payload
    return FoundDocument(
        document_id=str(payload["document_id"]),
        space_id=str(payload["space_id"]),
        chunk_id=found.id,
        title=str(payload["title"]),
        snippet=shorten(found.text, length),
        page=_number(found, "page"),
        url=document_url(context, str(payload["document_id"]), found.id),
        score=round(found.score, 4),
        found=found,
    )


def found_memory(
    context: ToolContext, item: Item, speaker: Speaker, length: int, found: Found | None = None
) -> FoundMemory:
    return FoundMemory(
        id=item.id,
        speaker_id=speaker.id,
        speaker_name=person_name(speaker),
        content=shorten(item.content, length),
        created_at=local_time(context, item.created_at),
        communication_id=(item.meta or {}).get("communication_id"),
        score=round(found.score, 4) if found else None,
        url=person_url(context, speaker.id),
        found=found,
    )


def _number(found: Found, name: str) -> int | None:
    value = found.payload.get(name)
    return int(value) if isinstance(value, int | float) else None


def person_name(person: Speaker | Participant) -> str:
    """What the person is called; empty where nobody knows."""
    return person.name or person.external_id or ""


def snippet_characters(items: int) -> int:
    """The most characters of a snippet on a page of so many items."""
    return min(SNIPPET_CHARACTERS, PAGE_CHARACTERS // items)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words; a cut is said by an ellipsis."""
    if len(text) <= limit:
        return text
    text = text.strip()
    return text if len(text) <= limit else text[:limit].rsplit(maxsplit=1)[0] + " …"


def make_cursor(arguments: Paged, **values: Any) -> str:
    """Where a page of these arguments ended; `open_cursor` takes it for the same ones alone."""
    text = json.dumps({_FOR: _asked(arguments), **values}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def open_cursor(arguments: Paged, *names: str) -> dict[str, Any] | None:
    """What `make_cursor` put in; None without a cursor. Raises ToolError for one that is of another tool, or of other
    arguments."""
    cursor = arguments.cursor
    if cursor is None:
        return None
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or set(values) != {_FOR, *names} or values.pop(_FOR) != _asked(arguments):
        raise foreign_cursor()
    return values


def foreign_cursor() -> ToolError:
    return ToolError("cursor: is not one of this tool's; leave it out to begin again")


def _asked(arguments: Paged) -> str:
    """The tool, by its class of arguments, and what shapes its list: a place in one list is none in another."""
    shaping = arguments.model_dump_json(exclude={"cursor", "limit", "detail"})
    return hashlib.blake2b(f"{type(arguments).__name__} {shaping}".encode(), digest_size=6).hexdigest()


def cursor_position(arguments: Paged) -> tuple[datetime, str] | None:
    """The time and the id of the last item of the page before, in a list that is newest first."""
    values = open_cursor(arguments, "at", "id")
    if values is None:
        return None
    try:
        return cursor_time(values["at"]), as_id(values["id"])
    except (AttributeError, TypeError, ValueError):
        raise foreign_cursor() from None


def cursor_time(text: str) -> datetime:
    """A moment of a cursor, in UTC. Raises ValueError, also for one that UTC's calendar does not have."""
    try:
        return with_zone(datetime.fromisoformat(text)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError("out of the calendar") from error


def cursor_offset(arguments: Paged, *, most: int = MOST_OFFSET) -> int:
    """The offset in a ranked list that a cursor stands for."""
    values = open_cursor(arguments, "offset")
    offset = 0 if values is None else values["offset"]
    if type(offset) is not int or offset < 0:
        raise foreign_cursor()
    if offset > most:
        raise ToolError(
            f"cursor: what a query finds is followed for {most:,} items at most, and there may be more; ask more "
            "precisely, or without query where that lists all"
        )
    return offset


def ranked_cursor(arguments: Paged, end: int, *, more: bool, is_cut: bool) -> str | None:
    """Of a page of a ranked list that ends before the offset `end`. Where the search looks no deeper (`is_cut`), who
    goes on is told that this is not all."""
    if more:
        return make_cursor(arguments, offset=end)
    return make_cursor(arguments, offset=MOST_OFFSET + 1) if is_cut else None
