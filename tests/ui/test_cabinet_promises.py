"""Promises: by their day, marked as kept, narrowed down, and leading to the words that they were made with."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from store.database import now
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Talk, add_talk, promise
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import PHONE, findings, width_over

pytestmark = pytest.mark.browser


def fill(account: Account) -> Talk:
    day = now().date()
    return add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA},
        turns=[("SPEAKER_00", "I will send the invoice tomorrow."), ("SPEAKER_01", "I will pay it.")],
        promises=[
            promise(
                "Send the <b>invoice</b>", "SPEAKER_00", due=day - timedelta(days=5), quote="I will send the invoice"
            ),
            promise("Bring the spare machine", "SPEAKER_00", due=day + timedelta(days=3)),
            promise("Pay the bill", "SPEAKER_01", due=day + timedelta(days=3), idx=1),
            promise("Think about " + "very " * 60 + "much", None),
        ],
        title="The invoice",
    )


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_promises_are_shown_by_their_day_and_lead_to_their_words(
    account: Account, open_cabinet: OpenCabinet, options: dict[str, object]
) -> None:
    talk = fill(account)
    page = open_cabinet(account, "/promises", **options)
    expect(page.get_by_role("article")).to_have_count(2)
    page.get_by_role("button", name="Overdue 1").click()
    row = page.get_by_role("article")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("Send the <b>invoice</b>")
    expect(row).to_contain_text("«I will send the invoice»")
    source = row.get_by_role("link", name="The invoice")
    expect(source).to_have_attribute("href", f"/cabinet/communications/{talk.id}?item=0")
    assert findings(page) == []
    assert width_over(page) == 0
    page.get_by_role("button", name="No date 1").click()
    expect(row).to_contain_text("very very")
    assert findings(page) == []
    assert width_over(page) == 0


def test_a_promise_is_marked_as_kept_and_open_again(account: Account, open_cabinet: OpenCabinet) -> None:
    fill(account)
    page = open_cabinet(account, "/promises?state=overdue")
    box = page.get_by_role("checkbox", name="Done: Send the <b>invoice</b>")
    box.press("Space")
    expect(page.get_by_role("heading", name="Nothing is overdue")).to_be_visible()
    page.get_by_role("button", name="Done 1").click()
    expect(box).to_be_checked()
    expect(page.get_by_role("article")).to_contain_text("Done")
    assert findings(page) == []
    box.press("Space")
    expect(page.get_by_role("heading", name="Nothing was marked as done yet")).to_be_visible()
    expect(page.get_by_role("button", name="Overdue 1")).to_be_visible()


def test_promises_are_narrowed_by_words_person_and_side(account: Account, open_cabinet: OpenCabinet) -> None:
    fill(account)
    page = open_cabinet(account, "/promises", language="ru")
    rows = page.get_by_role("article")
    expect(rows).to_have_count(2)
    page.get_by_role("textbox", name="Слова из обещания").fill("spare")
    expect(rows).to_have_count(1)
    page.get_by_role("textbox", name="Слова из обещания").fill("")
    expect(rows).to_have_count(2)
    page.get_by_role("combobox", name="Кто обещал").click()
    page.get_by_role("option", name=ANNA.name).click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Pay the bill")
    page.reload()
    expect(rows).to_contain_text("Pay the bill")
    page.get_by_role("combobox", name="Чьи").click()
    page.get_by_role("option", name="Наши").click()
    expect(page.get_by_role("heading", name="По этим условиям ничего нет")).to_be_visible()
    page.get_by_role("button", name="Сбросить условия").click()
    expect(rows).to_have_count(2)
    page.get_by_role("textbox", name="Слова из обещания").fill("gravelmoth")
    page.get_by_role("button", name="Сбросить условия").click()
    expect(rows).to_have_count(2)
    expect(page.get_by_role("textbox", name="Слова из обещания")).to_have_value("")
    expect(page).not_to_have_url(re.compile("query="))
    assert findings(page) == []


def test_an_account_without_promises_says_so(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account, "/promises")
    expect(page.get_by_role("heading", name="Nothing is due in the next 7 days")).to_be_visible()
    assert findings(page) == []
