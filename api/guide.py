"""The pages of `docs/` under `/docs/`: HTML for a browser, the Markdown itself for whoever else asks."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from api.pages import page
from mcp_server.product_docs import CONTENTS, DOCS_FOLDER, anchor_of, page_files
from store.errors import NotFound

if TYPE_CHECKING:
    from markdown_it.token import Token

EXAMPLES = "examples/"
_DESCRIPTIONS = "openapi/"
_LAYERS = ("public", "speech", "integration", "vision")
_LINKED = re.compile(r"\]\(([\w-]+\.md)\)")
_EMPTY_HEAD = re.compile(r"<thead>\s*<tr>\s*(?:<td></td>\s*)+</tr>\s*</thead>\n")


def guide(request: Request) -> Response:
    """A page, or the text of an example. Raises NotFound for what is neither, which browsers get as a page."""
    name = request.path_params["page"]
    if name == _DESCRIPTIONS:
        return RedirectResponse("/docs?api=public")
    if (called := f"{name.rstrip('/')}.md") in page_files():
        return RedirectResponse(f"/docs/{called}")
    text = _text(name or CONTENTS)
    is_browser = "text/html" in request.headers.get("accept", "")
    is_page = not name.startswith(EXAMPLES) or name == EXAMPLES
    headers = {"Vary": "Accept"}
    if text is None:
        if not is_browser:
            raise NotFound("There is no such page. /docs/ lists them.")
        response: Response = docs_page("docs_unknown.html", status=404)
    elif is_page and is_browser:
        title, body = _rendered(name or CONTENTS)
        response = docs_page("guide.html", here=name, title=title, body=Markup(body))  # noqa: S704 - our own pages
    else:
        kind = "text/markdown" if is_page else "text/plain"
        response = Response(text, media_type=f"{kind}; charset=utf-8")
        headers["X-Content-Type-Options"] = "nosniff"
    response.headers.update(headers)
    return response


def docs_page(template: str, *, here: str = "", status: int = 200, **values: Any) -> HTMLResponse:
    """A page of the documentation, beside the list of all; `here` is the one of them that it is."""
    return page(template, "en", status=status, here=here, guides=_guides(), layers=_LAYERS, **values)


@cache
def _guides() -> list[tuple[str, str]]:
    """Files and titles of the guides, in the order of the list of them."""
    files = dict.fromkeys(_LINKED.findall(_text(CONTENTS) or ""))
    return [(file, (_text(file) or "").partition("\n")[0].removeprefix("# ")) for file in files]


@cache
def _served() -> frozenset[str]:
    """Nothing else is read, whatever a path says."""
    examples = (path for path in (DOCS_FOLDER / EXAMPLES).glob("*") if path.suffix in (".py", ".mjs", ".sh"))
    return frozenset([*page_files(), *(EXAMPLES + path.name for path in examples)])


def _text(name: str) -> str | None:
    if name == EXAMPLES:
        listed = sorted(each.removeprefix(EXAMPLES) for each in _served() if each.startswith(EXAMPLES))
        return "\n".join(["# Examples", "", *(f"- [{each}]({each})" for each in listed), ""])
    return (DOCS_FOLDER / name).read_text(encoding="utf-8") if name in _served() else None


@cache
def _rendered(name: str) -> tuple[str, str]:
    """Title and HTML of a page that is there."""
    from markdown_it import MarkdownIt

    text = _text(name)
    assert text is not None
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    title = ""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = _words(tokens[at + 1])
            title = title or heading
            token.attrSet("id", anchor_of(heading))
    html = reader.renderer.render(tokens, reader.options, {})
    # Markdown gives every table a head, where ours need none in a cell, or at all.
    html = _EMPTY_HEAD.sub("", html.replace("<th></th>", "<td></td>"))
    # What is wider than a window scrolls by itself, by keyboard too.
    html = html.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")
    return title or name, html.replace("<pre>", '<pre tabindex="0">')


def _words(inline: Token) -> str:
    """A heading without the marks of emphasis."""
    return "".join(child.content for child in inline.children or [] if child.type in ("text", "code_inline"))


ROUTES: list[BaseRoute] = [Route("/docs/{page:path}", guide, methods=["GET"])]
