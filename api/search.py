"""One search over what an account has: documents, conversations, and what is remembered of people."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.fields import Uuid
from api.http import Body, Call, NoInput, Operation
from api.knowledge import open_spaces
from mcp_server.registry import ToolContext
from mcp_server.tools.shapes import (
    FoundCommunication,
    FoundDocument,
    FoundMemory,
    found_communication,
    found_document,
    found_memory,
    snippet_characters,
)
from rag.index import Filter
from rag.search import Found
from store import analysis, communications, space_access, speakers
from store.accounts import Tenant
from store.errors import NotPermitted

Kind = Literal["document", "communication", "memory"]
KINDS: tuple[Kind, ...] = ("document", "communication", "memory")
FEATURES = {"document": "kb", "memory": "memory"}
MOST_NEIGHBOURS = 2


class SearchBody(Body):
    """`kinds` that are left out are all that the account has; `space_ids` bound documents. `neighbours`: so many
    passages before and after each one of a document are joined to its snippet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
    kinds: Annotated[list[Kind], Field(min_length=1, max_length=len(KINDS))] | None = None
    space_ids: Annotated[list[Uuid], Field(max_length=100)] | None = None
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    neighbours: Annotated[int, Field(ge=0, le=MOST_NEIGHBOURS)] = 0


class DocumentHit(FoundDocument):
    """`duplicates`: how many passages that say the same were left out."""

    kind: Literal["document"] = "document"
    duplicates: int = 0


class CommunicationHit(BaseModel):
    """`communication_kind` is call, chat or email; several passages of one conversation are several items."""

    kind: Literal["communication"] = "communication"
    id: str
    communication_kind: str
    channel_type: str
    occured_at: str
    title: str
    snippet: str
    score: float
    start_ms: int | None
    url: str
    duplicates: int = 0


class MemoryHit(FoundMemory):
    kind: Literal["memory"] = "memory"
    duplicates: int = 0


class SearchResult(BaseModel):
    """Best first. Scores order the items of one search and mean nothing beside another one's."""

    items: list[Annotated[DocumentHit | CommunicationHit | MemoryHit, Field(discriminator="kind")]]


def search(call: Call[NoInput, SearchBody]) -> SearchResult:
    body, tenant = call.body, call.principal.tenant
    kinds = _kinds(body, tenant)
    with call.services.database.read() as connection:
        allowed = open_spaces(call, connection)
    spaces = space_access.within(allowed, body.space_ids)
    house = call.services.workshop
    found = house.retriever.find(
        call.tenant_id, body.query, Filter(kinds=kinds, space_ids=spaces), body.limit, neighbours=body.neighbours
    )
    context = ToolContext(
        tenant=tenant,
        database=call.services.database,
        retriever=house.retriever,
        public_url=call.services.settings.effective_public_url,
    )
    return SearchResult(items=_shown(context, found, snippet_characters(body.limit) * (1 + 2 * body.neighbours)))


def _kinds(body: SearchBody, tenant: Tenant) -> tuple[Kind, ...]:
    """Raises NotPermitted for one that was asked for and is of a feature that the account lacks."""
    asked = KINDS if body.kinds is None else tuple(dict.fromkeys(body.kinds))
    kinds = tuple(kind for kind in asked if kind not in FEATURES or FEATURES[kind] in tenant.features)
    if body.kinds is not None and (lacking := [kind for kind in asked if kind not in kinds]):
        feature = FEATURES[lacking[0]]
        raise NotPermitted(f"The {feature} feature is not enabled for this account.", code="feature_disabled")
    return kinds


def _shown(context: ToolContext, found: list[Found], length: int) -> list[DocumentHit | CommunicationHit | MemoryHit]:
    """What was deleted since it was found is left out."""
    tenant_id = context.tenant_id
    with context.database.read() as connection:
        conversations = communications.get_many(tenant_id, connection, _ids(found, "communication", "communication_id"))
        items = analysis.get_items(tenant_id, connection, _ids(found, "memory"))
        speaker_ids = [item.speaker_id for item in items.values() if item.speaker_id]
        people = speakers.get_many(tenant_id, connection, speaker_ids)
    hits: list[DocumentHit | CommunicationHit | MemoryHit] = []
    for each in found:
        conversation = conversations.get(str(each.payload.get("communication_id")))
        item = items.get(each.id)
        if each.payload["kind"] == "document":
            document = found_document(context, each, length)
            hits.append(DocumentHit(**document.model_dump(), duplicates=each.duplicates))
        elif conversation is not None:
            hits.append(_conversation(found_communication(context, conversation, each.text, length, each), each))
        elif item is not None and item.speaker_id in people:
            memory = found_memory(context, item, people[item.speaker_id], length, each)
            hits.append(MemoryHit(**memory.model_dump(), duplicates=each.duplicates))
    return hits


def _ids(found: list[Found], kind: Kind, key: str | None = None) -> list[str]:
    return [str(each.payload[key]) if key else each.id for each in found if each.payload["kind"] == kind]


def _conversation(item: FoundCommunication, found: Found) -> CommunicationHit:
    values = item.model_dump()
    return CommunicationHit(
        **(values | {"kind": "communication", "communication_kind": values["kind"]}), duplicates=found.duplicates
    )


OPERATIONS = (
    Operation(
        "POST",
        "/v1/search",
        search,
        "Search everything",
        response=SearchResult,
        body=SearchBody,
        errors=(400, 401, 403, 503),
        paused=True,
        role="viewer",  # it only reads
        unaudited="It only reads.",
    ),
)
