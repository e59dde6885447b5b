"""The page at /docs in a real browser: each API's description, offline, under the strict policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from api.app import LAYERS
from tests.support.server import RunningServer
from tests.ui.conftest import BUILT, WAIT_MS, findings

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


@pytest.fixture
def open_docs(browser: Browser, server: RunningServer) -> Iterator[Open]:
    """Opens the page; script errors, refused styles and requests elsewhere fail the test."""
    if not (BUILT / "docs.html").is_file():
        pytest.skip("the page is not built (make web)")
    problems: list[str] = []
    contexts = []

    def watch(message: Any) -> None:
        if message.type == "error":
            problems.append(message.text)

    def watch_request(request: Any) -> None:
        if not request.url.startswith((server.url, "data:")):
            problems.append(f"asked for {request.url}")

    def open_with(path: str = "/docs?api=public", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", watch)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", watch_request)
        page.goto(server.url + path)
        page.locator("#description:not([aria-busy])").wait_for()
        return page

    yield open_with
    for context in contexts:
        context.close()
    assert problems == []


@pytest.mark.parametrize("layer", LAYERS)
def test_each_description_is_shown_with_all_its_operations(open_docs: Open, layer: str) -> None:
    page = open_docs(f"/docs?api={layer}")
    page.get_by_role("heading", name=f"Parley {layer.title()} API").wait_for()
    assert page.title() == f"Parley {layer.title()} API"
    prefix, operations = LAYERS[layer]
    shown = {text.replace("\u200b", "") for text in page.locator(".opblock-summary-path").all_inner_texts()}
    assert shown == {prefix + operation.path.replace(":path}", "}") for operation in operations}
    assert page.get_by_role("link", name=layer.title(), exact=True).get_attribute("aria-current") == "page"


def test_one_goes_from_one_description_to_another(open_docs: Open) -> None:
    page = open_docs()
    page.get_by_role("link", name="Integration", exact=True).click()
    page.get_by_role("heading", name="Parley Integration API").wait_for()
    page.get_by_text("int_live_…").first.wait_for()


def test_the_guides_stand_before_the_descriptions(open_docs: Open) -> None:
    page = open_docs()
    ways = page.get_by_role("navigation", name="Documentation").get_by_role("link")
    assert ways.all_inner_texts() == ["Guides", "Public", "Speech", "Integration", "Vision"]
    ways.first.click()
    page.get_by_role("heading", level=1, name="Parley's documentation").wait_for()


def test_an_operation_opens_by_keyboard_and_shows_its_fields(open_docs: Open) -> None:
    page = open_docs()
    summary = page.locator("[id$=create_space] .opblock-summary-control")
    summary.focus()
    page.keyboard.press("Enter")
    operation = page.locator("[id$=create_space]")
    operation.get_by_text("Idempotency-Key").first.wait_for()
    assert operation.locator(".response .response-col_status").all_inner_texts()[0] == "201"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_it_closed_or_open(open_docs: Open, scheme: str) -> None:
    page = open_docs(color_scheme=scheme)
    assert findings(page) == []
    page.locator("[id$=create_space] .opblock-summary-control").click()
    page.locator("[id$=create_space] .response").first.wait_for()
    assert findings(page) == []


@pytest.mark.parametrize(
    "options",
    [{"viewport": {"width": 360, "height": 740}}, {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}],
    ids=["light", "dark"],
)
def test_it_fits_a_phone(open_docs: Open, options: dict[str, Any]) -> None:
    page = open_docs(**options)
    page.locator("[id$=create_space] .opblock-summary-control").click()
    page.locator("[id$=create_space] .response").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    is_dark = page.evaluate("document.documentElement.classList.contains('dark-mode')")
    assert is_dark is (options.get("color_scheme") == "dark")
