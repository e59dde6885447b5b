"""Who may use the site widget: pages by their Origin, visitors by short-lived tokens, all within limits; what was
refused is noted for the chat's owner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import httpx2
import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from accounts.keys import Keyring
from api.http import bearer_token
from api.limits import counted_address
from api.proxies import address_of
from api.services import Services
from mcp_server.tools.periods import day_start
from store import accounts, chats, limits, widget_abuse
from store.accounts import Tenant
from store.chats import Chat
from store.database import Database, now
from store.errors import NotAuthenticated, NotFound, NotPermitted, RateLimited, Unavailable
from store.settings import Settings
from store.widget_abuse import Reason

TOKEN_LIFETIME_S = 3600
RENEWAL_LIFETIME_S = 30 * 24 * 3600
TOKEN_PURPOSE = "widget visitor"  # noqa: S105
RENEWAL_PURPOSE = "widget renewal"
CAPTCHA_TIMEOUT_S = 5.0
PERSON_REQUESTS_AN_HOUR = 10
"""Of one address and chat: each tells the account by its webhook."""
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
PATHS = "/widget/v1/"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who holds a visitor's token: one conversation with one chat."""

    tenant: Tenant
    chat: Chat
    conversation_id: str


class Tokens(NamedTuple):
    token: str
    renewal: str


def make_tokens(keyring: Keyring, chat: Chat, conversation_id: str) -> Tokens:
    """Good for as long as the chat has its public key."""
    claims = {"tenant": chat.tenant_id, "chat": chat.id, "key": chat.public_key, "conversation": conversation_id}
    return Tokens(
        keyring.sign_token(TOKEN_PURPOSE, claims, lifetime_s=TOKEN_LIFETIME_S),
        keyring.sign_token(RENEWAL_PURPOSE, claims, lifetime_s=RENEWAL_LIFETIME_S),
    )


def renewed_conversation(keyring: Keyring, chat: Chat, renewal: str) -> str:
    """The conversation that a renewal is for. Raises NotAuthenticated."""
    claims = keyring.open_token(RENEWAL_PURPOSE, renewal)
    if claims is None or (claims["chat"], claims.get("key")) != (chat.id, chat.public_key):
        raise NotAuthenticated("The renewal is wrong or expired: begin anew.", code="invalid_renewal")
    return str(claims["conversation"])


def open_chat(services: Services, request: Request, public_key: str) -> tuple[Tenant, Chat]:
    """Raises NotFound for a key that opens nothing, NotPermitted for an Origin that is not the chat's."""
    with services.database.read() as connection:
        chat = chats.find_by_public_key(connection, public_key)
        tenant = accounts.get_tenant(chat.tenant_id, connection) if chat else None
    _limit(services, request, chat, "address", counted_address(request))
    if chat is None or tenant is None or "chat" not in tenant.features:
        raise NotFound("No such chat.")
    _check_origin(services, request, tenant, chat)
    return tenant, chat


def visitor_of(services: Services, request: Request) -> Visitor:
    """Raises NotAuthenticated, NotFound, NotPermitted and RateLimited."""
    token = bearer_token(request, allow_header=False)
    claims = services.keyring.open_token(TOKEN_PURPOSE, token) if token else None
    if claims is None:
        _limit(services, request, None, "address", counted_address(request))
        raise NotAuthenticated("The visitor's token is missing, wrong or expired.", code="invalid_visitor_token")
    with services.database.read() as connection:
        tenant = accounts.get_tenant(claims["tenant"], connection)
        chat = chats.get(claims["tenant"], connection, claims["chat"])
    _limit(services, request, chat, "visitor", str(claims["conversation"]))
    _limit(services, request, chat, "address", counted_address(request))
    if tenant is None or chat is None or not chat.is_active or "chat" not in tenant.features:
        raise NotFound("No such chat.")
    if claims.get("key") != chat.public_key:
        raise NotAuthenticated("The chat has another key now.", code="invalid_visitor_token")
    if not tenant.is_active:
        raise NotPermitted("The client is paused.", code="client_inactive")
    _check_origin(services, request, tenant, chat)
    return Visitor(tenant, chat, str(claims["conversation"]))


def count_message(services: Services, request: Request, visitor: Visitor) -> None:
    """Counts a message against the chat's day, which is one of the account's time zone. Raises RateLimited."""
    most = visitor.chat.messages_per_day
    if most is None:
        return
    zone = ZoneInfo(visitor.tenant.time_zone)
    tomorrow = day_start(now().astimezone(zone).date() + timedelta(days=1), zone)
    with services.database.count() as connection:
        window = limits.hit(
            connection, f"widget-day:{visitor.chat.id}", limit=most, end_s=math.ceil(tomorrow.timestamp())
        )
    if window.is_over:
        if window.count == most + 1:
            _note(services, request, visitor.chat, "daily_limit")
        raise RateLimited("The chat answers no more today.", code="daily_limit", retry_after_s=window.reset_s)


