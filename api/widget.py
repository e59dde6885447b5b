"""The site widget's own calls: a visitor with a short-lived token asks a chat by its public key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accounts.addresses import holds_a_secret
from api import streams, widget_access
from api.chat import MessageText
from api.fields import UtcTime, Uuid
from api.http import json_response, parse_json, parse_query, read_body
from api.services import Services
from api.streams import Addresses
from api.widget_access import Visitor, open_chat, visitor_of
from chat import conversations
from chat.agent import scope_of
from chat.answers import State
from chat.billing import billed, hold_message
from chat.contract import Message
from chat.conversations import Accepted
from chat.spent import Spent
from store import document_lists, space_access
from store.database import Database
from store.errors import InvalidRequest, NotFound, ParleyError, Unavailable
from store.ids import new_id, parse_id
from store.widget import Turn

MOST_BODY_BYTES = 64 * 1024
POLL_S = 0.5

PublicKey = Annotated[str, Field(min_length=1, max_length=100)]
ContactText = Annotated[str, Field(max_length=200)]


class ConfigQuery(BaseModel):
    key: PublicKey


class VisitorBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    public_key: PublicKey
    renewal: Annotated[str, Field(max_length=4000)] | None = None
    captcha: Annotated[str, Field(max_length=4000)] | None = None


class MessageBody(BaseModel):
    """`id` is the caller's own: the same one again asks and costs nothing more."""

    model_config = ConfigDict(extra="forbid")

    text: MessageText
    id: Uuid | None = None


class FeedbackBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    message_id: Uuid
    value: Literal["up", "down"] | None
    comment: Annotated[str, Field(max_length=1000)] | None = None


class ContactBody(BaseModel):
    """Everything may be left out: then a person is asked for."""

    model_config = ConfigDict(extra="forbid")

    name: ContactText | None = None
    email: Annotated[ContactText, Field(pattern=r"^\s*$|^\s*[^@\s]+@[^@\s]+\s*$")] | None = None
    phone: Annotated[ContactText, Field(pattern=r"^[-+()\d\s.]*$")] | None = None
    message: Annotated[str, Field(max_length=4000)] | None = None


class Theme(BaseModel):
    accent: str | None = None
    scheme: str = "auto"
    position: str = "right"


class Captcha(BaseModel):
    site_key: str


class WidgetConfig(BaseModel):
    header_title: str
    greeting: str
    suggestions: list[str]
    language: str
    languages: list[str]
    theme: Theme
    captcha: Captcha | None


class VisitorToken(BaseModel):
    token: str
    expires_in: int
    renewal: str
    conversation_id: str


class ConversationMessage(BaseModel):
    """`role` says whose it is; `status` of a visitor's message tells what became of it."""

    id: str
    role: Literal["visitor", "agent", "operator"]
    text: str
    at: UtcTime
    status: str
    reply_to: str | None
    author: str | None
    citations: list[dict[str, Any]]
    feedback: str | None


class ConversationState(BaseModel):
    taken_over: bool = False
    operator_name: str | None = None
    person_requested: bool = False


class Conversation(BaseModel):
    items: list[ConversationMessage]
    state: ConversationState


@dataclass(frozen=True, slots=True)
class _Question:
    """A visitor's message that the agent is to answer, paid for; `events` and ids are those of its answer."""

    visitor: Visitor
    turn: Turn
    history: tuple[Message, ...]
    space_ids: tuple[str, ...] | None
    request_id: str
    llm_model: str | None


def read_config(request: Request) -> Response:
    services: Services = request.app.state.services
    tenant, chat = open_chat(services, request, parse_query(ConfigQuery, request).key)
    site_key = services.settings.captcha_site_key if services.settings.captcha_verify_url else ""
    config = WidgetConfig(
        header_title=chat.header_title,
        greeting=chat.greeting,
        suggestions=chat.suggestions,
        language=tenant.language,
        languages=chat.languages,
        theme=Theme.model_validate(chat.theme),
        captcha=Captcha(site_key=site_key) if services.settings.captcha_verify_url else None,
    )
    return json_response(config)


async def create_visitor(request: Request) -> Response:
    body = parse_json(VisitorBody, await read_body(request, MOST_BODY_BYTES))
    return await run_in_threadpool(_create_visitor, request, body)


def _create_visitor(request: Request, body: VisitorBody) -> Response:
    services: Services = request.app.state.services
    _, chat = open_chat(services, request, body.public_key)
    if body.renewal is not None:
        conversation_id = widget_access.renewed_conversation(services.keyring, chat, body.renewal)
    else:
        widget_access.check_captcha(services, request, chat, body.captcha)
        conversation_id = new_id()
    tokens = widget_access.make_tokens(services.keyring, chat, conversation_id)
    answer = VisitorToken(
        token=tokens.token,
        expires_in=widget_access.TOKEN_LIFETIME_S,
        renewal=tokens.renewal,
        conversation_id=conversation_id,
    )
    return json_response(answer, 201)


