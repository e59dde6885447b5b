"""The MCP endpoint: HTTP around the servers of `protocol`, behind our own authentication and limits.

What the contract says beside the protocol is done here: POST only, 401 and 429 before the body is read, and for
2024-11-05 the documented errors as JSON-RPC errors inside HTTP 200.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from mcp_server import exchange
from mcp_server.protocol import OLDEST_VERSION, Admitted, Protocol
from mcp_server.registry import Registry

VERSION_HEADER = "mcp-protocol-version"
MAX_BODY_BYTES = 1024 * 1024
INTERNAL_ERROR = -32603
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
_UNNAMED_CLIENT = {"name": "", "version": ""}

Admit = Callable[[Request], Awaitable[Admitted | Response]]


class McpEndpoint:
    """The ASGI endpoint of /mcp. `admit` authenticates a request and counts it, before its body is read."""

    def __init__(self, registry: Registry, admit: Admit) -> None:
        self._protocol = Protocol(registry)
        self._admit = admit
        # What `exchange` leaves to it: refusals and streams of versions without a handshake, and versions unknown.
        self._modern = StreamableHTTPSessionManager(
            self._protocol.full, stateless=True, json_response=True, max_request_body_size=MAX_BODY_BYTES
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._modern.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope = _trimmed(scope)
        request = Request(scope, receive)
        if request.method != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        admitted = await self._admit(request)
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
            return
        scope["state"]["admitted"] = admitted
        body = await _read_body(receive)
        if body is None:
            problem = _rpc_error(413, INVALID_REQUEST, f"the body is larger than {MAX_BODY_BYTES} bytes")
            await problem(scope, receive, send)
            return
        version = request.headers.get(VERSION_HEADER, OLDEST_VERSION)
        message = _message(body, version)
        if isinstance(message, Response):
            await message(scope, receive, send)
        elif (unknown := exchange.unknown_version(message, version)) is not None:
            await JSONResponse(unknown, status_code=400)(scope, receive, send)
        elif version in HANDSHAKE_PROTOCOL_VERSIONS:
            await (await self._handshake_era(message, version, request))(scope, receive, send)
        elif (answer := await self._without_handshake(message, request)) is not None:
            await answer(scope, receive, send)
        else:
            await self._modern.handle_request(_lenient(scope), _replay(body, receive), send)

    async def _handshake_era(self, message: Mapping[str, Any], version: str, request: Request) -> Response:
        if "id" not in message:
            return Response(status_code=202)  # nothing here outlives a request, so there is nothing to notify of
        asked = version
        if message["method"] == "initialize":
            # By the contract the version alone is required; the SDK wants the others too.
            params = {"capabilities": {}, "clientInfo": _UNNAMED_CLIENT, **(message.get("params") or {})}
            message = {**message, "params": params}
            asked = params.get("protocolVersion", version)
        server = self._protocol.documented if asked == OLDEST_VERSION else self._protocol.full
        answer = await exchange.answer(server, message, version=version, request=request)
        return Response(to_json(answer), media_type="application/json")

    async def _without_handshake(self, message: Mapping[str, Any], request: Request) -> Response | None:
        """None: left to the SDK's own transport."""
        if "id" not in message:
            return None
        found = await exchange.modern_answer(self._protocol.full, message, headers=request.headers, request=request)
        if found is None:
            return None
        status, answer = found
        return Response(to_json(answer), status_code=status, media_type="application/json")


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body, or None where it is larger than it may be."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _message(body: bytes, version: str) -> dict[str, Any] | Response:
    """The JSON-RPC message, or the answer to a body that is none; the SDK's own answers tell less or more than they
    should."""
    try:
        # By the SDK's own parser: what another one takes for JSON, the SDK may refuse in the parser's words.
        message = from_json(body, allow_inf_nan=False)
    except ValueError:
        return _rpc_error(400, PARSE_ERROR, "the body is not valid JSON")
    if not isinstance(message, dict):
        return _rpc_error(400, INVALID_REQUEST, "the body is not one JSON-RPC message; batches are not supported")
    identifier = message.get("id")
    usable_id = identifier if isinstance(identifier, str) or type(identifier) is int else None
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return _rpc_error(400, INVALID_REQUEST, "not a JSON-RPC 2.0 request", usable_id)
    if "id" in message and usable_id is None:
        return _rpc_error(400, INVALID_REQUEST, "id is neither a number nor a string")
    params = message.get("params")
    if params is not None and not isinstance(params, dict):
        code = INTERNAL_ERROR if message["method"] == "tools/call" else INVALID_PARAMS
        return _rpc_error(200, code, "params: is not an object", usable_id)
    if message["method"] == "tools/call" and version <= OLDEST_VERSION:
        # By the contract these are a tool that is not there and arguments that do not match; the SDK would call the
        # params invalid.
        if not isinstance((params or {}).get("name"), str):
            return _rpc_error(200, INTERNAL_ERROR, "tool not found: no name was given", usable_id)
        arguments = (params or {}).get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            return _rpc_error(200, INTERNAL_ERROR, "arguments: is not an object", usable_id)
    return message


def _rpc_error(status: int, code: int, message: str, identifier: int | str | None = None) -> Response:
    body = {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}
    return JSONResponse(body, status_code=status)


def _trimmed(scope: Scope) -> Scope:
    """Blanks around a header's value are no part of it (RFC 9110, 5.5); the server's parser leaves those behind it."""
    return {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}


def _lenient(scope: Scope) -> Scope:
    """Documented clients send Accept and Content-Type; one that forgets them is answered, not refused."""
    headers = [(name, value) for name, value in scope["headers"] if name not in (b"accept", b"content-type")]
    headers += [(b"accept", b"application/json, text/event-stream"), (b"content-type", b"application/json")]
    return {**scope, "headers": headers}
