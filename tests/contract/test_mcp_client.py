"""The official SDK's client against the endpoint, in every protocol version that it speaks."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx2
import mcp_types as types
import pytest
import sqlalchemy as sa
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from store import index_work
from tests.contract.access import SECRET, TOOLS, Owner, make_owner
from tests.contract.mcp import HANDSHAKE_VERSIONS, NEWEST, OLDEST, post, rpc, text_of, with_session
from tests.support.server import Account, RunningServer

INDEXED_S = 120.0
VERSIONS = (*HANDSHAKE_VERSIONS, NEWEST)


@pytest.fixture(scope="module")
def owner(server: RunningServer) -> Owner:
    """Tests only read it, when all of it can be found: what is answered twice must not change between."""
    made = make_owner(server.new_client("owner for the official client"))
    deadline = time.monotonic() + INDEXED_S
    while _open_work(made):
        assert time.monotonic() < deadline, server.log()[-4000:]
        time.sleep(0.2)
    return made


def _open_work(owner: Owner) -> int:
    work = index_work.index_work
    query = sa.select(sa.func.count()).where(work.c.tenant_id == owner.account.tenant_id)
    with owner.account.server.database.read() as connection:
        return int(connection.execute(query).scalar_one())


def calls_for(owner: Owner, listed: list[types.Tool]) -> list[tuple[str, dict[str, Any], bool]]:
    """A call or more of each listed tool, and whether its answer holds the owner's secret word."""
    names = {tool.name for tool in listed}
    assert names == set(TOOLS), "tests/contract/access.py says of each tool what it is asked for"
    return [(name, owner.filled(arguments), finds) for name in TOOLS for arguments, finds in TOOLS[name]]


def test_these_are_the_versions_that_the_client_speaks() -> None:
    assert VERSIONS == KNOWN_PROTOCOL_VERSIONS


@pytest.mark.proves("mcp.versions.negotiated", "mcp.transport.streamable-http", "mcp.structured-content")
@pytest.mark.parametrize("version", VERSIONS)
def test_each_tool_is_listed_and_called(owner: Owner, version: str) -> None:
    """What a newer version gives as structured content is what the oldest has as text."""

    async def work(session: ClientSession) -> list[tuple[str, dict[str, Any], bool, types.CallToolResult]]:
        calls = calls_for(owner, (await session.list_tools()).tools)
        return [(name, asked, finds, await session.call_tool(name, asked)) for name, asked, finds in calls]

    for name, asked, finds, result in with_session(owner.account, version, work):
        assert not result.is_error, (name, asked, text_of(result))
        documented = json.loads(owner.account.call_tool(name, **asked)["result"]["content"][0]["text"])
        assert isinstance(documented, dict)
        assert not finds or SECRET in text_of(result), (name, asked)
        if version >= "2025-06-18":
            assert result.structured_content == documented, (name, asked)
        else:
            assert result.structured_content is None
            assert json.loads(text_of(result)) == documented, (name, asked)


@pytest.mark.proves("mcp.transport.streamable-http")
@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", NEWEST), (NEWEST, NEWEST)])
def test_the_client_connects_in_each_of_its_modes_and_calls_each_tool(owner: Owner, mode: str, version: str) -> None:
    async def run() -> None:
        async with httpx2.AsyncClient(headers=owner.account.headers, timeout=60) as http:
            transport = streamable_http_client(owner.account.server.url + "/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                assert client.session.protocol_version == version
                for name, asked, finds in calls_for(owner, (await client.list_tools()).tools):
                    result = await client.call_tool(name, asked)
                    assert not result.is_error, (name, asked, text_of(result))
                    assert not finds or SECRET in text_of(result), (name, asked)

    asyncio.run(run())


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
