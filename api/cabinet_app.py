"""The cabinet's application: one page for all of its addresses, who is signed in written into it, and its files."""

from __future__ import annotations

import secrets
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from api.browser_session import session_of
from api.entrance import no_session
from api.services import Services
from api.site import ASSETS_CACHE, WEB_FOLDER, SharedFiles
from store import operators
from store.accounts import Tenant
from store.sessions import Session

_FOLDER = WEB_FOLDER / "cabinet"
_SESSION_PLACE = '<script type="application/json" id="session">'
_NONCE_PLACE = 'name="csp-nonce" content="'


class ShownTenant(BaseModel):
    id: str
    name: str
    language: str
    time_zone: str
    is_active: bool
    features: list[str]


class ShownPerson(BaseModel):
    name: str | None
    email: str | None
    role: str


class ShownUrls(BaseModel):
    public: str
    mcp: str


class ShownPlace(BaseModel):
    """Another account of the same person: `id` is their operator's there."""

    id: str
    name: str


class ShownSession(BaseModel):
    """What the cabinet's page knows before it asks anything."""

    tenant: ShownTenant
    person: ShownPerson
    others: list[ShownPlace]
    urls: ShownUrls
    can_top_up: bool
    can_mail: bool


def show_cabinet(request: Request) -> Response:
    services: Services = request.app.state.services
    found = session_of(request)
    if found is None:
        return no_session(request)
    index = _FOLDER / "index.html"
    if not index.is_file():
        return PlainTextResponse("The web part is not built: run `make web`.\n", status_code=503)
    session, tenant = found
    nonce = secrets.token_urlsafe(18)
    written = _written(shown_session(services, session, tenant))
    text = (
        _index(index, index.stat().st_mtime_ns)
        .replace(_SESSION_PLACE, _SESSION_PLACE + written, 1)
        .replace(_NONCE_PLACE, _NONCE_PLACE + nonce, 1)
    )
    return HTMLResponse(text, headers=_headers(nonce))


def shown_session(services: Services, session: Session, tenant: Tenant) -> ShownSession:
    settings = services.settings
    who = session.operator
    with services.database.read() as connection:
        others = operators.list_of_email(connection, who.email) if who is not None and not session.is_bound else []
    return ShownSession(
        tenant=ShownTenant(
            id=tenant.id,
            name=tenant.name,
            language=tenant.language,
            time_zone=tenant.time_zone,
            is_active=tenant.is_active,
            features=sorted(tenant.features),
        ),
        person=ShownPerson(
            name=who.name if who is not None else None,
            email=who.email if who is not None else tenant.email,
            role=session.role,
        ),
        others=[
            ShownPlace(id=operator.id, name=place.name)
            for operator, place in others
            if place.id != tenant.id and place.deleting_since is None
        ],
        urls=ShownUrls(public=settings.effective_public_url, mcp=f"{settings.effective_public_url}/mcp"),
        can_top_up=services.payments.provider is not None,
        can_mail=bool(settings.smtp_host),
    )


@lru_cache(maxsize=1)
def _index(path: Path, _changed_ns: int) -> str:
    return path.read_text(encoding="utf-8")


def _written(shown: ShownSession) -> str:
    """JSON that ends no script element and begins no comment, whatever names hold."""
    return shown.model_dump_json().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _headers(nonce: str) -> dict[str, str]:
    """Only files of ours run. Mantine's own style elements carry the nonce; frames are previews of the widget."""
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; "
            "media-src 'self' blob:; connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; "
            "form-action 'self'; frame-ancestors 'none'"
        ),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
        "X-Robots-Tag": "noindex",
    }


def routes() -> list[BaseRoute]:
    """After all others at /cabinet: every address that is left is the application's."""
    pages = [Route(path, show_cabinet, methods=["GET"]) for path in ("/cabinet", "/cabinet/{page:path}")]
    assets = _FOLDER / "assets"
    if not assets.is_dir():
        return [*pages]
    return [Mount("/cabinet/assets", GZipMiddleware(SharedFiles(assets, ASSETS_CACHE)), name="cabinet-assets"), *pages]
