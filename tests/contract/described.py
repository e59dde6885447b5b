"""Answers against the server's own OpenAPI description."""

from __future__ import annotations

from functools import cache
from typing import Any

import httpx2
from jsonschema import Draft202012Validator, FormatChecker

from tests.support.server import Account


@cache
def _description(url: str) -> dict[str, Any]:
    answer = httpx2.get(f"{url}/openapi/public.json")
    assert answer.status_code == 200
    document: dict[str, Any] = answer.json()
    return document


def operation_schema(account: Account, path: str, status: int = 200) -> dict[str, Any]:
    """The schema of what a GET of `path`, as the description spells it, answers; references within it hold."""
    document = _description(account.server.url)
    content = document["paths"][path]["get"]["responses"][str(status)]["content"]
    return {**content["application/json"]["schema"], "components": document["components"]}


def get_described(account: Account, path: str, *, described_as: str = "", **query: Any) -> dict[str, Any]:
    """The body of a 200 that fits its description."""
    answer = account.get(path, params=query)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    schema = operation_schema(account, described_as or path)
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(body)
    return body
