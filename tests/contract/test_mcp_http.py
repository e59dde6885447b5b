"""MCP over HTTP as odd clients, proxies and browsers speak it: raw requests to the running server."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from typing import Any

import pytest

from tests.contract.mcp import ACCEPT, NEWEST, OLDEST, post, rpc
from tests.support.server import Account

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def ask_raw(account: Account, headers: Iterable[str], body: bytes) -> tuple[int, Any]:
    """The last status and JSON that the server says to a request of one connection."""
    head = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{account.server.port}", "Connection: close", *headers, "", ""]
    with socket.create_connection(("127.0.0.1", account.server.port), timeout=30) as connection:
        connection.sendall("\r\n".join(head).encode("latin-1") + body)
        received = b""
        while part := connection.recv(65536):
            received += part
    received = received.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    top, _, content = received.partition(b"\r\n\r\n")
    return int(top.split()[1]), json.loads(content) if content else None


def key_of(account: Account) -> str:
    return f"Authorization: Bearer {account.made.api_key}"


LENGTH = f"Content-Length: {len(PING)}"


@pytest.mark.parametrize(
    "headers",
    [
        ["MCP-Protocol-Version: 2025-06-18", "MCP-Protocol-Version: 2024-11-05"],
        ["mcp-protocol-version:\t2025-06-18 \t "],
        ["MCP-PROTOCOL-VERSION: 2025-11-25"],
        ["Mcp-Session-Id: of-nobody", "Last-Event-ID: 7"],
        ["Expect: 100-continue"],
        ["Content-Encoding: identity"],
        ["Content-Type: text/plain", "Content-Type: application/json"],
        ["Accept:"],
    ],
)
def test_odd_but_allowed_headers_are_taken(account: Account, headers: list[str]) -> None:
    assert ask_raw(account, [key_of(account), LENGTH, *headers], PING) == (200, PONG)


def test_a_body_in_chunks_is_read_whole(account: Account) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in PING) + b"0\r\n\r\n"
    assert ask_raw(account, [key_of(account), "Transfer-Encoding: chunked"], chunks) == (200, PONG)


def test_blanks_around_a_name_in_a_header_are_no_part_of_it(account: Account) -> None:
    """RFC 9110, 5.5, which 2026-07-28 points to where it compares headers with the body."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "contract test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "list_kb_spaces", "arguments": {}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    usual = [
        key_of(account),
        f"Content-Length: {len(body)}",
        f"MCP-Protocol-Version: {NEWEST} ",
        "Mcp-Method: tools/call",
    ]
    status, answer = ask_raw(account, [*usual, "Mcp-Name:   list_kb_spaces  "], body)
    assert (status, answer["result"]["isError"]) == (200, False)
    status, answer = ask_raw(account, [*usual, "Mcp-Name: list_kb_documents"], body)
    assert (status, "result" in answer) == (400, False)


@pytest.mark.proves("mcp.auth.bearer", "mcp.auth.401-body")
def test_of_two_keys_the_first_counts_and_another_one_helps_no_wrong_key(account: Account) -> None:
    wrong, other = "Authorization: Bearer sk_live_nobody", f"X-API-Key: {account.made.api_key}"
    for headers in ([wrong, key_of(account)], [wrong, other], ["Authorization: Basic c2s6", other]):
        assert ask_raw(account, [LENGTH, *headers], PING) == (401, {"error": "unauthorized"})


@pytest.mark.parametrize(
    "version", ["2025-6-18", "2025-06-18, 2025-03-26", "draft", "9999-12-31", "\xff", "2024-10-07"]
)
def test_a_version_that_is_none_is_400_and_in_json_rpc(account: Account, version: str) -> None:
    status, answer = ask_raw(account, [key_of(account), LENGTH, f"MCP-Protocol-Version: {version}"], PING)
    assert status == 400
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    assert answer["error"]["code"] < 0


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1.evil.example", "http://[", "http://", "https://"]
)
def test_a_page_of_a_strangers_site_may_not_call(account: Account, origin: str) -> None:
    """Whatever address its name was turned to; whether the key is good, no page learns."""
    for key in (account.made.api_key, "sk_live_nobody"):
        headers = {**ACCEPT, "Authorization": f"Bearer {key}", "Origin": origin, "Host": "evil.example"}
        answer = account.post("/mcp", json=LISTING, headers=headers)
        assert (answer.status_code, answer.json()) == (403, {"error": "origin_not_allowed"})


