"""The session of the cabinet that a browser has: its cookie, and whether a request comes from a page of ours."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from accounts import links
from api.services import Services
from store.accounts import Tenant
from store.database import now
from store.errors import NotAuthenticated
from store.sessions import Session
from store.settings import Settings

_READS = ("GET", "HEAD")
ACCOUNT_HEADER = "X-Parley-Account"
"""The account that a page shows. The cookie is the browser's, so another tab may have changed over since."""


def session_of(request: Request) -> tuple[Session, Tenant] | None:
    """The open session of the request's cookie, with its tenant."""
    services: Services = request.app.state.services
    token = request.cookies.get(cookie_name(services.settings), "")
    if not token:
        return None
    with services.database.read() as connection:
        return links.find_session(connection, services.keyring, token)


def calling_session(request: Request) -> tuple[Session, Tenant] | None:
    """The same for a call of an API, where a page of another site cannot use the cookie for anything that changes.
    Raises NotAuthenticated other_account where the page shows another account than the session's."""
    services: Services = request.app.state.services
    if request.method not in _READS and is_from_elsewhere(request, services.settings):
        return None
    found = session_of(request)
    shown = request.headers.get(ACCOUNT_HEADER)
    if found is not None and shown is not None and shown.lower() != found[1].id:
        raise NotAuthenticated("This browser is in another account now than the page shows.", code="other_account")
    return found


def set_cookie(answer: Response, settings: Settings, token: str, expires_at: datetime | None) -> None:
    """Lax: a payer who comes back from a payment provider is still signed in, and a foreign form is not."""
    answer.set_cookie(
        cookie_name(settings),
        token,
        max_age=int((expires_at - now()).total_seconds()) if expires_at else 0,
        path="/",
        secure=_is_secure(settings),
        httponly=True,
        samesite="lax",
    )


def cookie_name(settings: Settings) -> str:
    """With the prefix that lets no other host and no plain HTTP set it, where the cabinet is reached by HTTPS."""
    return "__Host-parley_session" if _is_secure(settings) else "parley_session"


def is_from_elsewhere(request: Request, settings: Settings, *, may_hide: bool = False) -> bool:
    """Whether a page of another site sent it, as far as the browser tells. What is no browser sends neither header, and
    has no cookie that somebody else could use. `may_hide`: the page with the form sends no referrer, so that browsers
    call its origin "null" where they say nothing better."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    if origin is None:
        return False
    if origin == "null":
        return not may_hide
    own = {f"{scheme}://{request.headers.get('host', '')}" for scheme in ("http", "https")}
    return origin not in own | {_origin(settings.effective_public_url), _origin(settings.effective_cabinet_url)}


def _is_secure(settings: Settings) -> bool:
    return settings.effective_cabinet_url.startswith("https://")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
