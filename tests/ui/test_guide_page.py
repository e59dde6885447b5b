"""The pages of the documentation in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from mcp_server.product_docs import page_files
from tests.support.server import RunningServer
from tests.ui.conftest import DESKTOP, NARROW, findings, width_over
from tests.ui.test_checkout_page import OpenAt
from tests.ui.test_checkout_page import open_at as open_at

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("file", ["mcp.md", "webhooks.md"])
def test_axe_finds_nothing(server: RunningServer, open_at: OpenAt, file: str, scheme: str) -> None:
    assert findings(open_at(f"{server.url}/docs/{file}", color_scheme=scheme)) == []


def test_the_list_leads_to_a_page_and_a_page_to_its_parts_without_scripts(
    server: RunningServer, open_at: OpenAt
) -> None:
    page = open_at(server.url + "/docs/", java_script_enabled=False)
    page.get_by_role("link", name="mcp.md").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("MCP")
    page.get_by_role("link", name="paging").click()
    expect(page.get_by_role("heading", name="Paging")).to_be_in_viewport()


def test_the_documentation_begins_with_getting_started_beside_all_guides_and_apis(
    server: RunningServer, open_at: OpenAt
) -> None:
    page = open_at(server.url + "/docs", java_script_enabled=False)
    expect(page.get_by_role("heading", level=1)).to_have_text("Getting started")
    guides = page.get_by_role("navigation", name="Guides").get_by_role("link")
    expect(guides.first).to_have_attribute("aria-current", "page")
    assert len(guides.all()) == len(page_files()) - 1  # all but the list of them
    guides.get_by_text("Webhooks", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Webhooks")
    expect(page.get_by_role("link", name="Webhooks", exact=True)).to_have_attribute("aria-current", "page")
    apis = page.get_by_role("navigation", name="Documentation")
    expect(apis.get_by_role("link", name="Vision")).to_have_attribute("href", "/docs?api=vision")


@pytest.mark.parametrize("viewport", [DESKTOP, NARROW], ids=["desktop", "phone"])
def test_a_wrong_address_is_a_page_with_ways_on(
    server: RunningServer, open_at: OpenAt, viewport: dict[str, int]
) -> None:
    page = open_at(server.url + "/docs/nothing.html", viewport=viewport)
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    assert (findings(page), width_over(page)) == ([], 0)
    page.get_by_role("article").get_by_role("link", name="Getting started").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Getting started")


def test_320_pixels_need_no_sideways_scrolling(server: RunningServer, open_at: OpenAt) -> None:
    page = open_at(server.url + "/docs/mcp.md", viewport=NARROW)
    assert width_over(page) == 0


def test_guides_and_operations_are_found_from_one_field(server: RunningServer, open_at: OpenAt) -> None:
    page = open_at(server.url + "/docs/", java_script_enabled=False, viewport=NARROW)
    page.get_by_role("searchbox").fill("delete the account with everything")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("link", name="Delete the account with everything")).to_be_visible()
    assert width_over(page) == 0
    page.get_by_role("link", name="Privacy › Deleting the account").click()
    expect(page.get_by_role("heading", name="Deleting the account")).to_be_in_viewport()


def test_the_search_page_has_no_axe_finding(server: RunningServer, open_at: OpenAt) -> None:
    for query in ("webhook", "xyzzyqq"):
        assert findings(open_at(f"{server.url}/docs/search?q={query}")) == []