@pytest.mark.parametrize(
    "origin", ["http://localhost:6274", "http://127.0.0.1", "http://[::1]:3000", "null", "app://desktop"]
)
def test_programs_of_the_own_machine_and_what_is_no_page_may_call(account: Account, origin: str) -> None:
    assert post(account, LISTING, Origin=origin).status_code == 200
    assert post(account, LISTING, Origin=account.server.url).status_code == 200


def test_who_goes_away_before_the_answer_hurts_nobody(account: Account) -> None:
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "search_communications", "arguments": {}},
        }
    ).encode()
    head = ["POST /mcp HTTP/1.1", "Host: x", key_of(account), f"Content-Length: {len(body)}", "", ""]
    request = "\r\n".join(head).encode() + body
    before = len(account.server.log())
    for sent in (len(request), len(request) - 5, len(request)):
        with socket.create_connection(("127.0.0.1", account.server.port), timeout=30) as connection:
            connection.sendall(request[:sent])
    assert (
        post(account, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}).status_code
        == 202
    )
    assert rpc(account, "tools/list")["result"]["tools"]
    said = account.server.log()[before:]
    assert not any(event in said for event in ("tool failed", "an MCP request failed", "Exception in ASGI"))


@pytest.mark.parametrize("version", [OLDEST, "2025-11-25"])
@pytest.mark.parametrize(
    "params",
    [
        {"_meta": {"progressToken": "t"}},
        {"_meta": {"progressToken": 7, "x": {"y": []}}},
        {"_meta": {}},
        {"_meta": None},
        {"unknown": 1},
    ],
)
def test_what_goes_with_a_call_besides_its_arguments_is_no_matter(
    account: Account, params: dict[str, Any], version: str
) -> None:
    """A wish for progress too: the answer comes whole, and nothing before it."""
    call = {"name": "list_kb_spaces", "arguments": {}, **params}
    answer = rpc(account, "tools/call", call, MCP_Protocol_Version=version)
    assert answer["result"]["isError"] is False


@pytest.mark.parametrize("version", [OLDEST, "2025-11-25"])
@pytest.mark.parametrize("params", [{"_meta": {"progressToken": [1]}}, {"_meta": 5}, {"_meta": []}])
def test_what_is_wrong_besides_the_arguments_is_told_without_the_words_of_a_library(
    account: Account, params: dict[str, Any], version: str
) -> None:
    answer = rpc(
        account, "tools/call", {"name": "list_kb_spaces", "arguments": {}, **params}, MCP_Protocol_Version=version
    )
    assert answer["error"]["code"] in (-32602, -32603)
    assert len(answer["error"]["message"]) < 60


LONG = "x" * 900_000


@pytest.mark.parametrize("version", [OLDEST, "2025-06-18", NEWEST])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        (LONG, {}),
        ("tools/call", {"name": LONG}),
        ("tools/call", {"name": "list_kb_spaces", "arguments": {LONG: 1}}),
        ("tools/call", {"name": "list_kb_spaces", "arguments": {"cursor": LONG}}),
        ("tools/call", {"name": "search_communications", "arguments": {"kind": LONG}}),
        ("tools/call", {"name": "get_communication", "arguments": {"communication_id": LONG}}),
        ("prompts/get", {"name": LONG}),
        ("prompts/get", {"name": "find_answer", "arguments": {LONG: "x"}}),
        ("resources/read", {"uri": f"parley://{LONG}"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": LONG}, "argument": {"name": "a", "value": ""}}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_an_error_repeats_little_of_what_was_sent(
    account: Account, method: str, params: dict[str, Any], version: str
) -> None:
    headers = {"MCP-Protocol-Version": version}
    if version == NEWEST:
        meta = {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": {"name": "contract test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        # A header of that length is refused by HTTP; a wrong one by the protocol.
        params = {**params, "_meta": meta}
        headers |= {"Mcp-Method": method[:100], "Mcp-Name": str(params.get("name", params.get("uri", "")))[:100]}
    answer = post(account, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, **headers)
    assert "error" in answer.json() or answer.json()["result"]["isError"]
    assert len(answer.content) < 2_000
