"""Pages that the server writes: they work without scripts, load nothing from elsewhere, and say so in headers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from accounts.ledger import shown
from api.http import read_body
from api.page_texts import TEXTS
from api.site import WEB_FOLDER
from store.accounts import Tenant

MAX_FORM_BYTES = 8 * 1024
LANGUAGES = tuple(TEXTS)
_NO_BREAK = "\N{NO-BREAK SPACE}"

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(
    template: str,
    language: str,
    *,
    status: int = 200,
    leads_to: Iterable[str] = (),
    referrer: str = "same-origin",
    **values: Any,
) -> HTMLResponse:
    """The filled template. `leads_to`: URLs that the answers to its forms may redirect to.

    Browsers hold a form's redirects to the form-action policy too, over as many servers as there are: so the schemes
    are named, not the hosts.
    """
    language = language if language in TEXTS else "en"
    schemes = {urlsplit(url).scheme for url in leads_to} & {"http", "https"}
    form_action = " ".join(["'self'", *(f"{scheme}:" for scheme in sorted(schemes))])
    text = _templates.get_template(template).render(
        language=language, t=TEXTS[language], stylesheet=asset("pages-*.css"), icon=asset("icon-*.svg"), **values
    )
    headers = {
        "Content-Security-Policy": (
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
            f"form-action {form_action}; frame-ancestors 'none'"
        ),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": referrer,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
        "X-Robots-Tag": "noindex",
    }
    return HTMLResponse(text, status_code=status, headers=headers)


def notice(
    language: str,
    name: str,
    *,
    status: int = 200,
    tone: str = "plain",
    links: Iterable[tuple[str, str]] = (),
    **values: Any,
) -> HTMLResponse:
    """A page that says one thing: the texts `NAME_title` and `NAME_text`. `links` are (address, name of its text);
    `tone` is plain, good, bad or wait."""
    return page("notice.html", language, status=status, name=name, tone=tone, links=list(links), values=values)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a small form; the first of each name. Raises TooLarge."""
    raw = await read_body(request, MAX_FORM_BYTES)
    fields = parse_qs(raw.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=None)
    return {name: values[0] for name, values in fields.items()}


def language_of(request: Request, otherwise: str = "en") -> str:
    """The first of our languages that the browser asks for, else `otherwise`: that of the account, where there is
    one."""
    for part in request.headers.get("accept-language", "")[:200].lower().split(","):
        found = re.split(r"[-;]", part.strip())[0]
        if found in TEXTS:
            return found
    return otherwise


def money(micro: int, language: str) -> str:
    """An amount as people of that language write it: "1 500,00 ₽", "₽1,500.00"."""
    number = shown(micro)
    sign, digits = ("−", number[1:]) if number.startswith("-") else ("", number)
    whole, _, cents = digits.partition(".")
    grouped = f"{int(whole):,}"
    if language == "ru":
        return f"{sign}{grouped.replace(',', _NO_BREAK)},{cents}{_NO_BREAK}₽"
    return f"{sign}₽{grouped}.{cents}"


def clock(moment: datetime, tenant: Tenant) -> str:
    """Hours and minutes in the account's time zone, with the zone's short name."""
    return moment.astimezone(ZoneInfo(tenant.time_zone)).strftime("%H:%M %Z")


@cache
def asset(pattern: str) -> str | None:
    """The address of a built file, whose name has a hash in it; None where the web part is not built."""
    found = sorted((WEB_FOLDER / "assets").glob(pattern))
    return f"/assets/{found[0].name}" if found else None


_templates.globals["money"] = money
_templates.globals["shown"] = shown
