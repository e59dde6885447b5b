"""Communications, documents, people and cameras as MCP resources: listed newest first, read in parts as Markdown."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from urllib.parse import parse_qsl

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcp_server.cards import (
    EVENTS_URI,
    SCHEME,
    Card,
    EventSearch,
    camera_card,
    camera_events_card,
    communication_card,
    document_card,
    person_card,
    uri_of,
)
from mcp_server.quoting import MOST_TOKENS, Place, one_line
from mcp_server.registry import Arguments, ToolContext, ToolError
from mcp_server.tools.shapes import cursor_position, local_time, make_cursor
from rag.language_model import estimate_tokens
from store import catalog, communications
from store.catalog import Kind
from store.communications import Cursor
from store.database import Connection
from store.ids import parse_id

PAGE = 100
NAME_CHARACTERS = 200
MARKDOWN = "text/markdown"
TITLED_SINCE = "2025-06-18"
RESOURCE_NOT_FOUND = -32002  # until 2026-07-28, which retired it for invalid params
INVALID_PARAMS_SINCE = "2026-07-28"
MOST_URI_CHARACTERS = 200

_URI = re.compile(rf"{SCHEME}([a-z]+)/([0-9A-Fa-f-]{{36}})(?:\?from=([0-9]{{1,9}})(?:\.([0-9]{{1,9}}))?)?")


@dataclass(frozen=True, slots=True)
class _Kind:
    """`read` gives a card from a place on; `name` and `title` describe the template."""

    name: str
    title: str
    description: str
    read: Callable[[ToolContext, str, Place | None], Card | None]
    feature: str | None = None
    of_analysis: bool = False

    def is_there(self, context: ToolContext) -> bool:
        return (self.feature is None or self.feature in context.tenant.features) and (
            context.sees_analysis or not self.of_analysis
        )


KINDS: dict[Kind, _Kind] = {
    "communications": _Kind(
        "communication",
        "Call, chat or mail",
        "One conversation: its card, summary, promises and participants, then every turn. {id} is what tools give as "
        "communication id; a long one goes on at ?from=, whose value the part before gives.",
        communication_card,
    ),
    "documents": _Kind(
        "document",
        "Document of the knowledge base",
        "The text of one document. {id} is what search_documents gives as document_id; a long one goes on at ?from=.",
        document_card,
        feature="kb",
    ),
    "people": _Kind(
        "person",
        "Client or employee",
        "A profile: latest contacts, promises, and what is remembered. {id} is what tools give as a person's id.",
        person_card,
        of_analysis=True,
    ),
    "cameras": _Kind(
        "camera",
        "Camera",
        "What one camera saw: how it goes, visitors by the day, then its events, newest first. {id} is a stream's id "
        "of the Vision API; many events go on at ?from=.",
        camera_card,
        feature="vision",
    ),
}
EVENTS_TEMPLATE = f"{EVENTS_URI}{{?{','.join(each.alias or name for name, each in EventSearch.model_fields.items())}}}"
_EVENTS = (
    "What all cameras saw, newest first. Each parameter may be left out: from and to (inclusive: days, or moments with "
    "their offset), scenario (traffic, ppe, safety, lpr, barcode), type (as plate_read or fall), text (how a plate, a "
    "container's number or a code begins), stream_id; more goes on at the address that the part before gives."
)


class _Listing(Arguments):
    """What resources/list takes."""

    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class _Listed:
    """Lists are newest first by `at`, then id, over all kinds."""

    at: datetime
    id: str
    kind: Kind
    name: str
    title: str
    description: str
    modified_at: datetime


def list_resources(context: ToolContext, cursor: str | None, *, version: str) -> types.ListResourcesResult:
    """A page over all kinds that the caller may see, of PAGE at most and of so many as fit an answer. Raises MCPError
    for a cursor that is not ours."""
    try:
        position = cursor_position(_Listing(cursor=cursor))
    except ToolError:
        raise MCPError(
            types.INVALID_PARAMS, "cursor: is not one of resources/list; leave it out to begin again"
        ) from None
    with context.database.read() as connection:
        parts = [
            _LISTS[kind](context, connection, position)
            for kind, described in KINDS.items()
            if described.is_there(context)
        ]
        newest_first = heapq.merge(*parts, key=lambda item: (item.at, item.id), reverse=True)
        items = list(islice(newest_first, PAGE + 1))
        sizes = _sizes(context, connection, items[:PAGE])
    shown = _fitting([_resource(context, item, sizes.get(item.id), version) for item in items[:PAGE]])
    last = items[len(shown) - 1] if len(items) > len(shown) else None
    return types.ListResourcesResult(
        resources=shown,
        next_cursor=make_cursor(_Listing(), at=last.at.isoformat(), id=last.id) if last is not None else None,
    )


def _fitting(resources: list[types.Resource]) -> list[types.Resource]:
    """The first of them that fit an answer, one at least: their names may be long, and of what takes many tokens."""
    texts = [resource.model_dump_json(by_alias=True, exclude_none=True) for resource in resources]
    if estimate_tokens(",".join(texts)) <= MOST_TOKENS:
        return resources
    room = MOST_TOKENS
    for number, text in enumerate(texts):
        room -= estimate_tokens(f"{text},")
        if room < 0:
            return resources[: max(number, 1)]
    return resources


def list_templates(context: ToolContext, *, version: str) -> types.ListResourceTemplatesResult:
    """One template for each kind that the caller may see, and the search of what cameras saw."""
    described = [
        (template_of(kind), each.name, each.title, each.description)
        for kind, each in KINDS.items()
        if each.is_there(context)
    ]
    if KINDS["cameras"].is_there(context):
        described.append((EVENTS_TEMPLATE, "camera-events", "Events of cameras", _EVENTS))
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=template,
                name=name,
                title=title if version >= TITLED_SINCE else None,
                description=description,
                mime_type=MARKDOWN,
            )
            for template, name, title, description in described
        ]
    )


def template_of(kind: Kind) -> str:
    """RFC 6570; `from` is left out for the first part."""
    return f"{SCHEME}{kind}/{{id}}{{?from}}"


def read_resource(context: ToolContext, uri: str, *, version: str) -> types.ReadResourceResult:
    """One part of what the URI names. Raises MCPError where there is nothing, as the protocol version defines it."""
    card = _read(context, uri)
    if card is None:
        code = types.INVALID_PARAMS if version >= INVALID_PARAMS_SINCE else RESOURCE_NOT_FOUND
        shown = uri[:MOST_URI_CHARACTERS]
        raise MCPError(code, f"resource not found: {shown}", {"uri": shown})
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=card.text)])


def _read(context: ToolContext, uri: str) -> Card | None:
    if uri.partition("?")[0] == EVENTS_URI:
        return _read_events(context, uri) if KINDS["cameras"].is_there(context) else None
    found = _URI.fullmatch(uri)
    if found is None or found[1] not in KINDS or (id_ := parse_id(found[2])) is None:
        return None
    kind = next(kind for name, kind in KINDS.items() if name == found[1])
    place = Place(int(found[3]), int(found[4] or 0)) if found[3] is not None else None
    return kind.read(context, id_, place) if kind.is_there(context) else None


def _read_events(context: ToolContext, uri: str) -> Card:
    """Raises MCPError that says what is wrong with the search."""
    given = parse_qsl(uri.partition("?")[2], keep_blank_values=True)
    try:
        return camera_events_card(context, EventSearch.model_validate(dict(given)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        problem = f"{'.'.join(map(str, first['loc'][:1]))[:100]}: {first['msg']}"
    except ToolError as error:
        problem = str(error)
    raise MCPError(types.INVALID_PARAMS, problem)


def _resource(context: ToolContext, item: _Listed, size: int | None, version: str) -> types.Resource:
    is_titled = version >= TITLED_SINCE
    annotations = types.Annotations(audience=["user", "assistant"])
    if is_titled:
        annotations.last_modified = local_time(context, item.modified_at)
    title = one_line(item.title, NAME_CHARACTERS)
    return types.Resource(
        uri=uri_of(item.kind, item.id),
        # Older clients show the name.
        name=(one_line(item.name, NAME_CHARACTERS) if is_titled else title) or item.id,
        title=title if is_titled else None,
        description=item.description,
        mime_type=MARKDOWN,
        size=size,
        annotations=annotations,
    )


def _communications(
    context: ToolContext, connection: Connection, position: tuple[datetime, str] | None
) -> Iterator[_Listed]:
    before = Cursor(*position) if position is not None else None
    for row in communications.list_page(context.tenant_id, connection, limit=PAGE + 1, before=before):
        about = (row.channel_type, row.direction, local_time(context, row.occured_at))
        name = f"{row.kind} {local_time(context, row.occured_at)[:16].replace('T', ' ')}"
        yield _Listed(
            row.occured_at,
            row.id,
            "communications",
            name,
            row.title or name,
            f"{row.kind}: {', '.join(filter(None, about))}",
            row.updated_at,
        )


def _documents(
    context: ToolContext, connection: Connection, position: tuple[datetime, str] | None
) -> Iterator[_Listed]:
    before = catalog.Place(*position) if position is not None else None
    rows = catalog.list_documents(
        context.tenant_id, connection, limit=PAGE + 1, before=before, space_ids=context.space_ids
    )
    for row in rows:
        about = f"document of the knowledge base, {local_time(context, row.updated_at)}"
        yield _Listed(
            row.created_at, row.id, "documents", row.file_name, row.title or row.file_name, about, row.updated_at
        )


def _people(context: ToolContext, connection: Connection, position: tuple[datetime, str] | None) -> Iterator[_Listed]:
    before = catalog.Place(*position) if position is not None else None
    for row in catalog.list_people(context.tenant_id, connection, limit=PAGE + 1, before=before):
        name = row.external_id or row.name or row.id
        yield _Listed(row.created_at, row.id, "people", name, row.name or name, f"person: {row.role}", row.updated_at)


def _cameras(context: ToolContext, connection: Connection, position: tuple[datetime, str] | None) -> Iterator[_Listed]:
    before = catalog.Place(*position) if position is not None else None
    for row in catalog.list_cameras(context.tenant_id, connection, limit=PAGE + 1, before=before):
        about = f"camera: {', '.join(row.scenarios)}"
        yield _Listed(row.created_at, row.id, "cameras", row.name, row.name, about, row.updated_at)


_LISTS: dict[Kind, Callable[[ToolContext, Connection, tuple[datetime, str] | None], Iterator[_Listed]]] = {
    "communications": _communications,
    "documents": _documents,
    "people": _people,
    "cameras": _cameras,
}


def _sizes(context: ToolContext, connection: Connection, items: list[_Listed]) -> dict[str, int]:
    """The bytes of what is quoted in full, by id; of people and cameras nobody counts it."""
    of = {kind: [item.id for item in items if item.kind == kind] for kind in ("communications", "documents")}
    return {
        **catalog.communication_sizes(context.tenant_id, connection, of["communications"]),
        **catalog.document_sizes(context.tenant_id, connection, of["documents"]),
    }
