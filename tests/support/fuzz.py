"""Requests made from the OpenAPI descriptions, good and bad ones, and what their answers must keep to."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args
from unittest import SkipTest
from urllib.parse import parse_qsl

import httpx2
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from store import analyses
from store.analyses import Analysis
from store.limits import rate_windows
from tests.contract.access import ROWS, SOUND, Owner, Row
from tests.contract.waiting import eventually
from tests.support.server import RunningServer

Operation = Any  # schemathesis does not say its type in public

DESCRIPTIONS = Path(__file__).parents[2] / "docs" / "openapi"
LAYERS = ("speech", "public", "vision", "integration")
LONGEST_ANSWER_S = 30.0
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
Share = Literal["only the row", "the row", "its ids"]
"""What a request made from a description has of a row of the table of access."""
SHARES: tuple[Share, ...] = get_args(Share)


def quietly(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def server_to_ask(data_dir: Path) -> RunningServer:
    """It refuses no request for their number, and analyses a conversation of few words."""
    return RunningServer(
        data_dir,
        payment_provider="sandbox",
        chat_requests_per_minute="1000000",
        mcp_requests_per_minute="1000000",
        analysis_min_words="1",
        sweep_s="0.5",
    )


@dataclass
class Asked:
    """What came of it: `failures` were not answered as described; `done` counts the good requests to each operation
    that were answered with a 2xx, and has those with none too."""

    sent: int = 0
    failures: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)

    @property
    def never_done(self) -> set[str]:
        return {name for name, count in self.done.items() if count == 0}


def ask_as_described(owner: Owner, examples: int, *, chance: int = 0) -> Asked:
    """Sends `examples` good and as many bad requests to each operation, and again as many about the owner's things.

    What deletes comes last, the account itself at the very end. Another `chance` makes other requests.
    """
    asked = Asked()
    base_url = owner.account.server.url
    operations = [(layer, found.ok()) for layer in LAYERS for found in _schema(layer).get_all_operations()]
    with httpx2.Client(base_url=base_url, headers=owner.account.headers, timeout=LONGEST_ANSWER_S) as client:
        for layer, operation in sorted(operations, key=lambda each: _turn(each[1])):
            headers = owner.partner.headers if layer == "integration" else owner.account.headers
            asked.done[operation.label] += 0
            rows = _rows(owner, operation)
            for about, mode in product(([], rows) if rows else ([],), MODES):
                _restore(owner, client)
                ask = _asking(asked, base_url, headers, is_good=mode is GenerationMode.POSITIVE)
                try:
                    seed(chance)(quietly(examples)(given(_cases(owner, operation, mode, about))(ask)))()
                except (Unsatisfiable, SkipTest):
                    # Where an operation takes nothing, nothing about it can be wrong.
                    assert mode is GenerationMode.NEGATIVE, f"no good request can be made for {operation.label}"
    return asked


def _schema(layer: str) -> Any:
    return schemathesis.openapi.from_dict(json.loads((DESCRIPTIONS / f"{layer}.json").read_text()))


def _turn(operation: Operation) -> tuple[bool, int]:
    """What is part of a thing is deleted before it."""
    is_deleting = operation.method.upper() == "DELETE"
    return is_deleting, -operation.path.count("/") if is_deleting else 0


def _rows(owner: Owner, operation: Operation) -> list[Row]:
    """The operation's rows of the table of access that say more than its path."""
    method = operation.method.upper()
    if (method, operation.path) == ("DELETE", "/public/v1/account"):
        return [Row(method, operation.path, "key", json={"confirmation": owner.account.made.tenant.name})]
    rows = [row for row in ROWS if (row.method, row.path.replace(":path}", "}")) == (method, operation.path)]
    assert rows, f"{operation.label} is not in the table of access"
    return [row for row in rows if row.ids or row.json is not None or row.file]


def _restore(owner: Owner, client: httpx2.Client) -> None:
    """What a request before may have taken away: features, the account's name, the chat, the conversation's operator;
    what is left of an hour's letters and of a minute's tries, of which no setting tells; and the peace of the call,
    which is not corrected while it is analysed."""
    with owner.account.server.database.count() as connection:
        connection.execute(rate_windows.delete())
    name = owner.account.made.tenant.name
    for method, path, body in (
        ("PATCH", "/public/v1/settings", {"name": name, "qc": True, "memory": True}),
        ("PATCH", "/public/v1/chats/{chat_id}", {"is_active": True}),
        ("POST", "/public/v1/conversations/{conversation_id}/takeover", {"operator_name": "Anna", "replace": True}),
    ):
        client.request(method, owner.filled(path), json=body)
    eventually(lambda: _analysis(owner), lambda order: order is None or order.status == "done")


def _analysis(owner: Owner) -> Analysis | None:
    with owner.account.server.database.read() as connection:
        return analyses.get_of(owner.account.tenant_id, connection, owner.ids["communication_id"])


def _cases(owner: Owner, operation: Operation, mode: GenerationMode, rows: Sequence[Row]) -> Any:
    """Requests as described; where there are rows, about what they name."""
    if not rows:
        return operation.as_strategy(generation_mode=mode)
    path = {name: owner.filled(f"{{{name}}}") for name in re.findall(r"{(\w+)}", operation.path)}
    given_path = {"path_parameters": path} if path else {}
    cases = operation.as_strategy(generation_mode=mode, **given_path)
    # The first is what is tried first: one request at least is good beyond what a description can tell.
    shares = SHARES if mode is GenerationMode.POSITIVE else SHARES[1:]
    return st.builds(partial(_about, owner), cases, st.sampled_from(rows), st.sampled_from(shares))


def _about(owner: Owner, case: schemathesis.Case, row: Row, share: Share) -> schemathesis.Case:
    """The request, with that share of what the row says in place of its own."""
    query = dict(parse_qsl(row.query.removeprefix("?")))
    if share == "only the row":
        case.headers.pop("Idempotency-Key", None)
        case.query = owner.filled(query)
        if row.json is not None:
            case.body, case.media_type = owner.filled(row.json), "application/json"
        elif row.file:
            case.body, case.media_type = {"file": SOUND}, "multipart/form-data"
        return case

    def said(values: Mapping[str, Any]) -> dict[str, Any]:
        chosen = {name: value for name, value in values.items() if share == "the row" or "{" in str(value)}
        return {name: owner.filled(value) for name, value in chosen.items()}

    case.query = {**case.query, **said(query)}
    if isinstance(case.body, dict) and case.media_type == "application/json":
        case.body = {**case.body, **said(row.json or {})}
    return case


def _asking(asked: Asked, base_url: str, headers: Mapping[str, str], *, is_good: bool) -> Callable[[Any], None]:
    def ask(case: schemathesis.Case) -> None:
        try:
            answer = case.call(base_url=base_url, headers=dict(headers), timeout=LONGEST_ANSWER_S)
        except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, UnicodeError):
            return  # no HTTP client can send it
        asked.sent += 1
        asked.done[case.operation.label] += is_good and 200 <= answer.status_code < 300
        try:
            case.validate_response(answer, checks=CHECKS)
        except (Failure, FailureGroup) as wrong:
            said = [str(each) for each in getattr(wrong, "exceptions", (wrong,))]
            about = f"{case.method} {case.formatted_path} {case.body!r:.300}"
            asked.failures.append(f"{about}: {answer.status_code} {said}")

    return ask
