"""The way into the cabinet by a one-time link, and the cabinet's first page."""

from __future__ import annotations

import re
from decimal import Decimal
from math import ceil

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from accounts import ledger, links
from accounts.payments import LEAST_MICRO, MOST_MICRO, Wish
from api.browser_session import cookie_name, is_from_elsewhere, session_of, set_cookie
from api.fields import UtcTime
from api.http import Call, NoInput, Operation
from api.pages import form_of, language_of, money, notice, page
from api.services import Services
from store import payments
from store.accounts import Tenant
from store.errors import ParleyError, Unavailable, UpstreamFailed
from store.ids import new_id, parse_id
from store.sessions import Session

DEFAULT_AMOUNT = "1000"
_TYPED_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,2})?")


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
    return page("enter.html", tenant.language, referrer="no-referrer", tenant=tenant, code=code)


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


def show_cabinet(request: Request) -> Response:
    services: Services = request.app.state.services
    found = session_of(request)
    if found is None:
        return _no_session(request)
    _, tenant = found
    said = ("", "")
    link_id = parse_id(request.query_params.get("payment", ""))
    if link_id is not None:
        said = _said_of_payment(services, tenant, link_id)
    return _cabinet(services, tenant, said=said)


async def top_up(request: Request) -> Response:
    """Makes a payment link and leads to it; the payer comes back here."""
    services: Services = request.app.state.services
    found = await run_in_threadpool(session_of, request)
    if found is None:
        return _no_session(request)
    _, tenant = found
    if is_from_elsewhere(request, services.settings):
        return notice(tenant.language, "foreign", status=403, tone="bad")
    typed = (await form_of(request)).get("amount_rub", "")
    amount_micro = _amount(typed)
    if amount_micro is None:
        return await run_in_threadpool(_cabinet, services, tenant, typed=typed[:20], wrong=True, status=400)
    try:
        url = await run_in_threadpool(_payment_url, services, tenant, amount_micro)
    except (UpstreamFailed, Unavailable) as error:
        return await run_in_threadpool(_cabinet, services, tenant, typed=typed, failure=error, status=error.status)
    return RedirectResponse(url, status_code=303)


async def log_out(request: Request) -> Response:
    services: Services = request.app.state.services
    found = await run_in_threadpool(session_of, request)
    if found is None:
        return _no_session(request)
    session, tenant = found
    if is_from_elsewhere(request, services.settings):
        return notice(tenant.language, "foreign", status=403, tone="bad")
    await run_in_threadpool(_end, services, session)
    answer = notice(tenant.language, "left")
    set_cookie(answer, services.settings, "", None)
    return answer


def _end(services: Services, session: Session) -> None:
    with services.database.write() as connection:
        links.end_session(connection, session)


def _payment_url(services: Services, tenant: Tenant, amount_micro: int) -> str:
    link_id = new_id()
    back = f"{services.settings.effective_cabinet_url}?payment={link_id}"
    wish = Wish(amount_micro=amount_micro, redirect_url=back, fail_redirect_url=back, link_id=link_id)
    link = services.payments.open_link(tenant, wish, actor="cabinet")
    assert link.payment_url is not None, "a link that was made has an address"
    return link.payment_url


def _amount(typed: str) -> int | None:
    """Millionths of what a person typed, None for what cannot be paid."""
    text = typed.strip().replace("\N{NO-BREAK SPACE}", "").replace(" ", "").replace(",", ".")
    if not _TYPED_AMOUNT.fullmatch(text):
        return None
    micro = ledger.micro_of(Decimal(text))
    return micro if LEAST_MICRO <= micro <= MOST_MICRO else None


def _said_of_payment(services: Services, tenant: Tenant, link_id: str) -> tuple[str, str]:
    """(text, tone) about a payment that the browser came back from."""
    from api.page_texts import TEXTS

    with services.database.read() as connection:
        link = payments.get(tenant.id, connection, link_id)
    if link is None:
        return ("", "")
    texts = TEXTS[tenant.language]
    if link.shown_status == "paid":
        return (texts["paid_text"].format(amount=money(link.amount_micro, tenant.language)), "good")
    if link.shown_status == "pending":
        return (texts["waiting_title"], "plain")
    return (texts[f"{link.shown_status}_title"], "bad")


def _cabinet(
    services: Services,
    tenant: Tenant,
    *,
    said: tuple[str, str] = ("", ""),
    typed: str = DEFAULT_AMOUNT,
    wrong: bool = False,
    failure: ParleyError | None = None,
    status: int = 200,
) -> Response:
    with services.database.read() as connection:
        balance = ledger.balance(tenant.id, connection)
    provider = services.payments.provider
    leads_to = []
    if provider is not None:
        leads_to = [services.settings.effective_public_url, *(["https://"] if provider.name != "sandbox" else [])]
    return page(
        "cabinet.html",
        tenant.language,
        status=status,
        leads_to=leads_to,
        base=services.settings.effective_cabinet_url,
        tenant=tenant,
        balance_micro=balance.settled_micro,
        can_top_up=provider is not None,
        amount=typed,
        wrong=wrong,
        failed=failure is not None,
        said=said[0],
        said_tone=said[1],
    )


def _no_session(request: Request) -> Response:
    answer = notice(language_of(request), "no_session", status=401)
    services: Services = request.app.state.services
    if cookie_name(services.settings) in request.cookies:
        set_cookie(answer, services.settings, "", None)
    return answer


ROUTES = (
    Route("/cabinet", show_cabinet, methods=["GET"]),
    Route("/cabinet/session-link", show_session_link, methods=["GET"]),
    Route("/cabinet/session-link", spend_session_link, methods=["POST"]),
    Route("/cabinet/top-up", top_up, methods=["POST"]),
    Route("/cabinet/logout", log_out, methods=["POST"]),
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
    ),
)
