"""MCP as a test speaks it: raw JSON-RPC as the contract documents it, and the official SDK's client."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.support.server import Account

Result = TypeVar("Result")

OLDEST = "2024-11-05"
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEWEST = "2026-07-28"
ACCEPT = {"Accept": "application/json, text/event-stream"}


def post(account: Account, body: Any, **headers: str) -> httpx2.Response:
    """POST /mcp with any body; `headers` with underscores for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return account.post("/mcp", json=body, headers={**ACCEPT, **named})


def rpc(account: Account, method: str, params: Any = None, *, id: int | str = 1, **headers: str) -> dict[str, Any]:
    """The JSON-RPC answer to a request, in HTTP 200."""
    body = {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}
    answer = post(account, body, **headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert found["jsonrpc"] == "2.0"
    return found


def found_by(account: Account, tool: str, **arguments: Any) -> dict[str, Any]:
    """The one JSON object that a tool gives."""
    if "from_" in arguments:
        arguments["from"] = arguments.pop("from_")
    result = account.call_tool(tool, **arguments)["result"]
    assert result["isError"] is False
    (content,) = result["content"]
    found: dict[str, Any] = json.loads(content["text"])
    return found


def refusal(account: Account, tool: str, **arguments: Any) -> str:
    """The message with which a tool fails, as the contract documents it."""
    if "from_" in arguments:
        arguments["from"] = arguments.pop("from_")
    answer = account.call_tool(tool, **arguments)
    assert answer["error"]["code"] == -32603, answer
    message: str = answer["error"]["message"]
    return message


def with_session(account: Account, version: str, work: Callable[[ClientSession], Awaitable[Result]]) -> Result:
    """Runs `work` in a session of the official client that has agreed on `version`."""

    async def run() -> Result:
        async with (
            httpx2.AsyncClient(headers=account.headers, timeout=60) as http,
            streamable_http_client(account.server.url + "/mcp", http_client=http) as (read, write),
        ):
            if version == NEWEST:
                async with Client(_Connected(read, write), mode=version) as client:
                    return await work(client.session)
            async with ClientSession(read, write) as session:
                params = types.InitializeRequestParams(
                    protocol_version=version,
                    capabilities=types.ClientCapabilities(),
                    client_info=types.Implementation(name="contract test", version="1"),
                )
                request = types.InitializeRequest(params=params)
                result = await session.send_request(request, types.InitializeResult)
                assert result.protocol_version == version
                session.adopt(result)
                await session.send_notification(types.InitializedNotification())
                return await work(session)

    return asyncio.run(run())


class _Connected:
    """A transport of streams that are open already."""

    def __init__(self, read: Any, write: Any) -> None:
        self._streams = read, write

    async def __aenter__(self) -> Any:
        return self._streams

    async def __aexit__(self, *_: object) -> None:
        return None


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def wait_until(holds: Callable[[], bool], limit_s: float = 120) -> None:
    """The index follows by the sweeper."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, "the index did not follow"
        time.sleep(0.05)
