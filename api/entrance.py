"""Entering the cabinet by an e-mailed link: pages that work without scripts, for whoever has no session yet."""

from __future__ import annotations

import re
from math import ceil

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from accounts import links, mail, sign_in
from accounts.clients import normal_email
from accounts.links import NewSession
from api.browser_session import cookie_name, is_from_elsewhere, session_of, set_cookie
from api.limits import counted_address, enforce_limit
from api.page_texts import TEXTS
from api.pages import form_of, language_of, notice, page
from api.services import Services
from store import operators
from store.accounts import Tenant
from store.errors import InvalidRequest, RateLimited, UpstreamFailed
from store.ids import parse_id
from store.operators import Operator
from store.sessions import Session
from store.settings import Settings

_HOUR_S = 3600
_MAX_EMAIL = 320
# A path of the cabinet with its query: what a page that asks for a session was opened at.
_PATH = re.compile(r"/[A-Za-z0-9_.~%-]+(?:/[A-Za-z0-9_.~%-]+)*(?:\?[A-Za-z0-9_.~%&=+:-]*)?")
_MAX_PATH = 500


def no_session(request: Request) -> Response:
    """The way in, at whatever address of the cabinet somebody came to, and back there afterwards."""
    query = f"?{request.url.query}" if request.url.query else ""
    leads_to = _path(request.url.path.removeprefix("/cabinet") + query) if request.method == "GET" else ""
    answer = _form(request, status=401, leads_to=leads_to)
    services: Services = request.app.state.services
    if cookie_name(services.settings) in request.cookies:
        set_cookie(answer, services.settings, "", None)
    return answer


def show_form(request: Request) -> Response:
    return _form(request)


async def ask_for_link(request: Request) -> Response:
    """Says the same whether the address is known or not: what is done for a known one is done after the answer."""
    services: Services = request.app.state.services
    language = language_of(request)
    if is_from_elsewhere(request, services.settings, may_hide=True):
        return notice(language, "foreign", status=403, tone="bad")
    form = await form_of(request)
    typed, leads_to = form.get("email", "").strip()[: _MAX_EMAIL + 1], _path(form.get("to", ""))
    try:
        email = normal_email(typed)
    except InvalidRequest:
        return _form(request, status=400, leads_to=leads_to, typed=typed, wrong=True)
    assert email is not None
    try:
        await run_in_threadpool(_enforce_limits, services, counted_address(request), email)
    except RateLimited as error:
        answer = notice(language, "too_many_links", status=429, tone="wait")
        answer.headers["Retry-After"] = str(error.retry_after_s)
        return answer
    name = "link_sent" if services.settings.smtp_host else "link_logged"
    minutes = ceil(services.settings.sign_in_link_lifetime_s / 60)
    answer = notice(language, name, email=email, minutes=minutes)
    answer.background = BackgroundTask(_send_link, services, email, leads_to, language)
    return answer


def _enforce_limits(services: Services, address: str, email: str) -> None:
    """Raises RateLimited. Counts known and unknown addresses alike."""
    settings = services.settings
    limits = (
        (f"sign_in_client:{address}", settings.sign_in_links_per_client),
        (f"sign_in_address:{services.keyring.hash(email)}", settings.sign_in_links_per_address),
    )
    for bucket, limit in limits:
        enforce_limit(services.database, bucket, limit, window_s=_HOUR_S)


def _send_link(services: Services, email: str, leads_to: str, language: str) -> None:
    settings = services.settings
    with services.database.write() as connection:
        if not any(tenant.deleting_since is None for _, tenant in operators.list_of_email(connection, email)):
            return
        code = sign_in.new_text(services.keyring)
        sign_in.keep_code(
            connection,
            services.keyring,
            code,
            email=email,
            lifetime_s=settings.sign_in_link_lifetime_s,
            leads_to=leads_to,
        )
    minutes = ceil(settings.sign_in_link_lifetime_s / 60)
    t, link = TEXTS[language], link_of(settings, code)
    text = t["sign_in_mail_text"].format(link=link, minutes=minutes)
    try:
        mail.send(settings, mail.Letter(email, t["sign_in_mail_subject"], text, link))
    except UpstreamFailed:
        return  # the log says it; the person asks again


