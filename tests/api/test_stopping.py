"""A request that the server no longer waits for when it stops."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.types import Message, Receive, Scope, Send

from api.middleware import RequestLog

SCOPE = {"type": "http", "method": "POST", "path": "/public/v1/search", "headers": []}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def receive() -> Message:
    return {"type": "http.disconnect"}


@pytest.mark.anyio
async def test_it_is_told_to_come_again() -> None:
    sent: list[Message] = []

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    async def send(message: Message) -> None:
        sent.append(message)

    task = asyncio.create_task(RequestLog(never)(dict(SCOPE), receive, send))
    await asyncio.sleep(0.01)
    task.cancel()
    await task
    start, body = sent
    headers = dict(start["headers"])
    assert (start["status"], headers[b"retry-after"]) == (503, b"5")
    assert b"x-request-id" in headers
    assert headers[b"x-request-id"].decode() in json.loads(body["body"])["error"]["message"]


@pytest.mark.anyio
async def test_an_answer_that_has_begun_is_not_followed_by_another() -> None:
    sent: list[Message] = []

    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    async def send(message: Message) -> None:
        sent.append(message)

    task = asyncio.create_task(RequestLog(half)(dict(SCOPE), receive, send))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [message["type"] for message in sent] == ["http.response.start"]
