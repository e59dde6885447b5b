"""JSON-RPC bodies for the MCP endpoint, good and bad ones, and what every answer to them must keep to.

Tool arguments are made from the schemas that the running server lists, then hurt; a tool that is new is asked too.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from hypothesis import strategies as st
from pydantic_core import from_json

from api.protocol import MAX_HEAD_BYTES
from mcp_server.endpoint import MAX_BODY_BYTES

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
WITH_BATCHES, NEWEST = VERSIONS[1], VERSIONS[-1]
MOST_IN_A_BATCH = 20
_USUAL_HEAD_BYTES = 2_000
META = "io.modelcontextprotocol/"
METHODS = (
    *("initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read"),
    *("resources/templates/list", "resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get"),
    *("completion/complete", "logging/setLevel", "subscriptions/listen", "tasks/get", "tasks/cancel", "roots/list"),
    *("sampling/createMessage", "elicitation/create", "notifications/initialized", "notifications/cancelled"),
    *("notifications/progress", "notifications/roots/list_changed"),
)
STATUSES = frozenset({200, 202, 400, 404})  # 404: what 2026-07-28 says to an unknown method
LONGEST_ANSWER_S = 30.0

# What only an exception's own text would say. Answers are searched for it where they tell of an error.
LEAKS = re.compile(
    r"Traceback|pydantic|sqlalchemy|sqlite|psycopg|starlette|anyio|asyncio|uvicorn|jsonschema|mcp_server|mcp_types"
    r"|site-packages|\.py\b|\bline \d+|column \d+|0x[0-9a-f]{6,}|/(?:usr|home|tmp|work|root|var|opt)/"
    r"|\b(?:Value|Type|Key|Index|Attribute|Assertion|Runtime|Recursion|Unicode\w*|Validation|Operational|Integrity|Data"
    r"|Programming|OS|Overflow|NotImplemented)Error\b|NoneType|\bdict\b|SELECT |INSERT |UPDATE |WHERE "
    r"|validation error|input_value|input_type|unexpected keyword|object has no attribute|X-Request-Id names",
    re.IGNORECASE,
)

ODD_TEXT = st.sampled_from(
    [
        *(
            "",
            " ",
            "\x00",
            "\u202e",
            "\ufeff",
            "'",
            '"',
            "%",
            "_",
            "\\",
            "' OR 1=1 --",
            "{}",
            "[]",
            "null",
            "../..",
            "🙂",
        ),
        *("ё" * 2000, "a" * 70_000, "00000000-0000-0000-0000-000000000000", "9999-12-31", "0001-01-01", "2026-02-30"),
        *("2026-01-01", "-1", "1e400", "NaN", "AND OR NOT", '"', "NEAR(", "*", "col:x", "\ud800"),
    ]
)
ODD_NUMBERS = st.sampled_from([0, -1, 1, 50, 51, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | ODD_TEXT | ODD_NUMBERS
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
HEADER_NAMES = st.sampled_from(
    [
        *("Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID", "Mcp-Method"),
        *("Mcp-Name", "Content-Encoding", "Origin", "User-Agent", "X-Request-Id"),
    ]
)
HEADER_VALUES = st.text(max_size=30).map(lambda text: plain(text)) | st.sampled_from(
    ["null", "http://[", "https://a.example", "gzip", "text/event-stream", "*/*", NEWEST, VERSIONS[3]]
)


@dataclass(frozen=True)
class Request:
    """A POST: its body, and its headers beside the usual ones."""

    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Offered:
    """What a server lists; `uris` are of resources and their templates."""

    tools: Sequence[dict[str, Any]]
    prompts: Sequence[dict[str, Any]]
    uris: Sequence[str]

    @property
    def arguments(self) -> list[str]:
        """The names that completion knows."""
        return [*(name for prompt in self.prompts for name in names_of(prompt)), "id", "from"]


def names_of(prompt: dict[str, Any]) -> list[str]:
    return [argument["name"] for argument in prompt["arguments"]]


def value_of(schema: dict[str, Any], known: Sequence[str]) -> st.SearchStrategy[Any]:
    """What a JSON Schema of a tool allows, roughly: lengths and bounds are kept, patterns and formats mostly not."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return st.one_of([value_of(each, known) for each in schema[word]])
    kinds = schema.get("type", "string")
    if isinstance(kinds, list):
        return st.one_of([value_of({**schema, "type": kind}, known) for kind in kinds])
    if kinds == "integer":
        return st.integers(schema.get("minimum"), schema.get("maximum"))
    if kinds == "number":
        return st.floats(schema.get("minimum"), schema.get("maximum"), allow_nan=False)
    if kinds == "array":
        return st.lists(value_of(schema.get("items", {}), known), max_size=min(schema.get("maxItems", 4), 4))
    if kinds == "object":
        return arguments_of(schema, known)
    dates = st.dates().map(str) | st.datetimes(timezones=st.just(None)).map(lambda moment: f"{moment.isoformat()}Z")
    text = st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 40), 40))
    return {"boolean": st.booleans(), "null": st.none()}.get(kinds, st.sampled_from(list(known)) | dates | text)


