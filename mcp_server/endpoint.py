"""The MCP endpoint: HTTP around the servers of `protocol`, behind our own authentication and limits.

What the contract says beside the protocol is done here: POST only, 401 and 429 before the body is waited for and before
whatever is wrong with it, and for 2024-11-05 the documented errors as JSON-RPC errors inside HTTP 200.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from mcp_server import exchange
from mcp_server.messages import BATCHES_OF, INTERNAL_ERROR, INVALID_REQUEST, read_body, rpc_error
from mcp_server.protocol import OLDEST_VERSION, Admitted, Protocol
from mcp_server.registry import Registry
from mcp_server.threads import Threads

VERSION_HEADER = "mcp-protocol-version"
MAX_BODY_BYTES = 1024 * 1024
_UNNAMED_CLIENT = {"name": "", "version": ""}

QUICK_AT_ONCE, READS_AT_ONCE = 2, 4
"""Requests that threads of one process answer: what needs no tool, and admissions; and what reads the store. More of
them answer fewer requests a second, as they wait for each other's interpreter lock (`python -m bench.mcp`)."""
SEARCHES_AT_ONCE = 16
"""Those that wait for the embedding model, so that nobody's reading waits for it."""
_READS_EACH, _SEARCHES_EACH = 2, 4  # of one account
_READING = ("tools/call", "resources/", "prompts/", "completion/")
_MOST_KNOWN = 10_000

