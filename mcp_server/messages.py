"""What the body of a request holds: one JSON-RPC message, or a batch of them where a protocol version knows batches.

What is neither is answered here: the SDK's own answers tell less or more than they should.
"""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json
from starlette.responses import JSONResponse, Response

from mcp_server.protocol import OLDEST_VERSION

INTERNAL_ERROR = -32603
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
BATCHES_OF = "2025-03-26"
"""The one version that defines them."""
MOST_IN_A_BATCH = 20

Message = dict[str, Any]


def read_body(body: bytes, version: str) -> Message | list[Message | Response] | Response:
    """A message, the members of a batch (a refusal in place of one that is no message), or the answer to a body that is
    neither. `version` is the header's."""
    try:
        # By the SDK's own parser: what another one takes for JSON, the SDK may refuse in the parser's words.
        found = from_json(body, allow_inf_nan=False)
    except ValueError:
        return rpc_error(400, PARSE_ERROR, "the body is not valid JSON")
    if not isinstance(found, list):
        return _message(found, version)
    if version != BATCHES_OF:
        message = f"the body is not one JSON-RPC message; batches are of {BATCHES_OF}, named by MCP-Protocol-Version"
        return rpc_error(400, INVALID_REQUEST, message)
    if not 1 <= len(found) <= MOST_IN_A_BATCH:
        return rpc_error(400, INVALID_REQUEST, f"a batch has 1 to {MOST_IN_A_BATCH} messages")
    return [_member(each, version) for each in found]


def _member(found: object, version: str) -> Message | Response:
    message = _message(found, version)
    if isinstance(message, dict) and message["method"] == "initialize":
        return rpc_error(200, INVALID_REQUEST, "initialize is no part of a batch", message.get("id"))
    return message


def _message(found: object, version: str) -> Message | Response:
    if not isinstance(found, dict):
        return rpc_error(400, INVALID_REQUEST, "not a JSON-RPC 2.0 request")
    identifier = found.get("id")
    usable_id = identifier if _is_id(identifier) else None
    if found.get("jsonrpc") != "2.0" or not isinstance(found.get("method"), str):
        return rpc_error(400, INVALID_REQUEST, "not a JSON-RPC 2.0 request", usable_id)
    if "id" in found and usable_id is None:
        return rpc_error(400, INVALID_REQUEST, "id is neither a whole number nor a string")
    params = found.get("params")
    if params is not None and not isinstance(params, dict):
        code = INTERNAL_ERROR if found["method"] == "tools/call" else INVALID_PARAMS
        return rpc_error(200, code, "params: is not an object", usable_id)
    if found["method"] == "tools/call" and version <= OLDEST_VERSION:
        # By the contract these are a tool that is not there and arguments that do not match; the SDK would call the
        # params invalid.
        if not isinstance((params or {}).get("name"), str):
            return rpc_error(200, INTERNAL_ERROR, "tool not found: no name was given", usable_id)
        arguments = (params or {}).get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            return rpc_error(200, INTERNAL_ERROR, "arguments: is not an object", usable_id)
    return found


def _is_id(value: object) -> bool:
    """A string or a whole number, of which some clients send 1.0. It is answered as it came."""
    return isinstance(value, str) or type(value) is int or (isinstance(value, float) and value.is_integer())


def rpc_error(status: int, code: int, message: str, identifier: float | str | None = None) -> Response:
    body = {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}
    return JSONResponse(body, status_code=status)
