"""What the widget says when the server cannot answer, and how it goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import OpenPage, answer, ask, opened
from tests.ui.scripted_widget import ScriptedSite

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (502, "The assistant did not manage to answer"),
        (503, "The assistant cannot answer right now"),
        (500, "Something went wrong"),
    ],
)
def test_a_failed_question_says_why_and_can_be_asked_again(
    page: Page, site: ScriptedSite, status: int, words: str
) -> None:
    site.answers(status=status)
    ask(page, "How much?")
    expect(page.locator(".notice")).to_contain_text(words)
    expect(page.get_by_role("status").last).to_contain_text(words)
    site.answers("Free.")
    page.get_by_role("button", name="Try again").click()
    expect(answer(page)).to_have_text("Free.")
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator(".own")).to_have_count(1)
    assert len(set(site.asked_ids)) == 1  # the same question, so that it is charged once


@pytest.mark.parametrize(("status", "code"), [(403, "client_inactive"), (429, "daily_limit")])
def test_what_trying_again_would_not_help_offers_no_retry(
    page: Page, site: ScriptedSite, status: int, code: str
) -> None:
    site.answers(status=status, code=code)
    ask(page, "How much?")
    expect(page.locator(".notice")).to_be_visible()
    expect(page.locator(".notice").get_by_role("button")).to_have_count(0)


def test_too_many_questions_wait_as_long_as_the_server_says(open_page: OpenPage, site: ScriptedSite) -> None:
    page = opened(open_page())
    site.answers(status=429, headers={"Retry-After": "2"})
    ask(page, "How much?")
    retry = page.locator(".notice button")
    expect(retry).to_be_disabled()
    expect(retry).to_contain_text("Try again in")
    expect(retry).to_have_text("Try again")
    expect(retry).to_be_enabled()


def test_an_error_in_the_stream_keeps_what_came(page: Page, site: ScriptedSite) -> None:
    error = {"message": "No.", "type": "unavailable_error", "param": None, "code": None}
    site.answers("The first half", error=error)
    ask(page, "How much?")
    expect(page.locator(".notice")).to_contain_text("The assistant cannot answer right now")
    expect(answer(page)).to_have_text("The first half")
    site.answers("Free.")
    page.get_by_role("button", name="Try again").click()
    expect(answer(page)).to_have_text("Free.")


@pytest.mark.parametrize("cut_after", [0, 1, 2, 3])
def test_a_stream_that_breaks_off_is_taken_up_where_it_broke(page: Page, site: ScriptedSite, cut_after: int) -> None:
    site.answers("One ", "two ", "three.", cut_after=cut_after)
    ask(page, "Count")
    expect(answer(page)).to_have_text("One two three.")
    expect(page.locator(".bar")).to_have_count(0)
    assert site.resumed_from == [cut_after]
    assert len(site.questions) == 1


def test_a_server_that_goes_and_comes_back_finishes_its_answer(page: Page, site: ScriptedSite) -> None:
    site.answers("The first half", held=True, markdown="The first half and the second.")
    ask(page, "Tell me")
    expect(answer(page)).to_have_text("The first half")
    site.stop()
    expect(page.locator(".bar")).to_have_text("The connection was lost. Reconnecting…")
    expect(answer(page)).to_have_text("The first half")
    site.start()
    site.release()
    expect(answer(page)).to_have_text("The first half and the second.")
    expect(page.locator(".bar")).to_have_count(0)
    assert len(site.questions) == 1


def test_a_question_asked_offline_goes_out_when_the_network_is_back(page: Page, site: ScriptedSite) -> None:
    page.context.set_offline(True)
    expect(page.locator(".bar")).to_contain_text("You are offline")
    ask(page, "How much?")
    expect(page.locator(".status")).to_be_visible()
    site.answers("Free.")
    page.context.set_offline(False)
    expect(answer(page)).to_have_text("Free.")
    expect(page.locator(".bar")).to_have_count(0)
    assert site.questions == ["How much?"]


def test_a_slow_network_only_takes_longer(open_page: OpenPage, site: ScriptedSite) -> None:
    page = open_page()
    slow = {"offline": False, "latency": 300, "downloadThroughput": 40_000, "uploadThroughput": 20_000}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    page.reload()
    opened(page)
    site.answers("One ", "two.")
    ask(page, "Count")
    expect(answer(page)).to_have_text("One two.")


def test_a_chat_that_does_not_open_can_be_tried_again(open_page: OpenPage, site: ScriptedSite) -> None:
    site.config_status = 503
    page = open_page()
    page.get_by_role("button", name="Open chat").click()
    expect(page.locator(".notice")).to_contain_text("The chat could not be opened")
    site.config_status = 200
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()


@pytest.mark.parametrize("status", [403, 404])
def test_where_no_chat_may_be_there_is_no_launcher(open_page: OpenPage, site: ScriptedSite, status: int) -> None:
    site.config_status = status
    page = open_page()
    expect(page.locator("parley-widget")).to_have_count(0)


def test_earlier_messages_that_do_not_load_can_be_tried_again(page: Page, site: ScriptedSite) -> None:
    site.answers("One.")
    ask(page, "First?")
    expect(answer(page)).to_have_text("One.")
    site.history_status = 503
    page.reload()
    opened(page)
    expect(page.locator(".bar")).to_contain_text("The earlier messages could not be loaded")
    site.history_status = 200
    page.get_by_role("button", name="Try again").click()
    expect(answer(page)).to_have_text("One.")
    expect(page.locator(".bar")).to_have_count(0)


def test_a_contact_that_could_not_be_sent_is_not_lost(page: Page, site: ScriptedSite) -> None:
    site.contact_status = 503
    page.get_by_role("button", name="Talk to a person").click()
    page.get_by_role("textbox", name="Phone").fill("+7 000 555-01-10")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    expect(page.get_by_role("textbox", name="Phone")).to_have_value("+7 000 555-01-10")
    site.contact_status = 204
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.locator(".bar")).to_have_text("A person was called. The answer will appear here.")