Admit = Callable[[Request], Admitted | Response]
OneRead = Callable[[Request], AbstractContextManager[None]]
Result = TypeVar("Result")
Work = Literal["quick", "read", "search"]
_LONGER: list[Work] = ["quick", "read", "search"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A body of one JSON-RPC message, or of a batch of them, and what is to be done for it. A member of a batch that is
    no message is its refusal."""

    messages: tuple[dict[str, Any] | Response, ...]
    version: str
    work: Work
    is_batch: bool


class McpEndpoint:
    """The ASGI endpoint of /mcp. `admit` authenticates a request and counts it, before its body is waited for.

    A reading request runs in one thread, from its admission to its tool, where its key was admitted lately and its body
    came with its head: to go back to the event loop in between costs more than a cheap tool does. What both read of the
    store they read inside `one_read`. For others admission comes first and by itself, so that nobody's turn is taken in
    the name of somebody else.
    """

    def __init__(self, registry: Registry, admit: Admit, one_read: OneRead) -> None:
        self._registry = registry
        self._protocol = Protocol(registry)
        self._admit = admit
        self._one_read = one_read
        self._threads: dict[Work, Threads] = {
            "quick": Threads(QUICK_AT_ONCE, QUICK_AT_ONCE, "mcp-quick"),
            "read": Threads(READS_AT_ONCE, _READS_EACH, "mcp-read"),
            "search": Threads(SEARCHES_AT_ONCE, _SEARCHES_EACH, "mcp-search"),
        }
        self._tenants: dict[int, str] = {}  # whose keys were admitted lately, by their hashes
        # What `exchange` leaves to it: refusals and streams of versions without a handshake, and versions unknown.
        self._modern = StreamableHTTPSessionManager(
            self._protocol.full, stateless=True, json_response=True, max_request_body_size=MAX_BODY_BYTES
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._modern.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        arrived_s = time.perf_counter()
        scope = _trimmed(scope)
        request = Request(scope, receive)
        if request.method != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        body = _Body(receive)
        try:
            answer = await self._answered(request, body, arrived_s)
        finally:
            await body.aclose()
        if answer is not None:
            await answer(scope, receive, send)
        else:
            await self._modern.handle_request(_lenient(scope), _replay(body.content, receive), send)

    async def _answered(self, request: Request, body: _Body, arrived_s: float) -> Response | None:
        """None: left to the SDK's own transport."""
        asked: _Asked | Response | None = None
        tenant_id = self._tenants.get(_key_of(request))
        if tenant_id is not None and "expect" not in request.headers and await body.is_there():
            asked = self._asked(request, body.content)
            if isinstance(asked, _Asked) and asked.work != "search":
                threads = self._threads[asked.work]
                return await threads.run(tenant_id, self._admitted_and_answered, asked, request, arrived_s)
        admitted = await self._threads["quick"].run("", self._let_in, request, arrived_s)
        if isinstance(admitted, Response):
            return admitted
        if asked is None:
            if not await body.read():
                return rpc_error(413, INVALID_REQUEST, f"the body is larger than {MAX_BODY_BYTES} bytes")
            asked = self._asked(request, body.content)
        if isinstance(asked, Response):
            return asked
        return await self._threads[asked.work].run(admitted.caller.tenant_id, self._exchanged, asked, request)

    def _let_in(self, request: Request, arrived_s: float) -> Admitted | Response:
        admitted = self._admit(request)
        if isinstance(admitted, Response):
            return admitted
        admitted = replace(admitted, at_s=arrived_s)
        request.state.admitted = admitted
        if len(self._tenants) >= _MOST_KNOWN:
            self._tenants.clear()
        self._tenants[_key_of(request)] = admitted.caller.tenant_id
        return admitted

    def _admitted_and_answered(self, asked: _Asked, request: Request, arrived_s: float) -> Response | None:
        with self._one_read(request):
            admitted = self._let_in(request, arrived_s)
            return admitted if isinstance(admitted, Response) else self._exchanged(asked, request)

    def _asked(self, request: Request, body: bytes) -> _Asked | Response:
        version = request.headers.get(VERSION_HEADER, OLDEST_VERSION)
        found = read_body(body, version)
        if isinstance(found, Response):
            return found
        if isinstance(found, list):
            work = max(map(self._work_of, found), key=_LONGER.index)
            return _Asked(tuple(found), version, work, is_batch=True)
        if (unknown := exchange.unknown_version(found, version)) is not None:
            return JSONResponse(unknown, status_code=400)
        return _Asked((found,), version, self._work_of(found), is_batch=False)

    def _work_of(self, message: Mapping[str, Any] | Response) -> Work:
        if isinstance(message, Response):
            return "quick"
        called = (message.get("params") or {}).get("name") if message["method"] == "tools/call" else None
        if isinstance(called, str) and self._registry.searches(called):
            return "search"
        return "read" if message["method"].startswith(_READING) else "quick"

    def _exchanged(self, asked: _Asked, request: Request) -> Response | None:
        if asked.is_batch:
            return self._batch(asked, request)
        (message,) = asked.messages
        assert not isinstance(message, Response)
        if asked.version in HANDSHAKE_PROTOCOL_VERSIONS:
            return self._handshake_era(message, asked.version, request)
        return self._without_handshake(message, request)

    def _batch(self, asked: _Asked, request: Request) -> Response:
        """The answers to those members that want one, in their order. Each member counts as a request; the first was
        counted with the body."""
        answers = []
        for number, message in enumerate(asked.messages):
            if number and isinstance(self._admit(request), Response):
                identifier = None if isinstance(message, Response) else message.get("id")
                answers.append(rpc_error(200, INTERNAL_ERROR, "rate_limited", identifier))
            elif isinstance(message, Response):
                answers.append(message)
            else:
                answers.append(self._handshake_era(message, asked.version, request))
        told = [bytes(answer.body) for answer in answers if answer.body]
        return Response(b"[%b]" % b",".join(told), media_type="application/json") if told else Response(status_code=202)

    def _handshake_era(self, message: Mapping[str, Any], version: str, request: Request) -> Response:
        if "id" not in message:
            return Response(status_code=202)  # nothing here outlives a request, so there is nothing to notify of
        if message["method"] == "initialize":
            # By the contract the version alone is required; the SDK wants the others too.
            params = {"capabilities": {}, "clientInfo": _UNNAMED_CLIENT, **(message.get("params") or {})}
            message = {**message, "params": params}
            server = self._greeting(params.get("protocolVersion", version))
        else:
            server = self._protocol.documented if version == OLDEST_VERSION else self._protocol.full
        answer = _done(exchange.answer(server, message, version=version, request=request))
        return Response(to_json(answer), media_type="application/json")

    def _greeting(self, asked: Any) -> Server[Any]:
        """The server that answers `initialize`, by the version that it asks for. 2025-03-26 knows no header that names
        the version of later requests, and those without it count as 2024-11-05: what that has not is not offered."""
        if asked == OLDEST_VERSION:
            return self._protocol.documented
        return self._protocol.greeting if asked == BATCHES_OF else self._protocol.full

    def _without_handshake(self, message: Mapping[str, Any], request: Request) -> Response | None:
        """None: left to the SDK's own transport."""
        if "id" not in message:
            return None
        found = _done(exchange.modern_answer(self._protocol.full, message, headers=request.headers, request=request))
        if found is None:
            return None
        status, answer = found
        return Response(to_json(answer), status_code=status, media_type="application/json")


def _done(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What it returns. The SDK's server waits for its handlers alone, and ours wait for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: Result = ended.value
        return result
    coroutine.close()
    raise RuntimeError("a handler of MCP waits, in a thread where nobody can wait for it")


def _key_of(request: Request) -> int:
    """A hash of the key that was sent, however it was spelled around it."""
    authorization = request.headers.get("authorization")
    token = request.headers.get("x-api-key") if authorization is None else authorization.partition(" ")[2].strip()
    return hash(token)


class _Body:
    """A request's body, as it comes. Raises ClientDisconnect where its sender has gone in the middle of it."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._first: asyncio.Task[Message] | None = None
        self.content = b""

    async def is_there(self) -> bool:
        """Whether all of it came with the head, as it mostly does."""
        self._first = asyncio.ensure_future(self._receive())
        await asyncio.sleep(0)
        if not self._first.done() or self._first.result().get("more_body", False):
            return False
        self.content = _part(self._first.result())
        return True

    async def read(self) -> bool:
        """False where it is larger than it may be."""
        body = bytearray()
        more = True
        while more:
            message = await self._next()
            body += _part(message)
            if len(body) > MAX_BODY_BYTES:
                return False
            more = message.get("more_body", False)
        self.content = bytes(body)
        return True

    async def _next(self) -> Message:
        if self._first is None:
            return await self._receive()
        first, self._first = self._first, None
        return await first

    async def aclose(self) -> None:
        """Waits for no more of it."""
        if self._first is not None and not self._first.done():
            self._first.cancel()
            with suppress(asyncio.CancelledError):
                await self._first


def _part(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    part: bytes = message.get("body", b"")
    return part


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _trimmed(scope: Scope) -> Scope:
    """Blanks around a header's value are no part of it (RFC 9110, 5.5); the server's parser leaves those behind it."""
    return {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}


def _lenient(scope: Scope) -> Scope:
    """Documented clients send Accept and Content-Type; one that forgets them is answered, not refused."""
    headers = [(name, value) for name, value in scope["headers"] if name not in (b"accept", b"content-type")]
    headers += [(b"accept", b"application/json, text/event-stream"), (b"content-type", b"application/json")]
    return {**scope, "headers": headers}
