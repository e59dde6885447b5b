"""The widget's first load: what goes wrong between its loader and the rest is put right without a reload."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.ui.conftest import BUILT, PHONE, OpenPage, answer, ask, opened
from tests.ui.scripted_widget import ScriptedSite

pytestmark = pytest.mark.browser

NOWHERE = "about:blank"
# What came after the oldest browsers that docs/widget.md names, or never came to Safari.
LATER = """
  for (const name of ["canParse", "parse"]) delete URL[name];
  for (const name of ["checkVisibility", "moveBefore"]) delete Element.prototype[name];
  for (const name of ["withResolvers", "try"]) delete Promise[name];
  delete AbortSignal.any;
  delete Array.fromAsync;
  delete Object.groupBy;
  delete window.requestIdleCallback;
"""
SOURCE = {
    "citation": 1,
    "kind": "document",
    "title": "Prices",
    "source_url": "https://shop.example/",
    "snippet": "Free.",
}


def test_it_opens_once_the_server_is_back_that_was_away_while_it_loaded(
    open_page: OpenPage, site: ScriptedSite
) -> None:
    page = open_page(NOWHERE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    def go_away(route: Route) -> None:
        site.stop()
        route.continue_()

    page.route("**/widget-main-*", go_away, times=1)
    with page.expect_event("requestfailed", lambda request: "widget-main" in request.url):
        page.goto(site.base_url)
    page.get_by_role("button", name="Open chat").dblclick()  # impatient, and not to close it again
    notice = page.locator("parley-widget output")
    expect(notice).to_have_text("The chat could not be opened.")
    site.start()
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()
    expect(notice).to_have_count(0)
    mains = [url for url in asked if "widget-main" in url]
    assert len(mains) == len(set(mains)) > 1  # older browsers keep a failed load of an address for the page's life


def test_a_loader_of_an_earlier_release_finds_the_files_of_this_one(
    open_page: OpenPage, site: ScriptedSite, tmp_path: Path
) -> None:
    earlier = tmp_path / "dist"
    shutil.copytree(BUILT, earlier, ignore=shutil.ignore_patterns("cabinet"))
    loader = earlier / "widget.js"
    text, count = re.subn(r"(assets/widget-\w+)-[\w-]+\.js", r"\1-earlier.js", loader.read_text(encoding="utf-8"))
    assert count == 3
    loader.write_text(text, encoding="utf-8")
    page = open_page(NOWHERE)

    def serve(folder: Path) -> None:
        site.stop()
        site.folder = folder
        site.start()

    def release(route: Route) -> None:
        serve(BUILT)
        route.continue_()

    serve(earlier)
    page.route("**/widget-main-earlier.js", release, times=1)
    with page.expect_response("**/widget-main-earlier.js") as missed:
        page.goto(site.base_url)
    assert missed.value.status == 404
    opened(page)


def test_it_needs_nothing_that_its_oldest_browsers_lack(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page(NOWHERE, viewport=PHONE)
    page.add_init_script(LATER)
    page.goto(site.base_url)
    assert page.evaluate("[URL.canParse, document.body.checkVisibility, window.requestIdleCallback]") == [None] * 3
    opened(page)
    site.answers("See https://shop.example/ [1].", citations=[SOURCE])
    ask(page, "How much?")
    expect(answer(page)).to_contain_text("See https://shop.example/")
    page.get_by_role("button", name="Source 1: Prices").click()
    link = page.get_by_role("region", name="Source 1: Prices").get_by_role("link")
    expect(link).to_have_attribute("href", "https://shop.example/")
    page.get_by_role("button", name="Close chat").focus()
    page.keyboard.press("Tab")  # among what is seen
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="Close chat")).to_be_focused()
