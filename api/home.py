"""The page at `/`: what Parley is, the trial upload, the demo company's chat. The server writes it whole in the
visitor's language, so that it reads without scripts too."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from api.home_texts import HOME_TEXTS
from api.pages import asset, language_of, page
from api.services import Services
from api.site import SECURITY_HEADERS, WEB_FOLDER, widget_key

_POLICY = SECURITY_HEADERS["Content-Security-Policy"] + "; media-src 'self'"


def home(request: Request) -> Response:
    services: Services = request.app.state.services
    if not (WEB_FOLDER / "demo.html").is_file():
        return PlainTextResponse("Parley is running. Its web part is not built: run `make web`.\n")
    asked = request.query_params.get("lang", "")
    language = asked if asked in HOME_TEXTS else language_of(request)
    response = page(
        "home.html",
        language,
        h=HOME_TEXTS[language],
        other="en" if language == "ru" else "ru",
        key=widget_key(services.settings),
        trial=services.settings.trial,
        home_style=asset("home-*.css"),
        home_script=asset("home-*.js"),
    )
    del response.headers["X-Robots-Tag"]
    headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache", "Vary": "Accept-Language"}
    response.headers.update({**SECURITY_HEADERS, **headers})
    return response


ROUTES: list[BaseRoute] = [Route("/", home, methods=["GET"])]
