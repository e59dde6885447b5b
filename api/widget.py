"""The site widget's own calls: a visitor with a short-lived token asks a chat by its public key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.chat import MessageText, stream_events
from api.fields import UtcTime
from api.http import bearer_token, json_response, parse_json, parse_query, read_body
from api.limits import enforce_limit
from api.services import Services
from chat import conversations
from chat.agent import Scope
from chat.billing import billed, hold_message
from chat.contract import Done
from store import accounts, chats
from store.accounts import Tenant
from store.chats import Chat
from store.database import Connection
from store.errors import NotAuthenticated, NotFound, NotPermitted
from store.ids import new_id

TOKEN_LIFETIME_S = 12 * 3600
TOKEN_PURPOSE = "widget visitor"  # noqa: S105
MOST_BODY_BYTES = 64 * 1024
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")

PublicKey = Annotated[str, Field(min_length=1, max_length=100)]


class ConfigQuery(BaseModel):
    key: PublicKey


class VisitorBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    public_key: PublicKey


class MessageBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: MessageText


class WidgetConfig(BaseModel):
    header_title: str
    greeting: str
    suggestions: list[str]
    language: str


class VisitorToken(BaseModel):
    token: str
    expires_in: int


class ConversationMessage(BaseModel):
    role: Literal["visitor", "agent"]
    text: str
    at: UtcTime | None


class Conversation(BaseModel):
    items: list[ConversationMessage]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who holds a visitor's token: one conversation with one chat."""

    tenant: Tenant
    chat: Chat
    conversation_id: str


def read_config(request: Request) -> Response:
    services: Services = request.app.state.services
    tenant, chat = _open_chat(services, request, parse_query(ConfigQuery, request).key)
    config = WidgetConfig(
        header_title=chat.header_title,
        greeting=chat.greeting,
        suggestions=chat.suggestions,
        language=tenant.language,
    )
    return json_response(config)


async def create_visitor(request: Request) -> Response:
    body = parse_json(VisitorBody, await read_body(request, MOST_BODY_BYTES))
    return await run_in_threadpool(_create_visitor, request, body.public_key)


def _create_visitor(request: Request, public_key: str) -> Response:
    services: Services = request.app.state.services
    tenant, chat = _open_chat(services, request, public_key)
    claims = {"tenant": tenant.id, "chat": chat.id, "conversation": new_id()}
    token = services.keyring.sign_token(TOKEN_PURPOSE, claims, lifetime_s=TOKEN_LIFETIME_S)
    return json_response(VisitorToken(token=token, expires_in=TOKEN_LIFETIME_S), 201)


async def send_message(request: Request) -> Response:
    services: Services = request.app.state.services
    visitor = await run_in_threadpool(_visitor, services, request)
    text = parse_json(MessageBody, await read_body(request, MOST_BODY_BYTES)).text
    history = await run_in_threadpool(
        conversations.read_history, services.database, visitor.tenant.id, visitor.conversation_id
    )
    scope = Scope(
        tenant=visitor.tenant,
        space_ids=tuple(visitor.chat.site_space_ids or visitor.chat.default_space_ids) or None,
        sees_communications=visitor.chat.site_sees_communications,
    )
    message_id, llm_model = new_id(), services.agent.model_name()
    await run_in_threadpool(hold_message, services.database, visitor.tenant.id, message_id, llm_model)
    events = billed(
        services.database,
        visitor.tenant.id,
        message_id,
        llm_model,
        services.agent.answer(scope, text, history),
        also=lambda connection, done: _store(connection, visitor, text, done),
    )
    return EventSourceResponse(stream_events(events, message_id))


def _store(connection: Connection, visitor: Visitor, question: str, done: Done) -> None:
    turns = [(conversations.VISITOR_LABEL, question), (conversations.AGENT_LABEL, done.markdown)]
    conversations.append(visitor.tenant.id, connection, visitor.conversation_id, turns)


def read_messages(request: Request) -> Response:
    services: Services = request.app.state.services
    visitor = _visitor(services, request)
    turns = conversations.read_turns(services.database, visitor.tenant.id, visitor.conversation_id)
    items = [
        ConversationMessage(
            role="visitor" if item.label == conversations.VISITOR_LABEL else "agent", text=item.text, at=item.at
        )
        for _, item in turns
    ]
    return json_response(Conversation(items=items))


def _open_chat(services: Services, request: Request, public_key: str) -> tuple[Tenant, Chat]:
    """Raises NotFound for a key that opens nothing, NotPermitted for an Origin that is not the account's."""
    _limit(services, "address", _address(request))
    with services.database.read() as connection:
        chat = chats.find_by_public_key(connection, public_key)
        tenant = accounts.get_tenant(chat.tenant_id, connection) if chat else None
    if chat is None or tenant is None or "chat" not in tenant.features:
        raise NotFound("No such chat.")
    _check_origin(services, request, tenant)
    return tenant, chat


def _visitor(services: Services, request: Request) -> Visitor:
    token = bearer_token(request, allow_header=False)
    claims = services.keyring.open_token(TOKEN_PURPOSE, token) if token else None
    if claims is None:
        raise NotAuthenticated("The visitor's token is missing, wrong or expired.", code="invalid_visitor_token")
    _limit(services, "visitor", str(claims["conversation"]))
    _limit(services, "address", _address(request))
    with services.database.read() as connection:
        tenant = accounts.get_tenant(claims["tenant"], connection)
        chat = chats.get(claims["tenant"], connection, claims["chat"])
    if tenant is None or chat is None or not chat.is_active or "chat" not in tenant.features:
        raise NotFound("No such chat.")
    if not tenant.is_active:
        raise NotPermitted("The client is paused.", code="client_inactive")
    _check_origin(services, request, tenant)
    return Visitor(tenant=tenant, chat=chat, conversation_id=claims["conversation"])


def _limit(services: Services, kind: str, name: str) -> None:
    enforce_limit(services.database, f"widget:{kind}:{name}", services.settings.widget_requests_per_minute)


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def _check_origin(services: Services, request: Request, tenant: Tenant) -> None:
    """A browser says on which page it runs; a GET of the same origin says nothing, and may."""
    origin = request.headers.get("origin")
    if origin is None and request.method == "GET":
        return
    if origin not in (tenant.widget_origins or _own_origins(services.settings.effective_public_url)):
        raise NotPermitted("The chat may not be used from this page.", code="origin_not_allowed")


def _own_origins(public_url: str) -> set[str]:
    """The server's own origin, never what a Host header claims; all names of loopback are one."""
    own = urlsplit(public_url)
    names = LOOPBACK_NAMES if own.netloc.rsplit(":", 1)[0] in LOOPBACK_NAMES else (own.netloc.rsplit(":", 1)[0],)
    port = f":{own.port}" if own.port else ""
    return {f"{own.scheme}://{name}{port}" for name in names}


ROUTES = (
    Route("/widget/v1/config", read_config, methods=["GET"]),
    Route("/widget/v1/visitors", create_visitor, methods=["POST"]),
    Route("/widget/v1/messages", send_message, methods=["POST"]),
    Route("/widget/v1/messages", read_messages, methods=["GET"]),
)
