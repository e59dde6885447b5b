"""The demo site at `/demo`: the invented company's page with the widget on it, and how to connect to it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import NARROW, OpenPage, answer, findings, width_over
from tests.ui.scripted_widget import ScriptedSite

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("locale", "title"), [("en-GB", "Good coffee"), ("ru-RU", "Хороший кофе"), ("de", "Good")])
def test_it_speaks_the_browsers_language(open_page: OpenPage, locale: str, title: str) -> None:
    expect(open_page(locale=locale).get_by_role("heading", level=1)).to_contain_text(title)


def test_the_other_language_is_one_link_away(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("link", name="Русский").click()
    expect(page.locator("html")).to_have_attribute("lang", "ru")
    expect(page.get_by_role("button", name="Открыть чат")).to_be_visible()


def test_its_own_buttons_ask_the_widget(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page()
    site.answers("4,900 a month.")
    page.get_by_role("button", name="Ask about Owl 20").click()
    expect(answer(page)).to_have_text("4,900 a month.")
    assert site.questions == ["What does Owl 20 cost, and what is included?"]


def test_without_a_chat_it_says_how_to_get_one(open_page: OpenPage, site: ScriptedSite) -> None:
    site.key = ""
    page = open_page()
    expect(page.locator("#no-chat")).to_contain_text("No chat is set up yet.")
    expect(page.locator("#no-chat code")).to_have_text("parley demo")
    expect(page.locator("parley-widget")).to_have_count(0)
    assert findings(page) == []


def test_the_snippets_name_this_server(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: An AI agent, by MCP").click()
    expect(page.get_by_role("button", name="Copy: An AI agent, by MCP")).to_have_text("Copied")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["mcpServers"]["parley"]["url"] == f"{site.base_url}/mcp"
    expect(page.locator("#snippets")).to_contain_text(f'src="{site.base_url}/widget.js"')


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: OpenPage, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    expect(page.get_by_role("button", name="Open chat")).to_be_visible()
    assert findings(page) == []


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_320_pixels_need_no_sideways_scrolling(open_page: OpenPage, locale: str) -> None:
    assert width_over(open_page(viewport=NARROW, locale=locale)) == 0
