"""One-time links into the cabinet: made for a client, spent by a button, exchanged for a session of the browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import sqlalchemy as sa

from accounts import links
from accounts.keys import Keyring
from store import accounts, audit
from store.ids import new_id
from store.sessions import cabinet_sessions, session_codes
from tests.support.server import Account, RunningServer

LINKS = "/public/v1/session-link"
COOKIE = "parley_session"


@pytest.fixture
def client(new_account: Callable[..., Account]) -> Account:
    return new_account(email=f"owner-{new_id()}@shop.example", name="Ромашка <b>&</b> партнёры")


@pytest.fixture
def browser() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=30, headers={"Sec-Fetch-Site": "same-origin"}) as client:
        yield client


def made(account: Account) -> dict[str, Any]:
    answer = account.post(LINKS)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def code_of(link: dict[str, Any]) -> str:
    (code,) = parse_qs(urlsplit(link["url"]).query)["code"]
    return code


def spent(account: Account, code: str, **headers: str) -> httpx2.Response:
    url = account.server.url + "/cabinet/session-link"
    return httpx2.post(url, data={"code": code}, headers=headers, timeout=30)


def entered(account: Account, browser: httpx2.Client) -> None:
    answer = browser.post(account.server.url + "/cabinet/session-link", data={"code": code_of(made(account))})
    assert answer.status_code == 303, answer.text


@pytest.mark.proves(
    "session-links.create.200",
    "session-links.create.lifetime",
    "session-links.shape",
    "session-links.url",
    "session-links.no-extra-properties",
)
def test_a_link_is_made_as_documented(client: Account) -> None:
    link = made(client)
    assert set(link) == {"tenant_id", "url", "expires_in", "expires_at"}
    assert link["tenant_id"] == client.tenant_id
    assert link["url"] == f"{client.server.url}/cabinet/session-link?code={code_of(link)}"
    assert link["expires_in"] == 60
    assert isinstance(link["expires_in"], int)
    lasts = datetime.fromisoformat(link["expires_at"]) - datetime.now(UTC)
    assert timedelta(seconds=30) < lasts <= timedelta(seconds=60)
    assert made(client)["url"] != link["url"]


@pytest.mark.proves("session-links.create.no-email")
def test_a_client_without_an_email_gets_422(account: Account) -> None:
    answer = account.post(LINKS)
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "invalid_request_error")


def test_links_are_limited(client: Account) -> None:
    limit = client.server.settings.session_links_per_minute
    statuses: list[int] = []
    while 429 not in statuses and len(statuses) <= 2 * limit:  # a minute may end in between
        statuses.append(client.post(LINKS).status_code)
    assert len(statuses) > limit
    assert (set(statuses[:-1]), statuses[-1]) == ({200}, 429)
    with client.server.database.read() as connection:
        entries, _ = audit.list_page(client.tenant_id, connection, limit=1000)
    assert [entry.action for entry in entries].count("session_link.created") == len(statuses) - 1


@pytest.mark.proves("session-links.create.401")
def test_without_a_key_no_link_is_made(client: Account) -> None:
    assert httpx2.post(client.server.url + LINKS).status_code == 401


@pytest.mark.proves("session-links.create.paused")
def test_a_paused_client_gets_a_link_that_opens_its_cabinet(
    client: Account, pause: Callable[..., None], browser: httpx2.Client
) -> None:
    pause(client)
    entered(client, browser)
    page = browser.get(client.server.url + "/cabinet")
    assert page.status_code == 200
    assert '"is_active":false' in page.text


@pytest.fixture(scope="module")
def closed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Without session links; its cabinet is reached by HTTPS."""
    running = RunningServer(
        tmp_path_factory.mktemp("closed"), session_links="false", cabinet_url="https://cabinet.example/my"
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.mark.proves("session-links.create.not-configured")
def test_where_session_links_are_not_set_up_the_answer_is_503(closed_server: RunningServer) -> None:
    answer = closed_server.new_client("client", email="owner@shop.example").post(LINKS)
    assert (answer.status_code, answer.json()["error"]["type"]) == (503, "unavailable_error")
    assert "Retry-After" in answer.headers


def test_by_https_the_cookie_is_bound_to_its_host_and_to_https(closed_server: RunningServer) -> None:
    account = closed_server.new_client(f"client {new_id()}", email=f"{new_id()}@shop.example")
    keyring = Keyring.of(closed_server.settings)
    with closed_server.database.write() as connection:
        code = links.make_code(account.made.tenant, connection, keyring, lifetime_s=60, actor="test")
    answer = spent(account, code.text, Origin="https://cabinet.example")
    assert (answer.status_code, answer.headers["location"]) == (303, "https://cabinet.example/my")
    cookie = answer.headers["set-cookie"]
    assert re.match(r"__Host-parley_session=[\w-]{43};", cookie)
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


@pytest.mark.proves("session-links.get-spends-nothing")
def test_looking_at_a_link_shows_one_button_and_spends_nothing(client: Account, browser: httpx2.Client) -> None:
    link = made(client)
    for method in ("GET", "HEAD", "GET", "GET"):
        page = httpx2.request(method, link["url"])
        assert page.status_code == 200
        assert "set-cookie" not in page.headers
    assert page.text.count("<button") == 1
    assert re.findall(r'name="code" value="([^"]+)"', page.text) == [code_of(link)]
    assert "Ромашка &lt;b&gt;&amp;&lt;/b&gt; партнёры" in page.text
    assert re.findall(r'(?:src|href|action)="(?:https?:)?//', page.text) == []
    assert "<script" not in page.text
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'")
    assert "form-action 'self';" in policy
    assert spent(client, code_of(link)).status_code == 303


@pytest.mark.proves("session-links.post-spends", "session-links.one-time", "session-links.sets-cookie")
def test_pressing_the_button_spends_the_code_and_leads_into_the_cabinet(
    client: Account, browser: httpx2.Client
) -> None:
    link = made(client)
    answer = browser.post(link["url"].partition("?")[0], data={"code": code_of(link)})
    assert (answer.status_code, answer.headers["location"]) == (303, client.server.url + "/cabinet")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    page = browser.get(answer.headers["location"])
    assert page.status_code == 200
    assert r"Ромашка \u003cb\u003e\u0026\u003c/b\u003e партнёры" in page.text
    again = spent(client, code_of(link))
    assert again.status_code == 410
    assert "set-cookie" not in again.headers
    assert httpx2.get(link["url"]).status_code == 410


@pytest.mark.proves("session-links.single-use-under-race", "session-links.one-time")
def test_of_64_who_press_at_the_same_moment_one_gets_in(client: Account) -> None:
    code = code_of(made(client))
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: spent(client, code), range(64)))
    assert sorted(answer.status_code for answer in answers) == [303] + [410] * 63
    assert sum("set-cookie" in answer.headers for answer in answers) == 1


