"""The cabinet's upload in a browser: exports and recordings, how far they are, and what was wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests.contract.recordings import spoken, wav
from tests.support.server import JOB_S, Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import PHONE, findings, width_over

MAIL = b"""From: Anna <anna@client.example>
To: shop@shop.example
Subject: <script>alert(1)</script>
Date: Wed, 04 Mar 2026 09:00:00 +0000
Message-ID: <1@client.example>
Content-Type: text/plain; charset=utf-8

Where is my gravelmoth lamp?
"""


def choose(page: Page, *files: tuple[str, str, bytes]) -> None:
    chosen: list[FilePayload] = [{"name": name, "mimeType": kind, "buffer": content} for name, kind, content in files]
    page.locator("input[type=file]").set_input_files(chosen)


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_an_export_becomes_conversations_that_can_be_opened(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int] | None
) -> None:
    page = open_cabinet(account, "/upload", **({"viewport": viewport} if viewport else {}))
    expect(page.get_by_role("button", name="Choose files")).to_be_visible()
    assert (findings(page), width_over(page)) == ([], 0)
    page.get_by_role("switch", name="Analyse").uncheck()
    choose(page, ("question.eml", "message/rfc822", MAIL))
    row = page.get_by_role("listitem").filter(has_text="question.eml")
    expect(row).to_contain_text("Conversations taken in: 1")
    assert (findings(page), width_over(page)) == ([], 0)
    row.get_by_role("link", name="Open").click()
    expect(page.get_by_text("Where is my gravelmoth lamp?")).to_be_visible()
    # What was sent is still listed for who comes back.
    page.go_back()
    expect(row).to_contain_text("Ready")
    row.get_by_role("button", name="Take off the list").click()
    expect(row).to_have_count(0)


def test_a_recording_is_followed_to_its_text(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/upload")
    choose(page, ("call.wav", "audio/wav", wav(spoken("04", 0, 6))))
    row = page.get_by_role("listitem").filter(has_text="call.wav")
    expect(row).to_contain_text("Ready", timeout=JOB_S * 1000)
    row.get_by_role("link", name="Open").click()
    # The times of its words were asked for: each lights up where it is heard.
    page.get_by_role("slider", name="Position in the recording").press("ArrowRight")
    expect(page.locator("mark").first).to_have_text(re.compile(r"\w"))


def test_what_came_in_and_was_not_analysed_is_not_called_ready(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/upload")

    def fail_analysis(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"summary_generation_status": "error"})

    page.route(re.compile(r"/public/v1/communications\?id="), fail_analysis)
    choose(page, ("question.eml", "message/rfc822", MAIL))
    row = page.get_by_role("listitem").filter(has_text="question.eml")
    expect(row).to_contain_text("its analysis failed", timeout=JOB_S * 1000)
    expect(row).not_to_contain_text("Ready")
    assert findings(page) == []


def test_what_is_wrong_with_a_file_is_said(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/upload")
    choose(page, ("notes.wav", "audio/wav", b"no sound at all"), ("empty.eml", "message/rfc822", b"\x00\x01"))
    expect(page.get_by_role("listitem").filter(has_text="notes.wav")).to_contain_text("No sound was found")
    expect(page.get_by_role("listitem").filter(has_text="empty.eml")).to_contain_text("There is no conversation")
    assert findings(page) == []


def test_who_has_no_money_is_led_to_the_balance(new_account: Callable[..., Account], open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(new_account(balance_rub="0"), "/upload")
    choose(page, ("call.wav", "audio/wav", wav(spoken("04", 0, 6))))
    row = page.get_by_role("listitem").filter(has_text="call.wav")
    expect(row).to_contain_text("The balance does not cover it.")
    expect(row.get_by_role("link", name="Top up the balance")).to_have_attribute("href", "/cabinet/balance")
