"""Asking in the cabinet: from the link that the server prints to the words that an answer rests on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from store.ids import new_id
from tests.contract import material
from tests.contract.waiting import eventually
from tests.support.server import Account, RunningServer
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import HOSTILE, SAID, add_call, add_chat
from tests.ui.conftest import DESKTOP, PHONE, findings, width_over
from tests.ui.test_checkout_page import OpenAt
from tests.ui.test_checkout_page import open_at as open_at

pytestmark = pytest.mark.browser

QUESTION = "What happened to the gravelmoth lamp?"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Account]:
    """A server as `make run` leaves it: with an account that demo.json names, and a call in it."""
    server = RunningServer(tmp_path)
    try:
        account = server.new_client("demo", name="Polar Owl", email="hello@polar-owl.example")
        named = {"tenant_id": account.tenant_id, "api_key": account.made.api_key, "space_id": account.chat_id}
        (tmp_path / "demo.json").write_text(json.dumps(named), encoding="utf-8")
        add_call(account)
        server.start()
        indexed(account)
        yield account
    finally:
        server.close()


def indexed(account: Account, word: str = "gravelmoth") -> None:
    path = "/public/v1/communications/search"
    eventually(lambda: account.get(path, params={"query": word}).json()["items"], bool)


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_the_printed_link_leads_to_a_call_that_is_heard_and_asked_about(demo: Account, open_at: OpenAt) -> None:
    printed = re.search(r"The demo cabinet\s+(\S+)", demo.server.log())
    assert printed is not None
    page = open_at(printed[1])
    page.get_by_role("button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.get_by_role("link", name="Communications", exact=True).first.click()
    page.get_by_role("list", name="Communications").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Summary")).to_be_visible()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(page.get_by_text("0:00 / 0:30")).to_have_count(0)
    page.get_by_role("link", name="Ask about it").click()
    expect(page.get_by_role("link", name="Call, Anna Client")).to_be_visible()
    ask(page, QUESTION)
    expect(page.get_by_role("article", name="Answer")).to_contain_text(SAID[1])
    page.get_by_role("link", name="Source 1:").first.click()
    # Where the quotation begins.
    expect(page.locator("[id^=item-]:focus")).to_be_in_viewport()
    expect(page.locator("#item-1")).to_contain_text(SAID[1])
    # Who comes back finds the answer.
    page.go_back()
    expect(page.get_by_role("article", name="Answer")).to_contain_text(SAID[1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_is_typed_on_the_overview_is_answered_with_its_sources(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int], scheme: str
) -> None:
    add_call(account)
    account.add_document(account.new_space(), material.RETURNS.encode(), "returns.html")
    indexed(account)
    page = open_cabinet(account, viewport=viewport, color_scheme=scheme)
    page.get_by_role("textbox", name="Ask about your conversations").fill("When can a machine be returned?")
    page.get_by_role("textbox", name="Ask about your conversations").press("Enter")
    answers = page.get_by_role("article", name="Answer")
    expect(answers).to_contain_text("fourteen days")
    expect(page.get_by_role("textbox", name="Your question")).to_have_value("")
    assert (findings(page), width_over(page)) == ([], 0)
    page.get_by_role("link", name="Source 1:").first.click()
    expect(page.locator("article[aria-current=location]")).to_contain_text("fourteen days")
    page.go_back()
    ask(page, QUESTION)
    expect(answers.nth(1)).to_contain_text(SAID[1])
    assert (findings(page), width_over(page)) == ([], 0)
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    assert (findings(page), width_over(page)) == ([], 0)


def test_what_a_message_says_is_shown_as_text_and_its_citation_opens_the_message(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    communication_id = add_chat(account, f"The zanthoxylum kettle leaks. {HOSTILE}")
    indexed(account, "zanthoxylum")
    page = open_cabinet(account, "/ask")
    ask(page, "What of the zanthoxylum kettle?")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("zanthoxylum kettle leaks")
    assert page.title() == "Ask · Parley"
    page.get_by_role("link", name="Source 1:").first.click()
    expect(page).to_have_url(re.compile(communication_id))
    expect(page.locator("#item-0")).to_be_focused()


def test_a_broken_connection_is_taken_up_with_the_same_key(account: Account, open_cabinet: OpenCabinet) -> None:
    add_call(account)
    indexed(account)
    page = open_cabinet(account, "/ask")
    keys: list[str] = []

    def break_once(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/messages", break_once)
    ask(page, QUESTION)
    expect(page.get_by_role("article", name="Answer")).to_contain_text(SAID[1])
    assert len(keys) == 2
    assert keys[0] == keys[1]


def test_an_answer_that_cannot_be_paid_says_so(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/ask")
    refusal = {"error": {"type": "permission_error", "code": "client_inactive", "message": "Paused.", "param": None}}
    page.route("**/messages", lambda route: route.fulfill(status=403, json=refusal))
    ask(page, QUESTION)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The balance does not cover it.")
    expect(alert.get_by_role("link", name="Top up the balance")).to_have_attribute("href", "/cabinet/balance")
    page.unroute("**/messages")
    alert.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("Nothing that answers this question")


def test_questions_about_a_conversation_that_is_gone_say_so(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, f"/ask?about={new_id()}")
    expect(page.get_by_role("alert")).to_contain_text("It is not there, or not any more.")
    assert findings(page) == []
    page.get_by_role("link", name="Ask about everything").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("textbox", name="Your question").fill("Anything?")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
