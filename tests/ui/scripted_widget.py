"""The built site and widget with a scripted server behind them: the widget's protocol over real HTTP, answers as a test
wrote them. `site.answers(...)` queues an answer; without one the server says 400. `site.stop()` and `site.start()` take
the server away and bring it back at the same address, with all that it knew."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from api.site import KEY_PLACE, SECURITY_HEADERS, file_routes

KEY = "wk_scripted"
HELD_S = 20


@dataclass(frozen=True)
class Answer:
    """One answer: the pieces that stream in, then `done` or `error`, after a wait for the test where it is `held`."""

    pieces: tuple[str, ...] = ()
    markdown: str | None = None  # None: the pieces joined
    citations: Sequence[Mapping[str, Any]] = ()
    error: Mapping[str, Any] | None = None  # an `error` event in place of `done`
    cut_after: int | None = None  # the first connection breaks off after so many events
    held: bool = False  # waits before its end until the test says `release`
    handed_over: bool = False
    step: str = "search"
    status: int = 200
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Work:
    """An answer in work, or done: its events so far."""

    answer: Answer
    events: list[str] = field(default_factory=list)
    is_over: bool = False
    connections: int = 0


class ScriptedSite:
    """The server. It keeps what it was asked (`questions`, `votes`, `contacts`, `cancelled`) and whom it knows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.key = KEY
        self.config: dict[str, Any] = {
            "header_title": "Polar Owl",
            "greeting": "We rent coffee machines to offices. Ask about prices, delivery and care.",
            "suggestions": ["How much is delivery?", "What does Owl 60 cost a month?"],
            "language": "en",
            "languages": [],
            "theme": {"accent": None, "scheme": "auto", "position": "right"},
            "captcha": None,
        }
        self.config_status = 200
        self.history_status = 200
        self.contact_status = 204
        self.needs_captcha = False
        self.unknown_cancels = 0  # so many calls that cancel come before their message is known
        self.state: dict[str, Any] = {"taken_over": False, "operator_name": None, "person_requested": False}
        self.questions: list[str] = []
        self.asked_ids: list[str] = []
        self.votes: list[dict[str, Any]] = []
        self.contacts: list[dict[str, Any]] = []
        self.cancelled: list[str] = []
        self.begun: list[dict[str, Any]] = []
        self.tokens: dict[str, str] = {}
        self.expired: set[str] = set()
        self.renewals: dict[str, str] = {}
        self.items: dict[str, list[dict[str, Any]]] = {}
        self.resumed_from: list[int] = []
        self.histories = 0
        self._held: dict[str, threading.Event] = {}
        self._works: dict[str, Work] = {}
        self._answers: deque[Answer] = deque()
        self._release = threading.Event()
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def answers(self, *pieces: str, **options: Any) -> None:
        self._answers.append(Answer(pieces, **options))

    def release(self) -> None:
        self._release.set()

    def holds(self, call: str) -> Callable[[], None]:
        """The next `history` or `visitor` call is answered only once what is returned here is called."""
        self._held[call] = threading.Event()
        return self._held[call].set

    def _wait_where_held(self, call: str) -> None:
        event = self._held.pop(call, None)
        if event is not None:
            event.wait(HELD_S)

    def says(self, text: str, author: str) -> None:
        """An operator's message in the newest conversation."""
        items = list(self.items.values())[-1]
        items.append(_item("operator", text, status="kept", author=author))

    def start(self) -> None:
        routes = [
            Route("/", self._page),
            Route("/widget/v1/config", self._config),
            Route("/widget/v1/visitors", self._visitor, methods=["POST"]),
            Route("/widget/v1/messages", self._send, methods=["POST"]),
            Route("/widget/v1/messages", self._messages, methods=["GET"]),
            Route("/widget/v1/messages/{id}/events", self._resume, methods=["GET"]),
            Route("/widget/v1/messages/{id}/cancel", self._cancel, methods=["POST"]),
            Route("/widget/v1/feedback", self._feedback, methods=["POST"]),
            Route("/widget/v1/contact", self._contact, methods=["POST"]),
            *file_routes(self.folder),
        ]
        cors = Middleware(
            CORSMiddleware,
            allow_origin_regex=r"http://localhost:\d+",
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Retry-After"],
        )
        application = Starlette(routes=routes, middleware=[cors])
        config = uvicorn.Config(
            application,
            host="127.0.0.1",
            port=self.port,
            log_level="critical",
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive(), "the scripted server did not start"
            self._thread.join(0.01)

    def stop(self) -> None:
        """Every connection breaks off, as with a process that is killed."""
        if self._server is None or self._thread is None:
            return
        self._server.force_exit = True
        self._server.should_exit = True
        for connection in list(self._server.server_state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                connection.loop.call_soon_threadsafe(transport.abort)  # type: ignore[union-attr]
        self._thread.join(10)
        self._server = None

    def _page(self, _request: Request) -> Response:
        text = (self.folder / "demo.html").read_text(encoding="utf-8").replace(KEY_PLACE, KEY_PLACE + self.key, 1)
        return HTMLResponse(text, headers=SECURITY_HEADERS)

    def _config(self, request: Request) -> Response:
        if self.config_status != 200 or request.query_params.get("key") != KEY:
            return error_body(self.config_status if self.config_status != 200 else 404)
        return JSONResponse(self.config)

    async def _visitor(self, request: Request) -> Response:
        body = await request.json()
        self.begun.append(body)
        await asyncio.to_thread(self._wait_where_held, "visitor")
        assert body["public_key"] == KEY
        renewal = body.get("renewal")
        if self.needs_captcha and body.get("captcha") != "solved" and not renewal:
            return error_body(403, "captcha_required")
        if renewal is not None and renewal not in self.renewals:
            return error_body(401, "invalid_renewal")
        conversation = self.renewals.get(renewal or "") or str(uuid4())
        token, next_renewal = f"token-{len(self.tokens) + 1}", f"renewal-{len(self.renewals) + 1}"
        self.tokens[token] = self.renewals[next_renewal] = conversation
        self.items.setdefault(conversation, [])
        made = {"token": token, "expires_in": 3600, "renewal": next_renewal, "conversation_id": conversation}
        return JSONResponse(made, status_code=201)

    def _conversation(self, request: Request) -> list[dict[str, Any]] | None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        known = token in self.tokens and token not in self.expired
        return self.items[self.tokens[token]] if known else None

    def _messages(self, request: Request) -> Response:
        self.histories += 1
        self._wait_where_held("history")
        items = self._conversation(request)
        if items is None:
            return error_body(401, "invalid_visitor_token")
        if self.history_status != 200:
            return error_body(self.history_status)
        return JSONResponse({"items": items, "state": self.state})

    async def _send(self, request: Request) -> Response:
        items = self._conversation(request)
        if items is None:
            return error_body(401, "invalid_visitor_token")
        body = await request.json()
        question, message_id = body["text"], body["id"]
        self.asked_ids.append(message_id)
        work = self._works.get(message_id)
        if work is None or work.answer.error is not None:
            self.questions.append(question)
            answer = self._answers.popleft() if self._answers else Answer(status=400)
            if answer.status != 200:
                return error_body(answer.status, answer.code, answer.headers)
            asked = next((item for item in items if item["id"] == message_id), None)
            if asked is None:
                items.append(_item("visitor", question, id=message_id, status="answering"))
            work = self._works[message_id] = Work(answer)
            threading.Thread(target=self._produce, args=(work, items, message_id), daemon=True).start()
        return StreamingResponse(self._stream(work, 0), media_type="text/event-stream")

    async def _resume(self, request: Request) -> Response:
        if self._conversation(request) is None:
            return error_body(401, "invalid_visitor_token")
        work = self._works.get(request.path_params["id"])
        if work is None:
            return error_body(404)
        last = int(request.headers.get("last-event-id", "0"))
        self.resumed_from.append(last)
        return StreamingResponse(self._stream(work, last), media_type="text/event-stream")

    def _produce(self, work: Work, items: list[dict[str, Any]], message_id: str) -> None:
        """The events of an answer, whoever listens, and through every stop of the server."""
        answer, offset = work.answer, 0

        def put(name: str, data: Mapping[str, Any]) -> None:
            number = len(work.events) + 1
            work.events.append(f"id: {number}\r\nevent: {name}\r\ndata: {json.dumps(data, ensure_ascii=False)}\r\n\r\n")

        asked = next(item for item in items if item["id"] == message_id)
        put("status", {"step": answer.step, "tool": None})
        for piece in answer.pieces:
            put("text", {"delta": piece, "offset": offset})
            offset += len(piece.encode("utf-16-le")) // 2
        while answer.held and not self._release.wait(0.01):
            if message_id in self.cancelled:
                asked["status"] = "cancelled"
                work.is_over = True
                return
        self._release.clear()
        if answer.error is not None:
            asked["status"] = "failed"
            put("error", {"error": answer.error})
        elif answer.handed_over:
            asked["status"] = "kept"
            self.state["taken_over"] = True
            put("done", {"request_id": "r", "markdown": "", "found": False, "reply_id": None, "handed_over": True})
        else:
            markdown = "".join(answer.pieces) if answer.markdown is None else answer.markdown
            asked["status"] = "answered"
            reply = _item("agent", markdown, status="kept", reply_to=message_id, citations=list(answer.citations))
            items.append(reply)
            put("citations", {"items": list(answer.citations)})
            done = {"request_id": "r", "markdown": markdown, "found": True, "context": {}, "reply_id": reply["id"]}
            put("done", {**done, "handed_over": False})
        work.is_over = True

    async def _stream(self, work: Work, last: int) -> AsyncIterator[bytes]:
        """Cuts the stream where no reader should rely on it: between CR and LF, and inside letters."""
        work.connections += 1
        yield b": ping\r\n\r\n"
        while last < len(work.events) or not work.is_over:
            if work.connections == 1 and work.answer.cut_after is not None and last >= work.answer.cut_after:
                return
            if last >= len(work.events):
                await asyncio.sleep(0.01)
                continue
            encoded = work.events[last].encode()
            last += 1
            middle = len(encoded) // 2
            for part in (encoded[:middle], encoded[middle:-1], encoded[-1:]):
                yield part
                await asyncio.sleep(0)

    async def _cancel(self, request: Request) -> Response:
        if self.unknown_cancels > 0:
            self.unknown_cancels -= 1
            return error_body(404)
        self.cancelled.append(request.path_params["id"])
        return Response(status_code=204)

    async def _feedback(self, request: Request) -> Response:
        vote = await request.json()
        self.votes.append(vote)
        for item in self._conversation(request) or []:
            if item["id"] == vote["message_id"]:
                item["feedback"] = vote["value"]
        return Response(status_code=204)

    async def _contact(self, request: Request) -> Response:
        if self._conversation(request) is None:
            return error_body(401, "invalid_visitor_token")
        if self.contact_status != 204:
            return error_body(self.contact_status)
        self.contacts.append(await request.json())
        self.state["person_requested"] = True
        return Response(status_code=204)


def _item(role: str, text: str, **values: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {
        "id": str(uuid4()),
        "role": role,
        "text": text,
        "at": "2026-11-12T10:15:00Z",
        "status": "answered",
        "reply_to": None,
        "author": None,
        "citations": [],
        "feedback": None,
    }
    return blank | values


def error_body(status: int, code: str | None = None, headers: Mapping[str, str] | None = None) -> Response:
    error = {"message": "The server's own words.", "type": "api_error", "param": None, "code": code}
    return JSONResponse({"error": error}, status_code=status, headers=dict(headers or {}))


@contextlib.contextmanager
def serve_scripted_site(folder: Path) -> Iterator[ScriptedSite]:
    """Serves the built files in `folder` from a thread until the block ends."""
    site = ScriptedSite(folder)
    site.start()
    try:
        yield site
    finally:
        site.release()
        site.stop()


@contextlib.contextmanager
def serve_host_page(html: Callable[[], str], policy: str) -> Iterator[str]:
    """Another company's page at an origin of its own, under its own strict policy; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def page(_request: Request) -> Response:
        return HTMLResponse(html(), headers={"Content-Security-Policy": policy})

    config = uvicorn.Config(Starlette(routes=[Route("/", page)]), log_level="critical", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{port}/"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
