"""Signing in by a mailed link: for who is known, once, in time, from our own page, into an account of one's choice."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from accounts import clients
from store import accounts
from store.database import now
from store.ids import new_id
from store.operators import mailed_codes
from tests.support.cabinet import add_operator, mailed_code, signed_in
from tests.support.mail_server import MailServer, receiving_mail
from tests.support.server import Account, RunningServer

LOGIN = ("parley", "the mail servers password")
COOKIE = "parley_session"
OWN = {"Sec-Fetch-Site": "same-origin"}
WAIT_S = 120.0


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailServer]:
    with receiving_mail(tmp_path_factory.mktemp("certificates"), LOGIN) as server:
        yield server


@pytest.fixture(scope="module")
def mailing_server(
    mail: MailServer, tmp_path_factory: pytest.TempPathFactory, monkeypatch_module: pytest.MonkeyPatch
) -> Iterator[RunningServer]:
    """A server that sends mail over TLS, with a login."""
    ca = Path(next(iter(tmp_path_factory.getbasetemp().glob("**/certificates*/ca.pem"))))
    monkeypatch_module.setenv("SSL_CERT_FILE", str(ca))
    running = RunningServer(
        tmp_path_factory.mktemp("mailing"),
        smtp_host="127.0.0.1",
        smtp_port=str(mail.port),
        smtp_user=LOGIN[0],
        smtp_password=LOGIN[1],
        mail_from="Parley <robot@parley.example>",
        sign_in_links_per_client="1000",
        sign_in_links_per_address="3",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def new_account(server: RunningServer, **values: object) -> Account:
    return server.new_client(new_id(), email=f"owner-{new_id()}@shop.example", **values)


def email_of(account: Account) -> str:
    email = account.made.tenant.email
    assert email is not None
    return email


def ask(server: RunningServer, email: str, path: str = "", **headers: str) -> httpx2.Response:
    form = {"email": email, "to": path}
    return httpx2.post(f"{server.url}/cabinet/sign-in", data=form, headers={**OWN, **headers}, timeout=60)


def enter(account: Account, code: str, chosen: str = "", **headers: str) -> httpx2.Response:
    form = {"code": code, "account": chosen}
    return httpx2.post(f"{account.server.url}/cabinet/enter", data=form, headers={**OWN, **headers}, timeout=60)


def code_in(text: str) -> str:
    (code,) = re.findall(r"/cabinet/enter\?code=([\w-]+)", text)
    return str(code)


def test_a_letter_brings_a_link_that_opens_the_page_one_came_to(
    mailing_server: RunningServer, mail: MailServer
) -> None:
    account = new_account(mailing_server)
    there = len(mail.letters)
    page = httpx2.get(f"{mailing_server.url}/cabinet/people?department=North", headers={"Accept-Language": "ru"})
    assert page.status_code == 401
    (path,) = re.findall(r'name="to" value="([^"]+)"', page.text)
    answer = ask(mailing_server, f"  {email_of(account).upper()} ", path, **{"Accept-Language": "ru"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (200, False)
    letter = mail.wait_for(there + 1)[-1]
    assert (letter["To"], letter["From"]) == (email_of(account), "Parley <robot@parley.example>")
    assert letter["Subject"] == "Вход в кабинет Parley"
    code = code_in(letter.get_content())
    shown = httpx2.get(f"{mailing_server.url}/cabinet/enter?code={code}")
    assert (shown.status_code, "set-cookie" in shown.headers) == (200, False)
    entered = enter(account, code)
    assert entered.headers["location"] == f"{mailing_server.url}/cabinet/people?department=North"
    cookie = {COOKIE: entered.cookies[COOKIE]}
    cabinet = httpx2.get(f"{mailing_server.url}/cabinet", cookies=cookie)
    session = json.loads(re.findall(r'id="session">(.*?)</script>', cabinet.text)[0])
    assert (session["person"]["email"], session["person"]["role"]) == (email_of(account), "owner")
    log = mailing_server.log()
    assert [secret for secret in (code, code[:32], LOGIN[1], cookie[COOKIE]) if secret in log] == []


def test_known_and_unknown_addresses_get_the_same_answer(mailing_server: RunningServer, mail: MailServer) -> None:
    account = new_account(mailing_server)
    there = len(mail.letters)
    unknown = f"nobody-{new_id()}@shop.example"
    answers = [ask(mailing_server, email) for email in (unknown, email_of(account), unknown, email_of(account))]
    assert {answer.status_code for answer in answers} == {200}
    texts = {answer.text.replace(unknown, "X").replace(email_of(account), "X") for answer in answers}
    assert len(texts) == 1
    mail.wait_for(there + 2)
    assert {letter["To"] for letter in mail.letters[there:]} == {email_of(account)}


@pytest.mark.parametrize("known", [True, False])
def test_an_address_is_not_flooded_whether_it_is_known_or_not(mailing_server: RunningServer, known: bool) -> None:
    email = email_of(new_account(mailing_server)) if known else f"nobody-{new_id()}@shop.example"
    statuses = [ask(mailing_server, email).status_code for _ in range(8)]
    assert statuses[0] == 200
    assert statuses[-1] == 429
    assert ask(mailing_server, email).headers["Retry-After"]


def test_one_client_asks_for_so_many_links_only(tmp_path: Path) -> None:
    server = RunningServer(tmp_path, sign_in_links_per_client="3")
    try:
        server.start()
        statuses = {ask(server, f"{new_id()}@shop.example").status_code for _ in range(8)}
        assert statuses == {200, 429}
    finally:
        server.close()


@pytest.mark.parametrize("typed", ["", "anna", "a@b", "a@b.c\nBcc: x@y.z", "@shop.example", "a" * 400 + "@b.cd"])
def test_what_is_no_address_is_said_so(server: RunningServer, typed: str) -> None:
    answer = ask(server, typed)
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.text


def test_without_a_mail_server_the_link_is_in_the_log(tmp_path: Path) -> None:
    server = RunningServer(tmp_path)
    try:
        account = new_account(server.start())
        ask(server, email_of(account))
        deadline = time.monotonic() + WAIT_S
        while "/cabinet/enter?code=" not in server.log():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert enter(account, code_in(server.log())).status_code == 303
    finally:
        server.close()


def test_a_server_that_others_reach_writes_no_link_into_its_log(tmp_path: Path) -> None:
    server = RunningServer(tmp_path, public_url="https://parley.example.com")
    try:
        account = new_account(server.start())
        email = email_of(account)
        ask(server, email)
        deadline = time.monotonic() + WAIT_S
        while "no mail server is set up" not in server.log():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "enter?code=" not in server.log()
        assert email not in server.log()
        assert 'parley_letters_total{outcome="failed"} 1.0' in httpx2.get(server.url + "/metrics").text
    finally:
        server.close()


def test_a_link_works_once_however_many_press_the_button(server: RunningServer) -> None:
    account = new_account(server)
    code = mailed_code(account, email_of(account))
    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(answer.status_code for answer in pool.map(lambda _: enter(account, code), range(8)))
    assert statuses == [303] + [410] * 7
    assert httpx2.get(f"{server.url}/cabinet/enter?code={code}").status_code == 410


def test_an_expired_a_changed_and_a_foreign_code_open_nothing(server: RunningServer) -> None:
    account = new_account(server)
    code = mailed_code(account, email_of(account), lifetime_s=60)
    with server.database.write() as connection:
        connection.execute(
            sa.update(mailed_codes)
            .where(mailed_codes.c.email == email_of(account))
            .values(expires_at=now() - timedelta(seconds=1))
        )
    assert enter(account, code).status_code == 410
    for wrong in ("", "A" * 64, code[:-1], code.swapcase(), "é" * 64, "a" * 5000):
        answer = enter(account, wrong)
        assert (answer.status_code, "set-cookie" in answer.headers) == (400, False), wrong
    # A code of a session link is no mailed one, and the other way round.
    link = account.post("/public/v1/session-link").json()["url"].partition("code=")[2]
    assert enter(account, link).status_code == 400
    mailed = mailed_code(account, email_of(account))
    url = f"{server.url}/cabinet/session-link"
    assert httpx2.post(url, data={"code": mailed}, headers=OWN).status_code == 400


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_a_form_of_another_site_asks_for_nothing_and_enters_nothing(
    server: RunningServer, headers: dict[str, str]
) -> None:
    account = new_account(server)
    code = mailed_code(account, email_of(account))
    for path, form in (("sign-in", {"email": email_of(account)}), ("enter", {"code": code}), ("switch", {})):
        with signed_in(account, "viewer") as browser:
            del browser.headers["Sec-Fetch-Site"]
            assert browser.post(f"/cabinet/{path}", data=form, headers=headers).status_code == 403
    assert enter(account, code).status_code == 303


def test_a_link_leads_to_no_other_site(server: RunningServer) -> None:
    for path in (
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/../x",
        "/people\r\nX: y",
        "/" + "a" * 600,
    ):
        page = httpx2.post(f"{server.url}/cabinet/sign-in", data={"email": "wrong", "to": path}, headers=OWN)
        assert 'name="to"' not in page.text, path


def test_who_works_in_several_accounts_chooses_one_and_changes_over(server: RunningServer) -> None:
    first, second, other = new_account(server, name="First"), new_account(server, name="Second"), new_account(server)
    email = f"anna-{new_id()}@shop.example"
    here, there = add_operator(first, "viewer", email), add_operator(second, "operator", email)
    foreign = add_operator(other, "owner")
    code = mailed_code(first, email)
    page = httpx2.get(f"{server.url}/cabinet/enter?code={code}").text
    assert (here.id in page, there.id in page, foreign.id in page) == (True, True, False)
    # Neither without a choice nor with that of somebody else is anything opened or spent.
    assert [enter(first, code, chosen).status_code for chosen in ("", foreign.id, new_id())] == [410] * 3
    with httpx2.Client(base_url=server.url, headers=OWN, timeout=60) as browser:
        assert browser.post("/cabinet/enter", data={"code": code, "account": there.id}).status_code == 303
        assert browser.get("/public/v1/settings").json()["name"] == "Second"
        cookie = browser.cookies[COOKIE]
        assert browser.post("/cabinet/switch", data={"account": foreign.id}).status_code == 404
        assert browser.post("/cabinet/switch", data={"account": here.id}).status_code == 303
        assert browser.get("/public/v1/settings").json()["name"] == "First"
        assert browser.patch("/public/v1/settings", json={}).status_code == 403
    left = httpx2.get(f"{server.url}/public/v1/settings", headers={"Cookie": f"{COOKIE}={cookie}"})
    assert left.status_code == 401


def test_an_e_mail_that_an_account_gives_up_opens_it_no_more(server: RunningServer) -> None:
    account = new_account(server)
    before, after = email_of(account), f"new-{new_id()}@shop.example"
    code = mailed_code(account, before)
    with server.database.write() as connection:
        tenant = accounts.get_tenant(account.tenant_id, connection, lock=True)
        assert tenant is not None
        clients.change(tenant, connection, actor="test", email=after)
    assert enter(account, code).status_code == 410
    assert enter(account, mailed_code(account, after)).status_code == 303
