"""How JSON is asked for: by schema, as any object, or by the prompt alone; and how it is read from an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

Format = Literal["json_schema", "json_object", "prompt"]
FORMATS: tuple[Format, ...] = ("json_schema", "json_object", "prompt")
_MOST_ERRORS = 5
_SPEAKS_OF_FORMAT = re.compile(r"response_format|json|schema|structured", re.IGNORECASE)
# Escapes are read one after another, so that the second half of `\\` begins none.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<bad>\\u(?:00(?:0[0-8b-fB-F]|1[0-9a-fA-F]|7[fF]|[89][0-9a-fA-F])|202[89]|[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\[bfr])|\\.",
    re.DOTALL,
)
# Of JSON Schema only what every provider's strict mode takes; the rest is checked by validation.
_LEFT_OUT = frozenset({"title", "default", "minLength", "maxLength", "pattern", "minItems", "maxItems", "format"})
_LEFT_OUT_OF_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})


def response_format(form: Format, schema: type[BaseModel]) -> Mapping[str, Any] | None:
    """The `response_format` of an OpenAI-shaped request; None where the prompt alone asks."""
    if form == "prompt":
        return None
    if form == "json_object":
        return {"type": "json_object"}
    named = {"name": schema.__name__, "strict": True, "schema": _bare(schema.model_json_schema())}
    return {"type": "json_schema", "json_schema": named}


def speaks_of_format(refusal: str) -> bool:
    """Whether a provider's refusal is about the format."""
    return _SPEAKS_OF_FORMAT.search(refusal) is not None


def only_json(answer: str) -> str:
    """The object of an answer, without a fence or words around it. What it escapes is decoded where it is no text:
    control characters but line breaks and tabs, and halves of surrogate pairs, are spaces."""
    start, end = answer.find("{"), answer.rfind("}")
    found = answer[start : end + 1] if 0 <= start < end else answer.strip()
    return _ESCAPE.sub(lambda match: " " if match["bad"] else match[0], found)


def what_is_wrong(error: ValidationError) -> str:
    """The first few errors in words, without what was answered."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    said = [f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in found[:_MOST_ERRORS]]
    return "The answer does not fit the schema: " + "; ".join(said)[:600] + "."


def _bare(node: Any, *, names: bool = False) -> Any:
    """`names`: the keys of this object are names of fields, not of the schema's own."""
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    dropped = frozenset() if names else _LEFT_OUT | _LEFT_OUT_OF_NUMBERS
    return {
        key: _bare(value, names=not names and key in ("properties", "$defs"))
        for key, value in node.items()
        if key not in dropped
    }
