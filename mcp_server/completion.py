"""Completion of what a person types into a template's or a prompt's arguments."""

from __future__ import annotations

from typing import get_args

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ingest.vision.scenarios.findings import EventType
from mcp_server.prompts import Argument, find_prompt
from mcp_server.quoting import one_line
from mcp_server.registry import ToolContext
from mcp_server.resources import EVENTS_TEMPLATE, KINDS, template_of
from store import catalog, people_search
from store.camera_streams import Scenario
from store.catalog import Kind
from store.database import Connection
from store.speakers import MOST_NAME_CHARACTERS

MOST_VALUES = 20
MOST_TYPED_CHARACTERS = 200
PERSON = "person"
_EVENT_CHOICES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("from", "to", "text", "stream_id", "cursor"), ()),
    "scenario": get_args(Scenario),
    "type": get_args(EventType),
}


def complete(context: ToolContext, asked: types.CompleteRequestParams) -> types.CompleteResult:
    """Values that go on from what is typed. Raises MCPError for a prompt, template or argument that is not there."""
    ref, argument = asked.ref, asked.argument
    typed = one_line(argument.value, MOST_TYPED_CHARACTERS)
    if isinstance(ref, types.PromptReference):
        values = _of_prompt(context, _argument(context, ref.name, argument.name), typed)
    else:
        values = _of_template(context, ref.uri, argument.name, typed)
    shown = values[:MOST_VALUES]
    return types.CompleteResult(completion=types.Completion(values=shown, has_more=len(values) > len(shown)))


def _argument(context: ToolContext, prompt: str, name: str) -> Argument:
    for argument in find_prompt(context, prompt).arguments:
        if argument.name == name:
            return argument
    raise MCPError(types.INVALID_PARAMS, f"{prompt} has no argument {name[:100]}")


def _of_prompt(context: ToolContext, argument: Argument, typed: str) -> list[str]:
    if argument.name != PERSON:
        return [choice for choice in argument.choices if choice.startswith(typed.lower())]
    with context.database.read() as connection:
        people = people_search.search(context.tenant_id, connection, query=typed, limit=MOST_VALUES + 1)
    names = (one_line(each.speaker.name or "", MOST_NAME_CHARACTERS) for each in people)
    return list(dict.fromkeys(name for name in names if name))


def _of_template(context: ToolContext, uri: str, name: str, typed: str) -> list[str]:
    for kind, described in KINDS.items():
        if uri == template_of(kind) and described.is_there(context) and name in ("id", "from"):
            with context.database.read() as connection:
                return _ids(context, connection, kind, typed) if name == "id" else []
    if uri == EVENTS_TEMPLATE and KINDS["cameras"].is_there(context) and name in _EVENT_CHOICES:
        if name == "stream_id":
            with context.database.read() as connection:
                return _ids(context, connection, "cameras", typed)
        return [choice for choice in _EVENT_CHOICES[name] if choice.startswith(typed.lower())]
    raise MCPError(types.INVALID_PARAMS, f"no such template, or no such argument of it: {uri[:200]}, {name[:100]}")


def _ids(context: ToolContext, connection: Connection, kind: Kind, typed: str) -> list[str]:
    """Newest first; people also by their names."""
    most = MOST_VALUES + 1
    ids = catalog.ids_beginning_with(
        context.tenant_id, connection, kind, typed, limit=most, space_ids=context.space_ids
    )
    if kind == "people" and typed:
        people = people_search.search(context.tenant_id, connection, query=typed, limit=most)
        ids = list(dict.fromkeys([*ids, *(each.speaker.id for each in people)]))
    return ids
