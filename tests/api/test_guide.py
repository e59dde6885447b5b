"""The documentation at /docs/ over HTTP: what a wrong or half address gets."""

from __future__ import annotations

import httpx2
import pytest

from tests.support.server import RunningServer

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("headers", [BROWSER, {}], ids=["browser", "program"])
@pytest.mark.parametrize("address", ["getting-started", "getting-started/", "mcp"])
def test_a_page_is_found_without_its_suffix(server: RunningServer, headers: dict[str, str], address: str) -> None:
    answer = httpx2.get(f"{server.url}/docs/{address}", headers=headers)
    assert answer.headers["Location"] == f"/docs/{address.rstrip('/')}.md"
    assert httpx2.get(server.url + answer.headers["Location"]).status_code == 200


@pytest.mark.parametrize("address", ["nothing", "nothing.md", "examples/nothing", "..%2FREADME", "/elsewhere.example"])
def test_what_is_not_there_is_a_page_for_browsers_and_the_documented_body_for_programs(
    server: RunningServer, address: str
) -> None:
    page = httpx2.get(f"{server.url}/docs/{address}", headers=BROWSER)
    assert page.status_code == 404
    assert page.headers["Content-Type"].startswith("text/html")
    assert "There is no such page" in page.text
    program = httpx2.get(f"{server.url}/docs/{address}")
    assert (program.status_code, program.json()["error"]["type"]) == (404, "not_found_error")
    assert page.headers["Vary"] == "Accept"
