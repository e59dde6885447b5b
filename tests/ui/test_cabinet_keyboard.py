"""The cabinet by keyboard alone: Tab, Shift+Tab, Enter, space and arrows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from store import accounts
from store.ids import new_id
from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import add_call
from tests.ui.test_cabinet_promises import fill
from tests.ui.test_checkout_page import OpenAt
from tests.ui.test_checkout_page import open_at as open_at

pytestmark = pytest.mark.browser

MOST_TABS = 80


def tab_to(page: Page, wanted: Locator, *, key: str = "Tab") -> None:
    """Goes on by `key` until `wanted` has the focus."""
    expect(wanted).to_be_visible()
    for _ in range(MOST_TABS):
        if wanted.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"not reached by {key}: {wanted}")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    tab_to(page, wanted)
    page.keyboard.press(key)


def test_a_link_is_asked_for(account: Account, open_at: OpenAt) -> None:
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, email=f"owner-{new_id()}@shop.example")
    page = open_at(account.server.url + "/cabinet", locale="en-GB")
    tab_to(page, page.locator("input[type=email]"))
    page.keyboard.type("anna@shop.example")
    page.keyboard.press("Enter")
    expect(page.locator("input[type=email]")).to_have_count(0)


def test_a_turn_is_found_corrected_and_left_where_it_was(account: Account, open_cabinet: OpenCabinet) -> None:
    add_call(account)
    page = open_cabinet(account, "/communications")
    press(page, page.get_by_role("list", name="Communications").get_by_role("link").first)
    correct = page.locator("#item-1").get_by_role("button", name="Correct")
    press(page, correct)
    text = page.get_by_role("textbox", name="What was said")
    expect(text).to_be_focused()
    page.keyboard.press("Escape")
    expect(correct).to_be_focused()
    page.keyboard.press("Enter")
    expect(text).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(", sadly")
    press(page, page.get_by_role("button", name="Save", exact=True))
    expect(page.locator("#item-1")).to_contain_text("arrived broken, sadly")
    expect(correct).to_be_focused()
    tab_to(page, page.get_by_role("link", name="Ask about it"), key="Shift+Tab")


def test_files_are_chosen(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/upload")
    # Watched from before the first key: the browser may take a key ahead of the wish to be told of its window.
    with page.expect_file_chooser():
        press(page, page.get_by_role("button", name="Choose files"))


def test_a_promise_is_marked_as_kept(account: Account, open_cabinet: OpenCabinet) -> None:
    fill(account)
    page = open_cabinet(account, "/promises?state=overdue")
    tab_to(page, page.get_by_role("article").get_by_role("checkbox"))
    with page.expect_response(lambda answer: answer.request.method == "PATCH") as changed:
        page.keyboard.press("Space")
    assert changed.value.json()["done_at"] is not None


def test_a_key_is_made(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/settings/keys")
    press(page, page.get_by_role("button", name="New key"))
    expect(page.get_by_label("What is it for?")).to_be_focused()
    page.keyboard.type("CRM")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text("sk_live_")
    press(page, page.get_by_role("button", name="Done"))
    expect(page.get_by_text("CRM")).to_be_visible()
