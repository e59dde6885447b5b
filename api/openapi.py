"""The OpenAPI descriptions, generated from the operations and the models that check the requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api import descriptions
from api.errors import ErrorBody, IntegrationErrorBody
from api.http import NoInput, Operation
from api.idempotency import REPLAYED_HEADER

VERSION = "1.0.0"
LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
_REFERENCE = "#/components/schemas/{model}"
# What a path has that is no id of ours.
_OF_PATHS: Mapping[str, dict[str, Any]] = {
    "external_id": {"type": "string", "minLength": 1, "maxLength": 128, "examples": ["crm-4711"]},
    "idx": {"type": "integer", "minimum": 0},
}

Layers = Mapping[str, tuple[str, Iterable[Operation]]]


def describe(layer: str, prefix: str, operations: Iterable[Operation]) -> dict[str, Any]:
    """One layer's OpenAPI 3.1 document."""
    return _Description(layer, list(operations)).document(prefix)


def routes(layers: Layers) -> list[Route]:
    """`/openapi/{layer}.json` for each layer; a document is made at its first request, so that the server starts
    without it."""
    return [
        Route(f"/openapi/{layer}.json", partial(_serve, _Document(layers, layer)), methods=["GET"]) for layer in layers
    ]


class _Document:
    """One description, made when it is first wanted; another one where the layer has a host name of its own."""

    def __init__(self, layers: Layers, layer: str) -> None:
        self._layer = layer
        self._prefix, self._operations = layers[layer]

    @cached_property
    def described(self) -> dict[str, Any]:
        return describe(self._layer, self._prefix, self._operations)

    @cached_property
    def described_at_root(self) -> dict[str, Any]:
        return describe(self._layer, "", self._operations)


def _serve(document: _Document, request: Request) -> Response:
    at_root = getattr(request.state, "own_host", False)
    return JSONResponse(document.described_at_root if at_root else document.described)


class _Description:
    def __init__(self, layer: str, operations: list[Operation]) -> None:
        self._layer = layer
        self._operations = operations
        self._error_body = IntegrationErrorBody if layer == "integration" else ErrorBody
        self._statuses = {
            **descriptions.STATUSES,
            **(descriptions.INTEGRATION_STATUSES if layer == "integration" else {}),
        }
        models = [(model, "serialization" if output else "validation") for model, output in self._models()]
        references, definitions = models_json_schema(models, ref_template=_REFERENCE)  # type: ignore[arg-type]
        self._references: Mapping[tuple[Any, str], dict[str, Any]] = references  # type: ignore[assignment]
        self._definitions: dict[str, Any] = _without_titles(definitions.get("$defs", {}))

    def document(self, prefix: str) -> dict[str, Any]:
        paths: dict[str, dict[str, Any]] = {}
        for operation in self._operations:
            path = prefix + re.sub(r"{(\w+):\w+}", r"{\1}", operation.path)
            paths.setdefault(path, {})[operation.method.lower()] = self._operation(operation)
        tags = dict.fromkeys(tag_of(operation) for operation in self._operations)
        return {
            "openapi": "3.1.0",
            "info": {
                "title": descriptions.TITLES[self._layer],
                "version": VERSION,
                "description": descriptions.INTRODUCTIONS[self._layer],
                "license": LICENSE,
            },
            "tags": [{"name": tag} for tag in tags],
            "paths": paths,
            "components": {"schemas": self._definitions, "securitySchemes": self._security_schemes()},
        }

    def _models(self) -> list[tuple[type[BaseModel], bool]]:
        """Every model that is referred to, and whether it is one of answers."""
        found: dict[tuple[type[BaseModel], bool], None] = {(self._error_body, True): None}
        for operation in self._operations:
            for model in (operation.body, operation.form, operation.form_alternative):
                if model is not None and model is not NoInput:
                    found[(model, False)] = None
            for answer in (operation.response, *operation.other_answers.values()):
                if answer is not None:
                    found[(answer, True)] = None
        return list(found)

    def _input(self, model: type[BaseModel]) -> dict[str, Any]:
        return self._references[(model, "validation")]

    def _output(self, model: type[BaseModel]) -> dict[str, Any]:
        return self._references[(model, "serialization")]

    def _security_schemes(self) -> dict[str, Any]:
        if self._layer == "integration":
            return {"bearer": {"type": "http", "scheme": "bearer", "description": "The integration's secret."}}
        schemes: dict[str, Any] = {
            "bearer": {"type": "http", "scheme": "bearer", "description": "The client's API key."}
        }
        if not all(operation.bearer_only for operation in self._operations):
            schemes["apiKey"] = {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "The same key."}
        return schemes

    def _operation(self, operation: Operation) -> dict[str, Any]:
        name = operation.handler.__name__
        bearer_only = operation.bearer_only or self._layer == "integration"
        described: dict[str, Any] = {
            "operationId": name,
            "summary": operation.summary,
            "description": operation.description or descriptions.OPERATIONS.get(name, operation.summary + "."),
            "tags": [tag_of(operation)],
            "parameters": [*_path_parameters(operation.path), *_query_parameters(operation.query)],
            "responses": self._responses(operation),
            "security": [{"bearer": []}] if bearer_only else [{"bearer": []}, {"apiKey": []}],
        }
        described["parameters"] += [_header(name, text) for name, text in operation.request_headers.items()]
        if operation.idempotent:
            described["parameters"].append(_IDEMPOTENCY_KEY)
        content: dict[str, Any] = {}
        if operation.form is not None:
            content["multipart/form-data"] = {"schema": self._input(operation.form)}
            if operation.form_alternative is not None:
                content["application/json"] = {"schema": self._input(operation.form_alternative)}
        elif operation.body is not NoInput:
            content["application/json"] = {"schema": self._input(operation.body)}
        if content:
            described["requestBody"] = {"required": True, "content": content}
        return described

    def _responses(self, operation: Operation) -> dict[str, Any]:
        answers = {operation.status: operation.response, **operation.other_answers}
        found = {status: self._success(operation, status, model) for status, model in answers.items()}
        for status in sorted(self._error_statuses(operation)):
            found[status] = {
                "description": self._statuses[status],
                "headers": _error_headers(operation, status),
                "content": {"application/json": {"schema": self._output(self._error_body)}},
            }
        return {str(status): found[status] for status in sorted(found)}

    def _success(self, operation: Operation, status: int, model: type[BaseModel] | None) -> dict[str, Any]:
        described: dict[str, Any] = {"description": self._statuses[status], "headers": {"X-Request-Id": _REQUEST_ID}}
        if operation.idempotent:
            described["headers"][REPLAYED_HEADER] = _REPLAYED
        if operation.limit:
            described["headers"] |= _LIMIT_HEADERS
        for name, text in operation.answer_headers.get(status, {}).items():
            described["headers"][name] = {"description": text, "schema": {"type": "string"}}
        if operation.content is not None and status in (200, 206):
            described["content"] = {operation.content: {"schema": {"type": "string", "format": "binary"}}}
        if model is not None:
            described.setdefault("content", {})["application/json"] = {"schema": self._output(model)}
            if operation.streams:
                events = {"type": "string", "description": "Server-sent events, each with a JSON object as its data."}
                described["content"]["text/event-stream"] = {"schema": events}
        return described

    def _error_statuses(self, operation: Operation) -> set[int]:
        """What the operation itself names, and what the layers around it answer."""
        statuses = {401, 500, 503, *operation.errors}
        invalid = 422 if self._layer == "integration" else 400
        if operation.body is not NoInput or operation.form is not None:
            statuses |= {invalid, 408, 413}
        if operation.query is not NoInput:
            statuses.add(invalid)
        if operation.idempotent:
            statuses |= {invalid, 409, 422}
        if operation.limit:
            statuses.add(429)
        if not operation.paused or operation.feature or self._layer == "integration":
            statuses.add(403)
        return statuses


