"""The descriptions: valid, whole, and what the committed files say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from api import descriptions
from api.app import LAYERS
from api.openapi import describe
from mcp_server.tools import make_registry

ROOT = Path(__file__).parents[2]
layers = pytest.mark.parametrize("layer", LAYERS)


def described(layer: str) -> dict[str, Any]:
    return describe(layer, *LAYERS[layer])


def operations_of(layer: str) -> list[dict[str, Any]]:
    return [operation for methods in described(layer)["paths"].values() for operation in methods.values()]


@layers
def test_a_description_is_valid_openapi_3_1(layer: str) -> None:
    document = described(layer)
    validate(document)
    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", "1.0.0")


def test_the_committed_files_are_what_the_code_says() -> None:
    run = subprocess.run(
        [sys.executable, "scripts/write-docs", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    for layer in LAYERS:
        assert (ROOT / "docs" / "openapi" / f"{layer}.json").is_file()


@layers
def test_every_operation_is_explained(layer: str) -> None:
    operations = operations_of(layer)
    ids = [operation["operationId"] for operation in operations]
    assert len(set(ids)) == len(ids)
    texts = descriptions.OPERATIONS | {f"call_{tool.name}": tool.description for tool in make_registry().tools}
    for operation in operations:
        assert operation["description"] == texts[operation["operationId"]]
        assert operation["tags"][0] in descriptions.TAGS.values(), operation["tags"]
        for status, answer in operation["responses"].items():
            assert answer["description"], f"{operation['operationId']} {status}"


def test_no_text_is_of_an_operation_that_is_not_there() -> None:
    known = {operation["operationId"] for layer in LAYERS for operation in operations_of(layer)}
    assert set(descriptions.OPERATIONS) - known == set()


@layers
def test_errors_have_the_body_of_the_layer(layer: str) -> None:
    wanted = "IntegrationErrorBody" if layer == "integration" else "ErrorBody"
    for operation in operations_of(layer):
        errors = {status: answer for status, answer in operation["responses"].items() if int(status) >= 400}
        assert {"401", "500", "503"} <= set(errors)
        for status, answer in errors.items():
            schema = answer["content"]["application/json"]["schema"]
            assert schema == {"$ref": f"#/components/schemas/{wanted}"}
            assert ("Retry-After" in answer["headers"]) >= (status in ("429", "503")), operation["operationId"]
        assert ("400" in errors) is False or layer != "integration", operation["operationId"]


@layers
def test_an_idempotent_operation_says_so(layer: str) -> None:
    for operation in LAYERS[layer][1]:
        found = next(each for each in operations_of(layer) if each["operationId"] == operation.handler.__name__)
        names = [parameter["name"] for parameter in found["parameters"]]
        assert ("Idempotency-Key" in names) is operation.idempotent
        if operation.idempotent:
            assert {"409", "422"} <= set(found["responses"])


def test_every_post_that_makes_something_or_costs_money_takes_an_idempotency_key() -> None:
    without = {
        f"{operation.method} {prefix}{operation.path}"
        for prefix, operations in LAYERS.values()
        for operation in operations
        if operation.method == "POST" and not operation.idempotent
    }
    # A test request, a search and a tool make nothing; a document that is indexed anew is the same document, and a
    # conversation that is taken over again is taken over.
    assert without <= {
        "POST /public/v1/conversations/{conversation_id}/takeover",
        "POST /public/v1/conversations/{conversation_id}/release",
        "POST /public/v1/search",
        "POST /public/v1/qc/scenarios/preview",
        "POST /public/v1/settings/webhook-test",
        "POST /public/v1/kb/documents/{document_id}/reindex",
        *(f"POST /public/v1/tools/{tool.name}" for tool in make_registry().tools),
    }


@layers
def test_a_description_names_no_python(layer: str) -> None:
    text = json.dumps(described(layer))
    for telling in ("NoInput", "pydantic", "Callable", "<class", "starlette"):
        assert telling not in text
    assert text.count('"title": "') == 1  # of the document itself, none of pydantic's making


def test_a_limited_operation_says_what_is_left() -> None:
    (ask,) = (each for each in operations_of("public") if each["operationId"] == "send_message")
    for status in ("200", "429"):
        assert {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} <= set(ask["responses"][status]["headers"])
    assert set(ask["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}
