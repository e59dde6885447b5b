"""The one registry of tools. MCP, the chat agent and the widget call the same functions through it, each with the
tenant of its own caller and never with one that a caller names."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.retrieval import Retriever
from store import traces
from store.accounts import Tenant
from store.database import Database

MOST_TOKENS = 20_000
"""About so many has an answer, whatever was asked."""
_SHOWN_CHARACTERS = 100  # of what a client named
_MESSAGE_CHARACTERS = 500
_TRACED = {"gen_ai.operation.name": "execute_tool"}


class Arguments(BaseModel):
    """Base of every tool's arguments: anything that is not described is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who calls, over what. `space_ids` limits a chat to its spaces; None means every space of the tenant. Visitors of
    a site do not see what analysis made of the company's conversations. Communications of `hidden_channels` are as if
    they were not there."""

    tenant: Tenant
    database: Database
    retriever: Retriever
    public_url: str
    space_ids: tuple[str, ...] | None = None
    chat_quiet_s: float = 1800.0
    sees_analysis: bool = True
    hidden_channels: tuple[str, ...] = ()
    work_folder: Path | None = None  # keeps what can be made again
    answer_tokens: int = MOST_TOKENS

    @property
    def tenant_id(self) -> str:
        return self.tenant.id


class ToolError(Exception):
    """The call failed for a reason that the caller may read and act on."""


class ToolNotFound(ToolError):
    """There is no such tool for this account."""


class InvalidArguments(ToolError):
    """The arguments do not match the tool's schema."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A typed function with what a caller needs to know of it.

    `feature` is the account feature that it needs. `of_analysis`: it tells what analysis made of the company's
    conversations, which visitors of a site do not see.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[BaseModel]
    function: Callable[[ToolContext, Any], BaseModel]
    feature: str | None = None
    of_analysis: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return _input_schema(self.arguments)

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the result; what its fields mean, their names say."""
        return _output_schema(self.result)


class Registry:
    """The tools by name, in the order in which they are listed."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        assert len(self._tools) == len(tools), "tool names are unique"

    @property
    def tools(self) -> list[Tool]:
        return list(self._tools.values())

    def list_tools(self, tenant: Tenant, *, sees_analysis: bool = True) -> list[Tool]:
        """What may be called: tools of a feature that the account lacks are not listed."""
        return [
            tool
            for tool in self._tools.values()
            if (tool.feature is None or tool.feature in tenant.features) and (sees_analysis or not tool.of_analysis)
        ]

    def searches(self, name: str) -> bool:
        """Whether the tool may wait for the embedding model."""
        tool = self._tools.get(name)
        return tool is not None and "query" in tool.arguments.model_fields

    def takes_limit(self, name: str) -> bool:
        tool = self._tools.get(name)
        return tool is not None and "limit" in tool.arguments.model_fields

    def call(self, context: ToolContext, name: str, arguments: dict[str, Any] | None) -> BaseModel:
        """The tool's result. Raises ToolNotFound, InvalidArguments or ToolError."""
        tool = self._tools.get(name)
        if tool is None or tool not in self.list_tools(context.tenant, sees_analysis=context.sees_analysis):
            raise ToolNotFound(f"tool not found: {name[:_SHOWN_CHARACTERS]}")
        try:
            # From JSON, so that a number in quotes is no number; dates still come as text.
            given = {name: _whole(value) for name, value in (arguments or {}).items()}
            checked = tool.arguments.model_validate_json(json.dumps(given), strict=True)
        except (ValidationError, ValueError) as error:
            raise InvalidArguments(f"invalid arguments of {name}: {_first_problem(error)}") from None
        with traces.span(f"execute_tool {name}", attributes=_TRACED | {"gen_ai.tool.name": name}):
            return tool.function(context, checked)


def _whole(value: Any) -> Any:
    """10 for 10.0, which is an integer by JSON Schema: some clients send every number as a float. No tool takes
    fractions, or numbers inside of lists or objects."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _first_problem(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "not valid JSON"
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:_SHOWN_CHARACTERS]  # a name may be the client's
    message = first["msg"].removeprefix("Value error, ")[:_MESSAGE_CHARACTERS]
    return f"{where}: {message}" if where else message


@cache
def _input_schema(arguments: type[Arguments]) -> dict[str, Any]:
    return lean_schema(arguments.model_json_schema(mode="validation"), is_input=True)


@cache
def _output_schema(result: type[BaseModel]) -> dict[str, Any]:
    schema = lean_schema(result.model_json_schema(mode="serialization"), is_input=False)
    schema["properties"].pop("text_is", None)  # the same words everywhere: a note to who reads, no data
    return schema


def lean_schema(schema: dict[str, Any], *, is_input: bool) -> dict[str, Any]:
    """The same JSON Schema in fewer tokens: no titles, nothing that says nothing, "or null" as a second type.

    Of arguments null is not told of at all, though it is taken as "left out": not every client knows two types. A
    result's fields are described by their names alone.
    """
    lean: dict[str, Any] = _lean(schema, is_input)
    parts = lean.pop("$defs", {})
    text = json.dumps(schema)
    once = {name: part for name, part in parts.items() if text.count(_ref(name)) == 1}
    several = {name: _inlined(part, once) for name, part in parts.items() if name not in once}
    lean = _inlined(lean, once)
    lean.setdefault("properties", {})
    lean.pop("description", None)
    return {"$defs": several, **lean} if several else lean


def _ref(name: str) -> str:
    return f'"#/$defs/{name}"'


def _inlined(schema: Any, parts: dict[str, Any]) -> Any:
    """With these parts where they are referred to."""
    if isinstance(schema, list):
        return [_inlined(value, parts) for value in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in parts:
        return _inlined({**parts[name], **{key: value for key, value in schema.items() if key != "$ref"}}, parts)
    return {key: _inlined(value, parts) for key, value in schema.items()}


def _lean(schema: Any, is_input: bool) -> Any:
    if isinstance(schema, list):
        return [_lean(value, is_input) for value in schema]
    if not isinstance(schema, dict):
        return schema
    # That all fields of a result are there says nothing to a reader, and names each of them twice.
    left_out = {"title"} if is_input else {"title", "description", "default", "required"}
    lean: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            lean[key] = {name: _lean(each, is_input) for name, each in value.items()}
        elif key not in left_out and not (key == "default" and value is None):
            lean[key] = _lean(value, is_input)
    choices = lean.get("anyOf", [])
    if len(choices) == 2 and choices[1] == {"type": "null"} and (is_input or "type" in choices[0]):
        del lean["anyOf"]
        lean = {**choices[0], **lean}
        if not is_input:
            lean["type"] = [lean["type"], "null"]
            if "enum" in lean:
                lean["enum"] = [*lean["enum"], None]
    return lean
