"""Batches of JSON-RPC messages, which 2025-03-26 alone defines."""

from __future__ import annotations

import time
from typing import Any

import httpx2
import pytest

from tests.contract.mcp import HANDSHAKE_VERSIONS, NEWEST, post
from tests.support.server import Account, RunningServer

WITH_BATCHES = "2025-03-26"
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def asking(id: int | str, method: str = "ping", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def batch(account: Account, *messages: Any) -> httpx2.Response:
    return post(account, list(messages), mcp_protocol_version=WITH_BATCHES)


def test_each_request_of_a_batch_has_its_answer_and_a_notification_none(account: Account) -> None:
    call = asking("b", "tools/call", name="list_kb_spaces", arguments={})
    answer = batch(account, asking(1), NOTIFICATION, call, asking(3, "nope"), 5, asking(4, "initialize"))
    assert answer.status_code == 200
    pong, called, unknown, odd, handshake = answer.json()
    assert pong == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert (called["id"], called["result"]["isError"]) == ("b", False)
    assert (unknown["id"], unknown["error"]["code"]) == (3, -32601)
    assert (odd["id"], odd["error"]["code"]) == (None, -32600)
    assert (handshake["id"], handshake["error"]["code"]) == (4, -32600)


def test_a_batch_of_notifications_has_an_empty_answer(account: Account) -> None:
    answer = batch(account, NOTIFICATION, NOTIFICATION)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("count", [0, 21])
def test_a_batch_of_none_or_of_too_many_is_refused_whole(account: Account, count: int) -> None:
    answer = batch(account, *[asking(number) for number in range(count)])
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32600


@pytest.mark.parametrize("version", [None, *sorted({*HANDSHAKE_VERSIONS, NEWEST, "2025-01-01"} - {WITH_BATCHES})])
def test_no_other_version_knows_batches(account: Account, version: str | None) -> None:
    headers = {} if version is None else {"mcp_protocol_version": version}
    answer = post(account, [asking(1)], **headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


def test_each_message_of_a_batch_counts_as_a_request(model_server: RunningServer) -> None:
    for attempt in range(3):
        account = model_server.new_client(f"counted-{attempt}")
        minute = time.time() // 60
        answers = [batch(account, *[asking(number) for number in range(20)]) for _ in range(7)]
        last = batch(model_server.new_client(f"beside-{attempt}"), asking(1))
        if time.time() // 60 == minute:
            break
    else:
        raise AssertionError("no minute was long enough for 140 messages")
    assert [answer.status_code for answer in answers] == [200] * 6 + [429]
    assert last.status_code == 200


def test_the_messages_beyond_the_limit_are_refused_one_by_one(model_server: RunningServer) -> None:
    for attempt in range(3):
        account = model_server.new_client(f"beyond-{attempt}")
        minute = time.time() // 60
        for count in (20, 20, 20, 20, 20, 15):
            batch(account, *[asking(number) for number in range(count)])
        answer = batch(account, *[asking(number) for number in range(10)])
        if time.time() // 60 == minute:
            break
    else:
        raise AssertionError("no minute was long enough for 125 messages")
    refused = {"code": -32603, "message": "rate_limited"}
    assert answer.json() == [
        *({"jsonrpc": "2.0", "id": number, "result": {}} for number in range(5)),
        *({"jsonrpc": "2.0", "id": number, "error": refused} for number in range(5, 10)),
    ]
