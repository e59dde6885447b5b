"""The way into the cabinet by a one-time link, and the way out."""

from __future__ import annotations

from math import ceil

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from accounts import links
from api import cabinet_app, entrance
from api.browser_session import is_from_elsewhere, session_of, set_cookie
from api.entrance import no_session
from api.fields import UtcTime
from api.http import Call, NoInput, Operation
from api.pages import form_of, language_of, notice, page
from api.services import Services
from store.errors import Unavailable
from store.sessions import Session


class SessionLink(BaseModel):
    """A link that opens the cabinet once, in the user's browser, within `expires_in` seconds."""

    model_config = ConfigDict(extra="forbid")

    tenant_id: str = Field(json_schema_extra={"format": "uuid"})
    url: str = Field(json_schema_extra={"format": "uri"})
    expires_in: int
    expires_at: UtcTime


def create_session_link(call: Call[NoInput, NoInput]) -> SessionLink:
    settings = call.services.settings
    if not settings.session_links:
        raise Unavailable("Session links are not configured.", code="session_links_not_configured", retry_after_s=3600)
    with call.services.database.write() as connection:
        code = links.make_code(
            call.principal.tenant,
            connection,
            call.services.keyring,
            lifetime_s=settings.session_link_lifetime_s,
            actor=call.actor,
        )
        answer = SessionLink(
            tenant_id=call.tenant_id,
            url=f"{settings.effective_cabinet_url}/session-link?code={code.text}",
            expires_in=ceil(settings.session_link_lifetime_s),
            expires_at=code.expires_at,
        )
        call.keep(connection, answer, 200)
    return answer


def show_session_link(request: Request) -> Response:
    """The page with the button. Looking at it spends nothing."""
    services: Services = request.app.state.services
    code = request.query_params.get("code", "")
    with services.database.read() as connection:
        tenant = links.tenant_of_code(connection, services.keyring, code)
    if tenant is None:
        return _refused_code(request, services, code)
    return page("enter.html", language_of(request, tenant.language), referrer="no-referrer", tenant=tenant, code=code)


async def spend_session_link(request: Request) -> Response:
    services: Services = request.app.state.services
    if is_from_elsewhere(request, services.settings, may_hide=True):
        return notice(language_of(request), "foreign", status=403, tone="bad")
    code = (await form_of(request)).get("code", "")
    opened = await run_in_threadpool(_spend, services, code)
    if opened is None:
        return _refused_code(request, services, code)
    answer = RedirectResponse(services.settings.effective_cabinet_url, status_code=303)
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store"
    set_cookie(answer, services.settings, opened.token, opened.session.expires_at)
    return answer


def _spend(services: Services, code: str) -> links.NewSession | None:
    with services.database.write() as connection:
        return links.spend_code(connection, services.keyring, services.settings, code)


def _refused_code(request: Request, services: Services, code: str) -> Response:
    """One that we signed is used or too old, whether its record is still there or not."""
    if links.is_signed(services.keyring, code):
        return notice(language_of(request), "code_gone", status=410, referrer="no-referrer")
    return notice(language_of(request), "code_wrong", status=400, referrer="no-referrer")


async def log_out(request: Request) -> Response:
    services: Services = request.app.state.services
    found = await run_in_threadpool(session_of, request)
    if found is None:
        return no_session(request)
    session, tenant = found
    if is_from_elsewhere(request, services.settings):
        return notice(language_of(request, tenant.language), "foreign", status=403, tone="bad")
    await run_in_threadpool(_end, services, session)
    language = language_of(request, tenant.language)
    answer = notice(language, "left", links=[("/cabinet/sign-in", "sign_in_title")])
    set_cookie(answer, services.settings, "", None)
    return answer


def _end(services: Services, session: Session) -> None:
    with services.database.write() as connection:
        links.end_session(connection, session)


ROUTES = (
    Route("/cabinet/session-link", show_session_link, methods=["GET"]),
    Route("/cabinet/session-link", spend_session_link, methods=["POST"]),
    Route("/cabinet/logout", log_out, methods=["POST"]),
    *entrance.ROUTES,
    *cabinet_app.routes(),
)

OPERATIONS = (
    Operation(
        "POST",
        "/v1/session-link",
        create_session_link,
        "Make a link into the cabinet",
        response=SessionLink,
        errors=(401, 422, 429, 503),
        limit="session_links_per_minute",
        idempotent=True,
        role="owner",  # what it opens is an owner's
        audited=("session_link.created",),
    ),
)