def _without_titles(schema: Any) -> Any:
    """Titles that pydantic makes of names say nothing new. A property may well be called title, but that is no text."""
    if isinstance(schema, dict):
        return {
            name: _without_titles(value)
            for name, value in schema.items()
            if not (name == "title" and isinstance(value, str))
        }
    return [_without_titles(each) for each in schema] if isinstance(schema, list) else schema


def tag_of(operation: Operation) -> str:
    module = operation.handler.__module__.rsplit(".", 1)[-1]
    return descriptions.TAGS.get(module, module.replace("_", " ").capitalize())


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": description, "schema": {"type": "string"}}


def _integer(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "integer", "minimum": 0}}


_REQUEST_ID = {"description": "The request's id, to be given when asking for help.", "schema": {"type": "string"}}
_REPLAYED = {
    "description": "`true` on an answer that was given before and is given again.",
    "schema": {"type": "string", "const": "true"},
}
_RETRY_AFTER = _integer("Seconds after which to come again.")
_LIMIT_HEADERS = {
    "RateLimit-Limit": _integer("Requests a minute."),
    "RateLimit-Remaining": _integer("Requests left in this minute."),
    "RateLimit-Reset": _integer("Seconds until the next minute begins."),
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same request gets the first answer again, and nothing is done twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    "example": "8b4b4c1e-order-42",
}


def _error_headers(operation: Operation, status: int) -> dict[str, Any]:
    headers: dict[str, Any] = {"X-Request-Id": _REQUEST_ID}
    if status in (429, 503) or (status == 409 and operation.idempotent):
        headers["Retry-After"] = _RETRY_AFTER
    if status == 429 and operation.limit:
        headers |= _LIMIT_HEADERS
    return headers


def _path_parameters(path: str) -> list[dict[str, Any]]:
    uuid = {"type": "string", "format": "uuid"}
    return [
        {"name": name, "in": "path", "required": True, "schema": _OF_PATHS.get(name, uuid)}
        for name in re.findall(r"{(\w+)(?::\w+)?}", path)
    ]


def _query_parameters(query: type[BaseModel]) -> list[dict[str, Any]]:
    schema = query.model_json_schema(ref_template=_REFERENCE)
    assert "$defs" not in schema, "query parameters are plain values"
    required = schema.get("required", [])
    found = []
    for name, described in schema.get("properties", {}).items():
        plain = _without_null(described)
        parameter = {"name": name, "in": "query", "required": name in required, "schema": plain}
        if "description" in plain:
            parameter["description"] = plain.pop("description")
        found.append(parameter)
    return found


def _without_null(described: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or is not; its schema in Python says None for the latter."""
    plain = {name: value for name, value in described.items() if name not in ("anyOf", "title")}
    kinds = [kind for kind in described.get("anyOf", ()) if kind != {"type": "null"}]
    if plain.get("default", 0) is None:
        del plain["default"]
    return {**plain, **kinds[0]} if len(kinds) == 1 else {**plain, "anyOf": kinds} if kinds else plain
