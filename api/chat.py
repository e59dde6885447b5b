"""The Public layer's chats: their list, and one question with its answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal

import anyio
import structlog
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from api import streams
from api.fields import UtcTime, Uuid
from api.http import Call, NoInput, Operation, wants_events
from api.idempotency import Claim
from api.services import Services
from api.streams import MessageResponse
from chat.agent import scope_of
from chat.answers import State
from chat.billing import billed, hold_message
from chat.contract import Done, Event, Message
from chat.spent import Spent
from store import chats, space_access
from store.chats import Chat
from store.database import Connection
from store.errors import NotFound, ParleyError
from store.ids import new_id

log = structlog.get_logger(__name__)

MOST_CHARACTERS = 4000
MOST_HISTORY = 40
RESUMED_WITHIN_S = 30.0
"""For how long an answer that may be resumed goes on when nobody follows it."""

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


def list_chats(call: Call[NoInput, NoInput]) -> ChatList:
    with call.services.database.read() as connection:
        rows = chats.list_all(call.tenant_id, connection)
    return ChatList(items=[ChatListItem.model_validate(row, from_attributes=True) for row in rows if row.is_active])


async def send_message(call: Call[NoInput, MessageRequest]) -> Response | MessageResponse:
    chat = await run_in_threadpool(_require_chat, call)
    space_ids = await run_in_threadpool(_spaces, call, chat)
    scope = scope_of(call.principal.tenant, chat, space_ids, is_visitor=False)
    history = [Message(role=item.role, content=item.content) for item in call.body.history]
    request_id = new_id()
    wants_stream = wants_events(call.request)

    def keep(connection: Connection, done: Done) -> None:
        if wants_stream and call.claim is not None:
            answer = call.services.answers.get(_answer_key(call.claim.id))
            assert answer is not None, "it goes on until it was kept"
            call.claim.keep(connection, streams.whole(answer, request_id, done))
        else:
            call.keep(connection, streams.response_of(request_id, done), 200)

    llm_model = call.services.agent.model_name(scope)
    await run_in_threadpool(hold_message, call.services.database, call.tenant_id, request_id, llm_model)
    spent = Spent()
    events = billed(
        call.services.database,
        call.tenant_id,
        request_id,
        llm_model,
        call.services.agent.answer(scope, call.body.text, history, spent),
        spent,
        also=keep,
    )
    if wants_stream and call.claim is not None:
        return _resumable(call, call.claim, events, request_id)
    if wants_stream:
        return streams.event_stream(streams.live(events, request_id))
    done = await finish_unless_aborted(call.request, events)
    if done is None:
        return Response(status_code=499)  # nobody is there to read it
    return streams.response_of(request_id, done)


def _resumable(
    call: Call[NoInput, MessageRequest], claim: Claim, events: AsyncGenerator[Event, None], request_id: str
) -> Response:
    """With an Idempotency-Key an answer goes on when the connection drops: the same request joins it, or gets it. One
    to which nobody comes back ends, and costs nothing."""

    key = _answer_key(claim.id)
    answers = call.services.answers

    async def state() -> State:
        answer = answers.get(key)
        return "cancelled" if answer is not None and answer.unfollowed_s > RESUMED_WITHIN_S else "wanted"

    async def on_failure(_: State) -> None:
        """The claim frees the key."""

    answer = answers.start(key, events, state=state, on_failure=on_failure, about={"request_id": request_id})
    claim.goes_on(answers.wait(key))
    return streams.event_stream(streams.followed(answer))


def join_answer(services: Services, request: Request, claim_id: str) -> Response | None:
    """The stream of the answer that a request with the same Idempotency-Key began in this process, from the event after
    Last-Event-ID on."""
    answer = services.answers.get(_answer_key(claim_id))
    if answer is None:
        return None
    return streams.event_stream(streams.followed(answer, after=streams.last_event_id(request)))


def _answer_key(claim_id: str) -> str:
    return f"request:{claim_id}"


def _require_chat(call: Call[Any, Any]) -> Chat:
    with call.services.database.read() as connection:
        chat = chats.get(call.tenant_id, connection, call.path_id("chat_id", "chat"))
    if chat is None or not chat.is_active:
        raise NotFound("No such chat.")
    return chat


def _spaces(call: Call[NoInput, MessageRequest], chat: Chat) -> tuple[str, ...] | None:
    """The spaces to answer from: those of the request, else the chat's own, else all; always as far as the chat may see
    them."""
    with call.services.database.read() as connection:
        allowed = space_access.allowed_spaces(call.tenant_id, connection, chat_id=chat.id)
    return space_access.within(allowed, call.body.space_ids or chat.default_space_ids or None)


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
        join=join_answer,
        streams=True,
        unaudited="A question changes nothing; the log of tool calls has what its answer read.",
    ),
)
