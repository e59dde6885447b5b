"""The settings' page of data: how long things are kept, the archive of everything, and the account's deletion."""

from __future__ import annotations

import zipfile
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.server import Account
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import PHONE, findings, width_over

pytestmark = pytest.mark.browser

WAIT_MS = 180_000
OpenCabinet = Callable[..., Page]


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_recordings_texts_and_cameras_have_terms_of_their_own(open_cabinet: OpenCabinet, account: Account) -> None:
    page = open_cabinet(account, "/settings/data")
    expect(page.get_by_role("heading", level=1, name="Data and privacy")).to_be_visible()
    choose(page, "Recordings", "90 days")
    expect(page.get_by_text("A shorter time deletes what is older")).to_be_visible()
    choose(page, "Conversations", "Another number of days")
    page.get_by_role("textbox", name="Conversations: Days").fill("400")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved")).to_be_visible()
    settings = account.get("/public/v1/settings").json()
    assert (settings["audio_retention"], settings["retention"], settings["camera_retention"]) == (90, 400, 30)
    assert findings(page) == []


@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
def test_an_archive_is_made_fetched_and_deleted(
    open_cabinet: OpenCabinet, account: Account, size: dict[str, int] | None
) -> None:
    account.add_document(account.new_space(), b"# Prices\n\nThe gravelmoth costs 40 roubles.", "prices.md")
    page = open_cabinet(account, "/settings/data", **({"viewport": size} if size else {}))
    page.get_by_role("button", name="Make an archive").click()
    link = page.get_by_role("link", name="Download")
    expect(link).to_be_visible(timeout=WAIT_MS)
    with page.expect_download() as fetched:
        link.click()
    with zipfile.ZipFile(fetched.value.path()) as archive:
        assert b"gravelmoth" in archive.read("knowledge/chunks.jsonl")
    assert findings(page) == []
    assert width_over(page) == 0
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(link).to_have_count(0)


def test_the_account_is_deleted_once_its_name_is_typed(
    open_cabinet: OpenCabinet, new_account: Callable[..., Account]
) -> None:
    account = new_account(name="<b>Gone</b> & Sons")
    page = open_cabinet(account, "/settings/data", language="ru")
    page.get_by_role("button", name="Удалить аккаунт…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Удалить всё навсегда")).to_be_disabled()
    typed = dialog.get_by_role("textbox")
    expect(typed).to_be_focused()
    typed.fill("Gone & Sons")
    expect(dialog.get_by_role("button", name="Удалить всё навсегда")).to_be_disabled()
    typed.fill("<b>Gone</b> & Sons")
    assert findings(page) == []
    dialog.get_by_role("button", name="Удалить всё навсегда").click()
    expect(dialog.get_by_text("Его данные удаляются")).to_be_visible()
    assert account.get("/public/v1/settings").status_code == 401
    dialog.get_by_role("link", name="На сайт").click()
    expect(page).to_have_url(account.server.url + "/")
