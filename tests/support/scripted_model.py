"""A scripted OpenAI-compatible server on loopback: real HTTP, answers in the order that a test wrote them.

Use the `scripted_model` fixture: `scripted_model.says("...")`, `scripted_model.calls_tools(("name", {...}))`,
`scripted_model.fails(429)`; then ask through `scripted_model.settings()`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import socket
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from store.settings import Settings, load_settings

API_KEY = "sk-scripted-0123456789"
MODEL = "openai/scripted"


@dataclass(frozen=True)
class Turn:
    """One answer of the model. `text` may be a function of the request's body, for replies that depend on it."""

    text: str | Callable[[dict[str, Any]], str] = ""
    tool_calls: tuple[tuple[str, str], ...] = ()  # name, arguments as JSON text
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    pause_s: float = 0.0  # before each chunk
    drop_after: int | None = None  # chunks after which the connection breaks
    hang: bool | Callable[[dict[str, Any]], bool] = False  # never answers; or where the request is such
    with_usage: bool = True
    finish_reason: str = ""  # instead of the usual one


class ScriptedModel:
    """The server. `requests` are the bodies it got; `aborted` is set when a caller hung up on a stream."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.aborted = threading.Event()
        self.released = threading.Event()
        self.happened: list[str] = []  # "began", "ended" and "aborted", each with the answer's number
        self.one_at_a_time = False  # as a local model answers: the next request waits for the end of this one
        self._turns: deque[Turn] = deque()
        self._default: Turn | None = None
        self._place: asyncio.Lock | None = None

    def script(self, *turns: Turn) -> None:
        self._turns.extend(turns)

    def says(self, text: str | Callable[[dict[str, Any]], str], **options: Any) -> None:
        self.script(Turn(text=text, **options))

    def answers(self, text: Callable[[dict[str, Any]], str], **options: Any) -> None:
        """What is said whenever nothing else is scripted, from now on."""
        self._default = Turn(text=text, **options)

    def calls_tools(self, *calls: tuple[str, Mapping[str, Any] | str], text: str = "") -> None:
        encoded = tuple((name, value if isinstance(value, str) else json.dumps(value)) for name, value in calls)
        self.script(Turn(text=text, tool_calls=encoded))

    def fails(self, status: int, *, error: str = "the provider failed", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.script(Turn(status=status, error=error, headers=named))

    def forget(self) -> None:
        """Takes back what is scripted and what was recorded."""
        self._turns.clear()
        self._default = None
        self.happened.clear()
        self.requests.clear()
        self.keys.clear()
        self.aborted.clear()
        self.released.clear()

    @property
    def left(self) -> int:
        """Turns that nobody asked for yet."""
        return len(self._turns)

    def settings(self, **overrides: object) -> Settings:
        """Settings of a server that uses this model."""
        chosen: dict[str, object] = {
            "_env_file": None,
            "llm_model": MODEL,
            "llm_api_base": f"{self.base_url}/v1",
            "llm_api_key": API_KEY,
        }
        return load_settings(**(chosen | overrides))

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("authorization", ""))
        if not self._turns and self._default is None:
            return JSONResponse({"error": {"message": "nothing scripted is left"}}, status_code=400)
        number = len(self.requests)
        turn = self._turns.popleft() if self._turns else self._default
        assert turn is not None
        if callable(turn.hang):
            turn = replace(turn, hang=turn.hang(body))
        if turn.status != 200:
            content = {"error": {"message": turn.error, "type": "api_error", "code": str(turn.status)}}
            return JSONResponse(content, status_code=turn.status, headers=dict(turn.headers))
        return StreamingResponse(self._in_turn(number, turn, body), media_type="text/event-stream")

    async def embed(self, request: Request) -> Response:
        """Vectors of three numbers: of length 2, by the texts' letters a and b. Scripted turns can fail or hang."""
        body = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("authorization", ""))
        turn = self._turns.popleft() if self._turns else Turn()
        while turn.hang and not self.released.is_set():
            await asyncio.sleep(0.02)
        if turn.status != 200:
            content = {"error": {"message": turn.error, "type": "api_error", "code": str(turn.status)}}
            return JSONResponse(content, status_code=turn.status, headers=dict(turn.headers))
        if turn.text:
            return Response(str(turn.text), media_type="application/json")
        rows = [_embedding(text) for text in body["input"]]
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        # Backwards: the protocol names each one's place.
        return JSONResponse({"object": "list", "model": body["model"], "data": data[::-1], "usage": usage})

    async def _in_turn(self, number: int, turn: Turn, body: dict[str, Any]) -> AsyncIterator[bytes]:
        if self._place is None:
            self._place = asyncio.Lock()
        async with self._place if self.one_at_a_time else contextlib.nullcontext():
            self.happened.append(f"{number} began")
            ending = "aborted"
            try:
                async with contextlib.aclosing(self._stream(turn, body)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                ending = "ended"
            finally:
                self.happened.append(f"{number} {ending}")

    async def _stream(self, turn: Turn, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        try:
            for sent, chunk in enumerate(_chunks(turn, body)):
                if turn.drop_after is not None and sent >= turn.drop_after:
                    raise ConnectionResetError("scripted to break off here")
                await asyncio.sleep(turn.pause_s)
                yield f"data: {json.dumps(chunk)}\n\n".encode()
            while turn.hang and not self.released.is_set():
                await asyncio.sleep(0.02)
            yield b"data: [DONE]\n\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.aborted.set()
            raise


def _embedding(text: str) -> list[float]:
    row = [text.count("a") + 0.0, text.count("b") + 0.0, 0.01]
    length = math.hypot(*row)
    return [2 * value / length for value in row]


def _chunks(turn: Turn, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    base = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": body.get("model")}

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return base | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}

    yield chunk({"role": "assistant", "content": ""})
    text = turn.text(body) if callable(turn.text) else turn.text
    for piece in re.findall(r"\S+\s*|\s+", text):
        yield chunk({"content": piece})
    if turn.hang:
        return
    for index, (name, arguments) in enumerate(turn.tool_calls):
        head = {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [head]})
        for start in range(0, len(arguments), 7):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[start : start + 7]}}]})
    yield chunk({}, turn.finish_reason or ("tool_calls" if turn.tool_calls else "stop"))
    if turn.with_usage:
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        yield base | {"choices": [], "usage": usage}


@contextlib.contextmanager
def serve_scripted_model(port: int = 0) -> Iterator[ScriptedModel]:
    """Runs the server in a thread until the block ends."""
    listener = socket.create_server(("127.0.0.1", port))
    model = ScriptedModel(f"http://127.0.0.1:{listener.getsockname()[1]}")
    routes = [
        Route("/v1/chat/completions", model.answer, methods=["POST"]),
        Route("/v1/embeddings", model.embed, methods=["POST"]),
    ]
    application = Starlette(routes=routes)
    config = uvicorn.Config(application, log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.released.set()
        server.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    with serve_scripted_model() as model:
        yield model


def passages_in(request: Mapping[str, Any]) -> Sequence[str]:
    """The contents of the user's messages of a recorded request, for assertions."""
    return [str(message["content"]) for message in request["messages"] if message["role"] == "user"]
