"""The bound on an answer. Tools cut their texts for what is usual; where titles, names and texts are all as long as can
be, or all numbers, what they quote is cut further, so that a page keeps its items and its cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from mcp_server.readable import readable, wire_fields, with_quoted_named
from mcp_server.registry import MOST_TOKENS, Registry, ToolContext
from mcp_server.tools.communication_card import CommunicationCard
from mcp_server.tools.shapes import shorten
from rag.language_model import estimate_tokens

_LINE_BYTES = 8
_LENGTHS = (600, 400, 250, 150, 100, 60, 30, 15)


def bounded(result: BaseModel, most_tokens: int = MOST_TOKENS) -> BaseModel:
    """The result within `most_tokens`, as JSON and as `readable`: each quotation has at most so many characters as
    leave room for all. A conversation bounds itself, since its cursor goes on within a turn."""
    return _bounded(result, most_tokens)[0]


def _bounded(result: BaseModel, most_tokens: int) -> tuple[BaseModel, bool]:
    """And whether it is within them."""
    if isinstance(result, CommunicationCard) or _fits(result, most_tokens):
        return result, True
    for characters in _LENGTHS:
        shorter = _cut(result, characters)
        if fits := _fits(shorter, most_tokens):
            break
    return shorter, fits


def bounded_page(
    call: Callable[[dict[str, Any]], BaseModel], arguments: dict[str, Any], most_tokens: int, *, is_paged: bool
) -> BaseModel:
    """What `call` gives, `bounded`. A page (`is_paged`: the tool takes a `limit`) whose items are too many however
    short their quotations are is asked for anew with fewer; its cursor goes on from there."""
    result, fits = _bounded(call(arguments), most_tokens)
    while is_paged and not fits and len(items := getattr(result, "items", ())) > 1:
        arguments = {**arguments, "limit": len(items) * 3 // 4}
        result, fits = _bounded(call(arguments), most_tokens)
    return result


def bounded_call(registry: Registry, context: ToolContext, name: str, arguments: dict[str, Any] | None) -> BaseModel:
    """What the tool gives, within the context's `answer_tokens`, with its quoted fields named. Raises what
    `Registry.call` raises."""
    return bounded_page(
        lambda asked: with_quoted_named(registry.call(context, name, asked)),
        arguments or {},
        context.answer_tokens,
        is_paged=registry.takes_limit(name),
    )


def _fits(result: BaseModel, most_tokens: int) -> bool:
    text = to_json(result, by_alias=True)
    # A token is a byte at least, and readable lines have marks and indents; counting takes as long as all else.
    if len(text) + _LINE_BYTES * (text.count(b"\\n") + text.count(b'":"')) <= most_tokens:
        return True
    return estimate_tokens(text.decode()) <= most_tokens and estimate_tokens(readable(result)) <= most_tokens


def _cut(model: BaseModel, characters: int) -> BaseModel:
    return model.model_copy(update=dict(_changes(model, characters)))


def _changes(model: BaseModel, characters: int) -> Iterator[tuple[str, Any]]:
    for name, (_, quoted) in wire_fields(type(model)).items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield name, _cut(value, characters)
        elif isinstance(value, list) and value and isinstance(value[0], BaseModel):
            yield name, [_cut(each, characters) for each in value]
        elif quoted and value:
            texts = [shorten(each, characters) for each in (value if isinstance(value, list) else [value])]
            yield name, texts if isinstance(value, list) else texts[0]
