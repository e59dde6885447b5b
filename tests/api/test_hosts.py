"""Host names of their own: one base alone, at its root."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.support.server import Account, RunningServer

HOSTS = {name: f"{name}.example.test" for name in ("speech", "public", "integration", "mcp", "vision")}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("named"), **{f"{name}_host": host for name, host in HOSTS.items()})
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture(scope="module")
def caller(named: RunningServer) -> Account:
    return named.new_client("client")


def ask(caller: Account, host: str, method: str, path: str) -> httpx2.Response:
    return caller.request(method, path, headers={"Host": host})


@pytest.mark.proves("addresses.own-host")
@pytest.mark.parametrize(
    ("name", "method", "path", "status"),
    [
        ("public", "GET", "/v1/communications", 400),
        ("public", "GET", "/v1/chats/list", 200),
        ("public", "GET", "/openapi/public.json", 200),
        ("public", "GET", "/healthz", 200),
        ("public", "GET", "/public/v1/chats/list", 404),
        ("public", "POST", "/v1/audio/transcriptions", 404),
        ("public", "POST", "/mcp", 404),
        ("public", "GET", "/openapi/speech.json", 404),
        ("public", "GET", "/metrics", 404),
        ("public", "GET", "/docs", 404),
        ("public", "GET", "/", 404),
        ("speech", "POST", "/v1/audio/transcriptions", 400),
        ("speech", "GET", "/openapi/speech.json", 200),
        ("speech", "GET", "/public/v1/chats/list", 404),
        ("speech", "GET", "/widget/v1/config", 404),
        ("speech", "GET", "/v1/chats/list", 404),
        ("integration", "GET", "/v1/clients/none", 401),
        ("integration", "GET", "/openapi/integration.json", 200),
        ("integration", "GET", "/v1/chats/list", 404),
        ("mcp", "POST", "/mcp", 400),
        ("mcp", "GET", "/mcp", 405),
        ("mcp", "GET", "/v1/chats/list", 404),
        ("mcp", "GET", "/openapi/public.json", 404),
        ("vision", "GET", "/public/v1/chats/list", 404),
    ],
)
def test_a_bases_own_name_serves_that_base_at_its_root(
    caller: Account, name: str, method: str, path: str, status: int
) -> None:
    answer = ask(caller, HOSTS[name], method, path)
    assert answer.status_code == status, answer.text
    assert answer.headers["X-Request-Id"]


@pytest.mark.parametrize("host", ["public.example.test:8443", "PUBLIC.example.test", "public.example.test."])
def test_a_name_is_known_in_any_case_and_with_a_port(caller: Account, host: str) -> None:
    assert ask(caller, host, "GET", "/v1/chats/list").status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "other.example.test", "", "public.example.test.evil.test", "[::1]:80"])
def test_any_other_name_is_the_one_server(caller: Account, host: str) -> None:
    assert ask(caller, host, "GET", "/public/v1/chats/list").status_code == 200
    assert ask(caller, host, "GET", "/v1/chats/list").status_code == 404


def test_an_error_has_the_body_of_the_base(caller: Account) -> None:
    for path, code in (("/nothing", "not_found"), ("/v1/nothing", "not_found"), ("/v1/clients", "method_not_allowed")):
        error = ask(caller, HOSTS["integration"], "GET", path).json()["error"]
        assert (set(error), error["code"]) == ({"code", "message", "details"}, code)
    assert set(ask(caller, HOSTS["public"], "GET", "/nothing").json()["error"]) == {"message", "type", "param", "code"}


def test_the_description_at_a_bases_own_name_has_its_paths(caller: Account) -> None:
    own = ask(caller, HOSTS["public"], "GET", "/openapi/public.json").json()
    shared = ask(caller, "127.0.0.1", "GET", "/openapi/public.json").json()
    assert {f"/public{path}" for path in own["paths"]} == set(shared["paths"])
