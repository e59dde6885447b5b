"""The search over guides and operations at /docs/search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.docs_search import SEARCHES_A_MINUTE
from tests.support.server import RunningServer


def search(server: RunningServer, query: str, **headers: str) -> httpx2.Response:
    return httpx2.get(server.url + "/docs/search", params={"q": query}, headers=headers, timeout=60)


def items(server: RunningServer, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = search(server, query).json()["items"]
    return found


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("signature of a webhook", "/docs/webhooks.md#is-it-genuine"),
        ("parley backup", "/docs/operations.md#backups"),
        ("export everything", "/docs?api=public#/Account/create_export"),
        ("transcribe an audio file", "/docs?api=speech#/Transcription/transcribe"),
        ("register stream camera", "/docs?api=vision#/Streams/create_stream"),
    ],
)
def test_guides_and_operations_are_found(server: RunningServer, query: str, url: str) -> None:
    assert url in [each["url"] for each in items(server, query)]


def test_each_place_is_there_once_and_leads_somewhere(server: RunningServer) -> None:
    found = items(server, "account settings retention")
    urls = [each["url"] for each in found]
    assert len(set(urls)) == len(urls) > 3
    assert {each["kind"] for each in found} == {"guide", "operation"}
    for each in found:
        assert httpx2.get(server.url + each["url"].split("#")[0]).status_code == 200
        assert each["title"]
        assert each["text"]


@pytest.mark.parametrize("query", ["", " ", "\x00", "a" * 5000, "<script>alert(1)</script>", "' OR 1=1 --", "%"])
def test_any_query_is_answered_and_nothing_of_it_runs(server: RunningServer, query: str) -> None:
    assert search(server, query).status_code == 200
    page = search(server, query, Accept="text/html")
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "script-src" not in page.headers["Content-Security-Policy"]


def test_one_address_asks_so_often_a_minute(tmp_path: Path) -> None:
    running = RunningServer(tmp_path)
    try:
        running.start()
        answers = (search(running, "webhook") for _ in range(5 * SEARCHES_A_MINUTE))
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    finally:
        running.close()
