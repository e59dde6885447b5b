"""Admission to the MCP endpoint: key, limit and body of a refusal as the contract says."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from accounts.principal import authenticate
from api.http import bearer_token
from api.limits import enforce_limit
from api.services import Services
from mcp_server.registry import ToolContext
from store.errors import NotAuthenticated, RateLimited


async def admit(request: Request) -> ToolContext | Response:
    """The caller's tool context, or the 401 or 429 that answers it."""
    return await run_in_threadpool(_admit, request)


def _admit(request: Request) -> ToolContext | Response:
    services: Services = request.app.state.services
    try:
        principal = authenticate(services.database, services.keyring, bearer_token(request))
    except NotAuthenticated:
        return JSONResponse({"error": "unauthorized"}, status_code=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        limit = services.settings.mcp_requests_per_minute
        enforce_limit(services.database, f"mcp:{principal.key.id}", limit, request=request)
    except RateLimited as error:
        headers = {"Retry-After": str(error.retry_after_s)}
        return JSONResponse({"error": "rate_limited"}, status_code=429, headers=headers)
    return ToolContext(
        tenant=principal.tenant,
        database=services.database,
        searcher=services.workshop.searcher,
        public_url=services.settings.effective_public_url,
        chat_quiet_s=services.settings.chat_quiet_s,
    )
