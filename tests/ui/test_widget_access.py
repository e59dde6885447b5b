"""The widget for everybody: axe, the keyboard alone, narrow windows, dark mode, reduced motion, right to left."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import DESKTOP, NARROW, PHONE, WAIT_MS, OpenPage, answer, ask, findings, opened, width_over
from tests.ui.scripted_widget import ScriptedSite

pytestmark = pytest.mark.browser

SOURCE = {
    "citation": 1,
    "kind": "document",
    "title": "Rental prices of every machine that we have",
    "source_url": "https://example.com/prices",
    "page": 3,
    "snippet": "Owl 60: 9 800.",
}
RICH = (
    "## Prices\n\nSee **here** [1] and [there](https://example.com/) or "
    "https://example.com/" + "a-very-long-path/" * 8 + "\n\n"
    "| Model | For whom | Rent | Deposit | Price |\n|---|---|---|---|---|\n| Owl | office | 1 | 2 | 3 |\n\n"
    "```\n" + "a-line-that-does-not-end " * 12 + "\n```\n\n" + "unbreakable" * 20
)


def fill_with_everything(page: Page, site: ScriptedSite) -> None:
    """A rich answer with a source open and a comment begun, then a failed question."""
    site.answers(RICH, citations=[SOURCE])
    ask(page, "A long question? " * 12)
    page.get_by_role("button", name="Source 1").click()
    page.get_by_role("button", name="Not helpful").click()
    site.answers(status=503)
    ask(page, "Another")
    expect(page.locator(".notice")).to_be_visible()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: OpenPage, site: ScriptedSite, scheme: str, viewport: dict[str, int]) -> None:
    page = opened(open_page(color_scheme=scheme, reduced_motion="reduce", viewport=viewport))
    assert findings(page) == []
    fill_with_everything(page, site)
    assert findings(page) == []
    site.answers("Growing", held=True)
    ask(page, "Third")
    expect(answer(page)).to_have_text("Growing")
    assert findings(page) == []
    page.get_by_role("button", name="Talk to a person").click()
    page.get_by_role("textbox", name="Name").fill("Vera")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    assert findings(page) == []


def test_everything_works_by_keyboard_alone(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page()
    launcher = page.get_by_role("button", name="Open chat")
    expect(launcher).to_be_visible()
    launcher.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    site.answers("Cited [1].", citations=[SOURCE])
    page.keyboard.type("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    page.keyboard.press("Enter")
    citation = page.get_by_role("button", name="Source 1")
    expect(citation).to_be_visible()
    assert site.questions == ["One\nTwo"]
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if citation.evaluate("node => node.getRootNode().activeElement === node"):
            break
    expect(citation).to_be_focused()
    assert citation.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Source 1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(citation).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(launcher).to_be_focused()


def test_nobody_is_called_away_from_a_question_by_what_appears(page: Page, site: ScriptedSite) -> None:
    site.answers("Cited [1].", citations=[SOURCE])
    ask(page, "One")
    for opener, appears in [("Source 1", "section.source"), ("Not helpful", "form.comment textarea")]:
        button = page.locator(".markdown, .tools").get_by_role("button", name=opener)
        button.click()
        expect(page.locator(appears)).to_be_focused()
        button.click()
        expect(page.locator(appears)).to_have_count(0)
        # The visitor is in the field before the next frame is drawn.
        button.evaluate("node => { node.click(); node.getRootNode().querySelector('#question').focus(); }")
        expect(page.locator(appears)).to_be_visible()
        expect(page.get_by_role("textbox", name="Your question")).to_be_focused()


def test_the_focus_stays_inside_while_the_widget_covers_the_page(open_page: OpenPage, site: ScriptedSite) -> None:
    page = opened(open_page(viewport=PHONE))
    expect(page.get_by_role("dialog")).to_have_attribute("aria-modal", "true")
    inside = "document.activeElement.tagName"
    for key in ["Tab"] * 12 + ["Shift+Tab"] * 12:
        page.keyboard.press(key)
        assert page.evaluate(inside) == "PARLEY-WIDGET"


def test_the_page_beside_it_stays_usable_on_a_large_screen(page: Page) -> None:
    expect(page.get_by_role("dialog")).to_have_attribute("aria-modal", "false")
    page.get_by_role("link", name="Machines", exact=True).click()
    expect(page.get_by_role("heading", name="Three machines")).to_be_in_viewport()


@pytest.mark.parametrize("viewport", [NARROW, PHONE], ids=["narrow", "phone"])
@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_a_phone_needs_no_sideways_scrolling(
    open_page: OpenPage, site: ScriptedSite, locale: str, viewport: dict[str, int]
) -> None:
    page = open_page(viewport=viewport, locale=locale)
    page.locator(".launcher").click()
    site.answers(RICH, citations=[SOURCE])
    field = page.locator("#question")
    field.fill("A long question " + "unbreakable" * 30)
    page.locator(".send").click()
    page.locator("button.citation").click()
    site.answers(status=429, headers={"Retry-After": "30"})
    field.fill("Another")
    page.locator(".send").click()
    expect(page.locator(".notice")).to_be_visible()
    assert width_over(page) == 0
    assert page.locator(".messages").evaluate("node => node.scrollWidth - node.clientWidth") == 0
    box = page.locator(".panel").bounding_box()
    assert box == {"x": 0, "y": 0, **viewport}


def test_right_to_left_turns_everything_round(open_page: OpenPage, site: ScriptedSite) -> None:
    page = opened(open_page())
    page.evaluate("document.querySelector('parley-widget').shadowRoot.querySelector('.frame').dir = 'rtl'")
    site.answers(RICH, citations=[SOURCE])
    ask(page, "How much?")
    expect(answer(page)).to_be_visible()
    panel, send, own = (page.locator(each).bounding_box() for each in (".panel", ".send", ".own"))
    assert panel is not None
    assert send is not None
    assert own is not None
    middle = panel["x"] + panel["width"] / 2
    assert send["x"] < middle
    assert own["x"] < middle
    assert page.locator(".messages").evaluate("node => node.scrollWidth - node.clientWidth") == 0


def test_dark_mode_follows_the_system_unless_the_account_says_otherwise(
    open_page: OpenPage, site: ScriptedSite
) -> None:
    shade = (
        "getComputedStyle(document.querySelector('parley-widget').shadowRoot.querySelector('.panel')).backgroundColor"
    )
    assert opened(open_page(color_scheme="light")).evaluate(shade) == "rgb(255, 255, 255)"
    assert opened(open_page(color_scheme="dark")).evaluate(shade) == "rgb(24, 27, 29)"
    site.config["theme"]["scheme"] = "light"
    assert opened(open_page(color_scheme="dark")).evaluate(shade) == "rgb(255, 255, 255)"


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_those_who_asked_for_less_motion(
    open_page: OpenPage, site: ScriptedSite, motion: str, moves: bool
) -> None:
    page = opened(open_page(reduced_motion=motion))
    site.answers(held=True, markdown="Here.")
    ask(page, "Where?")
    expect(page.locator(".status")).to_be_visible()
    running = """document.querySelector('parley-widget').shadowRoot.getAnimations()
        .filter(item => item instanceof CSSAnimation).length"""
    assert (page.evaluate(running) > 0) is moves


def test_a_closed_widget_counts_the_answers_that_came(page: Page, site: ScriptedSite) -> None:
    site.answers("Free.", held=True)
    ask(page, "How much?")
    expect(page.get_by_role("button", name="Stop the answer")).to_be_visible()
    page.get_by_role("button", name="Close chat").click()
    site.release()
    launcher = page.get_by_role("button", name="Open chat, 1 new message")
    expect(launcher).to_have_attribute("data-unread", "1")
    assert launcher.evaluate("node => getComputedStyle(node, '::after').content") == '"1"'
    launcher.click()
    expect(answer(page)).to_have_text("Free.")
    expect(page.get_by_role("button", name="Open chat", exact=True)).to_be_visible()


def test_the_end_of_a_growing_answer_stays_in_view_until_the_reader_scrolls(
    open_page: OpenPage, site: ScriptedSite
) -> None:
    page = opened(open_page(viewport=NARROW))
    site.answers("Earlier. " * 200)
    ask(page, "First")
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_be_visible()
    site.answers("line\n\n" * 30, held=True)
    ask(page, "Second")
    expect(answer(page).locator("p")).to_have_count(30)
    question = page.locator(".own").last
    expect(question).to_be_in_viewport()
    page.locator(".messages").hover()
    page.mouse.wheel(0, -400)
    # By hand: what playwright itself polls with is an eval inside the page, which the page's policy forbids.
    deadline = time.monotonic() + WAIT_MS / 1000
    while question.bounding_box()["y"] < 300:  # type: ignore[index]
        assert time.monotonic() < deadline, "the messages were scrolled away from the reader"
        page.wait_for_timeout(50)
    site.release()
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_count(2)
    assert question.bounding_box()["y"] > 300  # type: ignore[index]
