"""The cabinet's menus while they are open."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.communications import add_call
from tests.ui.conftest import findings

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_open_menu(account: Account, open_cabinet: OpenCabinet, scheme: str) -> None:
    call = add_call(account)
    space_id = account.new_space("Shop")
    account.add_document(space_id, b"The warranty lasts three years.", "warranty.txt")
    operator = {"email": "vera@shop.example", "role": "viewer", "name": "Vera"}
    assert account.post("/public/v1/operators", json=operator).status_code == 201
    client = account.get("/public/v1/communications", params={"id": call}).json()["speakers"][0]["id"]
    page = open_cabinet(account, color_scheme=scheme)
    places = ("/communications", f"/communications/{call}", f"/people/{client}", f"/knowledge/{space_id}")
    for path in (*places, "/settings/people"):
        page.goto(f"{account.server.url}/cabinet{path}")
        openers = page.locator("main [aria-haspopup=menu]")
        expect(openers.first).to_be_visible()
        for opener in openers.all():
            opener.click()
            expect(page.get_by_role("menu")).to_be_visible()
            assert findings(page) == [], path
            page.keyboard.press("Escape")
            expect(page.get_by_role("menu")).to_have_count(0)
            expect(opener).to_be_focused()
