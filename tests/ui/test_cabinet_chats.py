"""Chat agents and the site's conversations in the cabinet: settings beside the widget, and a person who answers."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from chat import conversations
from tests.contract import material
from tests.contract.test_conversations_lists import answered
from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import DESKTOP, PHONE, findings, width_over

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
BOTH = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])


def is_well(page: Page) -> bool:
    assert findings(page) == []
    return width_over(page) == 0


@BOTH
def test_settings_show_in_the_preview_before_they_are_saved(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    account.add_document(account.new_space(), material.RETURNS.encode(), "returns.html")
    page = open_cabinet(account, f"/chats/{account.chat_id}", viewport=viewport)
    page.get_by_role("textbox", name="Title").fill(f"Owl {HOSTILE}")
    page.get_by_role("textbox", name="Suggested questions").fill("When can a machine be returned?")
    page.get_by_role("textbox", name="Colour").fill("#6741d9")
    page.get_by_role("textbox", name="Sites that may show the widget").fill("not an origin")
    preview = page.frame_locator("iframe[title=Preview]")
    expect(preview.get_by_text(f"Owl {HOSTILE}").first).to_be_visible()
    assert is_well(page)
    page.locator("iframe[title=Preview]").evaluate("node => node.scrollIntoView({ block: 'center' })")
    page.wait_for_load_state("networkidle")  # the preview comes anew for what was typed last
    preview.get_by_role("button", name="When can a machine be returned?").click()
    expect(preview.locator(".markdown").last).to_contain_text("fourteen days")
    # Asked by its owner: that is no visitor's conversation.
    assert account.get("/public/v1/conversations").json()["items"] == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Addresses of sites are needed")).to_be_visible()
    page.get_by_role("textbox", name="Sites that may show the widget").fill("https://shop.example")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    saved = account.get(f"/public/v1/chats/{account.chat_id}").json()
    assert saved["header_title"] == f"Owl {HOSTILE}"
    assert saved["theme"]["accent"] == "#6741d9"
    assert saved["suggestions"] == ["When can a machine be returned?"]
    assert saved["allowed_origins"] == ["https://shop.example"]


def test_the_key_is_changed_after_a_warning_and_the_snippet_has_the_new_one(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    before = account.made.chat.public_key
    page = open_cabinet(account, f"/chats/{account.chat_id}")
    expect(page.locator("pre", has_text=before)).to_contain_text("/widget.js")
    page.get_by_role("button", name="Change the key").click()
    page.get_by_role("dialog").get_by_role("button", name="Change the key").click()
    expect(page.locator("pre", has_text=before)).to_have_count(0)
    after = account.get(f"/public/v1/chats/{account.chat_id}").json()["public_key"]
    expect(page.locator("pre", has_text=after)).to_be_visible()


def test_a_new_chat_votes_and_questions_without_an_answer(account: Account, open_cabinet: OpenCabinet) -> None:
    answered(account, f"Where is {HOSTILE}?", "Nothing was found.", found=False)
    page = open_cabinet(account, f"/chats/{account.chat_id}?tab=answers")
    expect(page.get_by_text(f"Where is {HOSTILE}?")).to_be_visible()
    page.get_by_text("Not helpful", exact=True).click()
    expect(page.get_by_text("There is none")).to_be_visible()
    assert is_well(page)
    page.get_by_role("tab", name="Refused calls").click()
    expect(page.get_by_text("Nothing was refused")).to_be_visible()
    page.get_by_role("link", name="Chat agents").first.click()
    page.get_by_role("button", name="New chat").click()
    page.get_by_role("textbox", name="Name").fill("Night shift")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Night shift")


@BOTH
def test_a_visitor_who_waits_is_answered_and_given_back(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    database, tenant_id = account.server.database, account.tenant_id
    answered(account, "When do you open?", "At **nine**.")
    page = open_cabinet(account, "/conversations", viewport=viewport)
    expect(page.get_by_text("Agent: At nine.")).to_be_visible()
    waiting, reply_id = answered(account, f"Hello {HOSTILE}", "Found in \\[a\\]:\n\n> the words [1]")
    conversations.rate(database, tenant_id, waiting, reply_id, "down", "Not that")
    contact = {"name": f"Vera {HOSTILE}", "email": "vera@example.com"}
    conversations.request_person(database, tenant_id, account.chat_id, waiting, contact, "Call me")
    # It comes by itself.
    expect(page.get_by_role("heading", name="Waiting for a person")).to_be_visible()
    expect(page).to_have_title("(1) Site conversations · Parley")
    assert is_well(page)
    page.get_by_role("link", name=f"Vera {HOSTILE}").first.click()
    expect(page.get_by_role("link", name="vera@example.com")).to_be_visible()
    expect(page.locator("blockquote")).to_have_text("the words [1]")
    expect(page.get_by_text("Not that")).to_be_visible()
    assert is_well(page)
    page.get_by_role("textbox", name="Your name").fill("Anna")
    page.get_by_role("button", name="Take over").click()
    page.get_by_role("textbox", name="Your answer").fill("I call you now.")
    colleague = {"operator_name": "Boris", "replace": True}
    taken = account.post(f"/public/v1/conversations/{waiting}/takeover", json=colleague)
    assert taken.status_code == 200  # what Anna says stays hers
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("article").filter(has_text="Anna")).to_contain_text("I call you now.")
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value("")
    assert is_well(page)
    page.get_by_role("button", name="Give back to the agent").click()
    expect(page.get_by_text("The agent answers", exact=True)).to_be_visible()
    details = account.get(f"/public/v1/conversations/{waiting}").json()
    assert [message["author"] for message in details["messages"] if message["role"] == "operator"] == ["Anna"]
    assert details["operator_name"] is None
