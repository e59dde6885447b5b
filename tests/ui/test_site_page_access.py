"""The page for everybody: axe, the keyboard alone, narrow windows, dark mode, reduced motion."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.scripted_widget import ScriptedSite
from tests.ui.conftest import WAIT_MS, OpenPage, ask

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
NARROW = {"width": 320, "height": 640}
SOURCE = {"title": "Rental prices of every machine that we have", "snippet": "Owl 60: 9 800.", "page": 3, "citation": 1}
RICH = (
    "## Prices\n\nSee **here** [1] and [there](https://example.com/) or "
    "https://example.com/" + "a-very-long-path/" * 8 + "\n\n"
    "| Model | For whom | Rent | Deposit | Price |\n|---|---|---|---|---|\n| Owl | office | 1 | 2 | 3 |\n\n"
    "```\n" + "a-line-that-does-not-end " * 12 + "\n```\n\n" + "unbreakable" * 20
)


def findings(page: Page) -> list[str]:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (npm ci in ui/)")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [f"{item['id']}: {node['html']}" for item in found for node in item["nodes"]]


def fill_with_everything(page: Page, site: ScriptedSite) -> None:
    """A rich answer with its sources open, then a failed question."""
    site.answers(RICH, context={"documents": [SOURCE]})
    ask(page, "A long question? " * 12)
    page.get_by_role("button", name="Sources").click()
    site.answers(status=503)
    ask(page, "Another")
    expect(page.locator(".notice")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: OpenPage, site: ScriptedSite, scheme: str) -> None:
    page = open_page(color_scheme=scheme, reduced_motion="reduce")
    assert findings(page) == []
    fill_with_everything(page, site)
    page.evaluate("scrollTo(0, 0)")
    assert findings(page) == []
    site.answers("Growing", held=True)
    ask(page, "Third")
    expect(page.locator(".markdown").last).to_have_text("Growing")
    assert findings(page) == []


def test_axe_finds_nothing_where_no_chat_is(open_page: OpenPage, site: ScriptedSite) -> None:
    site.key = ""
    assert findings(open_page()) == []


def test_everything_works_by_keyboard_alone(page: Page, site: ScriptedSite) -> None:
    site.answers("Cited [1].", context={"documents": [SOURCE]})
    expect(page.get_by_role("textbox")).to_be_focused()
    page.keyboard.type("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    page.keyboard.press("Enter")
    citation = page.get_by_role("button", name="Source 1")
    expect(citation).to_be_visible()
    assert site.questions == ["One\nTwo"]
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if citation.evaluate("node => node === document.activeElement"):
            break
    expect(citation).to_be_focused()
    assert citation.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator(".sources li")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox")).to_be_focused()
    site.answers("Half", held=True)
    page.keyboard.type("Again")
    page.keyboard.press("Enter")
    expect(page.locator(".markdown").last).to_have_text("Half")
    page.keyboard.press("Escape")
    expect(page.locator("li.agent").last).to_contain_text("You stopped this answer.")


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_320_pixels_need_no_sideways_scrolling(open_page: OpenPage, site: ScriptedSite, locale: str) -> None:
    page = open_page(viewport=NARROW, locale=locale)
    assert width_over(page) == 0
    site.answers(RICH, context={"documents": [SOURCE]})
    page.get_by_role("textbox").fill("A long question " + "unbreakable" * 30)
    page.locator("#send").click()
    page.locator(".toggle").click()
    site.answers(status=429, headers={"Retry-After": "30"})
    page.get_by_role("textbox").fill("Another")
    page.locator("#send").click()
    expect(page.locator(".notice")).to_be_visible()
    assert width_over(page) == 0


def width_over(page: Page) -> int:
    over: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return over


def test_dark_mode_follows_the_system(open_page: OpenPage) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = open_page(color_scheme="light").evaluate(background)
    dark = open_page(color_scheme="dark").evaluate(background)
    assert brightness(dark) < 60 < 200 < brightness(light)


def brightness(colour: str) -> float:
    """Mean of the channels of "rgb(r, g, b)", 0 to 255."""
    channels = [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    return sum(channels) / len(channels)


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_those_who_asked_for_less_motion(
    open_page: OpenPage, site: ScriptedSite, motion: str, moves: bool
) -> None:
    page = open_page(reduced_motion=motion)
    site.answers(held=True, markdown="Here.")
    ask(page, "Where?")
    expect(page.locator(".status")).to_be_visible()
    running = "document.getAnimations().filter(item => item instanceof CSSAnimation).length"
    assert (page.evaluate(running) > 0) is moves


def test_the_end_of_a_growing_answer_stays_in_view_until_the_reader_scrolls(
    open_page: OpenPage, site: ScriptedSite
) -> None:
    page = open_page(viewport=NARROW)
    site.answers("Earlier. " * 200)
    ask(page, "First")
    expect(page.locator(".actions, .markdown").first).to_be_visible()
    site.answers("line\n\n" * 30, held=True)
    ask(page, "Second")
    expect(page.locator(".markdown").last.locator("p")).to_have_count(30)
    question = page.locator("li.visitor").last
    expect(question).to_be_in_viewport()
    page.mouse.wheel(0, -400)
    place = "document.querySelectorAll('li.visitor')[1].getBoundingClientRect().top > 300"
    # By hand: what playwright itself polls with is an eval inside the page, which the page's policy forbids.
    deadline = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate(place):
        assert time.monotonic() < deadline, "the page was scrolled away from the reader"
        page.wait_for_timeout(50)
    site.release()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    assert question.bounding_box()["y"] > 300  # type: ignore[index]
