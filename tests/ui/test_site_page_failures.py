"""What the page says when the server cannot answer, and how it goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.scripted_widget import ScriptedSite
from tests.ui.conftest import OpenPage, ask

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (502, "The language model did not answer"),
        (503, "The assistant is not ready yet"),
        (403, "This chat may not be used here"),
        (404, "This chat no longer exists"),
        (500, "Something went wrong"),
    ],
)
def test_a_failed_question_says_why_and_can_be_asked_again(
    page: Page, site: ScriptedSite, status: int, words: str
) -> None:
    site.answers(status=status)
    ask(page, "How much?")
    expect(page.locator(".notice")).to_contain_text(words)
    expect(page.get_by_role("status")).to_contain_text(words)
    site.answers("Free.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".markdown")).to_have_text("Free.")
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator("li.visitor")).to_have_count(1)
    assert site.questions == ["How much?", "How much?"]


def test_too_many_questions_wait_as_long_as_the_server_says(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page()
    page.clock.install()
    site.answers(status=429, headers={"Retry-After": "12"})
    ask(page, "How much?")
    retry = page.locator(".notice button")
    expect(retry).to_have_text("Try again in 12 s")
    expect(retry).to_be_disabled()
    page.clock.fast_forward(13_000)
    expect(retry).to_have_text("Try again")
    expect(retry).to_be_enabled()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("api_error", "The language model did not answer"),
        ("unavailable_error", "The assistant is not ready yet"),
    ],
)
def test_an_error_in_the_stream_keeps_what_came(page: Page, site: ScriptedSite, kind: str, words: str) -> None:
    site.answers("The first half", error={"message": "No.", "type": kind, "param": None, "code": None})
    ask(page, "How much?")
    expect(page.locator(".notice")).to_contain_text(words)
    expect(page.locator(".markdown")).to_have_text("The first half")


def test_a_stream_that_breaks_off_is_said(page: Page, site: ScriptedSite) -> None:
    site.answers("The first half", breaks=True)
    ask(page, "How much?")
    expect(page.locator(".notice")).to_contain_text("the connection broke off")


def test_a_server_that_is_gone_is_said(page: Page, site: ScriptedSite) -> None:
    page.context.set_offline(True)
    ask(page, "How much?")
    expect(page.locator(".notice")).to_contain_text("The server cannot be reached")
    page.context.set_offline(False)
    site.answers("Free.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".markdown")).to_have_text("Free.")


def test_a_chat_that_does_not_open_can_be_tried_again(open_page: OpenPage, site: ScriptedSite) -> None:
    site.config_status = 503
    page = open_page()
    expect(page.get_by_role("heading", level=1)).to_have_text("The chat could not be opened")
    expect(page.get_by_role("textbox")).to_be_hidden()
    site.config_status = 200
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Polar Owl")
    expect(page.get_by_role("textbox")).to_be_visible()


def test_without_a_chat_the_page_says_how_to_get_one(open_page: OpenPage, site: ScriptedSite) -> None:
    site.key = ""
    page = open_page()
    expect(page.get_by_role("heading", level=1)).to_have_text("No chat is set up yet")
    expect(page.locator("#greeting code")).to_have_text("parley demo")
    expect(page.get_by_role("textbox")).to_be_hidden()


def test_earlier_messages_that_do_not_load_can_be_tried_again(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(page.locator(".markdown")).to_have_text("One.")
    site.history_status = 503
    page.reload()
    expect(page.locator(".notice")).to_contain_text("The earlier messages could not be loaded")
    site.history_status = 200
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".markdown")).to_have_text("One.")
    expect(page.locator(".notice")).to_have_count(0)