@pytest.mark.proves("session-links.signed")
def test_a_code_that_was_altered_or_made_up_opens_nothing(client: Account, server: RunningServer) -> None:
    code = code_of(made(client))
    other = code_of(made(client))
    altered = [
        code[:-1] + ("0" if code[-1] != "0" else "1"),
        ("A" if code[0] != "A" else "B") + code[1:],
        code[:32] + other[32:],
        code[:63],
        code + "0",
        code.swapcase(),
        "A" * 64,
        "",
        " " + code,
        "é" * 64,
        "\x00" * 64,
        "a" * 5000,
        links.make_code.__name__,
    ]
    for wrong in altered:
        answer = spent(client, wrong)
        assert answer.status_code == 400, wrong
        assert "set-cookie" not in answer.headers
        assert httpx2.get(server.url + "/cabinet/session-link", params={"code": wrong}).status_code == 400
    assert httpx2.get(server.url + "/cabinet/session-link").status_code == 400
    assert spent(client, code).status_code == 303


def test_a_code_of_another_installation_opens_nothing(client: Account, closed_server: RunningServer) -> None:
    assert httpx2.get(closed_server.url + f"/cabinet/session-link?code={code_of(made(client))}").status_code == 400


@pytest.mark.proves("session-links.create.lifetime")
def test_a_link_is_dead_after_its_time(client: Account) -> None:
    link = made(client)
    age(client.server, session_codes, client.tenant_id, seconds=61)
    assert httpx2.get(link["url"]).status_code == 410
    assert spent(client, code_of(link)).status_code == 410
    with client.server.database.write() as connection:
        connection.execute(sa.delete(session_codes).where(session_codes.c.tenant_id == client.tenant_id))
    assert spent(client, code_of(link)).status_code == 410


def age(server: RunningServer, table: sa.Table, tenant_id: str, *, seconds: float) -> None:
    with server.database.write() as connection:
        for row in connection.execute(sa.select(table).where(table.c.tenant_id == tenant_id)).all():
            older = row.expires_at - timedelta(seconds=seconds)
            connection.execute(sa.update(table).where(table.c.id == row.id).values(expires_at=older))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        # What browsers say of a page that sends no referrer.
        ({"Origin": "null"}, 303),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),
    ],
)
def test_a_form_of_another_site_spends_no_code(client: Account, headers: dict[str, str], status: int) -> None:
    code = code_of(made(client))
    assert spent(client, code, **headers).status_code == status
    assert spent(client, code).status_code == (303 if status == 403 else 410)


def test_without_a_session_the_cabinet_says_how_to_get_in(server: RunningServer) -> None:
    for cookie in ("", "x", "A" * 43, "é", "A" * 5000):
        headers = {"Cookie": f"{COOKIE}={cookie}".encode()} if cookie else {}
        answer = httpx2.get(server.url + "/cabinet", headers={**headers, "Accept-Language": "ru"})
        assert answer.status_code == 401
        assert "Вход в кабинет" in answer.text
        for path in ("logout", "switch"):
            assert httpx2.post(f"{server.url}/cabinet/{path}", headers=headers).status_code == 401


