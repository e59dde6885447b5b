"""The built page with a scripted server behind it: the widget's protocol over real HTTP, answers as a test wrote them.

`site.answers(...)` queues an answer of POST /widget/v1/messages; without one the server says 400.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from api.site import KEY_PLACE, SECURITY_HEADERS

KEY = "wk_scripted"


@dataclass(frozen=True)
class Answer:
    """One answer: the pieces that stream in, then `done`, `error`, nothing more (`breaks`), or a wait (`held`)."""

    pieces: tuple[str, ...] = ()
    markdown: str | None = None  # None: the pieces joined
    context: Mapping[str, Any] = field(default_factory=dict)
    found: bool = True
    error: Mapping[str, Any] | None = None  # an `error` event in place of `done`
    breaks: bool = False
    held: bool = False  # waits before its end until the test says `release`, or the browser hangs up
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class ScriptedSite:
    """The server. `questions` are the texts it got, `tokens` those it gave, `hung_up` is set when a stream was left."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.key = KEY
        self.config: dict[str, Any] = {
            "header_title": "Polar Owl",
            "greeting": "We rent coffee machines to offices. Ask about prices, delivery and care.",
            "suggestions": ["How much is delivery?", "What does Owl 60 cost a month?"],
            "language": "en",
        }
        self.config_status = 200
        self.history_status = 200
        self.history: list[dict[str, str]] = []
        self.expired: set[str] = set()
        self.questions: list[str] = []
        self.tokens: list[str] = []
        self.hung_up = threading.Event()
        self._release = threading.Event()
        self._answers: deque[Answer] = deque()

    def answers(self, *pieces: str, **options: Any) -> None:
        self._answers.append(Answer(pieces, **options))

    def release(self) -> None:
        self._release.set()

    def page(self, folder: Path, _: Request) -> Response:
        text = (folder / "index.html").read_text(encoding="utf-8").replace(KEY_PLACE, KEY_PLACE + self.key, 1)
        return HTMLResponse(text, headers=SECURITY_HEADERS)

    def read_config(self, request: Request) -> Response:
        if self.config_status != 200 or request.query_params.get("key") != KEY:
            return error_body(self.config_status if self.config_status != 200 else 404)
        return JSONResponse(self.config)

    async def create_visitor(self, request: Request) -> Response:
        assert (await request.json()) == {"public_key": KEY}
        self.tokens.append(f"token-{len(self.tokens) + 1}")
        return JSONResponse({"token": self.tokens[-1], "expires_in": 43200}, status_code=201)

    def _knows(self, request: Request) -> bool:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        return token in self.tokens and token not in self.expired

    def read_messages(self, request: Request) -> Response:
        if not self._knows(request):
            return error_body(401)
        if self.history_status != 200:
            return error_body(self.history_status)
        return JSONResponse({"items": self.history})

    async def send_message(self, request: Request) -> Response:
        if not self._knows(request):
            return error_body(401)
        question = (await request.json())["text"]
        self.questions.append(question)
        answer = self._answers.popleft() if self._answers else Answer(status=400)
        if answer.status != 200:
            return error_body(answer.status, answer.headers)
        return StreamingResponse(self._stream(question, answer), media_type="text/event-stream")

    async def _stream(self, question: str, answer: Answer) -> AsyncIterator[bytes]:
        """Cuts the stream where no reader should rely on it: between CR and LF, and inside letters."""
        async for text in self._events(question, answer):
            encoded = text.encode()
            middle = len(encoded) // 2
            for part in (encoded[:middle], encoded[middle:-1], encoded[-1:]):
                yield part
                await asyncio.sleep(0)

    async def _events(self, question: str, answer: Answer) -> AsyncIterator[str]:
        try:
            yield ": ping\r\n\r\n" + _event("status", {"step": "search", "tool": None})
            for piece in answer.pieces:
                yield _event("text", {"delta": piece})
            while answer.held and not self._release.is_set():
                await asyncio.sleep(0.01)
        except (asyncio.CancelledError, GeneratorExit):
            self.hung_up.set()
            raise
        self._release.clear()
        if answer.breaks:
            return
        if answer.error is not None:
            yield _event("error", answer.error)
            return
        markdown = "".join(answer.pieces) if answer.markdown is None else answer.markdown
        self.history += [{"role": "visitor", "text": question}, {"role": "agent", "text": markdown}]
        context = {"communications": [], "documents": [], "memory": []} | dict(answer.context)
        done = {"request_id": "r-1", "markdown": markdown, "context": context, "found": answer.found}
        yield _event("done", done)


def _event(name: str, data: Mapping[str, Any]) -> str:
    return f"event: {name}\r\ndata: {json.dumps(data, ensure_ascii=False)}\r\n\r\n"


def error_body(status: int, headers: Mapping[str, str] | None = None) -> Response:
    error = {"message": "The server's own words.", "type": "api_error", "param": None, "code": None}
    return JSONResponse({"error": error}, status_code=status, headers=dict(headers or {}))


@contextlib.contextmanager
def serve_scripted_site(folder: Path, port: int = 0) -> Iterator[ScriptedSite]:
    """Serves the built page in `folder` from a thread until the block ends."""
    listener = socket.create_server(("127.0.0.1", port))
    site = ScriptedSite(f"http://127.0.0.1:{listener.getsockname()[1]}")

    def page(request: Request) -> Response:
        return site.page(folder, request)

    routes = [
        Route("/", page),
        Route("/widget/v1/config", site.read_config),
        Route("/widget/v1/visitors", site.create_visitor, methods=["POST"]),
        Route("/widget/v1/messages", site.send_message, methods=["POST"]),
        Route("/widget/v1/messages", site.read_messages, methods=["GET"]),
        Mount("/assets", StaticFiles(directory=folder / "assets")),
    ]
    application = Starlette(routes=routes)
    config = uvicorn.Config(application, log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.release()
        server.should_exit = True
        thread.join(10)
        listener.close()
