"""Streamed answers over a model that costs no time: how much of the wait is our own, and whether one stream stalls
among fifty. `python -m bench.chat_streams`

The model is a process of its own that speaks the provider's protocol on loopback: its first piece comes at once, the
others every `PIECE_S`. Own time: from sending the question until the first event, and until the first text, whole. A
stall: the longest time between two pieces of a stream, over the model's own pace.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from bench.bounds import said
from tests.contract import material
from tests.support.server import Account, RunningServer, free_port

QUESTION = "When can a coffee machine be returned?"
ONE_AFTER_THE_OTHER = 100
AT_ONCE = 50
PIECES = 60
PIECE_S = 0.05
FIRST_EVENT_MS = 60.0
STALL_MS = 500.0


@dataclass(frozen=True)
class Streamed:
    """One answer; times in seconds since the question was sent."""

    first_event_s: float
    first_text_s: float
    longest_gap_s: float
    pieces: int


async def _complete(request: Request) -> StreamingResponse:
    pieces = int((await request.json())["model"].rpartition("-")[2])

    async def stream() -> AsyncGenerator[bytes, None]:
        for number in range(pieces):
            if number:
                await asyncio.sleep(PIECE_S)
            yield _chunk({"content": f"Word{number} "})
        yield _chunk({}, "stop")
        yield b"data: [DONE]\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


def _chunk(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    body = {"id": "bench", "object": "chat.completion.chunk", "created": 0, "model": "bench", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n".encode()


def serve_model(port: int) -> None:
    app = Starlette(routes=[Route("/v1/chat/completions", _complete, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical")


async def ask(http: httpx2.AsyncClient, url: str, headers: dict[str, str], body: dict[str, str]) -> Streamed:
    began = time.perf_counter()
    first_event_s = first_text_s = longest_gap_s = last_s = 0.0
    pieces = 0
    async with http.stream("POST", url, headers=headers, json=body) as answer:
        assert answer.status_code == 200, await answer.aread()
        async for line in answer.aiter_lines():
            if not line.startswith("event: "):
                continue
            at = time.perf_counter() - began
            first_event_s = first_event_s or at
            name = line.removeprefix("event: ")
            assert name != "error", line
            if name == "text":
                pieces += 1
                first_text_s = first_text_s or at
                longest_gap_s = max(longest_gap_s, at - last_s if last_s else 0.0)
                last_s = at
    return Streamed(first_event_s, first_text_s, longest_gap_s, pieces)


def at_share(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


async def by_api(account: Account, times: int, at_once: int) -> list[Streamed]:
    url = f"{account.server.url}/public/v1/chats/{account.chat_id}/messages"
    headers = {**account.headers, "Accept": "text/event-stream"}
    return await _all(url, [headers] * times, at_once)


async def by_widget(account: Account, times: int, at_once: int) -> list[Streamed]:
    """Each by a visitor of its own."""
    origin = {"Origin": account.server.url}
    async with httpx2.AsyncClient(base_url=account.server.url, headers=origin, timeout=60) as http:
        headers = []
        for _ in range(times):
            made = await http.post("/widget/v1/visitors", json={"public_key": account.made.chat.public_key})
            assert made.status_code == 201, made.text
            headers.append({**origin, "Authorization": f"Bearer {made.json()['token']}"})
    return await _all(f"{account.server.url}/widget/v1/messages", headers, at_once)


async def _all(url: str, headers: Sequence[dict[str, str]], at_once: int) -> list[Streamed]:
    places = asyncio.Semaphore(at_once)
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx2.AsyncClient(timeout=120, limits=limits) as http:

        async def one(each: dict[str, str]) -> Streamed:
            async with places:
                return await ask(http, url, each, {"text": QUESTION})

        return await asyncio.gather(*(one(each) for each in headers))


def row(name: str, results: Sequence[Streamed]) -> str:
    events = [each.first_event_s * 1000 for each in results]
    texts = [each.first_text_s * 1000 for each in results]
    return (
        f"{name:<28} first event p50 {at_share(events, 0.5):6.1f}, p95 {at_share(events, 0.95):6.1f} ms; "
        f"first text p50 {at_share(texts, 0.5):6.1f}, p95 {at_share(texts, 0.95):6.1f} ms"
    )


def stall_ms(results: Sequence[Streamed]) -> float:
    return (max(each.longest_gap_s for each in results) - PIECE_S) * 1000


def measure(folder: Path, pieces: int) -> tuple[list[Streamed], ...]:
    port = free_port()
    model = subprocess.Popen([sys.executable, "-m", "bench.chat_streams", "model", str(port)])
    server = RunningServer(
        folder,
        llm_model=f"openai/bench-{pieces}",
        llm_api_base=f"http://127.0.0.1:{port}/v1",
        llm_api_key="bench",
        chat_requests_per_minute="100000",
        widget_requests_per_minute="100000",
        log_level="warning",
    )
    try:
        server.start()
        account = server.new_client("bench")
        space = account.new_space()
        for name, content in (("returns.html", material.RETURNS), ("parking.txt", material.PARKING)):
            assert account.add_document(space, content.encode(), name)["status"] == "success"
        asyncio.run(by_api(account, 3, 1))  # imports what is imported late
        asyncio.run(by_widget(account, 3, 1))
        if pieces == 1:
            return (
                asyncio.run(by_api(account, ONE_AFTER_THE_OTHER, 1)),
                asyncio.run(by_widget(account, ONE_AFTER_THE_OTHER, 1)),
            )
        return (
            asyncio.run(by_api(account, AT_ONCE, AT_ONCE)),
            asyncio.run(by_widget(account, AT_ONCE, AT_ONCE)),
        )
    finally:
        server.close()
        model.terminate()
        model.wait()


def main() -> int:
    if sys.argv[1:2] == ["model"]:
        serve_model(int(sys.argv[2]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        api, widget = measure(Path(folder), 1)
    print(row("API, one after the other", api))
    print(row("widget, one after the other", widget))
    first = max(at_share([each.first_event_s for each in results], 0.95) * 1000 for results in (api, widget))
    holds = [said(f"first event's p95 at most {FIRST_EVENT_MS:.0f} ms", first <= FIRST_EVENT_MS)]
    with tempfile.TemporaryDirectory() as folder:
        many_api, many_widget = measure(Path(folder), PIECES)
    for name, results in (("API", many_api), ("widget", many_widget)):
        print(row(f"{name}, {AT_ONCE} at once", results))
        stall = stall_ms(results)
        print(f"{'':<28} longest stall {stall:.0f} ms over the model's own pace")
        holds.append(said(f"no stall over {STALL_MS:.0f} ms", stall <= STALL_MS))
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