def test_leaving_ends_the_session_for_good(client: Account, browser: httpx2.Client) -> None:
    entered(client, browser)
    kept = browser.cookies[COOKIE]
    assert (
        browser.post(client.server.url + "/cabinet/logout", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    )
    assert browser.get(client.server.url + "/cabinet").status_code == 200
    answer = browser.post(client.server.url + "/cabinet/logout")
    assert answer.status_code == 200
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert COOKIE not in browser.cookies
    assert httpx2.get(client.server.url + "/cabinet", cookies={COOKIE: kept}).status_code == 401


def test_a_session_ends_after_its_time_and_is_forgotten(client: Account, browser: httpx2.Client) -> None:
    entered(client, browser)
    kept = browser.cookies[COOKIE]
    assert links.open_session(client.server.database, Keyring.of(client.server.settings), kept) == client.made.tenant
    age(client.server, cabinet_sessions, client.tenant_id, seconds=12 * 3600 + 1)
    assert browser.get(client.server.url + "/cabinet").status_code == 401
    assert links.open_session(client.server.database, Keyring.of(client.server.settings), kept) is None
    for table in (session_codes, cabinet_sessions):
        age(client.server, table, client.tenant_id, seconds=25 * 3600)
    deadline = time.monotonic() + 120
    while any(rows(client.server, table, client.tenant_id) for table in (session_codes, cabinet_sessions)):
        assert time.monotonic() < deadline, "the sweeper forgets what ended"
        time.sleep(0.05)


def rows(server: RunningServer, table: sa.Table, tenant_id: str) -> list[Any]:
    with server.database.read() as connection:
        return list(connection.execute(sa.select(table).where(table.c.tenant_id == tenant_id)))


def test_topping_up_leads_to_the_checkout_and_back(client: Account, browser: httpx2.Client) -> None:
    entered(client, browser)
    back_to = client.server.url + "/cabinet/balance"
    wish = {"amount_rub": 500.5, "redirect_url": back_to + "?payment=done", "fail_redirect_url": back_to}
    link = browser.post(client.server.url + "/public/v1/payment-link", json=wish)
    assert link.status_code == 200, link.text
    answer = browser.post(link.json()["payment_url"], data={"outcome": "paid"})
    assert (answer.status_code, answer.headers["location"]) == (303, wish["redirect_url"])
    assert browser.get(wish["redirect_url"]).status_code == 200
    assert client.balance()["balance_rub"] == "10500.50"


def test_a_payment_of_another_account_is_not_told_of(
    client: Account, new_account: Callable[..., Account], browser: httpx2.Client
) -> None:
    other = new_account().post("/public/v1/payment-link", json={"amount_rub": 777}).json()
    entered(client, browser)
    assert browser.get(f"{client.server.url}/public/v1/payment-link/{other['id']}").status_code == 404


def test_codes_and_cookies_are_in_no_log_and_in_no_table(client: Account, browser: httpx2.Client) -> None:
    link = made(client)
    httpx2.get(link["url"])
    browser.post(link["url"].partition("?")[0], data={"code": code_of(link)})
    browser.get(client.server.url + "/cabinet")
    secrets = [code_of(link), code_of(link)[:32], browser.cookies[COOKIE]]
    log = client.server.log()
    assert "/cabinet/session-link" in log
    assert [secret for secret in secrets if secret in log] == []
    with client.server.database.read() as connection:
        connection.execute(sa.text("SELECT 1"))
    stored = b"".join(client.server.files("*.sqlite3*").values())
    assert client.tenant_id.replace("-", "").encode() in stored
    assert [secret for secret in secrets if secret.encode() in stored] == []


def test_what_happened_is_in_the_audit_log(client: Account, browser: httpx2.Client) -> None:
    entered(client, browser)
    browser.post(client.server.url + "/cabinet/logout")
    with client.server.database.read() as connection:
        entries, _ = audit.list_page(client.tenant_id, connection, limit=100)
    actions = [entry.action for entry in reversed(entries)]
    assert [name for name in actions if "session" in name] == [
        "session_link.created",
        "session.opened",
        "session.ended",
    ]


def test_english_accounts_read_english(client: Account, browser: httpx2.Client) -> None:
    with client.server.database.write() as connection:
        accounts.update_tenant(client.tenant_id, connection, language="en")
    assert 'lang="en"' in httpx2.get(made(client)["url"]).text
    entered(client, browser)
    assert '"language":"en"' in browser.get(client.server.url + "/cabinet").text


def test_no_name_ends_the_element_that_the_session_is_written_into(client: Account, browser: httpx2.Client) -> None:
    with client.server.database.write() as connection:
        accounts.update_tenant(client.tenant_id, connection, name="</script><script>alert(1)</script><!--")
    entered(client, browser)
    page = browser.get(client.server.url + "/cabinet").text
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<!--" not in page.partition('id="session"')[2]
