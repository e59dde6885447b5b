"""The log of tool calls as agents fill it and an account reads it: GET /public/v1/tool-calls."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from mcp_server import call_log
from store import tool_calls
from store.database import now
from store.tool_calls import ToolCall
from tests.contract.described import get_described
from tests.contract.mcp import OLDEST, post, rpc
from tests.support.server import Account, RunningServer

PATH = "/public/v1/tool-calls"
WAIT_S = 120.0
FIELDS = {
    "id", "at", "actor", "tool", "arguments", "outcome", "error", "duration_ms", "items", "characters",
    "protocol_version", "client", "request_id",
}  # fmt: skip


def listed(account: Account, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = get_described(account, PATH, **query)["items"]
    return items


def call(account: Account, name: str, arguments: dict[str, Any], **headers: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = post(account, body, **headers)
    assert answer.status_code == 200, answer.text
    return answer


def add(account: Account, *calls: ToolCall) -> None:
    with account.server.database.write() as connection:
        tool_calls.add_all(connection, calls)


def call_at(account: Account, at: datetime, **values: Any) -> ToolCall:
    given = {"tool": "rank_qc", "arguments": {}, "outcome": "ok", "duration_ms": 1.0, **values}
    return ToolCall(tenant_id=account.tenant_id, actor="chat", at=at, **given)


def test_a_call_is_listed_with_who_made_it_how_long_it_took_and_what_it_got(account: Account) -> None:
    for name in ("First", "Second"):
        account.new_space(name)
    began = now() - timedelta(milliseconds=1)
    answer = call(account, "list_kb_spaces", {}, User_Agent="an-agent/1.0")
    (content,) = answer.json()["result"]["content"]
    (record,) = listed(account)
    assert set(record) == FIELDS
    assert record["actor"] == f"key {account.made.api_key[: len('sk_live_') + 6]}"
    assert (record["tool"], record["arguments"], record["outcome"]) == ("list_kb_spaces", {}, "ok")
    assert (record["items"], record["characters"], record["error"]) == (2, len(content["text"]), None)
    assert (record["protocol_version"], record["client"]) == (OLDEST, "an-agent/1.0")
    assert record["request_id"] == answer.headers["X-Request-Id"]
    assert began <= datetime.fromisoformat(record["at"]) <= now()
    assert 0 < record["duration_ms"] < (now() - began).total_seconds() * 1000


def test_a_call_that_failed_is_listed_with_the_message_that_its_caller_got(account: Account) -> None:
    wrong = account.call_tool("search_documents", query="x", limit=1000)["error"]["message"]
    unknown = account.call_tool("no_such_tool", a=1)["error"]["message"]
    newer = call(account, "list_kb_spaces", {"sort": "name"}, MCP_Protocol_Version="2025-06-18").json()["result"]
    assert newer["isError"] is True
    records = listed(account)
    assert [each["tool"] for each in records] == ["list_kb_spaces", "no_such_tool", "search_documents"]
    assert [each["error"] for each in records] == [newer["content"][0]["text"], unknown, wrong]
    assert {(each["outcome"], each["items"], each["characters"]) for each in records} == {("error", None, None)}
    assert [each["protocol_version"] for each in records] == ["2025-06-18", OLDEST, OLDEST]


def test_a_call_over_rest_is_listed_too(account: Account) -> None:
    account.new_space("First")
    headers = {"User-Agent": "a-program/1.0"}
    found = account.post("/public/v1/tools/list_kb_spaces", json={"limit": 5}, headers=headers)
    wrong = account.post("/public/v1/tools/list_kb_spaces", json={"cursor": "x"}, headers=headers)
    assert (found.status_code, wrong.status_code) == (200, 400)
    second, first = listed(account)
    assert (first["tool"], first["arguments"], first["outcome"]) == ("list_kb_spaces", {"limit": 5}, "ok")
    assert first["actor"] == f"key {account.made.api_key[: len('sk_live_') + 6]}"
    assert (first["items"], first["protocol_version"], first["client"]) == (1, None, "a-program/1.0")
    assert first["request_id"] == found.headers["X-Request-Id"]
    assert (second["outcome"], second["error"]) == ("error", wrong.json()["error"]["message"])


def test_a_client_that_says_who_it_is_is_listed_by_its_name(account: Account) -> None:
    meta = {"io.modelcontextprotocol/clientInfo": {"name": "night reporter", "version": "2.1"}}
    params = {"name": "list_kb_spaces", "arguments": {}, "_meta": meta}
    assert "result" in rpc(account, "tools/call", params, MCP_Protocol_Version="2025-11-25")
    assert [each["client"] for each in listed(account)] == ["night reporter 2.1"]


def test_no_secret_that_an_agent_passes_on_reaches_the_log(account: Account) -> None:
    key = account.made.api_key
    secrets = [
        key,
        "hunter2",
        "4111 1111 1111 1111",
        "ghp_abcdefghijklmnopqrstuvwxyz",
        "ey7Zo1Rk3QpX9LmT5vBn2Wc8Yd4Hf6",
    ]
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search_documents", {"query": f"who uses {key}"}),
        ("search_documents", {"query": "prices", "password": "hunter2"}),  # refused, and listed all the same
        (
            "search_documents",
            {"query": "пароль: hunter2", "filter": {"list": [{"apiKey": "ey7Zo1Rk3QpX9LmT5vBn2Wc8Yd4Hf6"}]}},
        ),
        ("search_documents", {"query": "card 4111 1111 1111 1111, bearer ghp_abcdefghijklmnopqrstuvwxyz"}),
        (f"tool-{key}", {key: key}),
        ("search_communications", {"cursor": "ey7Zo1Rk3QpX9LmT5vBn2Wc8Yd4Hf6"}),
    ]
    for name, arguments in asked:
        call(account, name, arguments, User_Agent=f"agent {key}")
    records = listed(account)
    assert len(records) == len(asked)
    assert [secret for secret in secrets if secret in json.dumps(records, ensure_ascii=False)] == []
    table = tool_calls.tool_calls
    with account.server.database.read() as connection:
        rows = connection.execute(sa.select(table).where(table.c.tenant_id == account.tenant_id)).all()
    assert [secret for secret in secrets if secret in repr(rows)] == []
    assert [record["arguments"].get("query") for record in reversed(records)][:2] == ["who uses ***", "prices"]


def test_nobody_sees_what_another_account_called(account: Account, new_account: Callable[..., Account]) -> None:
    stranger = new_account()
    call(account, "list_kb_spaces", {})
    call(stranger, "search_documents", {"query": "x"})
    assert [each["tool"] for each in listed(account)] == ["list_kb_spaces"]
    for query in ({}, {"tool": "list_kb_spaces"}, {"outcome": "ok"}, {"from": "2026-01-01T00:00:00Z"}):
        assert "list_kb_spaces" not in [each["tool"] for each in listed(stranger, **query)]


def test_the_list_is_paged_and_narrowed_by_tool_outcome_and_time(account: Account) -> None:
    newest = now().replace(microsecond=123_456) - timedelta(days=1)
    calls = [
        call_at(
            account,
            newest - timedelta(minutes=number),
            tool=("rank_qc", "rank_people")[number % 2],
            outcome=("ok", "ok", "error")[number % 3],
        )
        for number in range(12)
    ]
    add(account, *calls)
    ids = [each.id for each in calls]

    def found(**query: Any) -> list[str]:
        return [each["id"] for each in listed(account, **query)]

    assert found() == ids
    assert found(limit=5, offset=10) == ids[10:]
    assert found(tool="rank_people") == ids[1::2]
    assert found(tool="rank_people", outcome="error") == ids[5::6]
    assert found(tool="nothing") == []
    shown = [each["at"] for each in listed(account)]
    assert found(**{"from": shown[4], "to": shown[2]}) == ids[2:5]
    assert found(to=shown[11]) == ids[11:]
    page = account.get(PATH, params={"tool": "rank_people", "limit": 2, "offset": 1}).json()["pagination"]
    assert page == {"limit": 2, "offset": 1, "count": 2, "total": 6}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"),
        ("limit", "101"),
        ("offset", "-1"),
        ("outcome", "fine"),
        ("tool", ""),
        ("tool", "x" * 101),
        ("tool", "a\x00b"),
        ("from", "yesterday"),
        ("to", "2026-01-01"),
    ],
)
def test_a_query_that_is_wrong_is_refused_by_name(account: Account, name: str, value: str) -> None:
    refused = account.get(PATH, params={name: value})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, name)


def test_what_a_chat_looks_up_is_listed_as_the_chat_s(account: Account) -> None:
    answer = account.post(f"/public/v1/chats/{account.chat_id}/messages", json={"text": "What does it cost?"})
    assert answer.status_code == 200, answer.text
    records = listed(account, tool="search_documents")
    assert {(each["actor"], each["arguments"]["query"]) for each in records} == {("chat", "What does it cost?")}


def test_calls_of_long_ago_go_by_themselves(account: Account) -> None:
    old, recent = (call_at(account, now() - timedelta(days=days)) for days in (91, 89))
    add(account, old, recent)
    deadline = time.monotonic() + WAIT_S
    while len(listed(account)) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [each["id"] for each in listed(account)] == [recent.id]


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RunningServer]:
    """One that may be stopped."""
    server = RunningServer(tmp_path / "data", mcp_requests_per_minute="100000", sweep_s="0.5")
    try:
        yield server
    finally:
        server.close()


def test_a_server_that_is_asked_to_stop_writes_every_call_that_it_answered(own_server: RunningServer) -> None:
    account = own_server.start().new_client("stopped")
    for number in range(30):
        call(account, "search_documents", {"query": "x", "limit": 1 + number})
    assert own_server.process is not None
    own_server.process.send_signal(signal.SIGTERM)
    assert own_server.process.wait(timeout=WAIT_S) == 0
    with own_server.database.read() as connection:
        rows, total = tool_calls.list_page(account.tenant_id, connection, limit=100)
    assert total == 30
    assert [row.arguments["limit"] for row in reversed(rows)] == list(range(1, 31))


def test_calls_are_answered_while_their_log_cannot_be_written(own_server: RunningServer) -> None:
    account = own_server.start().new_client("without a log")
    call(account, "list_kb_spaces", {})
    assert len(listed(account)) == 1
    table = tool_calls.tool_calls
    with own_server.database.write() as connection:
        connection.execute(sa.text(f"ALTER TABLE {table.name} RENAME TO {table.name}_away"))
    for _ in range(3):
        assert call(account, "list_kb_spaces", {}).json()["result"]["isError"] is False
    deadline = time.monotonic() + WAIT_S
    while "tool calls were lost" not in own_server.log() and time.monotonic() < deadline:
        time.sleep(call_log.WRITE_EVERY_S)
    assert "no such table" in own_server.log()
    with own_server.database.write() as connection:
        connection.execute(sa.text(f"ALTER TABLE {table.name}_away RENAME TO {table.name}"))
    call(account, "search_documents", {"query": "x"})
    assert [each["tool"] for each in listed(account, outcome="ok")][:1] == ["search_documents"]


def test_a_killed_server_keeps_what_it_had_written(own_server: RunningServer) -> None:
    account = own_server.start().new_client("killed")
    call(account, "list_kb_spaces", {})
    assert len(listed(account)) == 1  # who reads the list has it written
    own_server.kill()
    with own_server.database.read() as connection:
        assert tool_calls.list_page(account.tenant_id, connection, limit=1)[1] == 1
