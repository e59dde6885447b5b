"""The empty page that the cabinet's preview of a widget stands in: a frame of its own, which may do no more than a
customer's page."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

PATH = "/cabinet/preview"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preview</title>
<body></body>
</html>
"""
# The widget brings its styles along (adoptedStyleSheets) and asks this server alone.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
    "X-Robots-Tag": "noindex",
}


def show_preview(_request: Request) -> Response:
    """It says nothing of anybody, so nobody needs to be known. The cabinet puts the widget in."""
    return HTMLResponse(_PAGE, headers=_HEADERS)


ROUTES = (Route(PATH, show_preview, methods=["GET"]),)
