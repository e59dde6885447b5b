"""Who may use the widget: renewed visitors, a chat's own pages, a captcha, a day's limit; browsers of other sites."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from accounts.keys import Keyring
from api.widget_access import PERSON_REQUESTS_AN_HOUR, RENEWAL_PURPOSE
from store import widget, widget_abuse
from store.database import now
from store.ids import new_id
from tests.contract.site_page import CONFIG, CONTACT, MESSAGES, VISITORS, Page, set_account, set_chat
from tests.support.captcha import SECRET, Captcha, serve_captcha
from tests.support.server import Account, RunningServer

PROXY = "127.9.9.9"
SHOP, OTHER = "https://shop.example", "https://other.example"


def refusals(account: Account) -> list[tuple[str, str | None]]:
    with account.server.database.read() as connection:
        rows, _ = widget_abuse.list_page(account.tenant_id, connection, account.chat_id, limit=100, offset=0)
    return [(row.reason, row.origin) for row in rows]


def test_a_renewal_goes_on_with_the_conversation(page: Page) -> None:
    token = page.visitor()
    page.ask(token, "My code is 4711.")
    body = {"public_key": page.public_key, "renewal": page.renewals[token]}
    answer = page.call("POST", VISITORS, json=body)
    assert answer.status_code == 201
    assert page.conversation(answer.json()["token"])[0] == ("visitor", "My code is 4711.")
    for wrong in ("x", token, page.renewals[token][:-2]):
        refused = page.call("POST", VISITORS, json={**body, "renewal": wrong})
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_renewal")
    # A renewal is no token.
    assert page.call("GET", MESSAGES, token=page.renewals[token]).status_code == 401


def test_a_renewal_is_good_for_its_own_chat_and_key(
    page: Page, open_page: Callable[..., Page], new_account: Callable[..., Account]
) -> None:
    token = page.visitor()
    elsewhere = open_page(new_account())
    body = {"public_key": elsewhere.public_key, "renewal": page.renewals[token]}
    assert elsewhere.call("POST", VISITORS, json=body).status_code == 401
    old = page.public_key
    rotated = f"wk_{new_id()}"
    set_chat(page.account, public_key=rotated)
    assert page.call("GET", MESSAGES, token=token).status_code == 401
    assert page.call("GET", CONFIG, params={"key": old}).status_code == 404
    body = {"public_key": rotated, "renewal": page.renewals[token]}
    assert page.call("POST", VISITORS, json=body).status_code == 401


def test_an_expired_renewal_is_refused(page: Page) -> None:
    keyring = Keyring.of(page.account.server.settings)
    claims = {
        "tenant": page.account.tenant_id,
        "chat": page.account.chat_id,
        "key": page.public_key,
        "conversation": new_id(),
    }
    old = keyring.sign_token(RENEWAL_PURPOSE, claims, lifetime_s=-1)
    refused = page.call("POST", VISITORS, json={"public_key": page.public_key, "renewal": old})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_renewal")


def test_a_chats_own_pages_stand_in_place_of_the_accounts(account: Account, open_page: Callable[..., Page]) -> None:
    set_account(account, widget_origins=[OTHER])
    set_chat(account, allowed_origins=[SHOP])
    shop, other = open_page(account, SHOP), open_page(account, OTHER)
    assert shop.call("GET", CONFIG, params={"key": shop.public_key}).status_code == 200
    assert other.call("GET", CONFIG, params={"key": other.public_key}).status_code == 403
    assert refusals(account) == [("origin", OTHER)]


def test_a_page_that_says_no_origin_is_the_servers_own(account: Account, open_page: Callable[..., Page]) -> None:
    page = open_page(account, None)
    assert page.call("GET", CONFIG, params={"key": page.public_key}).status_code == 200
    set_account(account, widget_origins=[SHOP])
    assert page.call("GET", CONFIG, params={"key": page.public_key}).status_code == 403


def test_browsers_on_other_sites_may_read_the_answers(account: Account, open_page: Callable[..., Page]) -> None:
    set_chat(account, allowed_origins=[SHOP])
    page = open_page(account, SHOP)
    preflight = page.call(
        "OPTIONS",
        MESSAGES,
        headers={"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"},
    )
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    assert "POST" in preflight.headers["access-control-allow-methods"]
    token = page.visitor()
    answers = [
        page.call("GET", CONFIG, params={"key": page.public_key}),
        page.call("POST", MESSAGES, token=token, json={"text": "Hello"}),
        page.call("GET", MESSAGES, token="wrong"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 401]
    assert {answer.headers["access-control-allow-origin"] for answer in answers} == {"*"}
    assert all("access-control-allow-credentials" not in answer.headers for answer in answers)
    assert "access-control-allow-origin" not in account.get("/public/v1/chats/list").headers


def test_a_chat_answers_only_so_many_messages_a_day(account: Account, open_page: Callable[..., Page]) -> None:
    set_chat(account, messages_per_day=2)
    page, neighbour = open_page(account), open_page(account)
    token, other = page.visitor(), neighbour.visitor()
    message_id = new_id()
    for _ in range(3):  # the same question is asked once
        page.ask(token, "One", id=message_id)
    neighbour.ask(other, "Two")
    for _ in range(2):
        refused = page.call("POST", MESSAGES, token=token, json={"text": "Three"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "daily_limit")
        assert 1 <= int(refused.headers["Retry-After"]) <= 24 * 3600
    assert len(page.messages(token)["items"]) == 2
    assert refusals(account) == [("daily_limit", page.origin)]
    # What was answered is read again, and a person may be asked what the agent may not.
    assert page.ask(token, "One", id=message_id)["request_id"]
    first = account.get("/public/v1/conversations").json()["items"][-1]["id"]
    url = f"/public/v1/conversations/{first}/takeover"
    assert account.post(url, json={"operator_name": "Anna"}).status_code == 200
    assert page.ask(token, "Is a person there?")["handed_over"] is True


@pytest.mark.parametrize("ended", ["failed", "cancelled"])
def test_what_is_asked_once_more_counts_once_more(
    account: Account, open_page: Callable[..., Page], ended: Literal["failed", "cancelled"]
) -> None:
    set_chat(account, messages_per_day=2)
    page = open_page(account)
    token, message_id = page.visitor(), new_id()
    page.ask(token, "One", id=message_id)
    conversation_id = account.get("/public/v1/conversations").json()["items"][0]["id"]

    def end() -> None:
        with account.server.database.write() as connection:
            widget.update_turn(account.tenant_id, connection, conversation_id, message_id, status=ended)

    end()
    page.ask(token, "One", id=message_id)
    end()
    refused = page.call("POST", MESSAGES, token=token, json={"text": "One", "id": message_id})
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "daily_limit")


def test_an_address_calls_for_a_person_only_so_often(account: Account, open_page: Callable[..., Page]) -> None:
    page = open_page(account)
    request, statuses = {"message": "Call me", "email": "a@b.example"}, []
    # Twice as often, where a new hour begins meanwhile.
    while 429 not in statuses and len(statuses) <= 2 * PERSON_REQUESTS_AN_HOUR:
        statuses.append(page.call("POST", CONTACT, token=page.visitor(), json=request).status_code)
    assert len(statuses) > PERSON_REQUESTS_AN_HOUR
    assert statuses == [204] * (len(statuses) - 1) + [429]
    assert refusals(account) == [("rate", page.origin)]


def test_wrong_tokens_count_against_their_address(page: Page) -> None:
    most = page.account.server.settings.widget_requests_per_minute
    statuses = []
    while 429 not in statuses and len(statuses) <= 2 * most:  # a minute may end meanwhile
        statuses.append(page.call("GET", MESSAGES, token="wrong").status_code)
    assert set(statuses) == {401, 429}


@pytest.mark.parametrize("time_zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu"])
def test_the_day_of_a_chat_ends_at_the_accounts_midnight(
    account: Account, open_page: Callable[..., Page], time_zone: str
) -> None:
    set_account(account, time_zone=time_zone)
    set_chat(account, messages_per_day=1)
    page = open_page(account)
    token = page.visitor()
    page.ask(token, "One")
    local = now().astimezone(ZoneInfo(time_zone))
    midnight = datetime.combine(local.date() + timedelta(days=1), time.min, tzinfo=local.tzinfo)
    refused = page.call("POST", MESSAGES, token=token, json={"text": "Two"})
    left_s = int((midnight - local).total_seconds())
    assert left_s - 60 <= int(refused.headers["Retry-After"]) <= left_s + 1


def test_what_was_refused_is_forgotten_in_time(account: Account) -> None:
    with account.server.database.write() as connection:
        widget_abuse.add(account.tenant_id, connection, account.chat_id, reason="rate", address="::1", origin=None)
        widget_abuse.forget_before(connection, now() - timedelta(minutes=1))
    assert refusals(account) == [("rate", None)]
    with account.server.database.write() as connection:
        widget_abuse.forget_before(connection, now() + timedelta(seconds=1))
    assert refusals(account) == []


@pytest.fixture(scope="module")
def captcha() -> Iterator[Captcha]:
    with serve_captcha() as found:
        yield found


@pytest.fixture(scope="module")
def guarded_server(captcha: Captcha, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("captcha")
    running = RunningServer(
        folder,
        captcha_verify_url=captcha.url,
        captcha_secret=SECRET,
        captcha_site_key="site-key",
        trusted_proxies=PROXY,
    )
    try:
        yield running.start()
    finally:
        running.close()


def test_with_a_captcha_a_new_visitor_solves_one(
    guarded_server: RunningServer, captcha: Captcha, open_page: Callable[..., Page]
) -> None:
    account = guarded_server.new_client("guarded")
    page = open_page(account)
    config = page.call("GET", CONFIG, params={"key": page.public_key}).json()
    assert config["captcha"] == {"site_key": "site-key"}
    body = {"public_key": page.public_key}
    unsolved = page.call("POST", VISITORS, json=body)
    assert (unsolved.status_code, unsolved.json()["error"]["code"]) == (403, "captcha_required")
    wrong = page.call("POST", VISITORS, json={**body, "captcha": "wrong"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (403, "captcha_failed")
    solved = page.call("POST", VISITORS, json={**body, "captcha": "right"})
    assert solved.status_code == 201
    assert captcha.asked[-1]["secret"] == SECRET
    assert captcha.asked[-1]["remoteip"].startswith("127.")
    renewed = page.call("POST", VISITORS, json={**body, "renewal": solved.json()["renewal"]})
    assert renewed.status_code == 201
    captcha.is_down = True
    try:
        down = page.call("POST", VISITORS, json={**body, "captcha": "right"})
        assert down.status_code == 503
    finally:
        captcha.is_down = False
    assert ("captcha", page.origin) in refusals(account)


def test_a_homes_addresses_of_ipv6_are_one_to_the_limits(
    guarded_server: RunningServer, open_page: Callable[..., Page]
) -> None:
    proxy = open_page(guarded_server.new_client("homes"), address=PROXY)
    most = guarded_server.settings.widget_requests_per_minute

    def status_for(address: str) -> int:
        return proxy.call("GET", MESSAGES, token="wrong", headers={"X-Forwarded-For": address}).status_code

    statuses: list[int] = []
    while 429 not in statuses and len(statuses) <= 2 * most:  # a minute may end meanwhile
        statuses.append(status_for(f"2001:db8:1:2:{len(statuses):x}::1"))
    assert set(statuses) == {401, 429}
    assert status_for("2001:db8:1:3::1") == 401
