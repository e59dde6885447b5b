"""Requests made from the OpenAPI descriptions, good and bad ones, and what their answers must keep to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import SkipTest

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.contract.recordings import tone, wav
from tests.support.server import Account

Operation = Any  # schemathesis does not say its type in public

DESCRIPTIONS = Path(__file__).parents[2] / "docs" / "openapi"
LONGEST_ANSWER_S = 30.0
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def quietly(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def ask_as_described(
    layer: str, base_url: str, headers: Mapping[str, str], examples: int, *, ids: Mapping[str, str] | None = None
) -> tuple[int, list[str]]:
    """Sends `examples` good and as many bad requests to each operation of a layer, and again as many about things that
    are there, by their `ids` of the path: (how many were sent, what was not as described)."""
    schema = schemathesis.openapi.from_dict(json.loads((DESCRIPTIONS / f"{layer}.json").read_text()))
    sent = 0
    failures: list[str] = []

    def send(case: schemathesis.Case) -> None:
        nonlocal sent
        try:
            answer = case.call(base_url=base_url, headers=dict(headers), timeout=LONGEST_ANSWER_S)
        except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, UnicodeError):
            return  # no HTTP client can send it
        sent += 1
        try:
            case.validate_response(answer, checks=CHECKS)
        except (Failure, FailureGroup) as wrong:
            said = [str(each) for each in getattr(wrong, "exceptions", (wrong,))]
            failures.append(f"{case.method} {case.formatted_path} {case.body!r:.300}: {answer.status_code} {said}")

    for found in schema.get_all_operations():
        operation = found.ok()
        known = {name: id_ for name, id_ in (ids or {}).items() if f"{{{name}}}" in operation.path}
        about = [{}, known] if known and operation.method.upper() != "DELETE" else [{}]
        for path_parameters in about:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _for_each(operation, mode, examples, send, path_parameters)
    return sent, failures


def _for_each(
    operation: Operation,
    mode: GenerationMode,
    examples: int,
    send: Callable[[schemathesis.Case], None],
    path_parameters: Mapping[str, str],
) -> None:
    given_ids = {"path_parameters": dict(path_parameters)} if path_parameters else {}
    ask = quietly(examples)(given(case=operation.as_strategy(generation_mode=mode, **given_ids))(send))
    try:
        ask()
    except (Unsatisfiable, SkipTest):
        # Where an operation takes nothing, nothing about it can be wrong.
        assert mode is GenerationMode.NEGATIVE, f"no good request can be made for {operation.label}"


def things_of(account: Account) -> dict[str, str]:
    """The ids of one thing of each kind that an account has."""
    space_id = account.new_space()
    document = account.upload_document(space_id, b"One sentence of text.", "a.txt").json()
    link = account.post("/public/v1/payment-link", json={"amount_rub": 100}).json()
    call = account.upload_audio(wav(tone(0.5))).json()
    return {
        "space_id": space_id,
        "document_id": document["id"],
        "chat_id": account.chat_id,
        "payment_link_id": link["id"],
        "task_id": call["task_id"],
        "ref": call["communication_id"],
    }
