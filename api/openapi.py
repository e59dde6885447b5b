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

from api.http import ErrorBody, NoInput, Operation

VERSION = "1.0.0"
TITLES = {"speech": "Parley Speech API", "public": "Parley Public API"}
_REFERENCE = "#/components/schemas/{model}"

Layers = Mapping[str, tuple[str, Iterable[Operation]]]


def describe(layer: str, prefix: str, operations: Iterable[Operation]) -> dict[str, Any]:
    """One layer's OpenAPI 3.1 document."""
    operations = list(operations)
    models = _models(operations)
    references, definitions = models_json_schema(
        [(model, "serialization" if output else "validation") for model, output in models],
        ref_template=_REFERENCE,
    )
    schemas = {
        (model, output): references[(model, "serialization" if output else "validation")] for model, output in models
    }
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(prefix + operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLES[layer], "version": VERSION},
        "paths": paths,
        "components": {
            "schemas": definitions.get("$defs", {}),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def routes(layers: Layers) -> list[Route]:
    """`/openapi/{layer}.json` for each layer; a document is made at its first request, so that the server starts
    without it."""
    return [
        Route(f"/openapi/{layer}.json", partial(_serve, _Document(layers, layer)), methods=["GET"]) for layer in layers
    ]


class _Document:
    """One description, made when it is first wanted."""

    def __init__(self, layers: Layers, layer: str) -> None:
        self._layers = layers
        self._layer = layer

    @cached_property
    def described(self) -> dict[str, Any]:
        return describe(self._layer, *self._layers[self._layer])


def _serve(document: _Document, _request: Request) -> Response:
    return JSONResponse(document.described)


def _models(operations: list[Operation]) -> list[tuple[type[BaseModel], bool]]:
    found: dict[tuple[type[BaseModel], bool], None] = {(ErrorBody, True): None}
    for operation in operations:
        for model in (operation.body, operation.form):
            if model is not None and model is not NoInput:
                found[(model, False)] = None
        if operation.response is not None:
            found[(operation.response, True)] = None
    return list(found)


def _operation(operation: Operation, schemas: Mapping[tuple[type[BaseModel], bool], Any]) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Success"}
    if operation.response is not None:
        success["content"] = {"application/json": {"schema": schemas[(operation.response, True)]}}
    error = {"application/json": {"schema": schemas[(ErrorBody, True)]}}
    described: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation.path), *_query_parameters(operation.query)],
        "responses": {
            str(operation.status): success,
            **{str(status): {"description": "Error", "content": error} for status in sorted(operation.errors)},
        },
        "security": [{"bearer": []}] if operation.bearer_only else [{"bearer": []}, {"apiKey": []}],
    }
    if operation.body is not NoInput:
        content = {"application/json": {"schema": schemas[(operation.body, False)]}}
        described["requestBody"] = {"required": True, "content": content}
    elif operation.form is not None:
        content = {"multipart/form-data": {"schema": schemas[(operation.form, False)]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(query: type[BaseModel]) -> list[dict[str, Any]]:
    schema = query.model_json_schema(ref_template=_REFERENCE)
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": description}
        for name, description in schema.get("properties", {}).items()
    ]
