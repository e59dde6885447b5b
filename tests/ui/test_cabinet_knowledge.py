"""The knowledge base in the cabinet: from a dropped file to the cited passage, and how well passages are found."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.contract.test_knowledge_passages import add_book
from tests.support.server import JOB_S, Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import DESKTOP, PHONE, findings, width_over

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
BOTH = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
READ_MS = JOB_S * 1000


def is_well(page: Page) -> bool:
    assert findings(page) == []
    return width_over(page) == 0


@BOTH
def test_a_file_that_is_dropped_can_be_searched_and_leads_to_its_passage(
    account: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = open_cabinet(account, "/knowledge", viewport=viewport)
    page.get_by_role("button", name="New space").first.click()
    page.get_by_role("textbox", name="Name").fill(f"Shop {HOSTILE}")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Shop {HOSTILE}")
    files = [
        {"name": f"{HOSTILE}.txt", "mimeType": "text/plain", "buffer": b"The warranty lasts three years."},
        {"name": "noise.bin", "mimeType": "application/octet-stream", "buffer": b"\x00\x01\x02\x03" * 100},
    ]
    page.locator("input[type=file]").set_input_files(files)  # type: ignore[arg-type]
    expect(page.get_by_text("Searchable", exact=True)).to_have_count(2, timeout=READ_MS)  # the upload, and a filter
    expect(page.get_by_text("This kind of file is not read.").first).to_be_visible(timeout=READ_MS)
    assert is_well(page)
    page.get_by_role("tab", name="Search").click()
    page.get_by_role("textbox", name="What to look for").fill("How long is the warranty?")
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_role("link", name=HOSTILE).click()
    cited = page.locator("article[aria-current=location]")
    expect(cited).to_contain_text("The warranty lasts three years.")
    expect(cited).to_be_in_viewport()
    assert is_well(page)


def test_files_that_are_dropped_arrive_while_another_page_is_looked_at(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    space_id = account.new_space("Shop")
    page = open_cabinet(account, f"/knowledge/{space_id}")
    held: list[Route] = []
    is_away = False
    page.route(re.compile(r"/documents$"), lambda route: route.continue_() if is_away else held.append(route))
    files = [
        {"name": f"note {number}.txt", "mimeType": "text/plain", "buffer": f"Shelf {number} holds lamps.".encode()}
        for number in range(5)
    ]
    page.locator("input[type=file]").set_input_files(files)  # type: ignore[arg-type]
    uploads = page.locator("section", has=page.get_by_role("heading", name="Uploads"))
    expect(uploads.get_by_text("Waiting", exact=True)).to_have_count(2)
    page.get_by_role("link", name="People", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("People")
    keys = [route.request.headers["idempotency-key"] for route in held]
    assert len(set(keys)) == len(keys) == 3
    is_away = True
    held[0].abort()
    for route in held[1:]:
        route.continue_()
    page.get_by_role("link", name="Knowledge", exact=True).click()
    page.get_by_role("link", name="Shop").click()
    with page.expect_request(re.compile(r"/documents$")) as again:
        uploads.get_by_role("button", name="Try again").click()
    assert again.value.headers["idempotency-key"] == keys[0]
    expect(uploads.get_by_text("Searchable", exact=True)).to_have_count(5, timeout=READ_MS)
    assert is_well(page)
    listed = account.get(f"/public/v1/kb/spaces/{space_id}/documents").json()["items"]
    assert sorted(each["title"] for each in listed) == [f"note {number}" for number in range(5)]


def test_why_a_document_was_not_read_is_said_in_the_language_of_who_reads(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    space_id = account.new_space("Shop")
    failed = account.add_document(space_id, b"\x00\x01\x02\x03" * 100, "noise.bin")
    assert failed["status"] == "error"
    page = open_cabinet(account, f"/knowledge/{space_id}", language="ru")
    expect(page.get_by_text("Такие файлы не читаются.")).to_be_visible()
    expect(page.get_by_text(failed["error_message"])).to_have_count(0)
    page.get_by_role("link", name=failed["title"]).click()
    # There is room for what the server says besides.
    expect(page.get_by_role("alert")).to_contain_text("Такие файлы не читаются.")
    expect(page.get_by_role("alert").locator("[lang=en]")).to_have_text(failed["error_message"])
    assert is_well(page)


def test_a_cited_passage_of_a_long_book_opens_at_once_and_can_be_read_both_ways(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    document_id, ids = add_book(account, account.new_space())
    page = open_cabinet(account, f"/documents/{document_id}#chunk-{ids[1499]}")
    expect(page.locator("article[aria-current=location]")).to_contain_text("Passage 1500 of the book.")
    expect(page.locator("article[aria-current=location]")).to_be_in_viewport()
    expect(page.get_by_text("Passage 1481 of the book.")).to_have_count(0)
    page.get_by_role("button", name="What stands before").click()
    expect(page.get_by_text("Passage 1481 of the book.")).to_have_count(1)
    page.get_by_text("Passage 1525 of the book.").scroll_into_view_if_needed()
    expect(page.get_by_text("Passage 1535 of the book.")).to_have_count(1)
    page.get_by_role("textbox", name="Passage number").fill("2000")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.get_by_text("Passage 2000 of the book.")).to_be_visible()
    page.goto(f"{account.server.url}/cabinet/documents/{document_id}#chunk-{document_id}")
    page.reload()
    expect(page.get_by_text("The passage that was cited is not in the document as it is now.")).to_be_visible()


def test_passages_that_are_refused_are_asked_for_again_only_by_hand(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    document_id, _ = add_book(account, account.new_space())
    asked = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=429, json={"error": {"message": "Too many.", "code": "rate_limit_exceeded"}})

    page = open_cabinet(account)
    page.route(re.compile(r"/chunks\?.*offset=40"), refuse)
    page.goto(f"{account.server.url}/cabinet/documents/{document_id}")
    page.get_by_text("Passage 40 of the book.").scroll_into_view_if_needed()
    expect(page.get_by_role("alert")).to_contain_text("Too many requests")
    page.get_by_text("Passage 1 of the book.").scroll_into_view_if_needed()
    page.get_by_text("Passage 40 of the book.").scroll_into_view_if_needed()
    expect(page.get_by_role("alert")).to_be_in_viewport()
    assert len(asked) == 1
    page.unroute(re.compile(r"/chunks\?.*offset=40"))
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Passage 41 of the book.")).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_on_a_phone_tabs_stay_on_one_line_and_buttons_stand_under_the_sentence(
    account: Account, open_cabinet: OpenCabinet
) -> None:
    page = open_cabinet(account, f"/knowledge/{account.new_space('Shop')}", viewport=PHONE)
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(3)
    assert len({tab.evaluate("tab => tab.offsetTop") for tab in tabs.all()}) == 1
    tabs.last.click()
    expect(tabs.last).to_be_in_viewport(ratio=0.9)
    assert is_well(page)
    page.goto(f"{account.server.url}/cabinet/knowledge")
    sentence = page.locator("main h1 + p").bounding_box()
    button = page.get_by_role("button", name="New space").first.bounding_box()
    assert sentence is not None
    assert button is not None
    assert button["y"] >= sentence["y"] + sentence["height"]


def test_questions_are_kept_run_and_compared(account: Account, open_cabinet: OpenCabinet) -> None:
    space_id = account.new_space("Shop")
    right = account.add_document(space_id, b"The warranty lasts three years.", "warranty.txt")
    account.add_document(space_id, b"Parking is free on Sundays.", "parking.txt")
    page = open_cabinet(account, f"/knowledge/{space_id}?tab=search&q=How+long+is+the+warranty")
    page.get_by_role("button", name="Keep as a test").first.click()
    expect(page.get_by_text("Kept among the retrieval tests.").first).to_be_visible()
    page.get_by_role("tab", name="Retrieval tests").click()
    page.get_by_role("button", name="Run the tests").click()
    expect(page.get_by_text("Found as no. 1")).to_be_visible()
    first = page.locator("section", has=page.get_by_role("heading", name="Result of the run"))
    expect(first).to_contain_text(re.compile(r"Found first\s*100 %"))
    # What the question points to goes out of sight behind what says its words more often.
    words = b"How long is the warranty? How long is the warranty of it? "
    for number in range(11):
        account.add_document(space_id, words + f"Note {number}: long {number}.".encode(), f"note {number}.txt")
    page.get_by_role("button", name="Run the tests").click()
    expect(page.get_by_text("Worse than before")).to_be_visible()
    assert right["status"] == "success"
    assert is_well(page)


def test_a_space_is_limited_renamed_and_deleted(account: Account, open_cabinet: OpenCabinet) -> None:
    space_id = account.new_space("Old name")
    page = open_cabinet(account, f"/knowledge/{space_id}", language="ru")
    page.get_by_role("button", name="Ещё").click()
    page.get_by_role("menuitem", name="Название и доступ").click()
    page.get_by_role("textbox", name="Название").fill("Только для чата")
    page.get_by_role("switch", name="Только для некоторых чатов и ключей").click()
    page.get_by_role("combobox", name="Чаты").click()
    page.get_by_role("option").first.click()
    page.get_by_role("button", name="Сохранить").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Только для чата")
    expect(page.get_by_text("Ограничен", exact=True)).to_be_visible()
    assert account.get(f"/public/v1/kb/spaces/{space_id}").status_code == 404
    page.get_by_role("button", name="Ещё").click()
    page.get_by_role("menuitem", name="Удалить раздел").click()
    page.get_by_role("dialog").get_by_role("button", name="Удалить раздел").click()
    expect(page).to_have_url(re.compile("/cabinet/knowledge$"))
    expect(page.get_by_text("Только для чата")).to_have_count(0)