async def send_message(request: Request) -> Response:
    services: Services = request.app.state.services
    raw = await read_body(request, MOST_BODY_BYTES)
    visitor, accepted, question = await run_in_threadpool(_accept, services, request, raw)
    if question is not None:
        _start(services, question)
    return streams.event_stream(_events(services, visitor, accepted.turn, accepted))


def _accept(services: Services, request: Request, raw: bytes) -> tuple[Visitor, Accepted, _Question | None]:
    """Stores the message and, where the agent is to answer it, holds its price."""
    visitor = visitor_of(services, request)
    body = parse_json(MessageBody, raw)
    database, tenant, chat = services.database, visitor.tenant, visitor.chat
    # What is in work, has its answer or goes to a person costs the account nothing.
    if conversations.asks_agent(database, tenant.id, visitor.conversation_id, body.id):
        widget_access.count_message(services, request, visitor)
    accepted = conversations.accept(
        database, tenant.id, chat.id, visitor.conversation_id, body.id or new_id(), body.text
    )
    if accepted.next != "ask":
        return visitor, accepted, None
    try:
        with database.read() as connection:
            allowed = space_access.allowed_spaces(tenant.id, connection, chat_id=chat.id)
        space_ids = space_access.within(allowed, chat.site_space_ids or chat.default_space_ids or None)
        request_id = new_id()
        llm_model = services.agent.model_name(scope_of(tenant, chat, space_ids, is_visitor=True))
        hold_message(database, tenant.id, request_id, llm_model)
    except ParleyError:
        conversations.end_without_answer(database, accepted.turn, "failed")
        raise
    return visitor, accepted, _Question(visitor, accepted.turn, accepted.history, space_ids, request_id, llm_model)


def _start(services: Services, question: _Question) -> None:
    visitor, turn, reply_id = question.visitor, question.turn, new_id()
    scope = scope_of(visitor.tenant, visitor.chat, question.space_ids, is_visitor=True)
    spent = Spent()
    events = billed(
        services.database,
        visitor.tenant.id,
        question.request_id,
        question.llm_model,
        services.agent.answer(scope, turn.text, question.history, spent),
        spent,
        also=lambda connection, done: conversations.keep_answer(
            connection, turn, reply_id, done.markdown, streams.stored_answer(question.request_id, done)
        ),
    )

    async def state() -> State:
        return await run_sync(conversations.touch, services.database, turn)

    async def on_failure(ended_as: State) -> None:
        if ended_as != "handed_over":
            status: Literal["failed", "cancelled"] = "cancelled" if ended_as == "cancelled" else "failed"
            await run_sync(conversations.end_without_answer, services.database, turn, status)

    about = {"request_id": question.request_id, "reply_id": reply_id, "handed_over": False}
    services.answers.start(answer_key(turn), events, state=state, on_failure=on_failure, about=about)


def answer_key(turn: Turn) -> str:
    return f"{turn.conversation_id}:{turn.id}"


async def _events(
    services: Services, visitor: Visitor, turn: Turn, accepted: Accepted | None = None, after: int = 0
) -> AsyncGenerator[ServerSentEvent, None]:
    """The answer to a message: in work here, or in another process, or ended."""
    answer = services.answers.get(answer_key(turn))
    find = partial(_find_addresses, services.database, visitor.tenant.id)
    if answer is not None and (accepted is None or accepted.next in ("ask", "wait")):
        async for event in streams.followed(answer, after=after, find=find):
            yield event
        return
    reply = accepted.reply if accepted is not None else None
    read = partial(conversations.read_turn, services.database, visitor.tenant.id, turn.conversation_id, turn.id)
    while reply is None:
        turn, reply = await run_sync(read)
        if turn.status == "kept":
            yield streams.handed_over(after + 1, turn.id)
            return
        if turn.status in ("failed", "cancelled") or (turn.status == "answering" and conversations.is_stale(turn)):
            code = "cancelled" if turn.status == "cancelled" else "answer_lost"
            error = Unavailable("The message was not answered: send it again.", code=code, retry_after_s=1)
            yield streams.failed(after + 1, error)
            return
        if reply is None:
            await anyio.sleep(POLL_S)
    assert reply.answer is not None, "an agent's turn has its answer"
    async for event in streams.replayed(reply.answer, find, after=after, reply_id=reply.id, handed_over=False):
        yield event


