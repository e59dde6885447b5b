"""What becomes of work in the cabinet when the session ends, or the connection breaks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet, session_link
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import add_call
from tests.ui.conftest import findings
from tests.ui.test_cabinet_upload import MAIL, choose

pytestmark = pytest.mark.browser

DIALOGUE = "Your session has ended"


def end_session(page: Page) -> None:
    page.context.clear_cookies()


def enter_beside(page: Page, account: Account) -> None:
    """Enters an account in another tab of the same browser."""
    beside = page.context.new_page()
    beside.goto(session_link(account))
    beside.get_by_role("button").click()
    beside.wait_for_url("**/cabinet")


def test_half_written_work_outlives_its_session(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, f"/communications/{add_call(account)}")
    turn = page.locator("#item-1")
    turn.get_by_role("button", name="Correct").click()
    text = page.get_by_role("textbox", name="What was said")
    text.fill("My gravelmoth lamp arrived in pieces")
    end_session(page)
    page.get_by_role("button", name="Save", exact=True).click()
    dialogue = page.get_by_role("dialog", name=DIALOGUE)
    expect(dialogue.get_by_role("link", name="Sign in")).to_have_attribute("href", "/cabinet")
    expect(text).to_have_value("My gravelmoth lamp arrived in pieces")
    assert findings(page) == []
    dialogue.get_by_role("button", name="I have signed in").click()
    expect(dialogue.get_by_role("alert")).to_contain_text("There is no session yet")
    enter_beside(page, account)
    dialogue.get_by_role("button", name="I have signed in").click()
    expect(dialogue).to_have_count(0)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(turn).to_contain_text("My gravelmoth lamp arrived in pieces")


def test_an_upload_says_that_the_session_has_ended_and_goes_on_after_it(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    page = open_cabinet(account, "/upload")
    page.get_by_role("switch", name="Analyse").uncheck()
    end_session(page)
    choose(page, ("question.eml", "message/rfc822", MAIL))
    expect(page.get_by_role("dialog", name=DIALOGUE)).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="question.eml")).to_contain_text("Try again")


def test_a_page_of_one_account_writes_nothing_into_another(
    account: Account, new_account: Callable[..., Account], open_cabinet: OpenCabinet
) -> None:
    other = new_account(name="Other House")
    page = open_cabinet(account, "/settings")
    page.get_by_role("textbox", name="Name").fill("Written for the first account")
    enter_beside(page, other)
    page.get_by_role("button", name="Save", exact=True).click()
    dialogue = page.get_by_role("dialog", name="This browser is in “Other House” now")
    expect(dialogue.get_by_role("link", name="Open “Other House”")).to_have_attribute("href", "/cabinet")
    assert findings(page) == []
    dialogue.get_by_role("button", name="I have changed back").click()
    expect(dialogue.get_by_role("alert")).to_contain_text("still the other account")
    dialogue.get_by_role("button", name="Close").click()
    assert other.get("/public/v1/settings").json()["name"] == "Other House"
    enter_beside(page, account)
    with page.expect_response(lambda answer: answer.request.method == "PATCH") as saved:
        page.get_by_role("button", name="Save", exact=True).click()
    assert saved.value.status == 200
    assert account.get("/public/v1/settings").json()["name"] == "Written for the first account"
    assert other.get("/public/v1/settings").json()["name"] == "Other House"


def test_an_upload_goes_into_no_other_account(
    account: Account, new_account: Callable[..., Account], open_cabinet: OpenCabinet
) -> None:
    other = new_account(name="Other House")
    page = open_cabinet(account, "/upload")
    page.get_by_role("switch", name="Analyse").uncheck()
    enter_beside(page, other)
    choose(page, ("question.eml", "message/rfc822", MAIL))
    expect(page.get_by_role("dialog", name="This browser is in “Other House” now")).to_be_visible()
    assert other.get("/public/v1/communications/search").json()["total"] == 0


def test_an_upload_has_one_key_however_often_it_is_tried(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/upload")
    page.get_by_role("switch", name="Analyse").uncheck()
    keys: list[str] = []

    def break_once(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route(re.compile(r"/public/v1/communications$"), break_once)
    choose(page, ("question.eml", "message/rfc822", MAIL))
    row = page.get_by_role("listitem").filter(has_text="question.eml")
    row.get_by_role("button", name="Try again").click()
    expect(row).to_contain_text("Conversations taken in: 1")
    choose(page, ("question.eml", "message/rfc822", MAIL))
    expect(row.first).to_contain_text("there already: 1")
    assert keys[0] == keys[1]
    assert keys[2] != keys[0]
