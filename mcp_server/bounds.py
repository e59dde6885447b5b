"""The bound on an answer. Tools cut their texts for what is usual; where titles, names and texts are all as long as can
be, or all numbers, what they quote is cut further, so that a page keeps its items and its cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from mcp_server.readable import wire_fields
from mcp_server.registry import MOST_TOKENS
from mcp_server.tools.communication_card import CommunicationCard
from mcp_server.tools.shapes import shorten
from rag.language_model import estimate_tokens

_LENGTHS = (600, 400, 250, 150, 100, 60, 30, 15)


def bounded(result: BaseModel, most_tokens: int = MOST_TOKENS) -> BaseModel:
    """The result within `most_tokens` as JSON: each quotation has at most so many characters as leave room for all. A
    conversation bounds itself, since its cursor goes on within a turn."""
    if isinstance(result, CommunicationCard) or _fits(result, most_tokens):
        return result
    for characters in _LENGTHS:
        shorter = _cut(result, characters)
        if _fits(shorter, most_tokens):
            break
    return shorter


def _fits(result: BaseModel, most_tokens: int) -> bool:
    text = to_json(result, by_alias=True)
    # A token is a byte at least; counting takes as long as all else.
    return len(text) <= most_tokens or estimate_tokens(text.decode()) <= most_tokens


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