def arguments_of(schema: dict[str, Any], known: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    properties = {name: value_of(each, known) for name, each in schema.get("properties", {}).items()}
    needed = {name: properties.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(needed, optional=properties)


@st.composite
def hurt(draw: st.DrawFn, whole: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """One entry is taken away, replaced or added."""
    found = dict(draw(whole))
    name = draw(st.sampled_from([*found, "tenant_id", "__class__", ""]))
    if draw(st.booleans()):
        found[name] = draw(JSON)
    else:
        found.pop(name, None)
    return found


def requests_to(offered: Offered, known: Sequence[str]) -> st.SearchStrategy[Request]:
    """What is sent to a server: mostly envelopes that are nearly right, then broken ones and bytes. `known` are ids and
    names of things, the account's and others'."""
    calls = st.one_of(
        [
            st.fixed_dictionaries({"name": st.just(tool["name"]), "arguments": _mostly(5, made, hurt(made))})
            for tool in offered.tools
            for made in [arguments_of(tool["inputSchema"], known)]
        ]
    )
    texts = st.sampled_from(list(known)) | ODD_TEXT | st.text(max_size=20)
    uris = st.sampled_from(offered.uris) | st.builds(lambda uri, text: uri + text, st.sampled_from(offered.uris), texts)
    prompts = st.sampled_from(offered.prompts)
    named = prompts.flatmap(
        lambda prompt: st.fixed_dictionaries(
            {"name": st.just(prompt["name"])},
            optional={"arguments": st.fixed_dictionaries({}, optional=dict.fromkeys(names_of(prompt), texts)) | JSON},
        )
    )
    prompt_refs = prompts.map(lambda prompt: {"type": "ref/prompt", "name": prompt["name"]})
    references = prompt_refs | uris.map(lambda uri: {"type": "ref/resource", "uri": uri})
    asked = st.fixed_dictionaries({"name": st.sampled_from(offered.arguments) | texts, "value": texts})
    versions = st.sampled_from(VERSIONS) | JSON
    params: dict[str, st.SearchStrategy[Any]] = {
        "tools/call": _mostly(9, calls, hurt(calls)),
        "resources/read": st.fixed_dictionaries({"uri": uris | texts | JSON}),
        "prompts/get": _mostly(8, named, hurt(named)),
        "completion/complete": st.fixed_dictionaries({"ref": references | JSON, "argument": asked | JSON}),
        "initialize": st.fixed_dictionaries({"protocolVersion": versions, "capabilities": JSON, "clientInfo": JSON}),
        "notifications/cancelled": st.fixed_dictionaries({"requestId": JSON}),
        "subscriptions/listen": st.fixed_dictionaries({"notifications": JSON}),
        "": st.fixed_dictionaries({}, optional={"cursor": texts | JSON}) | JSON,
    }
    envelopes = envelope(params)
    loose = (st.binary(max_size=200) | JSON.map(encoded)).map(Request)
    batched = batches(params)
    return _mostly(7, envelopes, batched | broken(envelopes) | broken(batched) | loose)


def _mostly(share: int, usual: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """`usual` in `share` of ten draws; a union would ask each of the other's alternatives as often."""
    return st.integers(1, 10).flatmap(lambda number: usual if number <= share else other)


@st.composite
def envelope(draw: st.DrawFn, of: dict[str, st.SearchStrategy[Any]]) -> Request:
    """A request or notification; `of` makes the params of a method, under "" those of any other."""
    version = draw(_mostly(9, st.sampled_from([None, *VERSIONS]), st.text("0123456789-abc", max_size=12)))
    message = draw(_message(of, version))
    params = message.get("params")
    headers = [("MCP-Protocol-Version", version)] if version is not None else []
    if version == NEWEST:
        name = params.get("name", params.get("uri", "")) if isinstance(params, dict) else ""
        headers += [("Mcp-Method", message["method"]), ("Mcp-Name", str(name))]
    return Request(encoded(message), tuple((each, plain(value)) for each, value in headers))


@st.composite
def batches(draw: st.DrawFn, of: dict[str, st.SearchStrategy[Any]]) -> Request:
    """Some messages in one body, or none or too many, with what is no message between them; mostly by the version that
    defines batches."""
    members = _mostly(9, _message(of, WITH_BATCHES), JSON)
    found = draw(st.lists(members, max_size=4)) * draw(_mostly(9, st.just(1), st.just(MOST_IN_A_BATCH)))
    version = draw(_mostly(9, st.just(WITH_BATCHES), st.sampled_from(VERSIONS)))
    return Request(encoded(found), (("MCP-Protocol-Version", version),))


@st.composite
def _message(draw: st.DrawFn, of: dict[str, st.SearchStrategy[Any]], version: str | None) -> dict[str, Any]:
    method = draw(_mostly(6, st.just("tools/call"), _mostly(9, st.sampled_from(METHODS), st.text(max_size=20))))
    params = draw(of.get(method, of[""]))
    if isinstance(params, dict) and (version == NEWEST or draw(st.booleans())):
        params = {**params, "_meta": draw(_meta(version or NEWEST))}
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if not method.startswith("notifications/") or draw(st.booleans()):
        message["id"] = draw(st.integers() | st.text(max_size=10))
    if params is not None or draw(st.booleans()):
        message["params"] = params
    return message


def _meta(version: str) -> st.SearchStrategy[Any]:
    whole = st.fixed_dictionaries(
        {
            META + "protocolVersion": st.just(version),
            META + "clientInfo": st.fixed_dictionaries({"name": JSON, "version": st.just("1")}) | JSON,
            META + "clientCapabilities": st.just({}) | JSON,
        },
        optional={"progressToken": st.integers() | JSON},
    )
    good = {META + "protocolVersion": version, META + "clientCapabilities": {}}
    return _mostly(6, st.just(good), whole | hurt(whole) | JSON)


@st.composite
def broken(draw: st.DrawFn, of: st.SearchStrategy[Request]) -> Request:
    """Bytes in the middle of the body, and headers that nobody asked for."""
    whole = draw(of)
    at = draw(st.integers(0, len(whole.body)))
    odd = st.sampled_from([b"[" * 3000, b'{"a":' * 300, b"9" * 5000, b"\xff", b"\\u"])
    body = whole.body[:at] + draw(st.binary(max_size=6) | odd) + whole.body[at + draw(st.integers(0, 9)) :]
    return Request(body, tuple(draw(st.lists(st.tuples(HEADER_NAMES, HEADER_VALUES), max_size=3))))


def encoded(value: Any) -> bytes:
    """JSON as it may come: halves of characters as escapes, NaN as Python writes it."""
    return json.dumps(value).encode()


def plain(text: str) -> str:
    """What may stand in a header."""
    return re.sub(r"[^\x21-\x7e]", "", text)


def problem_of(request: Request, answer: httpx2.Response) -> str | None:
    """What is wrong with an answer; None: nothing."""
    allowed = STATUSES | ({403} if any(name == "Origin" for name, _ in request.headers) else set())
    allowed |= {413} if len(request.body) > MAX_BODY_BYTES else set()
    allowed |= {431} if sum(len(value) for _, value in request.headers) > MAX_HEAD_BYTES - _USUAL_HEAD_BYTES else set()
    if answer.status_code not in allowed:
        return "status"
    if answer.status_code == 202:
        return "202 with a body" if answer.content else None
    if answer.status_code == 403:
        return None
    try:
        found = answer.json()
    except ValueError:
        return "no JSON"
    if isinstance(found, list):
        return _problem_of_batch(request, found)
    return _problem_of_message(found, _id_of(request.body), request.body)


def _problem_of_batch(request: Request, found: list[Any]) -> str | None:
    """Each member that has an id is answered with it, in their order; those without one are answered where they are no
    notifications."""
    if ("MCP-Protocol-Version", WITH_BATCHES) not in request.headers:
        return "a batch of another version"
    sent = from_json(request.body)  # as the server reads it
    if not 1 <= len(found) <= len(sent) <= MOST_IN_A_BATCH:
        return "another number of answers"
    ids = [each["id"] for each in sent if isinstance(each, dict) and _is_id(each.get("id"))]
    told = [each.get("id") if isinstance(each, dict) else None for each in found]
    if [each for each in told if each is not None] != ids:
        return "other ids"
    problems = (_problem_of_message(each, id_, request.body) for each, id_ in zip(found, told, strict=True))
    return next((f"in a batch: {problem}" for problem in problems if problem is not None), None)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or type(value) is int or (isinstance(value, float) and value.is_integer())


def _problem_of_message(found: Any, asked_id: Any, body: bytes) -> str | None:
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0" or ("result" in found) == ("error" in found):
        return "no JSON-RPC"
    if "id" not in found or found["id"] not in (None, asked_id):
        return "another id"
    error = found.get("error")
    if error is not None and not (type(error.get("code")) is int and isinstance(error.get("message"), str)):
        return "no JSON-RPC error"
    if (error is not None or found["result"].get("isError")) and _leaks(json.dumps(found, ensure_ascii=False), body):
        return "leak"
    return None


def _id_of(body: bytes) -> Any:
    try:
        return json.loads(body).get("id")
    except (ValueError, AttributeError, RecursionError):
        return None


def _leaks(text: str, asked: bytes) -> bool:
    """Words of ours that the caller did not say first."""
    said = asked.decode("utf-8", "replace").lower()
    words = [word.group().lower() for word in LEAKS.finditer(text)] + [socket.gethostname().lower()] * (
        socket.gethostname().lower() in text.lower()
    )
    return any(word not in said for word in words)
