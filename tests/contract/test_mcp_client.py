"""The official SDK's client against the endpoint, in every protocol version that it speaks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from tests.contract import material
from tests.contract.conftest import Library
from tests.contract.material import keep_communication
from tests.contract.mcp import HANDSHAKE_VERSIONS, NEWEST, OLDEST, post, rpc, text_of, with_session
from tests.support.server import Account

VERSIONS = (*HANDSHAKE_VERSIONS, NEWEST)
NAMES = ["search_communications", "get_communication", "search_documents", "list_kb_spaces"]


def test_these_are_the_versions_that_the_client_speaks() -> None:
    assert VERSIONS == KNOWN_PROTOCOL_VERSIONS


@pytest.mark.proves("mcp.versions.negotiated", "mcp.transport.streamable-http", "mcp.structured-content")
@pytest.mark.parametrize("version", VERSIONS)
def test_each_tool_is_listed_and_called(library: Library, version: str) -> None:
    kept = keep_communication(library.account, ("A", "Hello."), at="2020-01-01T00:00:00+00:00")
    calls: dict[str, dict[str, Any]] = {
        "search_communications": {"to": "2020-01-02T00:00:00Z"},
        "get_communication": {"communication_id": kept},
        "search_documents": {"query": material.HANDBOOK_QUESTION},
        "list_kb_spaces": {},
    }

    async def work(session: ClientSession) -> tuple[list[types.Tool], dict[str, types.CallToolResult]]:
        tools = (await session.list_tools()).tools
        return tools, {name: await session.call_tool(name, arguments) for name, arguments in calls.items()}

    tools, results = with_session(library.account, version, work)
    assert [tool.name for tool in tools] == NAMES
    for result in results.values():
        assert not result.is_error
        content = json.loads(text_of(result))
        assert result.structured_content == (content if version >= "2025-06-18" else None)
    assert material.HANDBOOK_ANSWER in text_of(results["search_documents"])
    assert kept in text_of(results["search_communications"])
    assert "Hello." in text_of(results["get_communication"])
    assert library.prices in text_of(results["list_kb_spaces"])


@pytest.mark.proves("mcp.transport.streamable-http")
@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", NEWEST), (NEWEST, NEWEST)])
def test_the_client_connects_in_each_of_its_modes(account: Account, mode: str, version: str) -> None:
    """A PDF goes in by REST, and the client finds its text."""
    record = account.add_document(account.new_space(), material.handbook_pdf(), "handbook.pdf")
    assert record["status"] == "success"

    async def run() -> str:
        async with httpx2.AsyncClient(headers=account.headers, timeout=60) as http:
            transport = streamable_http_client(account.server.url + "/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                assert client.session.protocol_version == version
                assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
                return text_of(await client.call_tool("search_documents", {"query": material.HANDBOOK_QUESTION}))

    assert material.HANDBOOK_ANSWER in asyncio.run(run())


@pytest.mark.proves("mcp.errors.newer-versions")
@pytest.mark.parametrize("version", VERSIONS[1:])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("no_such_tool", {}),
        ("list_kb_spaces", {"limit": 0}),
        ("get_communication", {"communication_id": "00000000-0000-4000-8000-000000000000"}),
    ],
)
def test_newer_clients_get_is_error_with_the_oldest_ones_message(
    account: Account, version: str, tool: str, arguments: dict[str, Any]
) -> None:
    async def newer(session: ClientSession) -> types.CallToolResult:
        return await session.call_tool(tool, arguments)

    async def oldest(session: ClientSession) -> types.ErrorData:
        with pytest.raises(MCPError) as failed:
            await session.call_tool(tool, arguments)
        return failed.value.error

    result, error = with_session(account, version, newer), with_session(account, OLDEST, oldest)
    assert result.is_error
    assert error.code == -32603
    assert error.message == text_of(result)


CALL = {"name": "list_kb_spaces", "arguments": {}}
WRONG = {"name": "list_kb_spaces", "arguments": {"limit": 0}}


@pytest.mark.proves("mcp.no-header-is-2024", "mcp.structured-content")
@pytest.mark.parametrize("agreed", HANDSHAKE_VERSIONS)
def test_without_the_header_the_behaviour_is_the_documented_one(account: Account, agreed: str) -> None:
    params = {"protocolVersion": agreed, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    rpc(account, "initialize", params)
    assert set(rpc(account, "tools/call", CALL)["result"]) == {"content", "isError"}
    assert rpc(account, "tools/call", WRONG)["error"]["code"] == -32603
    documented = {"name", "description", "inputSchema", "annotations"}
    assert all(set(tool) == documented for tool in rpc(account, "tools/list")["result"]["tools"])


@pytest.mark.proves("mcp.structured-content", "mcp.errors.newer-versions")
@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_the_header_decides_by_itself(account: Account, version: str) -> None:
    result = rpc(account, "tools/call", CALL, MCP_Protocol_Version=version)["result"]
    assert ("structuredContent" in result) is (version >= "2025-06-18")
    assert ("error" in rpc(account, "tools/call", WRONG, MCP_Protocol_Version=version)) is (version == OLDEST)


def test_a_version_that_nobody_knows_is_refused(account: Account) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
    for version in ("1999-01-01", "zzz", ""):
        assert post(account, body, MCP_Protocol_Version=version).status_code == 400
