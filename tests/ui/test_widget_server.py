"""The widget before the real server: the protocol is what both believe it to be."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from store import accounts, chats, knowledge
from tests.contract import material
from tests.support.server import Account, RunningServer
from tests.ui.conftest import DESKTOP, WAIT_MS, answer, ask
from tests.ui.scripted_widget import serve_host_page

pytestmark = pytest.mark.browser

ANSWER_MS = 60_000
RETURNS_URL = "https://shop.example/returns?from=chat"


@pytest.fixture
def account(server: RunningServer) -> Account:
    account = server.new_client("widget-page")
    space_id = account.new_space("For customers")
    document = account.add_document(space_id, material.RETURNS.encode(), "returns.html")
    with server.database.write() as connection:  # as of a page of the shop's site
        this = knowledge.documents.c.id == document["id"]
        connection.execute(knowledge.documents.update().where(this).values(url=RETURNS_URL))
    return account


@pytest.fixture
def page_url(account: Account) -> Iterator[str]:
    """Another origin's page with the widget on it, which the account allows."""
    server = account.server
    script = f'<script src="{server.url}/widget.js" data-widget-key="{account.made.chat.public_key}" async></script>'
    html = f"<!doctype html><html lang='en'><title>Shop</title><main><h1>Shop</h1></main>{script}</html>"
    policy = f"default-src 'none'; script-src {server.url}; connect-src {server.url}"
    with serve_host_page(lambda: html, policy) as url:
        with server.database.write() as connection:
            accounts.update_tenant(account.tenant_id, connection, widget_origins=[url.rstrip("/")])
            chats.update(account.tenant_id, connection, account.chat_id, header_title="Shop", suggestions=["Returns?"])
        yield url


@pytest.mark.proves("widget.snippet")
def test_asking_citing_voting_and_calling_a_person(browser: Browser, page_url: str) -> None:
    context = browser.new_context(locale="en-GB", viewport=DESKTOP)
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(page_url)
    page.get_by_role("button", name="Open chat").click()
    ask(page, "When can a coffee machine be returned?")
    helpful = page.get_by_role("button", name="Helpful", exact=True)
    helpful.wait_for(timeout=ANSWER_MS)
    expect(answer(page)).to_contain_text("fourteen days")
    page.get_by_role("button", name="Source 1").first.click()
    source = page.get_by_role("region", name="Source 1")
    expect(source).to_contain_text("fourteen days")
    expect(source.get_by_role("link")).to_have_attribute("href", RETURNS_URL)
    helpful.click()
    expect(helpful).to_have_attribute("aria-pressed", "true")
    page.reload()
    page.get_by_role("button", name="Open chat").click()
    expect(answer(page)).to_contain_text("fourteen days")
    expect(helpful).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Source 1").first.click()
    expect(source.get_by_role("link")).to_have_attribute("href", RETURNS_URL)
    page.get_by_role("button", name="Talk to a person").click()
    page.get_by_role("textbox", name="E-mail").fill("vera@example.com")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.locator(".bar")).to_have_text("A person was called. The answer will appear here.")
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("button", name="Returns?")).to_be_visible()
    context.close()
    assert problems == []


@pytest.mark.proves("addresses.widget-script")
def test_any_page_may_load_the_files_and_caches_them_well(server: RunningServer) -> None:
    loader = httpx2.get(server.url + "/widget.js")
    assert loader.status_code == 200
    assert loader.headers["Content-Type"].startswith("text/javascript")
    assert loader.headers["Cache-Control"] == "public, max-age=300"
    names = re.findall(r"assets/widget-\w+-[\w-]+\.js", loader.text)
    assert len(names) == 3
    for name in names:
        part = httpx2.get(f"{server.url}/{name}", headers={"Accept-Encoding": "gzip"})
        assert part.status_code == 200
        assert part.headers["Content-Encoding"] == "gzip"
        assert part.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert part.headers["Access-Control-Allow-Origin"] == "*"
        assert part.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    again = httpx2.get(server.url + "/widget.js", headers={"If-None-Match": loader.headers["ETag"]})
    assert again.status_code == 304
    assert again.headers["Access-Control-Allow-Origin"] == "*"
