"""The way into the cabinet in a real browser, its frame, and the way out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from bench.bulk import fill_documents
from bench.cabinet import paths_of
from bench.cabinet_data import fill_surroundings
from bench.mcp_data import Company, fill
from store import accounts
from store.ids import new_id
from tests.support.server import Account, RunningServer
from tests.ui.cabinet import OpenCabinet, session_link
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import add_call
from tests.ui.conftest import NARROW, PHONE, findings, width_over
from tests.ui.test_checkout_page import OpenAt
from tests.ui.test_checkout_page import open_at as open_at

pytestmark = pytest.mark.browser
# Once what a script draws, as a waveform is, has taken the window's new size.
WIDTH_OVER_AT_LAST = """() => new Promise((tell) => {
  const { documentElement: root } = document, ends = performance.now() + 5000;
  const look = () => {
    const over = root.scrollWidth - root.clientWidth;
    if (over === 0 || performance.now() > ends) tell(over);
    else requestAnimationFrame(look);
  };
  look();
})"""


@pytest.fixture
def client(new_account: Callable[..., Account]) -> Account:
    return new_account(email=f"owner-{new_id()}@shop.example", name="ООО «Ромашка»")


def enter(page: Page) -> None:
    page.get_by_role("button").click()
    page.wait_for_url("**/cabinet")


@pytest.mark.proves("session-links.sets-cookie", "session-links.get-spends-nothing", "addresses.cabinet")
def test_the_button_leads_into_the_cabinet_and_the_session_stays(client: Account, open_at: OpenAt) -> None:
    url = session_link(client)
    page = open_at(url)
    page.reload()
    enter(page)
    expect(page.get_by_role("banner")).to_contain_text("ООО «Ромашка»")
    page.reload()
    expect(page.get_by_role("banner")).to_contain_text("ООО «Ромашка»")
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_have_text("This link no longer works")


def test_the_entrance_needs_no_script(client: Account, open_at: OpenAt) -> None:
    page = open_at(session_link(client), java_script_enabled=False)
    enter(page)
    expect(page.locator("noscript")).to_have_count(1)


# What the entrance, the first page and the exit say to a browser of the locale.
SAID = {
    "en-US": ("Open your cabinet", "Overview", "You are signed out"),
    "ru-RU": ("Вход в кабинет", "Обзор", "Вы вышли из кабинета"),
}


@pytest.mark.parametrize("locale", SAID)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_whatever_the_accounts_language_the_cabinet_speaks_the_browsers(
    new_account: Callable[..., Account], open_at: OpenAt, locale: str, language: str
) -> None:
    account = new_account(email=f"owner-{new_id()}@shop.example", language=language)
    entrance, first_page, outside = SAID[locale]
    page = open_at(session_link(account), locale=locale)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(entrance)
    enter(page)
    expect(heading).to_have_text(first_page)
    expect(page.locator("html")).to_have_attribute("lang", locale[:2])
    page.get_by_role("banner").get_by_role("button").last.click()
    page.locator("form[action='/cabinet/logout'] button").click()
    expect(heading).to_have_text(outside)


def test_where_the_browser_asks_for_neither_language_the_accounts_is_spoken_until_one_is_chosen(
    new_account: Callable[..., Account], open_at: OpenAt
) -> None:
    account = new_account(email=f"owner-{new_id()}@shop.example", language="ru")
    page = open_at(session_link(account), locale="de-DE")
    expect(page.get_by_role("heading", level=1)).to_have_text("Вход в кабинет")
    enter(page)
    page.get_by_role("button", name="Вы и оформление").click()
    page.get_by_text("English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")


def test_leaving_closes_the_cabinet(client: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(client, language="ru")
    page.get_by_role("button", name="Вы и оформление").click()
    page.get_by_role("button", name="Выйти").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Вы вышли из кабинета")
    page.goto(client.server.url + "/cabinet")
    expect(page.get_by_role("heading", level=1)).to_have_text("Вход в кабинет")


def test_a_cookie_is_out_of_reach_of_scripts(client: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(client)
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("active", [True, False])
def test_axe_finds_nothing(
    client: Account, open_at: OpenAt, open_cabinet: OpenCabinet, scheme: str, active: bool
) -> None:
    with client.server.database.write() as connection:
        accounts.update_tenant(
            client.tenant_id, connection, is_active=active, pause_reason=None if active else "balance"
        )
    assert findings(open_at(session_link(client), color_scheme=scheme)) == []
    page = open_cabinet(client, color_scheme=scheme)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name="You and how it looks").click()
    expect(page.get_by_role("dialog").get_by_role("radiogroup", name="Language")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="You and how it looks")).to_be_focused()


def test_axe_finds_nothing_where_nobody_is_signed_in(server: RunningServer, open_at: OpenAt) -> None:
    assert findings(open_at(server.url + "/cabinet")) == []


@pytest.mark.parametrize("viewport", [NARROW, PHONE])
def test_phones_need_no_sideways_scrolling(
    new_account: Callable[..., Account], open_at: OpenAt, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    account = new_account(email=f"owner-{new_id()}@shop.example", name="Ж" * 200, balance_rub="99999999.99")
    assert width_over(open_at(session_link(account), viewport=viewport)) == 0
    page = open_cabinet(account, viewport=viewport)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert width_over(page) == 0


def paths_to(account: Account, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cabinet's pages with something on each."""
    monkeypatch.setattr("bench.cabinet_data.CAMERA_EVENTS", 60)
    monkeypatch.setattr("bench.cabinet_data.AUDITED", 60)
    database, tenant_id = account.server.database, account.tenant_id
    company = Company(communications=80, clients=12, staff=5, days=20, long_call_turns=12)
    filled = fill(database, tenant_id, company)
    space_id, document_ids = fill_documents(database, tenant_id, count=12)
    around = fill_surroundings(database, tenant_id, account.chat_id, filled, company)
    account.call_tool("search_communications")
    more = [f"/communications/{add_call(account)}", "/?from=2026-01-01&to=2026-01-31", f"/chats/{around.chat_id}"]
    more += [f"/knowledge/{space_id}?tab={tab}" for tab in ("search", "tests")]
    return [*more, "/settings/audit?of=tools", *paths_of(filled, around, space_id, document_ids[0])]


@pytest.mark.parametrize("language", ["en", "ru"])
def test_no_page_needs_sideways_scrolling_on_a_narrow_phone(
    client: Account, open_cabinet: OpenCabinet, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    paths = paths_to(client, monkeypatch)
    page = open_cabinet(client, viewport=NARROW, language=language)
    too_wide = []
    for path in paths:
        page.goto(f"{client.server.url}/cabinet{path}")
        # A camera's pages ask again and again.
        page.wait_for_load_state("load" if path.startswith("/cameras") else "networkidle")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        for width in (320, 360):
            page.set_viewport_size({"width": width, "height": 640})
            if over := page.evaluate(WIDTH_OVER_AT_LAST):
                too_wide.append((path, width, over))
    assert too_wide == []
