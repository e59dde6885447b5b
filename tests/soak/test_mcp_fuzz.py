"""JSON-RPC bodies of any shape, made from what the server lists: never a 5xx, a hang or the text of an exception."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given

from tests.contract.access import Owner, make_owner
from tests.contract.mcp import ACCEPT, rpc
from tests.soak.conftest import Size
from tests.support.fuzz import quietly
from tests.support.held import Held, assert_nothing_is_left, held
from tests.support.mcp_fuzz import LONGEST_ANSWER_S, Offered, Request, problem_of, requests_to
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.soak

ENOUGH_FAILURES = 20


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    running = RunningServer(
        tmp_path / "data", payment_provider="sandbox", sweep_s="0.5", mcp_requests_per_minute="100000000"
    )
    try:
        yield make_owner(running.start().new_client("owner"))
    finally:
        running.close()


def test_json_rpc_of_any_shape_is_answered_in_json_rpc_and_tells_nothing_of_the_inside(
    owner: Owner, size: Size, say: Callable[[str], None]
) -> None:
    server = owner.account.server
    other = server.new_client("other")
    offered = offered_to(owner.account)
    known = [*owner.ids.values(), other.new_space("Of another"), *(tool["name"] for tool in offered.tools)]
    answered: Counter[str] = Counter()
    failures: list[str] = []
    asked_before: list[Held] = []
    process_id = server.process.pid
    usual = {**ACCEPT, "Content-Type": "application/json", **owner.account.headers}

    with httpx2.Client(base_url=server.url, headers=usual, timeout=LONGEST_ANSWER_S) as client:

        @quietly(size.rpc_bodies)
        @given(request=requests_to(offered, known))
        def ask(request: Request) -> None:
            try:
                answer = client.post("/mcp", content=request.body, headers=list(request.headers))
            except httpx2.HTTPError as error:
                failures.append(f"{request}: {error!r}")
                return
            problem = problem_of(request, answer)
            answered[kind_of(answer)] += 1
            if answered.total() == size.rpc_bodies // 2:
                asked_before.append(held(process_id))
            if problem is not None:
                failures.append(f"{problem}: {str(request)[:2000]}: {answer.status_code} {answer.text[:300]}")
            assert len(failures) < ENOUGH_FAILURES, failures

        ask()
    say(f"{sum(answered.values())} bodies: {dict(answered.most_common())}")
    assert failures == []
    assert answered.total() >= size.rpc_bodies
    assert_nothing_is_left(process_id, *asked_before)
    assert answered["result"] > size.rpc_bodies / 50, "hardly a request was good enough to get to a tool"
    assert answered["batch"] > size.rpc_bodies / 100, "hardly a batch was good enough to be answered"
    log = server.log()
    assert "Traceback" not in log
    assert '"level": "error"' not in log
    assert owner.account.get("/healthz").status_code == 200


def offered_to(account: Account) -> Offered:
    def listed(what: str, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = rpc(account, f"{what}/list", MCP_Protocol_Version="2025-11-25")["result"][kind]
        return found

    templates = [each["uriTemplate"] for each in listed("resources/templates", "resourceTemplates")]
    uris = [each["uri"] for each in listed("resources", "resources")]
    return Offered(listed("tools", "tools"), listed("prompts", "prompts"), [*uris, *templates])


def kind_of(answer: httpx2.Response) -> str:
    if answer.status_code != 200:
        return str(answer.status_code)
    found = answer.json()
    if isinstance(found, list):
        return "batch"
    if "error" in found:
        return f"error {found['error']['code']}"
    return "isError" if found["result"].get("isError") else "result"
