"""search_product_docs and the pages that its links lead to, over HTTP."""

from __future__ import annotations

import base64
import json
import re
import time
from datetime import datetime
from html import unescape
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest

from mcp_server.product_docs import page_files
from tests.contract.mcp import found_by, refusal
from tests.support.server import Account, RunningServer

VECTORS_S = 120.0
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.proves("mcp.tool.search-product-docs")
def test_a_question_finds_the_page_that_answers_it(account: Account) -> None:
    found = found_by(account, "search_product_docs", query="How do I verify the signature of a webhook?")
    assert set(found) == {"items", "next_cursor"}
    assert len(found["items"]) == 10
    item = next(item for item in found["items"] if item["file"] == "webhooks.md")
    assert set(item) == {"id", "title", "snippet", "file", "anchor", "updated_at", "url", "score"}
    assert datetime.fromisoformat(item["updated_at"]).tzinfo is not None
    assert len({item["id"] for item in found["items"]}) == 10
    assert item["title"].startswith("Webhooks")
    assert item["url"] == f"{account.server.url}/docs/webhooks.md" + (f"#{item['anchor']}" if item["anchor"] else "")
    scores = [item["score"] for item in found["items"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.models
def test_a_russian_question_finds_an_english_page(account: Account) -> None:
    ends_s = time.monotonic() + 120  # the vectors are made by the first call of all, in a child process
    files: list[str] = []
    while not files and time.monotonic() < ends_s:
        found = found_by(account, "search_product_docs", query="Как проверить подпись вебхука?", limit=3)
        files = [item["file"] for item in found["items"]]
    assert "webhooks.md" in files


def test_every_passage_is_reached_page_by_page_once(account: Account) -> None:
    seen: list[tuple[str, str]] = []
    cursor = None
    # By words alone, as long as there are no vectors, fewer are found.
    deadline = time.monotonic() + VECTORS_S
    while found_by(account, "search_product_docs", query="the server", limit=50)["next_cursor"] is None:
        assert time.monotonic() < deadline, account.server.log()[-4000:]
    while True:
        options = {"cursor": cursor} if cursor else {}
        page = found_by(account, "search_product_docs", query="the server", limit=50, **options)
        seen += [(item["url"], item["snippet"]) for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) > 50


@pytest.mark.proves("mcp.args.query-required-for-product-docs")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x" * 1001}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "cursor": "e30"}, "cursor"),
        ({"query": "x", "file": "mcp.md"}, "file"),
    ],
)
def test_wrong_arguments_are_named(account: Account, arguments: dict[str, object], named: str) -> None:
    assert named in refusal(account, "search_product_docs", **arguments)


def test_a_question_without_words_of_ours_is_no_error(account: Account) -> None:
    assert isinstance(found_by(account, "search_product_docs", query="ъъъ ~~~")["items"], list)


def test_every_link_of_a_find_leads_to_a_heading_of_a_page(account: Account) -> None:
    urls: set[str] = set()
    for query in ("webhook", "MCP tools", "settings", "balance", "upload a document"):
        urls |= {item["url"] for item in found_by(account, "search_product_docs", query=query, limit=20)["items"]}
    for url in sorted(urls):
        answer = httpx2.get(url, headers=BROWSER)
        assert answer.status_code == 200
        fragment = urlsplit(url).fragment
        assert not fragment or f'id="{fragment}"' in answer.text, url


@pytest.mark.parametrize("file", page_files())
def test_a_page_is_served_for_people_and_for_programs(server: RunningServer, file: str) -> None:
    url = f"{server.url}/docs/{file}"
    plain, page = httpx2.get(url), httpx2.get(url, headers=BROWSER)
    assert plain.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert plain.text.startswith("# ")
    assert page.headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert plain.headers["Vary"] == page.headers["Vary"] == "Accept"
    anchors = re.findall(r'<h\d id="([^"]*)"', page.text)
    assert anchors
    assert len(anchors) == len(set(anchors)), "an anchor leads to one heading"
    for link in re.findall(r'href="([^"]*)"', page.text):
        target = urljoin(url, unescape(link))
        if not target.startswith(server.url):
            continue
        answer = httpx2.get(target, headers=BROWSER, follow_redirects=True)
        assert answer.status_code == 200, link
        fragment = urlsplit(target).fragment
        assert not fragment or f'id="{fragment}"' in answer.text, link


def test_examples_are_served_as_text(server: RunningServer) -> None:
    answer = httpx2.get(f"{server.url}/docs/examples/mcp_client.py", headers=BROWSER)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "streamable_http_client" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "nothing.md",
        "../README.md",
        "..%2FREADME.md",
        "%2e%2e/pyproject.toml",
        "examples/../../pyproject.toml",
        "examples/nothing.py",
        "openapi/public.json",
        "//etc/passwd",
        "mcp.md%00",
        "x" * 5000,
    ],
)
def test_nothing_else_is_served(server: RunningServer, path: str) -> None:
    answer = httpx2.get(f"{server.url}/docs/{path}")
    assert answer.status_code in (404, 414), answer.text
    assert "hatchling" not in answer.text


def test_what_a_query_finds_does_not_end_silently(account: Account) -> None:
    """The list is not as long here: the cursor is the one that its 1,001st item would have."""
    cursor = found_by(account, "search_product_docs", query="the server", limit=1)["next_cursor"]
    place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    assert place["offset"] == 1
    beyond = base64.urlsafe_b64encode(json.dumps({**place, "offset": 1001}).encode()).decode()
    message = refusal(account, "search_product_docs", query="the server", limit=1, cursor=beyond)
    assert "is followed for 1,000 items at most, and there may be more" in message
