"""The cabinet's list of communications in a browser: filtered, searched, kept as views, scrolled."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Route, expect

from store import communications
from tests.contract.waiting import eventually
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, add_talk
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import AT, HOSTILE, add_call, add_chat, add_chats
from tests.ui.conftest import PHONE, findings, width_over


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_people_filter_search_and_open_a_communication(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int] | None
) -> None:
    add_call(account)
    add_chat(account, HOSTILE)
    page = open_cabinet(account, "/communications", **({"viewport": viewport} if viewport else {}))
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("<script>")
    assert (findings(page), width_over(page)) == ([], 0)
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("combobox", name="Category").click()
    page.get_by_role("option", name="Complaint").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("category=complaint"))
    expect(rows.first).to_contain_text("Anna Client")
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Anna Client")
    page.go_back()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Clear all").click()
    expect(rows).to_have_count(2)
    path = "/public/v1/communications/search"
    eventually(lambda: account.get(path, params={"query": "gravelmoth"}).json()["items"], bool)
    search = page.get_by_role("textbox", name="Search in conversations")
    search.fill("gravelmoth lamp")
    search.press("Enter")
    expect(page).to_have_url(re.compile("query=gravelmoth"))
    expect(rows.first).to_contain_text("gravelmoth")
    assert "hacked" not in page.title()


def test_a_list_of_filters_is_kept_as_a_view(account: Account, open_cabinet: OpenCabinet) -> None:
    add_call(account)
    add_chat(account, "Hello")
    page = open_cabinet(account, "/communications?kind=chat")
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Save this view…").click()
    page.get_by_role("textbox", name="Name of the view").fill("Chats only")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Chats only")).to_be_visible()
    page.goto(f"{account.server.url}/cabinet/communications")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Chats only", exact=True).click()
    expect(rows).to_have_count(1)


def test_a_view_is_deleted_only_after_a_question(account: Account, open_cabinet: OpenCabinet) -> None:
    body = {"name": "Chats only", "filters": {"kind": "chat"}}
    assert account.post("/public/v1/views", json=body).status_code == 201
    page = open_cabinet(account, "/communications")
    views = page.get_by_role("button", name="Views")
    views.click()
    expect(page.get_by_role("menuitem", name="Chats only", exact=True)).to_be_focused()
    assert findings(page) == []
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Delete the view “Chats only”")).to_be_focused()
    page.keyboard.press("Enter")
    dialogue = page.get_by_role("dialog", name="Delete this view?")
    expect(dialogue).to_contain_text("for everybody in the account")
    assert findings(page) == []
    assert len(account.get("/public/v1/views").json()["items"]) == 1
    dialogue.get_by_role("button", name="Delete").click()
    expect(dialogue).to_have_count(0)
    assert account.get("/public/v1/views").json()["items"] == []


def test_views_that_come_late_are_reached_by_keyboard(account: Account, open_cabinet: OpenCabinet) -> None:
    body = {"name": "Chats only", "filters": {"kind": "chat"}}
    assert account.post("/public/v1/views", json=body).status_code == 201
    page = open_cabinet(account)
    held: list[Route] = []
    page.route("**/public/v1/views", lambda route: held.append(route))  # no built-in is taken as a handler
    page.goto(f"{account.server.url}/cabinet/communications")
    page.get_by_role("button", name="Views").click()
    expect(page.get_by_role("menuitem", name="Loading the views…")).to_be_focused()
    assert findings(page) == []
    held[0].continue_()
    expect(page.get_by_role("menuitem", name="Chats only", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Delete the view “Chats only”")).to_be_focused()


def test_a_view_menu_says_why_there_are_none(account: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(account)
    page.route("**/public/v1/views", lambda route: route.fulfill(status=403, json={"code": "forbidden", "error": "No"}))
    page.goto(f"{account.server.url}/cabinet/communications")
    page.get_by_role("button", name="Views").click()
    expect(page.get_by_role("menuitem", name="Loading the views…")).to_have_count(0)
    expect(page.get_by_role("menuitem")).not_to_contain_text("Set a filter")
    assert findings(page) == []


def test_a_long_list_goes_on_as_it_is_scrolled(account: Account, open_cabinet: OpenCabinet) -> None:
    with account.server.database.write() as connection:
        for number in range(130):
            communications.create(
                account.tenant_id,
                connection,
                kind="call",
                channel_type="phone",
                occured_at=AT - timedelta(hours=number),
                title="",
                request_record_id=f"record-{number}",
            )
    page = open_cabinet(account, "/communications")
    expect(page.get_by_text("130 communications")).to_be_visible()
    expect(page.get_by_role("link", name="record-0", exact=False).first).to_be_visible()
    last = page.get_by_role("link", name="Call: record-129", exact=True)
    for _ in range(60):
        page.keyboard.press("End")
        page.mouse.wheel(0, 4000)
        if last.count():
            break
        page.wait_for_function("() => new Promise((done) => requestAnimationFrame(() => done(true)))")
    expect(last).to_be_visible()
    assert page.get_by_role("listitem").count() < 60


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_a_mail_is_called_by_its_subject_and_a_call_by_who_takes_part(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int] | None
) -> None:
    people = {"SPEAKER_00": BORIS, "SPEAKER_01": ANNA}
    names = f"{ANNA.name}, {BORIS.name}"
    turns = [("SPEAKER_00", "Here is our offer.")]
    for hour, (title, kind) in enumerate((("Offer: 20 lamps", "email"), ("2026-03-04_0917", "call"), (names, "chat"))):
        at = AT - timedelta(hours=hour)
        add_talk(account, people=people, turns=turns, title=title, kind=kind, at=at)
    page = open_cabinet(account, "/communications", **({"viewport": viewport} if viewport else {}))
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    mail, call, chat = rows.nth(0), rows.nth(1), rows.nth(2)
    expect(mail.get_by_role("link")).to_have_text("Mail: Offer: 20 lamps")
    expect(mail).to_contain_text(names)
    expect(call.get_by_role("link")).to_have_text(f"Call: {names}")
    expect(call).to_contain_text("2026-03-04_0917")
    expect(chat.get_by_role("link")).to_have_text(f"Chat: {names}")
    expect(chat.get_by_text(names, exact=True)).to_have_count(0)  # not as a title too
    assert (findings(page), width_over(page)) == ([], 0)
    mail.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Offer: 20 lamps")
    expect(page.get_by_text(f"{names} · Mail")).to_be_visible()
    assert (findings(page), width_over(page)) == ([], 0)
    page.go_back()
    call.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(names)
    expect(page.get_by_text("2026-03-04_0917 · Call, incoming")).to_be_visible()


def test_a_further_page_that_is_refused_is_asked_for_again_only_by_hand(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    add_chats(account, 60)
    asked = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=429, json={"error": {"message": "Too many.", "code": "rate_limit_exceeded"}})

    page = open_cabinet(account)
    further = re.compile(r"/communications/search\?.*cursor=")
    page.route(further, refuse)
    page.goto(f"{account.server.url}/cabinet/communications")
    rows = page.get_by_role("list", name="Communications").get_by_role("listitem")
    expect(rows.first).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("alert")).to_contain_text("Too many requests")
    page.keyboard.press("Home")
    page.keyboard.press("End")
    expect(page.locator("li[data-index='49']")).to_be_visible()
    assert len(asked) == 1
    assert findings(page) == []
    page.unroute(further)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator("li[data-index='59']")).to_be_visible()
