"""The pages at `/` and `/docs`: the built web part, served with the headers that keep it to itself."""

from __future__ import annotations

import html
import json
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from api.services import Services
from store.settings import Settings

WEB_FOLDER = Path(__file__).parent.parent / "ui" / "dist"
KEY_PLACE = '<meta name="parley-widget-key" content="'
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def page(request: Request) -> Response:
    services: Services = request.app.state.services
    index = WEB_FOLDER / "index.html"
    if not index.is_file():
        return PlainTextResponse("Parley is running. Its web part is not built: run `make web`.\n")
    key = html.escape(_widget_key(services.settings), quote=True)
    text = index.read_text(encoding="utf-8").replace(KEY_PLACE, KEY_PLACE + key, 1)
    return HTMLResponse(text, headers={**SECURITY_HEADERS, "Cache-Control": "no-cache"})


def docs(_request: Request) -> Response:
    """The API descriptions for people; they load nothing from elsewhere."""
    built = WEB_FOLDER / "docs.html"
    if not built.is_file():
        return PlainTextResponse("The web part is not built: run `make web`. The descriptions are at /openapi/.\n")
    text = built.read_text(encoding="utf-8")
    return HTMLResponse(text, headers={**SECURITY_HEADERS, "Cache-Control": "no-cache"})


def _widget_key(settings: Settings) -> str:
    """The public key of the page's chat: the setting, else the demo account's."""
    if settings.site_widget_key:
        return settings.site_widget_key
    try:
        found = json.loads((settings.data_dir / "demo.json").read_text(encoding="utf-8"))["widget_key"]
    except (OSError, ValueError, KeyError):
        return ""
    return str(found)


def routes() -> list[BaseRoute]:
    found: list[BaseRoute] = [Route("/", page, methods=["GET"]), Route("/docs", docs, methods=["GET"])]
    if (WEB_FOLDER / "assets").is_dir():
        found.append(Mount("/assets", StaticFiles(directory=WEB_FOLDER / "assets"), name="assets"))
    return found
