"""The cabinet's cookie in place of a key: what it may do, and what a page of another site cannot do with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from store.ids import new_id
from tests.support.server import Account

ELSEWHERE = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://elsewhere.example"},
    {"Origin": "null"},
)


@pytest.fixture
def client(new_account: Callable[..., Account]) -> Account:
    return new_account(email=f"owner-{new_id()}@shop.example")


@pytest.fixture
def browser(client: Account) -> Iterator[httpx2.Client]:
    """One that has entered the client's cabinet."""
    headers = {"Sec-Fetch-Site": "same-origin"}
    with httpx2.Client(base_url=client.server.url, timeout=60, headers=headers) as browser:
        link = client.post("/public/v1/session-link").json()["url"]
        (code,) = parse_qs(urlsplit(link).query)["code"]
        assert browser.post("/cabinet/session-link", data={"code": code}).status_code == 303
        yield browser


def without_its_site(browser: httpx2.Client, method: str, path: str, headers: dict[str, str], **body: Any) -> int:
    del browser.headers["Sec-Fetch-Site"]
    try:
        status: int = browser.request(method, path, headers=headers, **body).status_code
    finally:
        browser.headers["Sec-Fetch-Site"] = "same-origin"
    return status


@pytest.mark.proves("addresses.cabinet.calls-public", "account.settings.key-and-cookie", "imports.media.get")
def test_the_cookie_reads_and_writes_as_a_key_does(client: Account, browser: httpx2.Client) -> None:
    for path in ("/public/v1/balance", "/public/v1/settings", "/public/v1/kb/spaces", "/public/v1/keys"):
        answer = browser.get(path)
        assert (answer.status_code, answer.json()) == (200, client.get(path).json()), path
    changed = browser.patch("/public/v1/settings", json={"time_zone": "Asia/Omsk"})
    assert changed.status_code == 200, changed.text
    assert client.get("/public/v1/settings").json()["time_zone"] == "Asia/Omsk"
    picture = b"\x89PNG\r\n\x1a\n" + b"0" * 100
    uploaded = browser.post("/public/v1/media", files={"file": ("a.png", picture, "image/png")})
    assert uploaded.status_code == 201, uploaded.text
    assert browser.get(f"/public/v1/media/{uploaded.json()['ref']}").content == picture


def test_what_it_does_is_in_the_audit_log(browser: httpx2.Client) -> None:
    browser.patch("/public/v1/settings", json={"time_zone": "Asia/Omsk"})
    actors = {each["actor"] for each in browser.get("/public/v1/audit").json()["items"]}
    assert "cabinet" in actors


def test_the_log_of_tool_calls_has_those_of_the_key_and_not_what_its_pages_read(
    client: Account, browser: httpx2.Client
) -> None:
    for caller, limit in ((client, 5), (browser, 6)):
        assert caller.post("/public/v1/tools/search_speakers", json={"limit": limit}).status_code == 200
    logged = client.get("/public/v1/tool-calls").json()["items"]
    assert [(each["tool"], each["arguments"]) for each in logged] == [("search_speakers", {"limit": 5})]


def test_it_sees_limited_spaces_and_may_limit_them(client: Account, browser: httpx2.Client) -> None:
    made = browser.post("/public/v1/kb/spaces", json={"name": "Board", "access": {"chat_ids": [], "key_ids": []}})
    assert made.status_code == 201, made.text
    path = f"/public/v1/kb/spaces/{made.json()['id']}"
    assert (browser.get(path).status_code, client.get(path).status_code) == (200, 404)


@pytest.mark.parametrize("headers", ELSEWHERE)
def test_a_page_of_another_site_changes_nothing(browser: httpx2.Client, headers: dict[str, str]) -> None:
    before = browser.get("/public/v1/settings").json()
    status = without_its_site(browser, "PATCH", "/public/v1/settings", headers, json={"time_zone": "Asia/Omsk"})
    assert status == 401
    assert without_its_site(browser, "POST", "/public/v1/keys", headers, json={"name": "theirs"}) == 401
    assert browser.get("/public/v1/settings").json() == before


def test_a_key_that_was_sent_is_what_counts(client: Account, browser: httpx2.Client) -> None:
    answer = browser.get("/public/v1/balance", headers={"Authorization": "Bearer sk_live_" + "0" * 40})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_a_cookie_opens_no_other_account(
    client: Account, browser: httpx2.Client, new_account: Callable[..., Account]
) -> None:
    other = new_account()
    space = other.post("/public/v1/kb/spaces", json={"name": "Theirs"}).json()["id"]
    assert browser.get(f"/public/v1/kb/spaces/{space}").status_code == 404
    assert space not in browser.get("/public/v1/kb/spaces").text


def test_a_page_of_the_account_that_was_open_before_changes_nothing_in_this_one(
    client: Account, browser: httpx2.Client, new_account: Callable[..., Account]
) -> None:
    shown_here, shown_there = client.tenant_id, new_account().tenant_id
    for shown, statuses in ((shown_here, [200, 201]), (shown_there, [401, 401])):
        headers = {"X-Parley-Account": shown}
        answers = [
            browser.get("/public/v1/settings", headers=headers),
            browser.post("/public/v1/kb/spaces", json={"name": f"Of {shown}"}, headers=headers),
        ]
        assert [answer.status_code for answer in answers] == statuses
    assert {answer.json()["error"]["code"] for answer in answers} == {"other_account"}
    assert shown_there not in client.get("/public/v1/kb/spaces").text
    # A key says by itself whose it is.
    assert client.get("/public/v1/settings", headers={"X-Parley-Account": shown_there}).status_code == 200


def test_it_is_no_key_of_agents_and_partners(browser: httpx2.Client) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert browser.post("/mcp", json=call).status_code == 401
    assert browser.post("/integration/v1/clients", json={"external_id": "x"}).status_code == 401


def test_an_ended_session_opens_nothing(client: Account, browser: httpx2.Client) -> None:
    token = browser.cookies["parley_session"]
    assert browser.post("/cabinet/logout").status_code == 200
    old = httpx2.get(client.server.url + "/public/v1/balance", headers={"Cookie": f"parley_session={token}"})
    assert (old.status_code, old.json()["error"]["code"]) == (401, "missing_api_key")
    made_up = httpx2.get(client.server.url + "/public/v1/balance", headers={"Cookie": f"parley_session={'a' * 43}"})
    assert made_up.status_code == 401


def test_a_paused_client_still_reads_and_starts_nothing(
    client: Account, browser: httpx2.Client, pause: Callable[..., None]
) -> None:
    pause(client)
    assert browser.get("/public/v1/balance").status_code == 200
    answer = browser.post("/public/v1/communications", json={"items": []})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "client_inactive")
