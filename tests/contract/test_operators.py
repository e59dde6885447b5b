"""The people of an account: invited by mail, given roles, removed; by the account's key and by an owner's cookie."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from accounts import operators as people
from store import operators
from store.ids import new_id
from tests.contract.described import get_described
from tests.support.cabinet import add_operator, mailed_code, signed_in
from tests.support.ids import UNKNOWN_ID
from tests.support.mail_server import MailServer, receiving_mail
from tests.support.server import Account, RunningServer

PATH = "/public/v1/operators"
OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def client(new_account: Callable[..., Account]) -> Account:
    return new_account(email=f"owner-{new_id()}@shop.example", name="Ромашка")


@pytest.fixture(scope="module")
def mail() -> Iterator[MailServer]:
    with receiving_mail() as server:
        yield server


@pytest.fixture(scope="module")
def mailing_server(mail: MailServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path_factory.mktemp("mailing"),
        smtp_host="127.0.0.1",
        smtp_port=str(mail.port),
        smtp_security="none",
    )
    try:
        yield running.start()
    finally:
        running.close()


def listed(account: Account) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = get_described(account, PATH, limit=100)["items"]
    return items


def invite(account: Account, email: str, role: str = "viewer", **fields: Any) -> httpx2.Response:
    return account.post(PATH, json={"email": email, "role": role, **fields})


def code_of(answer: httpx2.Response) -> str | None:
    return answer.json()["error"]["code"]  # type: ignore[no-any-return]


def test_the_accounts_own_e_mail_is_its_first_owner(client: Account) -> None:
    (owner,) = listed(client)
    assert (owner["email"], owner["role"], owner["seen_at"]) == (client.made.tenant.email, "owner", None)


def test_an_invitation_opens_this_account_alone_and_once(mailing_server: RunningServer, mail: MailServer) -> None:
    first, second = mailing_server.new_client(new_id(), name="Ромашка"), mailing_server.new_client(new_id())
    email = f"anna-{new_id()}@shop.example"
    elsewhere = add_operator(second, "owner", email)
    there = len(mail.letters)
    made = invite(first, email.upper(), "operator", name=" Анна ")
    assert made.status_code == 201, made.text
    assert (made.json()["email"], made.json()["name"], made.json()["role"]) == (email, "Анна", "operator")
    letter = mail.wait_for(there + 1)[-1]
    assert letter["Subject"] == "Приглашение в кабинет «Ромашка»"
    assert "Оператор" in letter.get_content()
    (code,) = re.findall(r"/cabinet/enter\?code=([\w-]+)", letter.get_content())
    with httpx2.Client(base_url=mailing_server.url, headers=OWN, timeout=60) as browser:
        assert browser.post("/cabinet/enter", data={"code": code}).status_code == 303
        assert browser.get("/public/v1/settings").json()["name"] == "Ромашка"
        assert browser.post("/public/v1/keys", json={"name": "x"}).status_code == 403
        # Whoever the link was forwarded to is in this account, and in none of the person's others.
        assert browser.post("/cabinet/switch", data={"account": elsewhere.id}).status_code == 404
        assert elsewhere.id not in browser.get("/cabinet").text
        assert browser.get("/public/v1/settings").json()["name"] == "Ромашка"
        assert browser.post("/cabinet/enter", data={"code": code}).status_code == 410
    assert listed(first)[0]["seen_at"]
    assert code not in mailing_server.log()


def test_where_the_letter_is_not_taken_nobody_is_added(mailing_server: RunningServer, mail: MailServer) -> None:
    account = mailing_server.new_client(new_id())
    mail.refuses = True
    try:
        answer = invite(account, "anna@shop.example")
    finally:
        mail.refuses = False
    assert (answer.status_code, code_of(answer)) == (502, "mail_failed")
    assert listed(account) == []
    assert invite(account, "anna@shop.example").status_code == 201


def test_an_invitation_is_sent_again(mailing_server: RunningServer, mail: MailServer) -> None:
    account = mailing_server.new_client(new_id())
    operator_id = invite(account, "anna@shop.example").json()["id"]
    there = len(mail.letters)
    assert account.post(f"{PATH}/{operator_id}/invitation").status_code == 202
    assert mail.wait_for(there + 1)[-1]["To"] == "anna@shop.example"


def test_an_e_mail_works_in_an_account_once(client: Account) -> None:
    assert invite(client, "anna@shop.example").status_code == 201
    answer = invite(client, "Anna@Shop.example", "owner")
    assert (answer.status_code, code_of(answer)) == (409, "operator_exists")


@pytest.mark.parametrize(
    "body",
    [
        {"email": "anna", "role": "viewer"},
        {"email": "anna@shop.example\nBcc: x@y.z", "role": "viewer"},
        {"email": "anna@shop.example", "role": "king"},
        {"email": "anna@shop.example"},
        {"email": "anna@shop.example", "role": "viewer", "name": "a\nb"},
        {"email": "anna@shop.example", "role": "viewer", "tenant_id": UNKNOWN_ID},
    ],
)
def test_what_is_no_invitation_is_refused(client: Account, body: dict[str, Any]) -> None:
    assert client.post(PATH, json=body).status_code == 400
    assert len(listed(client)) == 1


def test_there_is_an_end_to_how_many_work_in_an_account(client: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    with client.server.database.write() as connection:
        for number in range(people.MAX_OPERATORS - 1):
            operators.add(client.tenant_id, connection, email=f"{number}@shop.example", name=None, role="viewer")
    answer = invite(client, "one-more@shop.example")
    assert (answer.status_code, code_of(answer)) == (409, "too_many_operators")


def test_the_last_owner_stays_one(client: Account) -> None:
    (owner,) = listed(client)
    path = f"{PATH}/{owner['id']}"
    for answer in (client.request("PATCH", path, json={"role": "viewer"}), client.request("DELETE", path)):
        assert (answer.status_code, code_of(answer)) == (409, "last_owner")
    assert client.request("PATCH", path, json={"name": "Анна", "role": "owner"}).json()["name"] == "Анна"
    add_operator(client, "owner")
    assert client.request("DELETE", path).status_code == 204


def test_two_owners_cannot_remove_each_other_at_once(client: Account) -> None:
    add_operator(client, "owner")
    paths = [f"{PATH}/{each['id']}" for each in listed(client)]
    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(answer.status_code for answer in pool.map(lambda path: client.request("DELETE", path), paths))
    assert statuses == [204, 409]


def test_a_removed_person_is_out_at_once_with_links_and_sessions(client: Account) -> None:
    gone = add_operator(client, "owner")
    codes = [mailed_code(client, gone.email), mailed_code(client, gone.email, operator_id=gone.id)]
    with signed_in(client, "viewer"), httpx2.Client(base_url=client.server.url, headers=OWN, timeout=60) as browser:
        used = mailed_code(client, gone.email)
        assert browser.post("/cabinet/enter", data={"code": used}).status_code == 303
        assert client.request("DELETE", f"{PATH}/{gone.id}").status_code == 204
        assert browser.get("/public/v1/balance").status_code == 401
        for code in codes:
            assert browser.post("/cabinet/enter", data={"code": code}).status_code == 410
    assert client.request("DELETE", f"{PATH}/{gone.id}").status_code == 404


def test_the_log_says_who_did_it_and_to_whom(client: Account) -> None:
    with signed_in(client, "owner", "boss@shop.example") as browser:
        invited = browser.post(PATH, json={"email": "anna@shop.example", "role": "viewer"}).json()
        browser.patch(f"{PATH}/{invited['id']}", json={"role": "operator"})
        browser.delete(f"{PATH}/{invited['id']}")
    entries = client.get("/public/v1/audit", params={"action": "operator", "actor": "boss@"}).json()["items"]
    assert [(each["action"], each["actor"], each["details"]["email"]) for each in entries] == [
        (f"operator.{done}", "cabinet boss@shop.example", "anna@shop.example")
        for done in ("removed", "changed", "invited")
    ]


def test_people_of_another_account_are_like_nobody(client: Account, new_account: Callable[..., Account]) -> None:
    theirs = add_operator(new_account(), "viewer")
    with signed_in(client, "owner") as browser:
        path = f"{PATH}/{theirs.id}"
        answers = [
            browser.patch(path, json={"role": "owner"}),
            browser.delete(path),
            browser.post(path + "/invitation"),
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert theirs.email not in browser.get(PATH).text
