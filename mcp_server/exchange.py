"""One request to the SDK's low-level server, without a session or a stream around it.

The SDK's own transport makes, for each POST of the handshake versions, a session with its tasks and streams, and for
each of the others it parses and dumps everything twice; either costs more than most tools (`python -m bench.mcp`). What
answers is the same server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import anyio
import mcp_types as types
import structlog
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import Server
from mcp.server.runner import ServerRunner, modern_error_data
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS
from pydantic import ValidationError

log = structlog.get_logger(__name__)

Answer = dict[str, Any]

_MESSAGE_CHARACTERS = 1_000
_DATA_CHARACTERS = 200


_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=False)


@dataclass
class _Exchange:
    """The SDK's DispatchContext of a request that is answered by one JSON body: nothing else goes to the client."""

    request_id: types.RequestId
    message_metadata: MessageMetadata
    transport: TransportContext = _TRANSPORT
    can_send_request: bool = False

    @cached_property
    def cancel_requested(self) -> anyio.Event:
        return anyio.Event()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        return None

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        return None


async def answer(server: Server[Any], message: Mapping[str, Any], *, version: str, request: object) -> Answer:
    """The JSON-RPC answer to a request of a handshake version whose envelope is known to be right. `request` reaches
    the handlers."""
    identifier = message["id"]
    try:
        # `initialize` notes on its connection who asks.
        connection = _made(version) if message["method"] == "initialize" else _shared(version)
        result = await _served(server, message, connection, request)
    except MCPError as error:
        return _error(identifier, error.error)
    except ValidationError:
        return _error(identifier, types.ErrorData(code=types.INVALID_PARAMS, message="invalid request parameters"))
    # What nobody foresaw is logged, and its text stays here.
    except Exception:
        log.exception("an MCP request failed", method=message["method"][:100])
        return _error(identifier, types.ErrorData(code=types.INTERNAL_ERROR, message="internal error"))
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def unknown_version(message: Mapping[str, Any], version: str) -> Answer | None:
    """The refusal of a protocol version that nobody knows, with those that need no handshake; None for one of these."""
    if version in HANDSHAKE_PROTOCOL_VERSIONS or (found := unsupported_protocol_version_rejection(version)) is None:
        return None
    return _error(message.get("id"), types.ErrorData(code=found.code, message=found.message, data=found.data))


async def modern_answer(
    server: Server[Any], message: Mapping[str, Any], *, headers: Mapping[str, str], request: object
) -> tuple[int, Answer] | None:
    """HTTP status and JSON-RPC answer to a request of a version without a handshake. None: it is one that the SDK
    refuses, or answers by a stream, and its own transport is to do that."""
    named = list(headers.items())
    if message["method"] == "subscriptions/listen" or find_duplicated_routing_header(named) is not None:
        return None
    route = classify_inbound_request(message, headers=dict(named))
    # The SDK also compares Mcp-Param headers, of which no schema of ours names any.
    if isinstance(route, InboundLadderRejection):
        return None
    identifier = message["id"]
    try:
        result = await _served(server, message, _shared(route.protocol_version), request)
    # Known ones have codes of their own; what nobody foresaw is logged by the SDK, and its text stays there.
    except Exception as error:
        told = modern_error_data(error)
        return ERROR_CODE_HTTP_STATUS.get(told.code, 200), _error(identifier, told)
    return 200, {"jsonrpc": "2.0", "id": identifier, "result": result}


def _made(version: str) -> Connection:
    """What a client says of itself our handlers read from the request; nothing is asked of it, so no capability
    counts."""
    return Connection.from_envelope(version, None, None)


_shared = lru_cache(maxsize=len(KNOWN_PROTOCOL_VERSIONS))(_made)
"""One for all requests of a protocol version: nothing is left on it, and to make it costs a tenth of the exchange."""


async def _served(
    server: Server[Any], message: Mapping[str, Any], connection: Connection, request: object
) -> dict[str, Any]:
    """Without the SDK's unwinding of the connection after each request: no handler of ours leaves anything on it."""
    exchange = _Exchange(message["id"], ServerMessageMetadata(request_context=request))
    runner: ServerRunner[Any] = ServerRunner(server, connection, {})
    return await runner.on_request(exchange, message["method"], message.get("params"))


def _error(identifier: types.RequestId | None, error: types.ErrorData) -> Answer:
    """The SDK repeats in `data` and in messages what the client named, however long that is."""
    told = error.model_dump(mode="json", by_alias=True, exclude_none=True)
    told["message"] = told["message"][:_MESSAGE_CHARACTERS]
    if "data" in told:
        told["data"] = _shown(told["data"])
    return {"jsonrpc": "2.0", "id": identifier, "error": told}


def _shown(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _shown(value) for name, value in data.items()}
    return data[:_DATA_CHARACTERS] if isinstance(data, str) else data
