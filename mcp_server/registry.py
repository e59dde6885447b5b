"""The one registry of tools. MCP, the chat agent and the widget call the same functions through it, each with the
tenant of its own caller and never with one that a caller names."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.search import Searcher
from store.accounts import Tenant
from store.database import Database


class Arguments(BaseModel):
    """Base of every tool's arguments: anything that is not described is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who calls, over what. `space_ids` limits a chat to its spaces; None means every space of the tenant."""

    tenant: Tenant
    database: Database
    searcher: Searcher
    public_url: str
    space_ids: tuple[str, ...] | None = None
    chat_quiet_s: float = 1800.0

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
    """A typed function with what a caller needs to know of it. `feature`: the account feature that it needs."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    function: Callable[[ToolContext, Any], BaseModel]
    feature: str | None = None

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, without the titles that only cost tokens."""
        schema: dict[str, Any] = _without_titles(self.arguments.model_json_schema())
        schema.setdefault("properties", {})
        schema.pop("description", None)
        return schema


class Registry:
    """The tools by name, in the order in which they are listed."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        assert len(self._tools) == len(tools), "tool names are unique"

    def list_tools(self, tenant: Tenant) -> list[Tool]:
        """What this account may call: tools of a feature that it lacks are not listed."""
        return [tool for tool in self._tools.values() if tool.feature is None or tool.feature in tenant.features]

    def call(self, context: ToolContext, name: str, arguments: dict[str, Any] | None) -> BaseModel:
        """The tool's result. Raises ToolNotFound, InvalidArguments or ToolError."""
        tool = self._tools.get(name)
        if tool is None or tool not in self.list_tools(context.tenant):
            raise ToolNotFound(f"tool not found: {name[:100]}")
        try:
            # From JSON, so that a number in quotes is no number; dates still come as text.
            checked = tool.arguments.model_validate_json(json.dumps(arguments or {}), strict=True)
        except (ValidationError, ValueError) as error:
            raise InvalidArguments(f"invalid arguments of {name}: {_first_problem(error)}") from None
        return tool.function(context, checked)


def _first_problem(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "not valid JSON"
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_titles(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)
        }
    if isinstance(schema, list):
        return [_without_titles(value) for value in schema]
    return schema
