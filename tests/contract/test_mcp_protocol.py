"""The MCP endpoint as documented: handshake of 2024-11-05, errors inside HTTP 200, refusals before the body."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from accounts.keys import INTEGRATION_PREFIX
from tests.contract.mcp import ACCEPT, HANDSHAKE_VERSIONS, NEWEST, OLDEST, post, rpc
from tests.support.server import Account, RunningServer

MAX_BODY_BYTES = 1024 * 1024
CLIENT: dict[str, Any] = {"capabilities": {}, "clientInfo": {"name": "contract test", "version": "1"}}


def tools_list(id: object = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/list"}


@pytest.mark.proves(
    "mcp.initialize.result", "mcp.initialize.params", "mcp.version.2024-11-05", "mcp.envelope", "addresses.mcp"
)
def test_the_documented_handshake_answers_to_the_letter(account: Account) -> None:
    answer = rpc(account, "initialize", {"protocolVersion": OLDEST, **CLIENT})
    assert set(answer) == {"jsonrpc", "id", "result"}
    result = answer["result"]
    assert set(result) == {"protocolVersion", "capabilities", "serverInfo"}
    assert result["protocolVersion"] == OLDEST
    assert result["capabilities"] == {"tools": {}}
    assert result["serverInfo"] == {"name": "parley", "version": "0.1.0"}


@pytest.mark.proves("mcp.initialize.params")
@pytest.mark.parametrize("missing", ["capabilities", "clientInfo"])
def test_initialize_may_leave_out_all_but_the_version_and_takes_nothing_wrong(account: Account, missing: str) -> None:
    params = {"protocolVersion": OLDEST, **CLIENT}
    assert "error" in rpc(account, "initialize", {**params, missing: "x"})
    del params[missing]
    assert rpc(account, "initialize", params)["result"]["protocolVersion"] == OLDEST


def test_a_version_that_nobody_knows_is_refused_as_such(account: Account) -> None:
    body = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}
    answer = post(account, body, mcp_protocol_version="2023-01-01")
    error = answer.json()["error"]
    assert (answer.status_code, answer.json()["id"], error["data"]["requested"]) == (400, 3, "2023-01-01")
    assert NEWEST in error["data"]["supported"]


@pytest.mark.proves("mcp.initialize.protocol-version-required")
def test_initialize_without_a_protocol_version_is_an_error(account: Account) -> None:
    answer = rpc(account, "initialize", CLIENT)
    assert answer["error"]["code"] == -32602
    assert "result" not in answer


@pytest.mark.proves("mcp.versions.negotiated")
@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_every_handshake_version_is_agreed_on(account: Account, version: str) -> None:
    result = rpc(account, "initialize", {"protocolVersion": version, **CLIENT})["result"]
    assert result["protocolVersion"] == version
    # 2025-03-26 has no header, and without one later requests are answered as the documented version answers them.
    offered = {"tools"} if version <= "2025-03-26" else {"tools", "resources", "prompts", "completions"}
    assert set(result["capabilities"]) == offered
    assert ("instructions" in result) == (version != OLDEST)


@pytest.mark.proves("mcp.versions.negotiated")
@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_all_that_is_offered_is_answered_to_a_client_of_the_version(account: Account, version: str) -> None:
    capabilities = rpc(account, "initialize", {"protocolVersion": version, **CLIENT})["result"]["capabilities"]
    headers = {"mcp_protocol_version": version} if version >= "2025-06-18" else {}  # as these versions define
    for method in ("tools/list", "resources/list", "prompts/list"):
        answered = "result" in rpc(account, method, **headers)
        assert answered == (method.partition("/")[0] in capabilities)


@pytest.mark.proves("mcp.initialized.empty")
@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled"])
def test_a_notification_has_an_empty_answer(account: Account, method: str) -> None:
    params = {"params": {"requestId": 7}} if method.endswith("cancelled") else {}
    answer = post(account, {"jsonrpc": "2.0", "method": method, **params})
    assert answer.status_code == 202
    assert answer.content == b""


@pytest.mark.proves("mcp.id.number-and-string", "mcp.envelope")
@pytest.mark.parametrize("id", [0, 1, -5, 2**40, "1", "a-b", "", "привет"])
def test_the_answer_carries_the_requests_id(account: Account, id: int | str) -> None:
    answer = rpc(account, "tools/list", id=id)
    assert answer["id"] == id
    assert type(answer["id"]) is type(id)


@pytest.mark.proves("mcp.id.number-and-string")
@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, NEWEST])
@pytest.mark.parametrize("id", ["1.0", "-3.0", "1e3"])
def test_an_id_that_is_a_whole_number_with_a_point_is_answered_as_it_came(
    account: Account, version: str, id: str
) -> None:
    about = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    for method, answered in (("tools/list", "result"), ("nope", "error")):
        body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": method, "params": {"_meta": about}})
        headers = {**ACCEPT, "MCP-Protocol-Version": version, "Mcp-Method": method}
        answer = account.post("/mcp", content=body.replace('"id": 0', f'"id": {id}').encode(), headers=headers)
        found = answer.json()
        assert answered in found
        assert (type(found["id"]), found["id"]) == (float, float(id))


def test_an_id_with_a_fraction_is_refused_and_told_so(account: Account) -> None:
    found = post(account, tools_list(1.5)).json()
    assert found["error"]["message"] == "id is neither a whole number nor a string"


@pytest.mark.proves("mcp.envelope")
@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        (tools_list(None), -32600, None),
        (tools_list(1.5), -32600, None),
        (tools_list(True), -32600, None),
        (tools_list({}), -32600, None),
        ({"id": 4, "method": "tools/list"}, -32600, 4),
        ({"jsonrpc": "1.0", "id": "x", "method": "tools/list"}, -32600, "x"),
        ({"jsonrpc": "2.0", "id": 5}, -32600, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": 6}, -32600, 5),
        ({"jsonrpc": "2.0", "id": 5, "result": {}}, -32600, 5),
        ([tools_list()], -32600, None),
        ([], -32600, None),
        ("tools/list", -32600, None),
        (5, -32600, None),
    ],
)
def test_what_is_no_json_rpc_request_is_refused(account: Account, body: object, code: int, id: object) -> None:
    answer = post(account, body)
    assert answer.status_code == 400
    found = answer.json()
    assert (found["jsonrpc"], found["id"], found["error"]["code"]) == ("2.0", id, code)


@pytest.mark.proves("mcp.envelope")
@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe{}", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"', b"[" * 100_000]
)
def test_a_body_that_is_no_json_is_a_parse_error(account: Account, body: bytes) -> None:
    answer = account.post("/mcp", content=body, headers=ACCEPT)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700
    assert answer.json()["id"] is None


def test_a_body_over_the_limit_is_refused(account: Account) -> None:
    answer = account.post("/mcp", content=b" " * (MAX_BODY_BYTES + 1), headers=ACCEPT)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain", "Accept": "text/html"},
        {"Content-Type": "application/json; charset=utf-8", "Accept": "*/*"},
        {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
    ],
)
def test_a_client_that_names_other_content_types_is_answered_too(account: Account, headers: dict[str, str]) -> None:
    answer = account.post("/mcp", content=b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json()["result"]["tools"]


@pytest.mark.proves("mcp.error.unknown-method")
@pytest.mark.parametrize("method", ["nope", "tools/nope", "resources/list", "prompts/list", "logging/setLevel", ""])
def test_an_unknown_method_is_minus_32601_in_http_200(account: Account, method: str) -> None:
    answer = rpc(account, method, {"level": "info"} if method == "logging/setLevel" else None)
    assert answer["error"]["code"] == -32601
    assert answer["error"]["message"]
    assert answer["id"] == 1


@pytest.mark.proves("mcp.error.unknown-tool", "mcp.tools-call.failure-is-200")
def test_an_unknown_tool_is_minus_32603_in_http_200(account: Account) -> None:
    answer = rpc(account, "tools/call", {"name": "drop_tables", "arguments": {}}, id="t")
    assert answer == {"jsonrpc": "2.0", "id": "t", "error": {"code": -32603, "message": "tool not found: drop_tables"}}


@pytest.mark.proves("mcp.error.wrong-arguments", "mcp.tools-call.failure-is-200")
@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("search_documents", {}, "query"),
        ("search_documents", {"query": 5}, "query"),
        ("search_documents", {"query": "x", "limit": "5"}, "limit"),
        ("search_documents", {"query": "x", "tenant_id": "y"}, "tenant_id"),
        ("get_communication", {"communication_id": "no uuid"}, "communication_id"),
        ("search_communications", {"kind": "letter"}, "kind"),
        ("list_kb_spaces", [], "arguments"),
        ("list_kb_spaces", "{}", "arguments"),
        ("list_kb_spaces", 5, "arguments"),
    ],
)
def test_wrong_arguments_are_minus_32603_in_http_200(account: Account, tool: str, arguments: Any, names: str) -> None:
    answer = rpc(account, "tools/call", {"name": tool, "arguments": arguments})
    assert answer["error"]["code"] == -32603
    assert names in answer["error"]["message"]
    assert "result" not in answer


@pytest.mark.proves("mcp.tools-call.name-required")
@pytest.mark.parametrize("params", [None, {}, {"arguments": {}}, {"name": None}, {"name": 5}])
def test_a_call_without_a_name_is_an_error(account: Account, params: Any) -> None:
    answer = rpc(account, "tools/call", params)
    assert answer["error"]["code"] < 0
    assert "result" not in answer


@pytest.mark.proves("mcp.error.405-get", "mcp.405.any-method")
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
@pytest.mark.parametrize("with_key", [True, False])
def test_any_method_but_post_is_405(account: Account, method: str, with_key: bool) -> None:
    headers = account.headers if with_key else {}
    answer = httpx2.request(method, account.server.url + "/mcp", headers=headers, timeout=30)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.proves("mcp.auth.bearer", "mcp.auth.x-api-key")
def test_the_key_is_taken_from_either_header(account: Account) -> None:
    for headers in (account.headers, {"X-API-Key": account.made.api_key}):
        answer = httpx2.post(account.server.url + "/mcp", json=tools_list(), headers={**ACCEPT, **headers})
        assert answer.status_code == 200
        assert answer.json()["result"]["tools"]


REFUSED: tuple[dict[str, str], ...] = (
    {},
    {"Authorization": "Bearer sk_live_nobody"},
    {"Authorization": "Bearer"},
    {"Authorization": "Basic c2s6"},
    {"X-API-Key": "sk_live_nobody"},
    {"X-API-Key": ""},
)


@pytest.mark.proves("mcp.auth.401-body")
@pytest.mark.parametrize("headers", REFUSED)
def test_a_missing_or_invalid_key_is_401_with_the_documented_body(
    server: RunningServer, headers: dict[str, str]
) -> None:
    answer = httpx2.post(server.url + "/mcp", json=tools_list(), headers={**ACCEPT, **headers})
    assert answer.status_code == 401
    assert answer.json() == {"error": "unauthorized"}


@pytest.mark.proves("mcp.auth.partner-keys")
@pytest.mark.parametrize("prefix", ["sk_partner_", INTEGRATION_PREFIX])
def test_partner_keys_are_refused(server: RunningServer, account: Account, prefix: str) -> None:
    key = prefix + account.made.api_key.removeprefix("sk_live_")
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}):
        answer = httpx2.post(server.url + "/mcp", json=tools_list(), headers={**ACCEPT, **headers})
        assert (answer.status_code, answer.json()) == (401, {"error": "unauthorized"})


@pytest.mark.proves("mcp.auth.paused-reads")
def test_a_paused_client_reads_by_mcp(account: Account, pause: Callable[..., None]) -> None:
    pause(account)
    assert account.get("/public/v1/kb/spaces").status_code == 200
    assert account.post("/public/v1/kb/spaces", json={"name": "x"}).status_code == 403
    assert rpc(account, "tools/list")["result"]["tools"]
    assert account.call_tool("search_communications")["result"]["isError"] is False


def answer_to_headers_alone(server: RunningServer, *headers: str) -> bytes:
    """What the server says to a request whose body of 100 bytes never comes."""
    head = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Content-Length: 100", *headers]
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode())
        return connection.recv(4096)


@pytest.mark.proves("mcp.error.before-body")
def test_401_waits_for_no_body(server: RunningServer) -> None:
    answer = httpx2.post(server.url + "/mcp", content=b"{broken", headers=ACCEPT)
    assert (answer.status_code, answer.json()) == (401, {"error": "unauthorized"})
    assert answer_to_headers_alone(server).startswith(b"HTTP/1.1 401 ")


@pytest.mark.proves("mcp.error.429", "mcp.error.before-body")
def test_120_requests_a_minute_and_key_are_answered_and_the_next_is_429(model_server: RunningServer) -> None:
    for attempt in range(3):
        account, other = (model_server.new_client(f"mcp-limit-{attempt}-{name}") for name in "ab")
        minute = time.time() // 60
        answers = [account.post("/mcp", content=b"{broken", headers=ACCEPT) for _ in range(121)]
        not_other = post(other, tools_list())
        if time.time() // 60 == minute:
            with suppress(TimeoutError):  # a minute that begins now waits for the body
                unread = answer_to_headers_alone(model_server, f"Authorization: Bearer {account.made.api_key}")
                break
    else:
        raise AssertionError("no minute was long enough for 121 requests")
    assert [answer.status_code for answer in answers] == [400] * 120 + [429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert unread.startswith(b"HTTP/1.1 429 ")
    assert not_other.status_code == 200


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ([], -32603),
        (5, -32603),
        ({}, -32603),
        ({"name": 7}, -32603),
        ({"name": "list_kb_spaces", "arguments": []}, -32603),
    ],
)
def test_a_tool_call_of_another_shape_is_an_error_that_tells_no_internals(
    account: Account, params: object, code: int
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = account.post("/mcp", json=body, headers=ACCEPT)
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] == code
    assert "validation error" not in answer.text


HALF_A_CHARACTER = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}'
DEEP = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": ' + b'{"a":' * 900 + b"1" + b"}" * 902
NO_NUMBER = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {"limit": NaN}}}'
LONG_NUMBER = b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "ping"}'
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@pytest.mark.parametrize("version", [OLDEST, "2025-06-18", NEWEST])
@pytest.mark.parametrize(
    "body",
    [HALF_A_CHARACTER, DEEP, NO_NUMBER, LONG_NUMBER, PING.encode("utf-16"), PING.encode("utf-8-sig")],
    ids=["half a character", "deep", "no number", "long number", "utf-16", "byte order mark"],
)
def test_what_one_parser_takes_and_another_does_not_is_a_parse_error_in_our_own_words(
    account: Account, body: bytes, version: str
) -> None:
    answer = account.post("/mcp", content=body, headers={**ACCEPT, "MCP-Protocol-Version": version})
    assert answer.status_code == 400
    assert answer.json() == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "the body is not valid JSON"},
    }
