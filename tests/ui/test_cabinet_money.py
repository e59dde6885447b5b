"""The balance and the connection of agents in a real browser, at a desk and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from accounts import ledger
from store.ids import new_id
from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import DESKTOP, PHONE, findings, width_over

pytestmark = pytest.mark.browser


@pytest.fixture
def client(new_account: Callable[..., Account]) -> Account:
    account = new_account(email=f"owner-{new_id()}@shop.example", name="ООО «Ромашка»")
    with account.server.database.write() as connection:
        line = ledger.Line("transcription", 120)
        assert ledger.hold(account.tenant_id, connection, key="one", lines=[line], source="test", source_ref=None)
        ledger.use(account.tenant_id, connection, hold_key="one", key="one", line=line)
        ledger.charge(account.tenant_id, connection, hold_key="one", description="For the test")
        assert ledger.hold(account.tenant_id, connection, key="two", lines=[line], source="test", source_ref=None)
    return account


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_money_is_added_and_the_way_leads_back(
    client: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = open_cabinet(client, "/balance", viewport=viewport)
    expect(page.get_by_text("₽9,997.60").first).to_be_visible()
    expect(page.get_by_text("is set aside for work in progress")).to_be_visible()
    page.get_by_label("Amount, ₽").fill("50")
    expect(page.get_by_role("button", name="Pay")).to_be_disabled()
    page.get_by_label("Amount, ₽").fill("1234,50")
    page.get_by_role("button", name="Pay").click()
    page.get_by_role("button", name="Оплатить").click()
    expect(page.get_by_role("status").filter(has_text="Payment received: ₽1,234.50")).to_be_visible()
    expect(page.get_by_text("₽11,232.10").first).to_be_visible()
    expect(page.get_by_text("+₽1,234.50")).to_be_visible()


def test_a_payment_that_failed_is_said_so(client: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(client, "/balance")
    page.get_by_role("button", name="₽1,000", exact=True).click()
    page.get_by_role("button", name="Pay").click()
    page.get_by_role("button", name="Отклонить платёж").click()
    expect(page.get_by_role("status").filter(has_text="did not go through")).to_be_visible()


def test_the_history_is_filtered_and_spending_is_shown(client: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(client, "/balance")
    expect(page.get_by_role("img", name="Spending by day and product, ₽2.40 in all")).to_be_visible()
    line = page.get_by_text("120 s × ₽0.02")
    expect(line).to_be_visible()
    page.get_by_role("combobox", name="What").click()
    page.get_by_role("option", name="Top-ups").click()
    expect(line).to_have_count(0)
    page.get_by_label("To", exact=True).fill("2020-01-01")
    expect(page.get_by_text("Nothing fits the filter")).to_be_visible()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_an_agent_gets_a_key_a_configuration_and_a_trial(
    client: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = open_cabinet(client, "/connect", viewport=viewport)
    expect(page.locator("pre").first).to_contain_text("sk_live_...")
    page.get_by_label("Which agent is it for?").fill("Claude")
    page.get_by_role("button", name="Make a key").click()
    expect(page.locator("pre").first).to_have_text(re.compile("^sk_live_[A-Za-z0-9_-]{20,}$"))
    key = page.locator("pre").first.inner_text()
    for client_name in ("Claude Desktop", "Cursor", "VS Code", "LangChain", "SDK, curl"):
        page.get_by_role("tab", name=client_name).click()
        expect(page.locator("pre").nth(1)).to_contain_text("/mcp")
        expect(page.get_by_role("tabpanel")).to_contain_text(key)
    page.get_by_role("button", name="Try the connection").click()
    expect(page.get_by_role("status").filter(has_text="search_documents")).to_be_visible()


def test_a_key_that_is_none_connects_nothing(client: Account, open_cabinet: OpenCabinet) -> None:
    page = open_cabinet(client, "/connect")
    page.get_by_label("Key", exact=True).fill("sk_live_" + "0" * 40)
    page.get_by_role("button", name="Try the connection").click()
    expect(page.get_by_role("alert")).to_contain_text("does not know this key")


@pytest.mark.parametrize(("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desk", "phone"])
@pytest.mark.parametrize("language", ["en", "ru"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    client: Account, open_cabinet: OpenCabinet, viewport: dict[str, int], scheme: str, language: str
) -> None:
    page = open_cabinet(client, "/balance", viewport=viewport, color_scheme=scheme, language=language)
    for path in ("/balance", "/connect"):
        page.goto(f"{client.server.url}/cabinet{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert findings(page) == [], path
        assert width_over(page) == 0, path
