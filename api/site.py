"""The built pages at `/demo` and `/docs`, which keep to themselves, and the widget's files, which any page may load."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from api.services import Services
from store.settings import Settings

WEB_FOLDER = Path(__file__).parent.parent / "ui" / "dist"
KEY_PLACE = 'data-widget-key="'
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
# Other people's pages load the widget; what it says of a company it asks for with a key, elsewhere.
SHARED_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}
LOADER = "widget.js"
LOADER_CACHE = "public, max-age=300"
"""Not shown stale while it is asked for again: the files that a loader names go with its release."""
ASSETS_CACHE = "public, max-age=31536000, immutable"


class SharedFiles(StaticFiles):
    """Files for every page, with ETags; those with a hash in their name never change."""

    def __init__(self, folder: Path, cache_control: str) -> None:
        super().__init__(directory=folder)
        self._headers = {**SHARED_HEADERS, "Cache-Control": cache_control}

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers.update(self._headers)
        return response


def demo(request: Request) -> Response:
    """The invented company's page, with the widget on it."""
    services: Services = request.app.state.services
    built = WEB_FOLDER / "demo.html"
    if not built.is_file():
        return PlainTextResponse("The web part is not built: run `make web`.\n")
    key = html.escape(widget_key(services.settings), quote=True)
    text = built.read_text(encoding="utf-8").replace(KEY_PLACE, KEY_PLACE + key, 1)
    return HTMLResponse(text, headers={**SECURITY_HEADERS, "Cache-Control": "no-cache"})


def docs(request: Request) -> Response:
    """Where the documentation begins; with `api`, that API's description for people, which loads nothing from
    elsewhere."""
    if "api" not in request.query_params:
        return RedirectResponse("/docs/getting-started.md")
    built = WEB_FOLDER / "docs.html"
    if not built.is_file():
        return PlainTextResponse("The web part is not built: run `make web`. The descriptions are at /openapi/.\n")
    text = built.read_text(encoding="utf-8")
    # Its search is a form that leads to this server.
    policy = SECURITY_HEADERS["Content-Security-Policy"].replace("form-action 'none'", "form-action 'self'")
    headers = {**SECURITY_HEADERS, "Content-Security-Policy": policy, "Cache-Control": "no-cache"}
    return HTMLResponse(text, headers=headers)


def widget_key(settings: Settings) -> str:
    """The public key of the chat on the pages at `/` and `/demo`: the setting, else the demo account's."""
    if settings.site_widget_key:
        return settings.site_widget_key
    try:
        found = json.loads((settings.data_dir / "demo.json").read_text(encoding="utf-8"))["widget_key"]
    except (OSError, ValueError, KeyError):
        return ""
    return str(found)


def routes() -> list[BaseRoute]:
    found: list[BaseRoute] = [Route("/demo", demo, methods=["GET"]), Route("/docs", docs, methods=["GET"])]
    return [*found, *file_routes(WEB_FOLDER)]


def file_routes(folder: Path) -> list[BaseRoute]:
    """The built files under their addresses; none where nothing is built."""
    if not (folder / "assets").is_dir():
        return []
    loader = SharedFiles(folder, LOADER_CACHE)

    async def widget(request: Request) -> Response:
        return await loader.get_response(LOADER, request.scope)

    return [
        Route(f"/{LOADER}", widget, methods=["GET"], middleware=[Middleware(GZipMiddleware)]),
        Mount("/assets", GZipMiddleware(SharedFiles(folder / "assets", ASSETS_CACHE)), name="assets"),
    ]
