"""The company's people in the widget: they are called, and their words arrive whether it is open or closed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import OpenPage, answer, ask, opened
from tests.ui.scripted_widget import ScriptedSite

pytestmark = pytest.mark.browser

OFTEN_MS = 6_000
SELDOM_MS = 30_000


@pytest.fixture
def clocked(open_page: OpenPage) -> Page:
    """The demo site with a clock that the test moves on."""
    page = open_page()
    page.clock.install()
    page.reload()
    return page


def test_a_person_is_asked_for_and_answers_in_the_same_place(clocked: Page, site: ScriptedSite) -> None:
    page = opened(clocked)
    page.get_by_role("button", name="Talk to a person").click()
    page.get_by_role("textbox", name="Name").fill("Vera")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.get_by_role("alert")).to_have_text("Please leave an e-mail or a phone number.")
    page.get_by_role("textbox", name="E-mail").fill("vera")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.get_by_role("alert")).to_have_text("This does not look like an e-mail address.")
    page.get_by_role("textbox", name="E-mail").fill("vera@example.com")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.locator(".bar")).to_have_text("A person was called. The answer will appear here.")
    assert site.contacts == [{"name": "Vera", "email": "vera@example.com"}]
    site.state |= {"taken_over": True, "operator_name": "Anna"}
    site.says("Hello, Vera!", "Anna")
    page.clock.run_for(OFTEN_MS)
    expect(page.locator(".operator")).to_contain_text("Hello, Vera!")
    expect(page.locator(".bar")).to_have_text("Anna is answering you.")
    page.get_by_role("button", name="Talk to a person").click()  # and a contact may come later
    page.get_by_role("textbox", name="Phone").fill("+7 000 555-01-10")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.locator(".bar")).to_have_text("Anna is answering you.")
    assert site.contacts[1:] == [{"phone": "+7 000 555-01-10"}]
    site.answers(handed_over=True)
    ask(page, "Good day")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    expect(page.locator(".answer")).to_have_count(0)


def test_a_person_can_be_called_without_a_contact(page: Page, site: ScriptedSite) -> None:
    page.get_by_role("button", name="Talk to a person").click()
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.locator(".bar")).to_have_text("A person was called. The answer will appear here.")
    assert site.contacts == [{}]


def test_a_persons_words_reach_a_closed_widget_and_are_counted(clocked: Page, site: ScriptedSite) -> None:
    page = opened(clocked)
    page.get_by_role("button", name="Talk to a person").click()
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.locator(".bar")).to_have_text("A person was called. The answer will appear here.")
    page.get_by_role("button", name="Close chat").click()
    site.says("Hello!", "Anna")
    site.says("How can I help?", "Anna")
    page.clock.run_for(OFTEN_MS)
    launcher = page.get_by_role("button", name="Open chat, 2 new messages")
    expect(launcher).to_have_attribute("data-unread", "2")
    launcher.click()
    expect(page.locator(".operator .bubble")).to_have_text(["Hello!", "How can I help?"])
    expect(page.get_by_role("button", name="Open chat", exact=True)).not_to_have_attribute("data-unread", "2")


def test_a_person_who_was_not_called_is_heard_a_little_later(clocked: Page, site: ScriptedSite) -> None:
    page = opened(clocked)
    site.answers("Free.")
    ask(page, "How much?")
    expect(answer(page)).to_have_text("Free.")
    page.evaluate("Parley('on', 'answer', ({ text }) => { window.told = text })")
    page.get_by_role("button", name="Close chat").click()
    site.says("Anything else?", "Anna")
    page.clock.run_for(SELDOM_MS)
    expect(page.get_by_role("button", name="Open chat, 1 new message")).to_be_visible()
    assert page.evaluate("told") == "Anything else?"


def test_after_a_reload_the_words_that_the_visitor_has_not_seen_are_counted(clocked: Page, site: ScriptedSite) -> None:
    def look() -> None:
        with page.expect_response("**/widget/v1/messages"):
            page.clock.run_for(SELDOM_MS)

    page = opened(clocked)
    site.answers("Free.")
    ask(page, "How much?")
    expect(answer(page)).to_have_text("Free.")
    site.says("Anything else?", "Anna")
    look()
    expect(page.locator(".operator")).to_contain_text("Anything else?")
    site.says("Between two pages", "Anna")
    page.reload()
    launcher = page.locator(".launcher")
    expect(launcher).to_have_attribute("aria-controls", "panel")  # the whole widget is there
    look()
    expect(launcher).to_have_attribute("data-unread", "1")
    site.says("Still here?", "Anna")
    look()
    expect(launcher).to_have_attribute("data-unread", "2")
    page.get_by_role("button", name="Open chat, 2 new messages").click()
    expect(page.locator(".operator")).to_have_count(3)
    page.reload()
    expect(launcher).to_have_attribute("aria-controls", "panel")
    look()
    expect(launcher).not_to_have_attribute("data-unread", "1")


def test_nothing_is_asked_of_the_server_for_a_visitor_who_never_asked(clocked: Page, site: ScriptedSite) -> None:
    page = opened(clocked)
    page.clock.run_for(3 * SELDOM_MS)
    page.get_by_role("button", name="Close chat").click()
    page.clock.run_for(3 * SELDOM_MS)
    assert site.histories == 0
    assert site.begun == []
