"""The sandbox's checkout in a real browser: without scripts, for everybody, and out again to another site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.server import Account, RunningServer
from tests.ui.conftest import NARROW, WAIT_MS, findings, width_over

pytestmark = pytest.mark.browser

OpenAt = Callable[..., Page]


@pytest.fixture
def open_at(browser: Browser, server: RunningServer) -> Iterator[OpenAt]:
    """Opens an address; keywords go to the browser's context. What the page's own policy refuses fails the test."""
    problems: list[str] = []
    contexts = []

    def open_with(url: str, **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", lambda message: problems.append(message.text) if "Policy" in message.text else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(url)
        return page

    yield open_with
    for context in contexts:
        context.close()
    assert problems == []


def payment_url(account: Account, **fields: Any) -> str:
    answer = account.post("/public/v1/payment-link", json={"amount_rub": 12500.5} | fields)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["payment_url"])


@pytest.mark.parametrize(("button", "title"), [(0, "Оплата прошла"), (1, "Оплата не прошла"), (2, "Оплата отменена")])
def test_a_payer_without_scripts_ends_the_payment_by_one_button(
    account: Account, open_at: OpenAt, button: int, title: str
) -> None:
    page = open_at(payment_url(account), java_script_enabled=False)
    expect(page.get_by_role("heading", level=1)).to_have_text("12 500,50 ₽")
    page.get_by_role("button").nth(button).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_the_payer_gets_to_another_site(account: Account, open_at: OpenAt) -> None:
    elsewhere = account.server.url.replace("127.0.0.1", "localhost") + "/healthz"
    page = open_at(payment_url(account, redirect_url=elsewhere))
    page.get_by_role("button", name="Оплатить").click()
    page.wait_for_url(elsewhere)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(new_account: Callable[..., Account], open_at: OpenAt, scheme: str) -> None:
    account = new_account(language="en", email=f"payer-{scheme}@shop.example")
    page = open_at(payment_url(account), color_scheme=scheme)
    expect(page.get_by_role("button", name="Pay ₽12,500.50")).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name="Decline").click()
    expect(page.get_by_role("heading", name="Payment failed")).to_be_visible()
    assert findings(page) == []


def test_it_works_by_keyboard_alone(account: Account, open_at: OpenAt) -> None:
    page = open_at(payment_url(account))
    page.keyboard.press("Tab")
    button = page.get_by_role("button", name="Оплатить")
    expect(button).to_be_focused()
    assert button.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Оплата прошла")


def test_320_pixels_need_no_sideways_scrolling(new_account: Callable[..., Account], open_at: OpenAt) -> None:
    page = open_at(payment_url(new_account(name="Ж" * 200), amount_rub=100000), viewport=NARROW)
    assert width_over(page) == 0


def test_the_page_wears_the_sites_colours(account: Account, open_at: OpenAt) -> None:
    page = open_at(payment_url(account), color_scheme="light")
    background = page.get_by_role("button", name="Оплатить").evaluate("node => getComputedStyle(node).backgroundColor")
    assert background == "rgb(15, 107, 92)"
