"""One of two servers that are measured side by side: the same tool functions, data, authentication, limiter and layers
of middleware, behind our endpoint or behind fastmcp as its guide has it. Neither writes the audit.

`python -m bench.mcp_sides parley|fastmcp DATA_DIR PORT`
"""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_request
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from accounts.keys import Keyring
from api import mcp
from api.hosts import Hosts, bases_of
from api.middleware import Places, RequestLog
from mcp_server.endpoint import McpEndpoint
from mcp_server.protocol import Admitted
from mcp_server.readable import with_quoted_named
from mcp_server.registry import ToolContext
from mcp_server.threads import Threads
from mcp_server.tools import catalogue, communication_card, make_registry
from mcp_server.tools.shapes import Cursor, Id, Limit
from store.database import Database
from store.logging import configure_logging
from store.settings import Settings


def make_app(side: str, settings: Settings) -> Starlette:
    """Services are what admission and the tools measured here need of them."""
    database = Database(settings)
    workshop = SimpleNamespace(database=database, retriever=None, work_folder=None)
    services = SimpleNamespace(
        settings=settings, keyring=Keyring.of(settings), database=database, workshop=workshop, calls=None
    )
    endpoint = McpEndpoint(make_registry(), mcp.admit, mcp.one_read) if side == "parley" else _Admitted(_fastmcp())

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.services = services
        async with endpoint.running():
            # As `parley serve` does for itself.
            gc.collect()
            gc.freeze()
            yield

    app = Starlette(routes=[Route("/mcp", endpoint)], lifespan=lifespan)
    app.add_middleware(Places, places=settings.max_requests)
    app.add_middleware(Hosts, bases=bases_of(settings))
    app.add_middleware(RequestLog)
    return app


def _fastmcp() -> Starlette:
    server: FastMCP[None] = FastMCP("parley", instructions="The same tools.")

    @server.tool(annotations={"readOnlyHint": True})
    def list_kb_spaces(limit: Limit = 50, cursor: Cursor | None = None) -> catalogue.SpacePage:
        """The spaces that the company's documents are kept in, with the number of documents in each."""
        found = catalogue.list_kb_spaces(_context(), catalogue.ListSpaces(limit=limit, cursor=cursor))
        return with_quoted_named(found)

    @server.tool(annotations={"readOnlyHint": True})
    def get_communication(
        communication_id: Id, detail: Literal["full", "card"] = "full", cursor: Cursor | None = None
    ) -> communication_card.CommunicationCard:
        """The card of one call, chat or mail, with each turn of its text."""
        arguments = communication_card.GetCommunication(communication_id=communication_id, detail=detail, cursor=cursor)
        return with_quoted_named(communication_card.get_communication(_context(), arguments))

    return server.http_app(path="/mcp", json_response=True, stateless_http=True)


def _context() -> ToolContext:
    admitted: Admitted = get_http_request().state.admitted
    return admitted.context


class _Admitted:
    """fastmcp's own application behind our admission, as our endpoint is."""

    def __init__(self, app: Starlette) -> None:
        self.app: ASGIApp = app
        self._threads = Threads(2, 2, "admission")
        self._lifespan = app.router.lifespan_context(app)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._lifespan:
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        admitted = await self._threads.run("", mcp.admit, Request(scope, receive))
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
            return
        scope["state"]["admitted"] = admitted
        await self.app(scope, receive, send)


def main(side: str, data_dir: str, port: str) -> None:
    values: Any = {"data_dir": Path(data_dir), "log_format": "json"}
    settings = Settings(**values, _env_file=None)  # type: ignore[call-arg]
    configure_logging(settings)
    uvicorn.run(
        make_app(side, settings), port=int(port), loop="uvloop", http="httptools", access_log=False, log_config=None
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
