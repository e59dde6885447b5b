"""Payment links of the Public API, through the sandbox: what is asked for, answered, refused, and credited."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from store import accounts, audit, payments
from store.database import now
from store.ids import new_id
from tests.contract.test_errors import rename_table
from tests.support.server import Account, RunningServer

LINKS = "/public/v1/payment-link"
NewAccount = Callable[..., Account]


def made(account: Account, **fields: Any) -> dict[str, Any]:
    answer = account.post(LINKS, json={"amount_rub": 250} | fields)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def read(account: Account, link: dict[str, Any]) -> dict[str, Any]:
    answer = account.get(f"{LINKS}/{link['id']}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def decided(link: dict[str, Any], outcome: str, **headers: str) -> httpx2.Response:
    return httpx2.post(link["payment_url"], data={"outcome": outcome}, headers=headers, timeout=30)


def credits(account: Account, link: dict[str, Any]) -> list[dict[str, Any]]:
    history = account.get("/public/v1/balance/history", params={"kind": "credit", "limit": 100}).json()["items"]
    return [item for item in history if item["source_ref"] == link["id"]]


def age(server: RunningServer, link: dict[str, Any], *, seconds: float) -> None:
    """Makes a link older than it is."""
    with server.database.write() as connection:
        connection.execute(
            payments.payment_links.update()
            .where(payments.payment_links.c.id == link["id"])
            .values(expires_at=datetime.fromisoformat(link["expires_at"]) - timedelta(seconds=seconds))
        )


@pytest.mark.proves(
    "payments.create.200",
    "payments.link.id",
    "payments.link.payment-url",
    "payments.link.amount",
    "payments.link.customer-email",
    "payments.link.purpose",
    "payments.link.expires-at",
    "payments.link.paid-at",
    "payments.link.created-at",
    "payments.link.status.new-is-pending",
    "payments.create.lifetime",
    "payments.get.200",
)
def test_a_link_is_made_and_read_as_documented(account: Account) -> None:
    link = made(account, amount_rub=1500.5, customer_email="Payer@Shop.example")
    assert str(UUID(link["id"])) == link["id"]
    assert link["payment_url"].startswith(account.server.url + "/payments/sandbox/")
    assert (link["amount_rub"], link["status"], link["paid_at"]) == (1500.5, "pending", None)
    assert link["customer_email"] == "Payer@Shop.example"
    assert account.made.tenant.name in link["purpose"]
    created, expires = (datetime.fromisoformat(link[name]) for name in ("created_at", "expires_at"))
    assert expires - created == timedelta(minutes=15)
    assert abs(datetime.now(UTC) - created) < timedelta(minutes=2)
    assert read(account, link) == link
    assert set(link) == {
        "id", "payment_url", "amount_rub", "status", "customer_email", "purpose", "expires_at", "paid_at", "created_at",
    }  # fmt: skip


@pytest.mark.proves("payments.create.receipt-email", "payments.create.no-receipt", "payments.link.customer-email")
def test_the_receipt_goes_to_the_bodys_address_else_to_the_clients_own_else_nowhere(new_account: NewAccount) -> None:
    with_email = new_account(email=f"owner-{new_id()}@shop.example")
    assert made(with_email, customer_email="payer@shop.example")["customer_email"] == "payer@shop.example"
    assert made(with_email)["customer_email"] == with_email.made.tenant.email
    assert made(new_account())["customer_email"] == ""


@pytest.mark.proves("payments.create.amount")
@pytest.mark.parametrize("amount", [100, 100.0, 100.01, 99999.99, 100000, 1e5, 1234.5])
def test_an_amount_from_100_to_100000_is_taken(account: Account, amount: float) -> None:
    assert made(account, amount_rub=amount)["amount_rub"] == amount


@pytest.mark.proves(
    "payments.create.amount",
    "payments.create.two-digits",
    "payments.create.customer-email",
    "payments.create.redirect-url",
    "payments.create.fail-redirect-url",
)
@pytest.mark.parametrize(
    ("param", "value"),
    [
        *(
            ("amount_rub", value)
            for value in (99.99, 100000.01, 0, -500, 100.001, "500", "100", True, None, [500], {}, 10**400, 1e300)
        ),
        *(
            ("customer_email", value)
            for value in ("", "nobody", "a@b", "a b@c.example", "a@b.example\nBcc: x@y.example", 7, "a@" + "b" * 400)
        ),
        *(
            (name, value)
            for name in ("redirect_url", "fail_redirect_url")
            for value in (
                "",
                "shop.example/thanks",
                "/thanks",
                "//evil.example",
                "javascript:alert(1)",
                "data:text/html,hi",
                "ftp://shop.example/",
                "https://",
                "https://shop.example/a b",
                "https://shop.example/\r\nSet-Cookie: a=b",
                "https://user:password@shop.example/",
                "https://shop.example/" + "a" * 4096,
                5,
            )
        ),
    ],
)
def test_a_field_that_is_wrong_is_400_and_named(account: Account, param: str, value: object) -> None:
    answer = account.post(LINKS, json={"amount_rub": 500, param: value})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, "invalid_request_error")


@pytest.mark.proves("payments.create.amount")
@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"{}", b'{"amount_rub": NaN}', b'{"amount_rub": 1e999}', b"\xff"]
)
def test_a_body_without_an_amount_is_400(account: Account, body: bytes) -> None:
    assert account.post(LINKS, content=body).status_code == 400


@pytest.mark.proves("payments.get.bad-id")
@pytest.mark.parametrize("link_id", ["7", "not-a-uuid", "%00", "0" * 36, "%F0%9F%92%B8"])
def test_an_id_that_is_no_uuid_is_400(account: Account, link_id: str) -> None:
    answer = account.get(f"{LINKS}/{link_id}")
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "id")


@pytest.mark.proves("payments.get.404", "payments.get.foreign")
def test_a_link_that_is_unknown_or_anothers_is_404(account: Account, new_account: NewAccount) -> None:
    unknown = account.get(f"{LINKS}/{new_id()}")
    foreign = new_account().get(f"{LINKS}/{made(account)['id']}")
    assert unknown.status_code == foreign.status_code == 404
    assert unknown.json() == foreign.json()


@pytest.mark.proves("payments.create.401", "payments.get.401")
def test_without_a_key_nothing_is_made_or_read(account: Account) -> None:
    url = account.server.url + LINKS
    assert httpx2.post(url, json={"amount_rub": 500}).status_code == 401
    assert httpx2.get(f"{url}/{made(account)['id']}").status_code == 401


@pytest.mark.proves("payments.create.not-configured", "payments.get.not-configured")
def test_without_a_provider_links_are_503(small_account: Account) -> None:
    for answer in (small_account.post(LINKS, json={"amount_rub": 500}), small_account.get(f"{LINKS}/{new_id()}")):
        assert answer.status_code == 503
        assert answer.json()["error"]["type"] == "unavailable_error"
        assert "Retry-After" in answer.headers


@pytest.mark.proves("payments.create.paused", "payments.get.paused")
def test_a_paused_client_may_top_up(account: Account, pause: Callable[..., None]) -> None:
    pause(account)
    assert read(account, made(account))["status"] == "pending"


@pytest.mark.proves("payments.link.status.values", "payments.link.transitions")
@pytest.mark.parametrize("outcome", ["paid", "failed", "cancelled"])
def test_a_pending_link_ends_as_the_payer_decides_and_stays_so(account: Account, outcome: str) -> None:
    link = made(account)
    assert decided(link, outcome).status_code == 303
    ended = read(account, link)
    assert ended["status"] == outcome
    assert (ended["paid_at"] is not None) is (outcome == "paid")
    for other in ("failed", "cancelled", "paid"):
        decided(link, other)
    assert read(account, link) == ended
    assert len(credits(account, link)) == (1 if outcome == "paid" else 0)


@pytest.mark.proves("payments.link.transitions", "payments.link.status.values", "payments.create.lifetime")
def test_a_link_that_nobody_paid_in_time_is_expired_and_takes_no_payment(account: Account) -> None:
    link = made(account)
    age(account.server, link, seconds=901)
    assert read(account, link)["status"] == "expired"
    assert decided(link, "paid").status_code == 410
    assert httpx2.get(link["payment_url"]).status_code == 410
    assert (read(account, link)["status"], credits(account, link)) == ("expired", [])


def test_the_sweeper_ends_links_that_outlived_their_time(account: Account) -> None:
    link = made(account)
    age(account.server, link, seconds=901)
    deadline = time.monotonic() + 120
    status = "pending"
    while status == "pending":
        assert time.monotonic() < deadline
        with account.server.database.read() as connection:
            found = payments.get(account.tenant_id, connection, link["id"])
        assert found is not None
        status = found.status
    assert status == "expired"


@pytest.mark.proves("payments.paid.once", "payments.link.paid-at")
def test_a_payment_credits_its_amount_once_however_often_it_is_reported(account: Account) -> None:
    before = account.balance()["balance_rub"]
    link = made(account, amount_rub=333.33)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: decided(link, "paid"), range(64)))
    assert {answer.status_code for answer in answers} == {303}
    (entry,) = credits(account, link)
    assert (entry["amount_rub"], entry["kind"], entry["source"]) == (333.33, "credit", "payment")
    assert entry["description"] == link["purpose"]
    assert float(account.balance()["balance_rub"]) == pytest.approx(float(before) + 333.33, abs=1e-6)
    assert abs(now() - datetime.fromisoformat(read(account, link)["paid_at"])) < timedelta(minutes=2)


@pytest.mark.proves("payments.paid.reactivates", "payments.paid.not-partner-pause")
@pytest.mark.parametrize(("reason", "active"), [("balance", True), ("partner", False), ("operator", False)])
def test_a_payment_lifts_the_pause_that_lack_of_money_made_and_no_other(
    account: Account, reason: str, active: bool
) -> None:
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, is_active=False, pause_reason=reason)
    decided(made(account), "paid")
    assert account.balance()["is_active"] is active


@pytest.mark.proves("payments.create.redirect-url", "payments.create.fail-redirect-url")
@pytest.mark.parametrize(
    ("outcome", "leads_to"), [("paid", "/thanks?order=7"), ("failed", "/sorry"), ("cancelled", "/sorry")]
)
def test_the_payer_is_led_to_the_address_that_fits(account: Account, outcome: str, leads_to: str) -> None:
    shop = "https://shop.example"
    link = made(account, redirect_url=shop + "/thanks?order=7", fail_redirect_url=shop + "/sorry")
    assert decided(link, outcome).headers["location"] == shop + leads_to
    assert decided(link, outcome).headers["location"] == shop + leads_to


@pytest.mark.parametrize("outcome", ["paid", "failed"])
def test_without_an_address_of_the_clients_our_own_page_says_how_it_ended(account: Account, outcome: str) -> None:
    link = made(account)
    answer = decided(link, outcome)
    page = httpx2.get(answer.headers["location"])
    assert page.status_code == 200
    assert {"paid": "Оплата прошла", "failed": "Оплата не прошла"}[outcome] in page.text


@pytest.mark.proves("payments.provider.sandbox")
def test_the_checkout_shows_amount_purpose_and_the_ways_to_end_it(account: Account) -> None:
    link = made(account, amount_rub=12345.6)
    page = httpx2.get(link["payment_url"])
    assert page.status_code == 200
    assert 'value="12345.60"' in page.text
    assert link["purpose"] in page.text
    assert re.findall(r'name="outcome" value="(\w+)"', page.text) == ["paid", "failed", "cancelled"]
    assert "<script" not in page.text
    assert page.headers["cache-control"] == "no-store"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
    assert (page.headers["x-frame-options"], page.headers["x-content-type-options"]) == ("DENY", "nosniff")
    assert read(account, link)["status"] == "pending"


@pytest.mark.proves("payments.provider.sandbox")
def test_the_checkout_is_not_there_where_the_sandbox_is_not_switched_on(
    account: Account, small_server: RunningServer
) -> None:
    path = made(account)["payment_url"].removeprefix(account.server.url)
    for method in ("GET", "POST"):
        assert httpx2.request(method, small_server.url + path).status_code == 404


def test_a_checkouts_address_cannot_be_guessed_from_its_links_id(account: Account) -> None:
    link = made(account)
    url = link["payment_url"]
    base, token = url.rsplit("/", 1)
    assert token.startswith(UUID(link["id"]).hex)
    changed = token[:-1] + ("0" if token[-1] != "0" else "1")
    other = UUID(made(account)["id"]).hex + token[32:]
    for guess in (token[:32], changed, other, "x", "%00", "é" * 64, token + "0", token[:32] + "0" * 32):
        for page in ("sandbox", "return"):
            assert httpx2.get(f"{base.replace('sandbox', page)}/{guess}").status_code == 404
        assert httpx2.post(f"{base}/{guess}", data={"outcome": "paid"}).status_code == 404
    assert read(account, link)["status"] == "pending"


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, True),
        ({"Sec-Fetch-Site": "same-site"}, True),
        ({"Origin": "https://evil.example"}, True),
        ({"Origin": "null"}, True),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, False),
        ({}, False),
    ],
)
def test_a_form_of_another_site_decides_nothing(account: Account, headers: dict[str, str], refused: bool) -> None:
    link = made(account)
    assert decided(link, "failed", **headers).status_code == (403 if refused else 303)
    assert read(account, link)["status"] == ("pending" if refused else "failed")


@pytest.mark.parametrize(
    "body", [b"", b"outcome=", b"outcome=pending", b"outcome=expired", b"outcome=%00", b"\xff=\xfe"]
)
def test_a_form_that_decides_nothing_leads_back_to_the_checkout(account: Account, body: bytes) -> None:
    link = made(account)
    answer = httpx2.post(link["payment_url"], content=body)
    assert (answer.status_code, answer.headers["location"]) == (303, link["payment_url"])
    assert read(account, link)["status"] == "pending"


def test_a_form_that_is_too_large_is_refused(account: Account) -> None:
    assert httpx2.post(made(account)["payment_url"], content=b"a=" + b"b" * 100_000).status_code == 413


def test_the_same_idempotency_key_makes_one_link(account: Account) -> None:
    headers = {"Idempotency-Key": new_id()}
    first = account.post(LINKS, json={"amount_rub": 700}, headers=headers)
    again = account.post(LINKS, json={"amount_rub": 700}, headers=headers)
    other = account.post(LINKS, json={"amount_rub": 700}, headers={"Idempotency-Key": new_id()})
    assert first.json() == again.json()
    assert other.json()["id"] != first.json()["id"]
    assert account.post(LINKS, json={"amount_rub": 701}, headers=headers).status_code == 422


def test_making_and_paying_a_link_is_in_the_audit_log(account: Account) -> None:
    link = made(account)
    decided(link, "paid")
    with account.server.database.read() as connection:
        entries, _ = audit.list_page(account.tenant_id, connection, limit=100)
    found = {entry.action: entry.actor for entry in entries if entry.subject == link["id"]}
    assert found.keys() == {"payment_link.created", "payment.received"}
    assert found["payment_link.created"].startswith("key sk_live_")


def test_an_address_that_is_a_secret_stands_in_no_log_though_its_page_fails(account: Account) -> None:
    server = account.server
    address = made(account)["payment_url"]
    rename_table(server, "payment_links", "payment_links_away")
    try:
        broken = httpx2.get(address, headers={"X-Request-Id": "broken-payment"})
    finally:
        rename_table(server, "payment_links_away", "payment_links")
    assert broken.status_code == 500
    deadline = time.monotonic() + 60  # the last of the lines is written after the answer
    while True:
        logged = [json.loads(line) for line in server.log().splitlines() if "broken-payment" in line]
        if {line["event"] for line in logged} >= {"request failed", "request"}:
            break
        assert time.monotonic() < deadline, logged
        time.sleep(0.1)
    assert {line["route"] for line in logged if "route" in line} == {"/payments/sandbox/{token}"}
    assert address.rpartition("/")[2] not in server.log()
    assert httpx2.get(address).status_code == 200
