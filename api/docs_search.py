"""`/docs/search`: one search over the guides and the operations of all APIs; a page for browsers, JSON for programs."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from api.descriptions import OPERATIONS, TITLES
from api.errors import error_response
from api.guide import docs_page
from api.http import Operation
from api.limits import counted_address, enforce_limit
from api.openapi import tag_of
from api.services import Services
from mcp_server.product_docs import ProductDocs
from rag.index import Filter, Point
from rag.search import Found, Searcher
from rag.small_index import SmallIndex
from store.errors import RateLimited

MOST_QUERY_CHARACTERS = 200
SEARCHES_A_MINUTE = 60  # of one address: each is put through the model that all searches share
_GUIDES, _OPERATIONS = 8, 8
_EXCERPT_CHARACTERS = 260
_LEAST_COVERAGE = 0.34
_MARKS = re.compile(r"[#*`|>\[\]]+|\([^)\s]*\.md[^)]*\)")

Layers = Mapping[str, tuple[str, Sequence[Operation]]]


@dataclass(frozen=True, slots=True)
class Hit:
    """A place of the documentation. `url` leads to it on this server."""

    kind: Literal["guide", "operation"]
    title: str
    url: str
    text: str


class DocsSearch:
    """Over the guides, by words and by meaning where there is a model, and over the operations, by words. Thread-safe:
    what it searches is made with the first question."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._guides = ProductDocs()
        self._lock = threading.Lock()
        self._operations: Searcher | None = None

    def find(self, services: Services, query: str) -> list[Hit]:
        """Operations that have most of the query's words, then guides, then the other operations."""
        house = services.workshop
        guides = self._guides.search(query, _GUIDES, house.indexes.serving[1], house.work_folder.parent)
        found = self._searcher().search("", query, Filter(), _OPERATIONS)
        operations = [each for each in found if each.coverage >= _LEAST_COVERAGE]
        exact = [each for each in operations if each.coverage > 0.99]
        others = [each for each in operations if each not in exact]
        hits = [
            *map(_operation_hit, exact[:3]),
            *map(_guide_hit, guides),
            *map(_operation_hit, (*exact[3:], *others)),
        ]
        # Several passages of one place are one hit, the best of them.
        return list({hit.url: hit for hit in reversed(hits)}.values())[::-1]

    def _searcher(self) -> Searcher:
        with self._lock:
            if self._operations is None:
                points = [
                    _point(layer, prefix, operation)
                    for layer, (prefix, operations) in self._layers.items()
                    for operation in operations
                ]
                self._operations = Searcher(SmallIndex(points), None)
            return self._operations


def _point(layer: str, prefix: str, operation: Operation) -> Point:
    name, path = operation.handler.__name__, prefix + operation.path
    return Point(
        id=f"{layer}:{operation.method} {path}",
        vector=None,
        text=OPERATIONS.get(name, operation.summary),
        payload={
            "title": f"{operation.summary} {re.sub(r'[/{}_:-]+', ' ', path)}",
            "shown": f"{operation.summary} · {operation.method} {path}",
            "url": f"/docs?api={layer}#/{quote(tag_of(operation))}/{name}",
            "layer": TITLES[layer],
        },
    )


def _operation_hit(found: Found) -> Hit:
    return Hit("operation", str(found.payload["shown"]), str(found.payload["url"]), _excerpt(found.text))


def _guide_hit(found: Found) -> Hit:
    file, anchor = str(found.payload["file"]), str(found.payload["anchor"])
    url = f"/docs/{file}" + (f"#{quote(anchor)}" if anchor else "")
    return Hit("guide", str(found.payload["title"]), url, _excerpt(found.text))


def _excerpt(text: str) -> str:
    plain = " ".join(_MARKS.sub(" ", text).split())
    if len(plain) <= _EXCERPT_CHARACTERS:
        return plain
    return plain[:_EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"


def routes(layers: Layers) -> list[BaseRoute]:
    searched = DocsSearch(layers)

    def search(request: Request) -> Response:
        database = request.app.state.services.database
        try:
            enforce_limit(database, f"docs-search:{counted_address(request)}", SEARCHES_A_MINUTE, request=request)
        except RateLimited as error:
            return error_response(error, "/")
        query = " ".join(request.query_params.get("q", "").replace("\x00", " ").split())[:MOST_QUERY_CHARACTERS]
        hits = searched.find(request.app.state.services, query) if query else []
        if "text/html" in request.headers.get("accept", ""):
            response: Response = docs_page("docs_search.html", query=query, hits=hits)
        else:
            response = JSONResponse({"query": query, "items": [asdict(hit) for hit in hits]})
        response.headers["Vary"] = "Accept"
        return response

    return [Route("/docs/search", search, methods=["GET"])]
