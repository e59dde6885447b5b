"""Browser fixtures: Debian's chromium, the built page, and a page that fails its test on any error of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.scripted_widget import ScriptedSite, serve_scripted_site

CHROMIUM = Path("/usr/bin/chromium")
BUILT = Path(__file__).parents[2] / "ui" / "dist"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT_MS = 10_000

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser a module: while it is open, playwright's event loop runs in this thread."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed (scripts/install-system-packages)")
    if not (BUILT / "index.html").is_file():
        pytest.skip("the page is not built (make web)")
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
    """Opens the page; keywords go to the browser's context. Script errors and requests elsewhere fail the test."""
    problems: list[str] = []
    contexts = []

    def watch_console(message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            problems.append(message.text)

    def watch_request(request: Any) -> None:
        if not request.url.startswith((site.base_url, "data:")):
            problems.append(f"asked for {request.url}")

    def open_with(**options: Any) -> Page:
        context = browser.new_context(**({"locale": "en-GB"} | options))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", watch_console)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", watch_request)
        page.goto(site.base_url)
        page.locator("#chat:not([aria-busy])").wait_for()
        return page

    yield open_with
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page()


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Your question").fill(question)
    page.get_by_role("button", name="Send").click()