def count_request(services: Services, request: Request, chat: Chat) -> None:
    """Counts a wish for a person against its address: each tells the account. Raises RateLimited."""
    with services.database.count() as connection:
        window = limits.hit(
            connection,
            f"widget-person:{chat.id}:{counted_address(request)}",
            limit=PERSON_REQUESTS_AN_HOUR,
            window_s=3600,
        )
    if window.is_over:
        if window.count == PERSON_REQUESTS_AN_HOUR + 1:
            _note(services, request, chat, "rate")
        raise RateLimited("Too many requests for a person.", code="rate_limit_exceeded", retry_after_s=window.reset_s)


def check_captcha(services: Services, request: Request, chat: Chat, token: str | None) -> None:
    """Has the captcha's provider verify a token, where one is set. Raises NotPermitted and Unavailable."""
    settings = services.settings
    if not settings.captcha_verify_url:
        return
    if not token:
        raise NotPermitted("A captcha has to be solved first.", code="captcha_required", param="captcha")
    form = {
        "secret": settings.captcha_secret.get_secret_value(),
        "response": token,
        "remoteip": address_of(request),
    }
    try:
        answer = httpx2.post(settings.captcha_verify_url, data=form, timeout=CAPTCHA_TIMEOUT_S)
        is_right = answer.status_code == 200 and answer.json().get("success") is True
    except (httpx2.HTTPError, ValueError, AttributeError) as error:
        log.warning("the captcha's provider did not answer", cause=type(error).__name__)
        raise Unavailable("The captcha cannot be checked now.", retry_after_s=10) from error
    if not is_right:
        _note(services, request, chat, "captcha")
        raise NotPermitted("The captcha was not solved.", code="captcha_failed", param="captcha")


def forget_refusals(database: Database, kept_days: int) -> None:
    """Housekeeping: drops what the widget refused longer ago than it is kept."""
    with database.write(durable=False) as connection:
        widget_abuse.forget_before(connection, now() - timedelta(days=kept_days))


def own_origins(settings: Settings) -> set[str]:
    """The server's own origin, never what a Host header claims; all names of loopback are one."""
    own = urlsplit(settings.effective_public_url)
    host = own.netloc.rsplit(":", 1)[0] if own.port else own.netloc
    names = LOOPBACK_NAMES if host in LOOPBACK_NAMES else (host,)
    port = f":{own.port}" if own.port else ""
    return {f"{own.scheme}://{name}{port}" for name in names}


def _limit(services: Services, request: Request, chat: Chat | None, kind: str, name: str) -> None:
    most = services.settings.widget_requests_per_minute
    with services.database.count() as connection:
        window = limits.hit(connection, f"widget:{kind}:{name}", limit=most)
    if window.is_over:
        # Once a minute: a flood must not fill the log.
        if chat is not None and window.count == most + 1:
            _note(services, request, chat, "rate")
        raise RateLimited(
            f"More than {most} requests in 60 s.", code="rate_limit_exceeded", retry_after_s=window.reset_s
        )


def _check_origin(services: Services, request: Request, tenant: Tenant, chat: Chat) -> None:
    """A browser says on which page it runs, but for a GET from a page of this server: that one is of its own origin."""
    own = own_origins(services.settings)
    allowed = set(chat.allowed_origins or tenant.widget_origins) or own
    origin = request.headers.get("origin")
    is_allowed = bool(own & allowed) if origin is None and request.method == "GET" else origin in allowed
    if not is_allowed:
        _note(services, request, chat, "origin")
        raise NotPermitted("The chat may not be used from this page.", code="origin_not_allowed")


def _note(services: Services, request: Request, chat: Chat, reason: Reason) -> None:
    with services.database.write(durable=False) as connection:
        widget_abuse.add(
            chat.tenant_id,
            connection,
            chat.id,
            reason=reason,
            address=address_of(request),
            origin=request.headers.get("origin"),
        )


class WidgetCors:
    """Pure ASGI middleware: lets browsers read the widget's answers on any page. No cookie counts there, and which
    pages may use a chat is checked with each call."""

    _HEADERS = (
        (b"access-control-allow-origin", b"*"),
        (b"access-control-expose-headers", b"Retry-After, X-Request-Id"),
        (b"cross-origin-resource-policy", b"cross-origin"),
    )
    _PREFLIGHT = (
        (b"access-control-allow-methods", b"GET, POST"),
        (b"access-control-allow-headers", b"Authorization, Content-Type, Last-Event-ID"),
        (b"access-control-max-age", b"600"),
        (b"content-length", b"0"),
    )

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PATHS):
            await self.app(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._HEADERS]
            await send(message)

        names: set[Any] = {name for name, _ in scope["headers"]}
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in names:
            await tell({"type": "http.response.start", "status": 204, "headers": list(self._PREFLIGHT)})
            await tell({"type": "http.response.body"})
            return
        await self.app(scope, receive, tell)
