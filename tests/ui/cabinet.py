"""The cabinet in a browser: entered as people enter it, and failing its test on any error of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from store import accounts
from store.ids import new_id
from tests.support.server import Account
from tests.ui.conftest import BUILT, DESKTOP, WAIT_MS

OpenCabinet = Callable[..., Page]


@pytest.fixture
def open_cabinet(browser: Browser) -> Iterator[OpenCabinet]:
    """`open_cabinet(account, path="/", language="en", **context_options) -> Page`: enters by a session link and its
    button, and opens /cabinet + path. Each call is a browser context of its own. What a script says to the console as
    an error, throws, or asks for elsewhere fails the test."""
    if not (BUILT / "cabinet" / "index.html").is_file():
        pytest.skip("the web part is not built (make web)")
    problems: list[str] = []
    contexts = []

    def open_with(account: Account, path: str = "/", *, language: str = "en", **options: Any) -> Page:
        base = account.server.url

        def watch_console(message: Any) -> None:
            # What the browser itself says of a refused request, which a page may well expect.
            if message.type == "error" and "Failed to load resource" not in message.text:
                problems.append(message.text)

        def watch_request(request: Any) -> None:
            if not request.url.startswith((base, "data:", "blob:")):
                problems.append(f"asked for {request.url}")

        locale = "ru-RU" if language == "ru" else "en-GB"
        context = browser.new_context(**({"locale": locale, "viewport": DESKTOP} | options))
        contexts.append(context)
        # In force until somebody chooses another in the page.
        chosen = f"localStorage.getItem('parley.language') ?? localStorage.setItem('parley.language', '{language}')"
        context.add_init_script(chosen)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", watch_console)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", watch_request)
        page.goto(session_link(account))
        page.get_by_role("button").click()
        page.wait_for_url("**/cabinet")
        if path != "/":
            page.goto(f"{base}/cabinet{path}")
        return page

    yield open_with
    for context in contexts:
        context.close()
    assert problems == []


def session_link(account: Account) -> str:
    """A link into the account's cabinet; an account without an e-mail, which links need, is given one."""
    with account.server.database.write() as connection:
        tenant = accounts.get_tenant(account.tenant_id, connection)
        assert tenant is not None
        if tenant.email is None:
            accounts.update_tenant(account.tenant_id, connection, email=f"owner-{new_id()}@shop.example")
    answer = account.post("/public/v1/session-link")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["url"])
