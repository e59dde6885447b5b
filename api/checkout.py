"""Pages that a payer sees: the sandbox's checkout, and where a provider sends the payer back to."""

from __future__ import annotations

import contextlib

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from accounts.payment_providers import Outcome
from api.browser_session import is_from_elsewhere
from api.limits import enforce_limit
from api.pages import clock, form_of, language_of, money, notice, page
from api.services import Services
from store import accounts
from store.accounts import Tenant
from store.errors import RateLimited, UpstreamFailed
from store.payments import PaymentLink

OUTCOMES: dict[str, Outcome] = {"paid": "paid", "failed": "failed", "cancelled": "cancelled"}
LOOKS_A_MINUTE = 20
REFRESH_S = 4
MOST_REFRESHES = 30
_GONE = {"paid": 200, "failed": 410, "cancelled": 410, "expired": 410}


def show_checkout(request: Request) -> Response:
    services: Services = request.app.state.services
    found = _sandbox_link(request)
    if found is None:
        return _unknown(request)
    link, tenant = found
    if link.shown_status != "pending":
        return _result(services, link, tenant, status=_GONE[link.shown_status])
    return page(
        "checkout.html",
        tenant.language,
        leads_to=[url for url in (link.redirect_url, link.fail_redirect_url) if url],
        link=link,
        pay_until=clock(link.expires_at, tenant),
    )


async def decide_checkout(request: Request) -> Response:
    services: Services = request.app.state.services
    found = await run_in_threadpool(_sandbox_link, request)
    if found is None:
        return _unknown(request)
    link, tenant = found
    if is_from_elsewhere(request, services.settings):
        return notice(tenant.language, "foreign", status=403, tone="bad")
    outcome = OUTCOMES.get((await form_of(request)).get("outcome", ""))
    if outcome is None:
        return RedirectResponse(services.payments.payer_url(link), status_code=303)
    if link.shown_status == "pending":
        link = await run_in_threadpool(services.payments.decide, link, outcome)
    elif link.shown_status == "expired":
        return _result(services, link, tenant, status=410)
    return RedirectResponse(_next_url(link) or services.payments.result_url(link), status_code=303)


def show_return(request: Request) -> Response:
    """Leads to where the client wants the payer, once it is known how the payment ended; else says so itself."""
    services: Services = request.app.state.services
    link = services.payments.link_of(request.path_params["token"])
    tenant = _tenant_of(services, link) if link else None
    if link is None or tenant is None:
        return _unknown(request)
    # Whoever has the address may ask us for it more often than we ask the provider.
    with contextlib.suppress(RateLimited, UpstreamFailed):
        if link.status != "paid":
            enforce_limit(services.database, f"payment-return:{link.id}", LOOKS_A_MINUTE)
            link = services.payments.refreshed(link)
    if link.shown_status == "pending":
        return _waiting(request, services, link, tenant)
    url = _next_url(link)
    return RedirectResponse(url, status_code=303) if url else _result(services, link, tenant)


def _waiting(request: Request, services: Services, link: PaymentLink, tenant: Tenant) -> Response:
    here = services.payments.result_url(link)
    links = [(here, "check_again")] + ([(link.payment_url, "continue_paying")] if link.payment_url else [])
    answer = notice(tenant.language, "waiting", tone="wait", links=links)
    tries = request.query_params.get("tries", "0")
    number = int(tries) if tries.isascii() and tries.isdigit() and len(tries) < 4 else MOST_REFRESHES
    if number < MOST_REFRESHES:
        answer.headers["Refresh"] = f"{REFRESH_S}; url={here}?tries={number + 1}"
    return answer


def _next_url(link: PaymentLink) -> str | None:
    """Where the client wants a payer whose payment ended so. Only what was stored with the link."""
    return link.redirect_url if link.shown_status == "paid" else link.fail_redirect_url


def _result(services: Services, link: PaymentLink, tenant: Tenant, *, status: int = 200) -> Response:
    name = link.shown_status
    url = _next_url(link)
    links = [(url, "go_back")] if url else []
    values = {"amount": money(link.amount_micro, tenant.language)} if name == "paid" else {}
    return notice(tenant.language, name, status=status, tone="good" if name == "paid" else "bad", links=links, **values)


def _sandbox_link(request: Request) -> tuple[PaymentLink, Tenant] | None:
    """The link of the address; None where the sandbox is not switched on."""
    services: Services = request.app.state.services
    provider = services.payments.provider
    if provider is None or provider.name != "sandbox":
        return None
    link = services.payments.link_of(request.path_params["token"])
    if link is None or link.provider != provider.name:
        return None
    tenant = _tenant_of(services, link)
    return (link, tenant) if tenant is not None else None


def _tenant_of(services: Services, link: PaymentLink) -> Tenant | None:
    with services.database.read() as connection:
        return accounts.get_tenant(link.tenant_id, connection)


def _unknown(request: Request) -> Response:
    return notice(language_of(request), "address_unknown", status=404)


ROUTES = (
    Route("/payments/sandbox/{token}", show_checkout, methods=["GET"]),
    Route("/payments/sandbox/{token}", decide_checkout, methods=["POST"]),
    Route("/payments/return/{token}", show_return, methods=["GET"]),
)