def _find_addresses(database: Database, tenant_id: str, document_ids: Sequence[str]) -> Addresses:
    with database.read() as connection:
        found = document_lists.addresses_of(tenant_id, connection, document_ids)
    return {document_id: url for document_id, url in found.items() if not holds_a_secret(url)}


async def follow_message(request: Request) -> Response:
    """The events of a message's answer, from the one after Last-Event-ID on."""
    services: Services = request.app.state.services
    visitor, turn = await run_in_threadpool(_message_of, services, request)
    return streams.event_stream(_events(services, visitor, turn, after=streams.last_event_id(request)))


async def cancel_message(request: Request) -> Response:
    services: Services = request.app.state.services
    visitor, turn = await run_in_threadpool(_message_of, services, request)
    was_in_work = await run_in_threadpool(
        conversations.cancel, services.database, visitor.tenant.id, visitor.conversation_id, turn.id
    )
    if was_in_work:
        services.answers.stop(answer_key(turn), "cancelled")
    return Response(status_code=204)


def _message_of(services: Services, request: Request) -> tuple[Visitor, Turn]:
    visitor = visitor_of(services, request)
    message_id = parse_id(request.path_params["message_id"])
    if message_id is None:
        raise NotFound("No such message.")
    turn, _ = conversations.read_turn(services.database, visitor.tenant.id, visitor.conversation_id, message_id)
    return visitor, turn


def read_messages(request: Request) -> Response:
    services: Services = request.app.state.services
    visitor = visitor_of(services, request)
    conversation, turns = conversations.read(services.database, visitor.tenant.id, visitor.conversation_id)
    state = ConversationState()
    if conversation is not None:
        state = ConversationState(
            taken_over=conversation.operator_name is not None,
            operator_name=conversation.operator_name,
            person_requested=conversation.person_requested_at is not None,
        )
    cited = {each for turn in turns if turn.answer for each in streams.cited_documents(turn.answer["context"])}
    addresses = _find_addresses(services.database, visitor.tenant.id, list(cited)) if cited else {}
    return json_response(Conversation(items=[message_of(turn, addresses) for turn in turns], state=state))


def message_of(turn: Turn, addresses: Addresses | None = None) -> ConversationMessage:
    """`addresses` are those of the documents that its answer cites."""
    return ConversationMessage(
        id=turn.id,
        role=turn.role,
        text=turn.text,
        at=turn.at,
        status=turn.status,
        reply_to=turn.reply_to,
        author=turn.author,
        citations=streams.citations_of(turn.answer["context"], addresses) if turn.answer else [],
        feedback=turn.feedback,
    )


async def send_feedback(request: Request) -> Response:
    return await run_in_threadpool(_send_feedback, request, await read_body(request, MOST_BODY_BYTES))


def _send_feedback(request: Request, raw: bytes) -> Response:
    services: Services = request.app.state.services
    visitor = visitor_of(services, request)
    body = parse_json(FeedbackBody, raw)
    conversations.rate(
        services.database, visitor.tenant.id, visitor.conversation_id, body.message_id, body.value, body.comment
    )
    return Response(status_code=204)


async def send_contact(request: Request) -> Response:
    return await run_in_threadpool(_send_contact, request, await read_body(request, MOST_BODY_BYTES))


def _send_contact(request: Request, raw: bytes) -> Response:
    services: Services = request.app.state.services
    visitor = visitor_of(services, request)
    body = parse_json(ContactBody, raw)
    given = {name: (getattr(body, name) or "").strip() for name in ("name", "email", "phone")}
    contact = {name: value for name, value in given.items() if value}
    if contact and not (contact.get("email") or contact.get("phone")):
        raise InvalidRequest("email: an e-mail address or a phone number is needed to reach you.", param="email")
    message = (body.message or "").strip() or None
    widget_access.count_request(services, request, visitor.chat)
    conversations.request_person(
        services.database, visitor.tenant.id, visitor.chat.id, visitor.conversation_id, contact, message
    )
    return Response(status_code=204)


ROUTES = (
    Route("/widget/v1/config", read_config, methods=["GET"]),
    Route("/widget/v1/visitors", create_visitor, methods=["POST"]),
    Route("/widget/v1/messages", send_message, methods=["POST"]),
    Route("/widget/v1/messages", read_messages, methods=["GET"]),
    Route("/widget/v1/messages/{message_id}/events", follow_message, methods=["GET"]),
    Route("/widget/v1/messages/{message_id}/cancel", cancel_message, methods=["POST"]),
    Route("/widget/v1/feedback", send_feedback, methods=["POST"]),
    Route("/widget/v1/contact", send_contact, methods=["POST"]),
)
