"""Browser fixtures: Debian's chromium, the built pages, and a page that fails its test on any error of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.support.browser import CHROMIUM
from tests.ui.scripted_widget import ScriptedSite, serve_scripted_site

BUILT = Path(__file__).parents[2] / "ui" / "dist"
AXE = Path(__file__).parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT_MS = 60_000
SETTLED = """() => Promise.allSettled(
  document.getAnimations().filter(each => isFinite(each.effect.getComputedTiming().endTime)).map(each => each.finished)
).then(() => null)"""
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
NARROW = {"width": 320, "height": 640}

OpenPage = Callable[..., Page]

expect.set_options(timeout=WAIT_MS)  # machines have much else to do while tests run


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser a module: while it is open, playwright's event loop runs in this thread."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed (scripts/install-system-packages)")
    if not (BUILT / "widget.js").is_file():
        pytest.skip("the web part is not built (make web)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def site(browser: Browser) -> Iterator[ScriptedSite]:
    with serve_scripted_site(BUILT) as site:
        yield site


@pytest.fixture
def open_page(browser: Browser, site: ScriptedSite) -> Iterator[OpenPage]:
    """Opens the demo site; keywords go to the browser's context. Script errors and requests elsewhere fail the test."""
    problems: list[str] = []
    contexts = []

    def open_with(url: str | None = None, **options: Any) -> Page:
        allowed = (site.base_url, url or site.base_url, "data:")

        def watch_console(message: Any) -> None:
            if message.type == "error" and "Failed to load resource" not in message.text:
                problems.append(message.text)

        def watch_request(request: Any) -> None:
            if not request.url.startswith(allowed):
                problems.append(f"asked for {request.url}")

        context = browser.new_context(**({"locale": "en-GB", "viewport": DESKTOP} | options))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", watch_console)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", watch_request)
        page.goto(url or site.base_url)
        return page

    yield open_with
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """The demo site with the widget open."""
    return opened(open_page())


def opened(page: Page) -> Page:
    page.get_by_role("button", name="Open chat").click()
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()
    return page


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Your question").fill(question)
    page.get_by_role("button", name="Send", exact=True).click()


def answer(page: Page) -> Locator:
    """The text of the last answer."""
    return page.locator("parley-widget .markdown").last


def findings(page: Page) -> list[str]:
    """What axe has against the page, the widget's shadow tree included."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (npm ci in ui/)")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    page.evaluate(SETTLED)  # what is fading in has the contrast of neither state
    found = page.evaluate("axe.run()")["violations"]
    return [f"{item['id']}: {node['html']}" for item in found for node in item["nodes"]]


def width_over(page: Page) -> int:
    over: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return over