def link_of(settings: Settings, code: str) -> str:
    """The address that a mailed code is opened at."""
    return f"{settings.effective_cabinet_url}/enter?code={code}"


def show_choices(request: Request) -> Response:
    """The page with a button for each account that the link opens. Looking at it spends nothing."""
    services: Services = request.app.state.services
    code = request.query_params.get("code", "")
    with services.database.read() as connection:
        found = sign_in.choices(connection, services.keyring, code)
    if not found:
        return _refused(request, services, code)
    language = language_of(request, found[0][1].language)
    return page("choose.html", language, referrer="no-referrer", choices=found, code=code)


async def enter(request: Request) -> Response:
    services: Services = request.app.state.services
    if is_from_elsewhere(request, services.settings, may_hide=True):
        return notice(language_of(request), "foreign", status=403, tone="bad")
    form = await form_of(request)
    code, chosen = form.get("code", ""), parse_id(form.get("account", ""))
    opened = await run_in_threadpool(_enter, services, code, chosen)
    if opened is None:
        return _refused(request, services, code)
    session, leads_to = opened
    return _let_in(services, session, leads_to)


def _enter(services: Services, code: str, chosen: str | None) -> tuple[NewSession, str] | None:
    with services.database.write() as connection:
        return sign_in.enter(connection, services.keyring, services.settings, code, chosen)


async def switch(request: Request) -> Response:
    """From one account of a person to another of theirs: the session of the first one ends."""
    services: Services = request.app.state.services
    found = await run_in_threadpool(session_of, request)
    if found is None:
        return no_session(request)
    session, tenant = found
    if is_from_elsewhere(request, services.settings):
        return notice(language_of(request, tenant.language), "foreign", status=403, tone="bad")
    chosen = parse_id((await form_of(request)).get("account", ""))
    opened = await run_in_threadpool(_switch, services, session, chosen)
    if opened is None:
        return notice(language_of(request, tenant.language), "address_unknown", status=404)
    return _let_in(services, opened, "")


def _switch(services: Services, session: Session, chosen: str | None) -> NewSession | None:
    who = session.operator
    if who is None or chosen is None or session.is_bound:
        return None
    with services.database.write() as connection:
        places: list[tuple[Operator, Tenant]] = operators.list_of_email(connection, who.email)
        for operator, tenant in places:
            if operator.id == chosen and tenant.deleting_since is None:
                links.end_session(connection, session)
                return sign_in.open_as(operator, tenant, connection, services.keyring, services.settings)
    return None


def _let_in(services: Services, opened: NewSession, leads_to: str) -> Response:
    answer = RedirectResponse(services.settings.effective_cabinet_url + leads_to, status_code=303)
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store"
    set_cookie(answer, services.settings, opened.token, opened.session.expires_at)
    return answer


def _refused(request: Request, services: Services, code: str) -> Response:
    """One that we signed is used or too old, whether its record is still there or not."""
    ways = [("/cabinet/sign-in", "ask_again")]
    if sign_in.was_ours(services.keyring, code):
        return notice(language_of(request), "mailed_gone", status=410, links=ways)
    return notice(language_of(request), "mailed_wrong", status=400, links=ways)


def _form(request: Request, *, status: int = 200, leads_to: str = "", typed: str = "", wrong: bool = False) -> Response:
    language = language_of(request)
    return page("sign_in.html", language, status=status, path=leads_to, typed=typed, wrong=wrong)


def _path(text: str) -> str:
    """The text where it is a path of the cabinet, else nothing: a link leads to no other site."""
    found = len(text) <= _MAX_PATH and _PATH.fullmatch(text)
    return text if found and "/.." not in text else ""


ROUTES = (
    Route("/cabinet/sign-in", show_form, methods=["GET"]),
    Route("/cabinet/sign-in", ask_for_link, methods=["POST"]),
    Route("/cabinet/enter", show_choices, methods=["GET"]),
    Route("/cabinet/enter", enter, methods=["POST"]),
    Route("/cabinet/switch", switch, methods=["POST"]),
)
