"""Requests made from the OpenAPI descriptions and JSON-RPC bodies of any shape: documented answers, never a 5xx."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.soak.conftest import Size
from tests.support.server import Account, RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

DESCRIPTIONS = Path(__file__).parents[2] / "docs" / "openapi"
STATUSES = frozenset({200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 413, 422, 429})


def quietly(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.parametrize("layer", ["speech", "public"])
def test_requests_made_from_the_description_are_answered_as_documented(
    own_server: RunningServer, size: Size, layer: str
) -> None:
    account = own_server.new_client("client", features=("kb", "chat"))
    schema = schemathesis.openapi.from_dict(json.loads((DESCRIPTIONS / f"{layer}.json").read_text()))
    failures: list[str] = []
    for found in schema.get_all_operations():
        operation = found.ok()

        @quietly(size.examples)
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            answer = send(account, case)
            if answer is not None and answer.status_code not in STATUSES:
                failures.append(f"{case.method} {case.formatted_path}: {answer.status_code} {answer.text[:200]}")

        ask()
    assert failures == []


def send(account: Account, case: schemathesis.Case) -> schemathesis.Response | None:
    """The case with a good key; None for one that no HTTP client can send."""
    try:
        return case.call(base_url=account.server.url, headers=account.headers, timeout=30)
    except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, UnicodeError):
        return None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(["initialize", "tools/list", "tools/call", "ping", "notifications/initialized"]) | st.text()
TOOLS = st.sampled_from(["search_communications", "get_communication", "search_documents", "list_kb_spaces"])
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers() | st.text(max_size=10) | JSON,
        "method": METHODS | JSON,
        "params": st.fixed_dictionaries({"name": TOOLS | JSON, "arguments": JSON}) | JSON,
    },
)
WELL_FORMED_CALLS = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.integers(),
        "method": st.just("tools/call"),
        "params": st.fixed_dictionaries(
            {
                "name": TOOLS,
                "arguments": st.dictionaries(
                    st.sampled_from(
                        ["query", "limit", "cursor", "from", "to", "space_ids", "communication_id", "kind"]
                    ),
                    JSON,
                    max_size=4,
                ),
            }
        ),
    }
)


def test_json_rpc_bodies_of_any_shape_never_break_the_endpoint(own_server: RunningServer, size: Size) -> None:
    account = own_server.new_client("client")
    failures: list[str] = []

    @quietly(size.examples * 4)
    @given(
        body=st.binary(max_size=200) | (CALLS | WELL_FORMED_CALLS | JSON).map(lambda value: json.dumps(value).encode())
    )
    def ask(body: bytes) -> None:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        answer = account.post("/mcp", content=body, headers=headers)
        if answer.status_code not in STATUSES or "Traceback" in answer.text:
            failures.append(f"{body!r}: {answer.status_code} {answer.text[:200]}")

    ask()
    assert failures == []
