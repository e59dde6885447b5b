"""The tools of the registry over REST: what agents reach by MCP, programs and the cabinet call as plain operations.

Their answers have the same bound. Calls of programs are logged as those by MCP are, by their keys; what a page of the
cabinet reads is not, as other reads of it are not.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pydantic import BaseModel

from api.http import Call, NoInput, Operation
from api.knowledge import open_spaces
from mcp_server.bounds import bounded_call
from mcp_server.call_log import Caller, Measured
from mcp_server.registry import Arguments, Tool, ToolContext, ToolError
from mcp_server.tools import make_registry
from store.errors import InvalidRequest

_REGISTRY = make_registry()


def _handler(tool: Tool) -> Callable[[Call[NoInput, Arguments]], BaseModel]:
    def call_tool(call: Call[NoInput, Arguments]) -> BaseModel:
        arguments = call.body.model_dump(mode="json", by_alias=True, exclude_unset=True)
        try:
            with _recorded(call, tool.name, arguments) as measured:
                result = bounded_call(_REGISTRY, _context(call), tool.name, arguments)
                measured.result(result)
                return result
        except ToolError as error:
            raise InvalidRequest(str(error)) from None

    call_tool.__name__ = f"call_{tool.name}"
    return call_tool


def _recorded(call: Call[Any, Any], name: str, arguments: dict[str, Any]) -> AbstractContextManager[Measured]:
    if call.principal.key is None:
        return nullcontext(Measured())
    caller = Caller(
        tenant_id=call.tenant_id,
        actor=call.actor,
        client=call.request.headers.get("user-agent"),
        request_id=call.request.state.request_id,
    )
    return call.services.calls.recording(caller, name, arguments)


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
        unaudited="Every tool reads, and the log of tool calls has it.",
    )
    for tool in _REGISTRY.tools
)
