"""The way into the cabinet and its first page in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from store import accounts
from store.ids import new_id
from tests.support.server import Account, RunningServer
from tests.ui.conftest import NARROW, findings, width_over
from tests.ui.test_checkout_page import OpenAt
from tests.ui.test_checkout_page import open_at as open_at

pytestmark = pytest.mark.browser


@pytest.fixture
def client(new_account: Callable[..., Account]) -> Account:
    return new_account(email=f"owner-{new_id()}@shop.example", name="ООО «Ромашка»")


def link_of(account: Account) -> str:
    return str(account.post("/public/v1/session-link").json()["url"])


def enter(page: Page) -> None:
    page.get_by_role("button").click()
    page.wait_for_url("**/cabinet")


@pytest.mark.proves("session-links.sets-cookie", "session-links.get-spends-nothing")
def test_the_button_leads_into_the_cabinet_and_the_session_stays(client: Account, open_at: OpenAt) -> None:
    url = link_of(client)
    page = open_at(url, java_script_enabled=False)
    page.reload()
    enter(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("ООО «Ромашка»")
    expect(page.locator(".sum")).to_have_text("10 000,00 ₽")
    page.reload()
    expect(page.locator(".sum")).to_be_visible()
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_have_text("This link no longer works")


def test_money_is_added_and_the_way_leads_back(client: Account, open_at: OpenAt) -> None:
    page = open_at(link_of(client), java_script_enabled=False)
    enter(page)
    page.get_by_label("Сумма, ₽").fill("50")
    page.get_by_role("button", name="Пополнить").click()
    expect(page.get_by_role("alert")).to_contain_text("от 100 до 100 000")
    page.get_by_label("Сумма, ₽").fill("1 234,50")
    page.get_by_role("button", name="Пополнить").click()
    page.get_by_role("button", name="Оплатить").click()
    expect(page.get_by_role("status")).to_have_text("1 234,50 ₽ зачислены на баланс.")
    expect(page.locator(".sum")).to_have_text("11 234,50 ₽")


def test_leaving_closes_the_cabinet(client: Account, open_at: OpenAt) -> None:
    page = open_at(link_of(client), locale="ru-RU")
    enter(page)
    page.get_by_role("button", name="Выйти").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Вы вышли из кабинета")
    page.goto(client.server.url + "/cabinet")
    expect(page.get_by_role("heading", level=1)).to_have_text("Войдите по ссылке")


def test_a_cookie_is_out_of_reach_of_scripts(client: Account, open_at: OpenAt) -> None:
    page = open_at(link_of(client))
    enter(page)
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("active", [True, False])
def test_axe_finds_nothing(client: Account, open_at: OpenAt, scheme: str, active: bool) -> None:
    with client.server.database.write() as connection:
        accounts.update_tenant(
            client.tenant_id, connection, is_active=active, pause_reason=None if active else "balance"
        )
    page = open_at(link_of(client), color_scheme=scheme)
    assert findings(page) == []
    enter(page)
    assert findings(page) == []
    page.get_by_label("Сумма, ₽").fill("5")
    page.get_by_role("button", name="Пополнить").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert findings(page) == []


def test_axe_finds_nothing_where_nobody_is_signed_in(server: RunningServer, open_at: OpenAt) -> None:
    assert findings(open_at(server.url + "/cabinet")) == []


def test_320_pixels_need_no_sideways_scrolling(new_account: Callable[..., Account], open_at: OpenAt) -> None:
    account = new_account(email=f"owner-{new_id()}@shop.example", name="Ж" * 200, balance_rub="99999999.99")
    page = open_at(link_of(account), viewport=NARROW)
    assert width_over(page) == 0
    enter(page)
    assert width_over(page) == 0
