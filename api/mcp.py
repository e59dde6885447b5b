"""Admission to the MCP endpoint: origin, key, limit, and the body of a refusal as the contract says."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from accounts.principal import authenticate
from api.http import bearer_token
from api.limits import enforce_limit
from api.services import Services
from mcp_server.call_log import Caller
from mcp_server.protocol import Admitted
from mcp_server.registry import ToolContext
from store import space_access
from store.database import Database
from store.errors import NotAuthenticated, RateLimited
from store.settings import Settings

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def admit(request: Request) -> Admitted | Response:
    """Who calls, or the 403, 401 or 429 that answers them."""
    services: Services = request.app.state.services
    if not _may_call_from(request, services.settings):
        return JSONResponse({"error": "origin_not_allowed"}, status_code=403)
    try:
        with services.database.read() as connection:
            principal = authenticate(connection, services.keyring, bearer_token(request))
            spaces = None
            if principal.has_limited_spaces:
                spaces = space_access.allowed_spaces(principal.tenant.id, connection, key_id=principal.id)
    except NotAuthenticated:
        return JSONResponse({"error": "unauthorized"}, status_code=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        limit = services.settings.mcp_requests_per_minute
        enforce_limit(services.database, f"mcp:{principal.id}", limit, request=request)
    except RateLimited as error:
        headers = {"Retry-After": str(error.retry_after_s)}
        return JSONResponse({"error": "rate_limited"}, status_code=429, headers=headers)
    context = ToolContext(
        tenant=principal.tenant,
        database=services.database,
        retriever=services.workshop.retriever,
        public_url=services.settings.effective_public_url,
        space_ids=spaces,
        chat_quiet_s=services.settings.chat_quiet_s,
        work_folder=services.workshop.work_folder,
    )
    caller = Caller(
        tenant_id=principal.tenant.id,
        actor=principal.actor,
        client=request.headers.get("user-agent"),
        request_id=request.state.request_id,
    )
    return Admitted(context, caller, services.calls)


def one_read(request: Request) -> AbstractContextManager[None]:
    """One transaction for what admission and tool read. Not on PostgreSQL: the count of the limit, which is written
    between them, would wait for a second connection while the first is held."""
    database: Database = request.app.state.services.database
    return database.one_read() if database.is_sqlite else nullcontext()


def _may_call_from(request: Request, settings: Settings) -> bool:
    """Whether a page of a browser may call: one of this server or of this very machine. A name that a stranger's page
    had turned to this server's address is none of these (DNS rebinding); what is no browser names no origin."""
    origin = request.headers.get("origin")
    if origin is None or not origin.startswith(("http://", "https://")):
        return True
    own = {_place(settings.effective_public_url), _place(settings.effective_cabinet_url), settings.mcp_host} - {""}
    try:
        return _place(origin) in own or urlsplit(origin).hostname in _LOOPBACK
    except ValueError:  # no address at all, as in "http://["
        return False


def _place(url: str) -> str:
    return urlsplit(url).netloc.lower()
