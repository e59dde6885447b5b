"""The tools of the registry over REST: what agents reach by MCP, programs and the cabinet call as plain operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from api.http import Call, NoInput, Operation
from api.knowledge import open_spaces
from mcp_server.registry import Arguments, Tool, ToolContext, ToolError
from mcp_server.tools import make_registry
from store.errors import InvalidRequest


def _handler(tool: Tool) -> Callable[[Call[NoInput, Arguments]], BaseModel]:
    def call_tool(call: Call[NoInput, Arguments]) -> BaseModel:
        try:
            return tool.function(_context(call), call.body)
        except ToolError as error:
            raise InvalidRequest(str(error)) from None

    call_tool.__name__ = f"call_{tool.name}"
    return call_tool


def _context(call: Call[Any, Any]) -> ToolContext:
    services = call.services
    with services.database.read() as connection:
        spaces = open_spaces(call, connection)
    return ToolContext(
        tenant=call.principal.tenant,
        database=services.database,
        retriever=services.workshop.retriever,
        public_url=services.settings.effective_public_url,
        space_ids=spaces,
        chat_quiet_s=services.settings.chat_quiet_s,
        work_folder=services.workshop.work_folder,
    )


OPERATIONS = tuple(
    Operation(
        "POST",
        f"/v1/tools/{tool.name}",
        _handler(tool),
        tool.title,
        response=tool.result,
        body=tool.arguments,
        errors=(400, 401, 503),
        feature=tool.feature,
        role="viewer",  # every tool reads
        description=tool.description,
    )
    for tool in make_registry().tools
)
