"""The Public layer's chats: their list, and one question with its answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal

import anyio
import structlog
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from api.fields import UtcTime, Uuid
from api.http import Call, NoInput, Operation, error_of
from chat.agent import Scope
from chat.billing import billed, hold_message
from chat.contract import Done, Event, Message, Status, Text
from store import chats
from store.chats import Chat
from store.errors import InternalError, NotFound, ParleyError
from store.ids import new_id

log = structlog.get_logger(__name__)

MOST_CHARACTERS = 4000
MOST_HISTORY = 40

MessageText = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS, pattern=r"\S")]


class ChatListItem(BaseModel):
    id: str
    name: str
    header_title: str
    is_default: bool
    default_space_ids: list[str]
    workflow_flow_id: str | None
    public_key: str
    created_at: UtcTime
    updated_at: UtcTime


class ChatList(BaseModel):
    items: list[ChatListItem]


class HistoryItem(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]


class MessageRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    text: MessageText
    history: Annotated[list[HistoryItem], Field(max_length=MOST_HISTORY)] = []
    space_ids: Annotated[list[Uuid], Field(max_length=100)] | None = None


class Context(BaseModel):
    communications: list[dict[str, Any]]
    documents: list[dict[str, Any]]
    memory: list[dict[str, Any]]


class MessageResponse(BaseModel):
    request_id: str
    markdown: str
    context: Context


def list_chats(call: Call[NoInput, NoInput]) -> ChatList:
    with call.services.database.read() as connection:
        rows = chats.list_all(call.tenant_id, connection)
    return ChatList(items=[ChatListItem.model_validate(row, from_attributes=True) for row in rows if row.is_active])


async def send_message(call: Call[NoInput, MessageRequest]) -> Response | MessageResponse:
    chat = await run_in_threadpool(_require_chat, call)
    scope = Scope(
        tenant=call.principal.tenant,
        space_ids=_spaces(chat, call.body.space_ids),
        sees_communications=True,
    )
    history = [Message(role=item.role, content=item.content) for item in call.body.history]
    request_id = new_id()
    llm_model = call.services.agent.model_name()
    await run_in_threadpool(hold_message, call.services.database, call.tenant_id, request_id, llm_model)
    events = billed(
        call.services.database,
        call.tenant_id,
        request_id,
        llm_model,
        call.services.agent.answer(scope, call.body.text, history),
        also=lambda connection, done: call.keep(connection, _response(request_id, done), 200),
    )
    if "text/event-stream" in call.request.headers.get("accept", ""):
        return EventSourceResponse(stream_events(events, request_id))
    done = await finish_unless_aborted(call.request, events)
    if done is None:
        return Response(status_code=499)  # nobody is there to read it
    return _response(request_id, done)


def _response(request_id: str, done: Done) -> MessageResponse:
    return MessageResponse(request_id=request_id, markdown=done.markdown, context=context_of(done))


def _require_chat(call: Call[Any, Any]) -> Chat:
    with call.services.database.read() as connection:
        chat = chats.get(call.tenant_id, connection, call.path_id("chat_id", "chat"))
    if chat is None or not chat.is_active:
        raise NotFound("No such chat.")
    return chat


def _spaces(chat: Chat, asked: list[str] | None) -> tuple[str, ...] | None:
    """The spaces to answer from: those of the request, else the chat's own, else all."""
    return tuple(asked) if asked else tuple(chat.default_space_ids) or None


def context_of(done: Done) -> Context:
    """The sources by kind; `citation` is the number in square brackets that the text has for it."""
    by_kind: dict[str, list[dict[str, Any]]] = {"communication": [], "document": [], "memory": []}
    for number, passage in enumerate(done.used_passages, 1):
        by_kind[passage.kind].append({**passage.context_item, "citation": number})
    return Context(communications=by_kind["communication"], documents=by_kind["document"], memory=by_kind["memory"])


async def finish_unless_aborted(request: Request, events: AsyncGenerator[Event, None]) -> Done | None:
    """The last event, or None when the client went away: the model call is cancelled then."""
    done: Done | None = None
    failure: ParleyError | None = None

    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while not await request.is_disconnected():
                await anyio.sleep(0.1)
            group.cancel_scope.cancel()

        async def answer() -> None:
            nonlocal done, failure
            try:
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, Done):
                            done = event
            except ParleyError as error:
                failure = error
            group.cancel_scope.cancel()

        group.start_soon(watch)
        group.start_soon(answer)
    if failure is not None:
        raise failure
    return done


async def stream_events(events: AsyncGenerator[Event, None], request_id: str) -> AsyncGenerator[ServerSentEvent, None]:
    """The answer as server-sent events: status, text, then done or error, each with a JSON object as its data."""
    async with aclosing(events):
        try:
            async for event in events:
                match event:
                    case Status():
                        yield _sse("status", {"step": event.step, "tool": event.tool or None})
                    case Text():
                        yield _sse("text", {"delta": event.delta})
                    case Done():
                        answer = _response(request_id, event)
                        yield _sse("done", {**answer.model_dump(mode="json"), "found": event.found})
        except ParleyError as error:
            log.warning("a streamed answer failed", error=str(error), cause=type(error.__cause__).__name__)
            yield _sse("error", error_of(error).model_dump())
        # The headers are sent, so whatever else goes wrong ends in an event too, not in a stream that breaks off.
        except Exception:
            log.exception("a streamed answer failed")
            yield _sse("error", error_of(InternalError("")).model_dump())


def _sse(event: str, data: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(event=event, data=to_json(data).decode())


OPERATIONS = (
    Operation(
        "GET",
        "/v1/chats/list",
        list_chats,
        "List chats",
        response=ChatList,
        feature="chat",
        errors=(401, 403),
    ),
    Operation(
        "POST",
        "/v1/chats/{chat_id}/messages",
        send_message,
        "Ask a chat",
        response=MessageResponse,
        body=MessageRequest,
        errors=(400, 401, 403, 404, 429, 502, 503),
        paused=False,
        feature="chat",
        limit="chat_requests_per_minute",
        idempotent=True,
        streams=True,
    ),
)
