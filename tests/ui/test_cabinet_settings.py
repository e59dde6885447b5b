"""The settings in a real browser: the account, keys, webhooks, people and the audit, at a desk and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from store import audit
from store.ids import new_id
from tests.support.cabinet import add_operator, mailed_code, signed_in
from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import DESKTOP, PHONE, findings, width_over

pytestmark = pytest.mark.browser
PAGES = ("", "/keys", "/webhooks", "/people", "/audit", "/audit?of=tools")


@pytest.fixture
def client(new_account: Callable[..., Account]) -> Account:
    return new_account(email=f"owner-{new_id()}@shop.example", name="ООО «Ромашка»")


def opened(page: Page, title: str) -> Page:
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    return page


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_the_account_is_named_anew_and_set(
    client: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = opened(open_cabinet(client, "/settings", viewport=viewport), "Account")
    page.get_by_role("switch", name="Voices").check(force=True)
    page.get_by_label("Name").fill("Ромашка и партнёры")
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    expect(page.get_by_label("Name")).to_have_value("Ромашка и партнёры")
    kept = client.get("/public/v1/settings").json()
    assert (kept["name"], kept["voices"]) == ("Ромашка и партнёры", True)


def test_how_long_things_are_kept_is_set_where_it_is_warned_of(client: Account, open_cabinet: OpenCabinet) -> None:
    page = opened(open_cabinet(client, "/settings"), "Account")
    expect(page.get_by_role("heading", name="Chat on your site")).to_be_visible()
    expect(page.get_by_label(re.compile("Communications, days|pictures of cameras"))).to_have_count(0)
    page.get_by_role("link", name="Data").first.click()
    expect(page.get_by_role("heading", name="How long it is kept")).to_be_visible()


def test_what_is_wrong_is_said_at_its_field(client: Account, open_cabinet: OpenCabinet) -> None:
    page = opened(open_cabinet(client, "/settings", language="ru"), "Аккаунт")
    origins = page.get_by_role("combobox", name="Сайты, где работает виджет")
    origins.fill("no address")
    page.get_by_label("Название").click()
    page.get_by_role("button", name="Сохранить").click()
    expect(page.get_by_text("Нужны адреса сайтов вида https://shop.example, без пути.").first).to_be_visible()
    expect(page.get_by_text("widget_origins", exact=False)).to_have_count(0)
    assert findings(page) == []


def test_what_nobody_foresaw_is_said_with_the_servers_own_words(client: Account, open_cabinet: OpenCabinet) -> None:
    page = opened(open_cabinet(client, "/settings", language="ru"), "Аккаунт")
    refusal = {"message": "The moon is <b>wrong</b>.", "type": "invalid_request_error", "code": "moon", "param": None}
    page.route("**/public/v1/settings", lambda route: route.fulfill(status=409, json={"error": refusal}))
    page.get_by_label("Название").fill("Луна")
    page.get_by_role("button", name="Сохранить").click()
    expect(page.get_by_role("alert")).to_have_text("Сервер этого не принял: The moon is <b>wrong</b>.")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_a_key_is_made_shown_once_and_ended(
    client: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = opened(open_cabinet(client, "/settings/keys", viewport=viewport), "API keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_label("What is it for?").fill("CRM")
    page.get_by_role("button", name="Make the key").click()
    shown = page.get_by_role("dialog").locator("pre")
    expect(shown).to_have_text(re.compile("^sk_live_"))
    key = shown.inner_text()
    assert findings(page) == []
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_text("CRM")).to_be_visible()
    assert key not in page.content()
    assert client.get("/public/v1/balance", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    page.get_by_role("button", name="End: CRM").click()
    page.get_by_role("dialog").get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_role("button", name="End: CRM")).to_have_count(0)
    assert client.get("/public/v1/balance", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_a_receiver_that_does_not_answer_is_said_so(client: Account, open_cabinet: OpenCabinet) -> None:
    page = opened(open_cabinet(client, "/settings/webhooks"), "Webhooks")
    page.get_by_label("Address of your receiver").fill("http://127.0.0.1:9/hook")
    page.get_by_role("button", name="Send a test event").click()
    expect(page.get_by_role("alert").or_(page.get_by_role("status")).first).to_be_visible()
    page.get_by_role("button", name="Test and save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert client.get("/public/v1/settings").json()["webhook_url"] is None


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_a_person_is_invited_given_a_role_and_removed(
    client: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = opened(open_cabinet(client, "/settings/people", viewport=viewport), "People and roles")
    page.get_by_role("button", name="Invite").click()
    page.get_by_label("E-mail").fill("anna@shop.example")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_text("anna@shop.example")).to_be_visible()
    page.get_by_role("combobox", name="Role: anna@shop.example").click()
    page.get_by_role("option", name="Viewer").click()
    expect(page.get_by_text("The role is changed")).to_be_visible()
    roles = {each["email"]: each["role"] for each in client.get("/public/v1/operators").json()["items"]}
    assert roles["anna@shop.example"] == "viewer"
    page.get_by_role("button", name="More: anna@shop.example").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("anna@shop.example")).to_have_count(0)


def test_who_is_here_has_signed_in_however_they_came(client: Account, open_cabinet: OpenCabinet) -> None:
    invited = add_operator(client, "viewer")
    page = opened(open_cabinet(client, "/settings/people"), "People and roles")
    main = page.get_by_role("main")
    expect(main.get_by_text("here now")).to_have_count(1)
    expect(main.get_by_text("you", exact=True)).to_have_count(1)
    # That is said of the other one alone.
    expect(main.get_by_text("invited", exact=True)).to_have_count(1)
    expect(main.get_by_text("has not signed in yet")).to_have_text("has not signed in yet")
    expect(main.get_by_text(invited.email)).to_be_visible()
    page.context.clear_cookies()
    page.goto(f"{client.server.url}/cabinet/enter?code={mailed_code(client, invited.email)}")
    page.get_by_role("button").click()
    page.wait_for_url("**/cabinet")
    page.goto(f"{client.server.url}/cabinet/settings/people")
    expect(main.get_by_text("here now")).to_have_count(1)
    # The owner came by a link that names nobody.
    expect(main.get_by_text("has not signed in yet")).to_have_count(1)


def test_a_viewer_reads_the_settings_and_is_offered_nothing_else(client: Account, open_cabinet: OpenCabinet) -> None:
    viewer = add_operator(client, "viewer")
    page = open_cabinet(client)
    page.context.clear_cookies()
    page.goto(f"{client.server.url}/cabinet/enter?code={mailed_code(client, viewer.email)}")
    page.get_by_role("button").click()
    page.wait_for_url("**/cabinet")
    for path, button in (("", "Save"), ("/keys", "New key"), ("/webhooks", "Test and save"), ("/people", "Invite")):
        page.goto(f"{client.server.url}/cabinet/settings{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("button", name=button)).to_have_count(0)
    page.goto(f"{client.server.url}/cabinet/quality/scenarios")
    scenario = page.get_by_role("listitem").filter(has=page.get_by_role("switch")).first
    scenario.get_by_role("button", expanded=False).first.click()
    expect(scenario.get_by_role("textbox", name="Name", exact=True)).to_be_disabled()
    expect(scenario.get_by_role("switch").first).to_be_disabled()


def test_the_audit_names_who_did_it_and_is_filtered(client: Account, open_cabinet: OpenCabinet) -> None:
    with signed_in(client, "owner", f"boss-{new_id()}@shop.example") as browser:
        assert browser.patch("/public/v1/settings", json={"qc": False}).status_code == 200
    page = opened(open_cabinet(client, "/settings/audit"), "Audit")
    expect(page.get_by_text("Settings were changed")).to_be_visible()
    page.get_by_role("textbox", name="Who").fill("boss-")
    expect(page.get_by_text("The account was made")).to_have_count(0)
    expect(page.get_by_text("Settings were changed")).to_be_visible()
    client.call_tool("search_communications", query="price of a lamp")
    page.get_by_role("tab", name="Tool calls of agents").click()
    page.get_by_role("button", name="search_communications").click()
    expect(page.get_by_role("dialog")).to_contain_text("price of a lamp")


def test_the_audits_filter_finds_all_that_belongs_together_in_words(client: Account, open_cabinet: OpenCabinet) -> None:
    with signed_in(client, "owner", f"boss-{new_id()}@shop.example") as browser:
        body = {"kind": "chat", "channel_type": "telegram", "content": [{"text": "hello"}]}
        id_ = browser.post("/public/v1/communications", json=body).json()["communication_id"]
        assert browser.get(f"/public/v1/communications/{id_}/export?format=txt").status_code == 200
        assert browser.delete(f"/public/v1/communications/{id_}").status_code == 204
        scenarios = {"items": [{"code": "support_incident", "enabled": True}]}
        assert browser.put("/public/v1/qc/scenarios", json=scenarios).status_code == 200
    with client.server.database.write() as connection:
        audit.add(client.tenant_id, connection, actor="server start", action="session_link.created")
    page = opened(open_cabinet(client, "/settings/audit", language="ru"), "Журнал")
    expect(page.get_by_text("запуск сервера")).to_be_visible()
    expect(page.get_by_text("support_incident")).to_have_count(0)
    expect(page.get_by_text(re.compile("^включены: "))).to_be_visible()
    page.get_by_role("combobox", name="Что").click()
    page.get_by_role("option", name="Коммуникации").click()
    expect(page.get_by_text("Изменены сценарии качества")).to_have_count(0)
    for done in ("Загружены переписки", "Выгружена коммуникация", "Удалена коммуникация"):
        expect(page.get_by_text(done)).to_be_visible()
    expect(page.get_by_text("формат: txt")).to_be_visible()


@pytest.mark.parametrize(("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desk", "phone"])
@pytest.mark.parametrize("language", ["en", "ru"])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    client: Account, open_cabinet: OpenCabinet, viewport: dict[str, int], scheme: str, language: str
) -> None:
    client.call_tool("search_communications")
    add_operator(client, "viewer", f"{'long' * 12}-{new_id()}@shop.example")
    page = open_cabinet(client, "/settings", viewport=viewport, color_scheme=scheme, language=language)
    for path in PAGES:
        page.goto(f"{client.server.url}/cabinet/settings{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert findings(page) == [], path
        assert width_over(page) == 0, path
