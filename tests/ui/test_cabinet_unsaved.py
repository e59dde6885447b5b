"""What somebody has changed and not saved is not lost without a question, wherever it is edited."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import add_call
from tests.ui.conftest import findings
from tests.ui.test_cabinet_cameras import camera

pytestmark = pytest.mark.browser


def question(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Leave without saving?")


def asks_and_stays_then_leaves(page: Page) -> None:
    """A link is followed: first it is thought better of, then not."""
    to_people = page.get_by_role("navigation").get_by_role("link", name="People", exact=True)
    here = page.url
    to_people.click()
    expect(question(page)).to_contain_text("is not saved")
    assert findings(page) == []
    question(page).get_by_role("button", name="Cancel").click()
    expect(question(page)).to_have_count(0)
    assert page.url == here
    to_people.click()
    question(page).get_by_role("button", name="Leave").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("People")


def test_the_accounts_settings(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/settings")
    page.get_by_role("textbox", name="Name").fill("Half a name")
    asks_and_stays_then_leaves(page)


def test_an_account_that_is_renamed_shows_its_name_without_a_question(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    page = open_cabinet(account, "/settings")
    asked: list[str] = []

    def note(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", note)
    page.get_by_role("textbox", name="Name").fill("New Name")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("banner")).to_contain_text("New Name")
    assert asked == []


def test_a_chats_settings_of_which_other_tabs_may_be_looked_at(account: Account, open_cabinet: OpenCabinet) -> None:
    chat = account.get("/public/v1/chats").json()["items"][0]
    page = open_cabinet(account, f"/chats/{chat['id']}")
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.fill("Half a name")
    page.get_by_role("tab").nth(1).click()
    expect(page).to_have_url(re.compile("tab="))
    page.get_by_role("tab").first.click()
    expect(name).to_have_value("Half a name")
    asks_and_stays_then_leaves(page)


def test_a_half_corrected_turn(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, f"/communications/{add_call(account)}")
    page.locator("#item-1").get_by_role("button", name="Correct").click()
    text = page.get_by_role("textbox", name="What was said")
    text.fill("Half a turn")
    page.locator("#item-2").get_by_role("button", name="Correct").click()
    question(page).get_by_role("button", name="Cancel").click()
    expect(text).to_have_value("Half a turn")
    asks_and_stays_then_leaves(page)


def test_a_communication_that_is_deleted_takes_its_half_corrected_turn_along(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    page = open_cabinet(account, f"/communications/{add_call(account)}")
    page.locator("#item-1").get_by_role("button", name="Correct").click()
    page.get_by_role("textbox", name="What was said").fill("Half a turn")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Communications")


def test_zones(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, f"/cameras/{camera(account)['id']}")
    page.get_by_role("button", name="Add a rectangle").click()
    asks_and_stays_then_leaves(page)
