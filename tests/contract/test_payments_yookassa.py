"""Payments through YooKassa's official client, against a stand-in of its API: what is asked of it and believed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from store import payments
from store.database import now
from store.idempotency import idempotency_keys
from store.ids import new_id
from tests.support.server import Account, RunningServer
from tests.support.yookassa import SECRET_KEY, Break, StandIn, serve_yookassa

LINKS = "/public/v1/payment-link"
NOTIFICATIONS = "/payments/yookassa/notifications"
NewClient = Callable[..., Account]


@pytest.fixture(scope="module")
def yookassa() -> Iterator[StandIn]:
    with serve_yookassa() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def shop(yookassa: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("shop"), sweep_s="0.2", **yookassa.settings)
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def client(shop: RunningServer, yookassa: StandIn) -> Account:
    return shop.new_client(f"client {new_id()}", balance_rub="0")


def made(account: Account, **fields: Any) -> dict[str, Any]:
    answer = account.post(LINKS, json={"amount_rub": 450.5} | fields)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def read(account: Account, link: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = account.get(f"{LINKS}/{link['id']}").json()
    return found


def credited(account: Account) -> list[float]:
    history = account.get("/public/v1/balance/history", params={"kind": "credit"}).json()["items"]
    return [item["amount_rub"] for item in history]


def change(server: RunningServer, link: dict[str, Any], **values: Any) -> None:
    table = payments.payment_links
    with server.database.write() as connection:
        connection.execute(table.update().where(table.c.id == link["id"]).values(**values))


def expire(server: RunningServer, link: dict[str, Any]) -> None:
    change(server, link, expires_at=now() - timedelta(seconds=1), status="expired")


def eventually(account: Account, link: dict[str, Any], status: str) -> None:
    deadline = time.monotonic() + 120
    while read(account, link)["status"] != status:
        assert time.monotonic() < deadline, read(account, link)
        time.sleep(0.05)


@pytest.mark.proves("payments.provider.yookassa", "payments.create.receipt-email")
def test_a_payment_is_asked_for_with_its_link_its_receipt_and_our_page_to_return_to(
    client: Account, yookassa: StandIn
) -> None:
    link = made(client, customer_email="payer@shop.example", redirect_url="https://shop.example/thanks")
    wish = yookassa.wishes[-1]
    assert link["payment_url"] == yookassa.payment_of(link["id"])["confirmation"]["confirmation_url"]
    assert wish["amount"] == {"value": "450.50", "currency": "RUB"}
    assert wish["capture"] is True
    assert wish["metadata"]["link_id"] == link["id"]
    assert wish["description"] == link["purpose"]
    assert wish["confirmation"]["return_url"].startswith(client.server.url + "/payments/return/")
    assert wish["confirmation"]["locale"] == "ru_RU"
    assert wish["receipt"]["customer"] == {"email": "payer@shop.example"}
    (item,) = wish["receipt"]["items"]
    assert (item["amount"], item["vat_code"], item["quantity"]) == (wish["amount"], 1, "1.0")


@pytest.mark.proves("payments.create.no-receipt")
def test_without_any_address_there_is_no_receipt(client: Account, yookassa: StandIn) -> None:
    made(client)
    assert "receipt" not in yookassa.wishes[-1]


def test_a_long_name_fits_into_the_providers_description(shop: RunningServer, yookassa: StandIn) -> None:
    client = shop.new_client(f"client {new_id()}", name="Ж" * 200)
    link = made(client, customer_email="payer@shop.example")
    assert len(yookassa.wishes[-1]["description"]) == 128
    assert client.made.tenant.name in link["purpose"]


@pytest.mark.proves("payments.paid.once", "payments.link.transitions")
def test_a_payment_is_credited_once_by_many_notifications_at_the_same_moment(
    client: Account, shop: RunningServer, yookassa: StandIn
) -> None:
    link = made(client)
    payment = yookassa.pays(yookassa.payment_of(link["id"])["id"])
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: yookassa.notify(shop.url, payment), range(32)))
    # Those that found every place at YooKassa taken are sent again.
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert yookassa.notify(shop.url, payment).status_code == 200
    assert (read(client, link)["status"], credited(client)) == ("paid", [450.5])
    assert client.balance()["balance_rub"] == "450.50"


@pytest.mark.proves("payments.paid.after-expiry")
def test_a_payment_that_is_told_of_after_expiry_is_credited(
    client: Account, shop: RunningServer, yookassa: StandIn
) -> None:
    link = made(client)
    expire(shop, link)
    assert read(client, link)["status"] == "expired"
    assert yookassa.notify(shop.url, yookassa.pays(yookassa.payment_of(link["id"])["id"])).status_code == 200
    paid = read(client, link)
    assert (paid["status"], credited(client)) == ("paid", [450.5])
    assert paid["paid_at"] is not None


@pytest.mark.proves("payments.link.transitions")
@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("insufficient_funds", "failed"),
        ("3d_secure_failed", "failed"),
        ("something_new", "failed"),
        ("canceled_by_merchant", "cancelled"),
        ("permission_revoked", "cancelled"),
        ("expired_on_confirmation", "expired"),
    ],
)
def test_a_refused_payment_ends_its_link_by_the_reason(
    client: Account, shop: RunningServer, yookassa: StandIn, reason: str, status: str
) -> None:
    link = made(client)
    payment = yookassa.cancels(yookassa.payment_of(link["id"])["id"], reason)
    assert yookassa.notify(shop.url, payment).status_code == 200
    assert (read(client, link)["status"], credited(client)) == (status, [])


@pytest.mark.proves("payments.provider.asked-back")
def test_a_word_of_success_is_not_believed_where_the_provider_says_otherwise(
    client: Account, shop: RunningServer, yookassa: StandIn
) -> None:
    link = made(client)
    payment = yookassa.payment_of(link["id"])
    forged = payment | {"status": "succeeded", "paid": True}
    assert yookassa.notify(shop.url, forged).status_code == 200
    assert (read(client, link)["status"], credited(client)) == ("pending", [])


def test_what_comes_out_of_order_ends_in_what_is_true(client: Account, shop: RunningServer, yookassa: StandIn) -> None:
    link = made(client)
    payment = yookassa.pays(yookassa.payment_of(link["id"])["id"])
    for event in ("payment.canceled", "payment.succeeded", "payment.waiting_for_capture", "payment.canceled"):
        assert yookassa.notify(shop.url, payment, event=event).status_code == 200
    assert (read(client, link)["status"], credited(client)) == ("paid", [450.5])


@pytest.mark.parametrize(
    "changed",
    [
        {"amount": {"value": "1.00", "currency": "RUB"}},
        {"amount": {"value": "450.50", "currency": "USD"}},
        {"recipient": {"account_id": "1", "gateway_id": "2"}},
        {"metadata": {}},
        {"metadata": {"link_id": "0199a000-0000-7000-8000-000000000000"}},
        {"recipient": None},
        {"status": "something_new"},
    ],
    ids=str,
)
def test_a_payment_that_does_not_fit_its_link_is_not_credited(
    client: Account, shop: RunningServer, yookassa: StandIn, changed: dict[str, Any]
) -> None:
    link = made(client)
    payment = yookassa.pays(yookassa.payment_of(link["id"])["id"])
    yookassa.payments[payment["id"]] = payment | changed
    assert yookassa.notify(shop.url, payment).status_code in (200, 409)
    assert (read(client, link)["status"], credited(client)) == ("pending", [])


@pytest.mark.proves("payments.provider.asked-back")
def test_a_second_payment_in_the_name_of_a_link_is_not_credited(
    client: Account, shop: RunningServer, yookassa: StandIn
) -> None:
    link = made(client)
    first = yookassa.payment_of(link["id"])
    other = first | {"id": "22222222-0000-5000-8000-000000000000", "status": "succeeded", "paid": True}
    yookassa.payments[other["id"]] = other
    assert yookassa.notify(shop.url, other).json() == {"known": False}
    assert credited(client) == []
    del yookassa.payments[other["id"]]


def test_a_stranger_makes_us_ask_the_provider_nothing(shop: RunningServer, yookassa: StandIn) -> None:
    asked = len(yookassa.asked)
    for payment_id in ("2d1a7f3e-000f-5000-8000-1b6f2c1d9a11", "../../me", "x" * 10_000, "", "%00"):
        body = {"event": "payment.succeeded", "object": {"id": payment_id, "metadata": {"link_id": new_id()}}}
        answer = httpx2.post(shop.url + NOTIFICATIONS, json=body)
        assert (answer.status_code, answer.json()) == (200, {"known": False})
    assert [path for _, path in yookassa.asked[asked:] if "payments/" in path] == []


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b"{}", b"\xff\xfe", b'{"object": 7}', b'{"object": {"id": 7}}',
        b'{"object": {"id": null}}', b'{"object": {"id": "a", "metadata": []}}', b'{"object":' * 5000,
    ],
)  # fmt: skip
def test_what_is_no_notification_is_400(shop: RunningServer, body: bytes) -> None:
    assert httpx2.post(shop.url + NOTIFICATIONS, content=body).status_code == 400


def test_a_notification_that_is_too_large_is_413(shop: RunningServer) -> None:
    assert httpx2.post(shop.url + NOTIFICATIONS, content=b" " * 200_000).status_code == 413


def test_notifications_are_not_taken_where_yookassa_is_not_the_provider(small_server: RunningServer) -> None:
    assert httpx2.post(small_server.url + NOTIFICATIONS, json={"object": {"id": "a"}}).status_code == 404


@pytest.mark.proves("payments.create.provider-error")
@pytest.mark.parametrize("how", ["500", "401", "429", "html", "redirect", "drop before", "array", "no url"])
def test_a_provider_that_fails_is_502(client: Account, yookassa: StandIn, how: Break) -> None:
    yookassa.breaks(how)
    answer = client.post(LINKS, json={"amount_rub": 500})
    assert answer.status_code == 502, answer.text
    assert answer.json()["error"]["type"] == "api_error"
    assert SECRET_KEY not in client.server.log()


def test_an_answer_that_is_not_ready_is_asked_for_again(client: Account, yookassa: StandIn) -> None:
    yookassa.breaks("202")
    link = made(client)
    assert yookassa.payment_of(link["id"])["status"] == "pending"
    assert yookassa.asked[-2:] == [("POST", "/v3/payments")] * 2


@pytest.mark.proves("payments.create.provider-error")
def test_a_retry_after_a_lost_answer_makes_no_second_payment(client: Account, yookassa: StandIn) -> None:
    headers = {"Idempotency-Key": new_id()}
    before = len(yookassa.payments)
    yookassa.breaks("drop")
    assert client.post(LINKS, json={"amount_rub": 500}, headers=headers).status_code == 502
    again = client.post(LINKS, json={"amount_rub": 500}, headers=headers)
    assert again.status_code == 200, again.text
    assert len(yookassa.payments) == before + 1
    assert again.json()["payment_url"] == yookassa.payment_of(again.json()["id"])["confirmation"]["confirmation_url"]


def test_a_notification_that_the_provider_cannot_confirm_is_asked_for_again(
    client: Account, shop: RunningServer, yookassa: StandIn
) -> None:
    link = made(client)
    payment = yookassa.pays(yookassa.payment_of(link["id"])["id"])
    yookassa.breaks("500")
    answer = yookassa.notify(shop.url, payment)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "payment_state_unknown")
    assert credited(client) == []
    assert yookassa.notify(shop.url, payment).status_code == 200
    assert credited(client) == [450.5]


@pytest.mark.parametrize("expired", [False, True])
def test_a_payment_whose_notification_never_came_is_found_by_asking(
    client: Account, shop: RunningServer, yookassa: StandIn, expired: bool
) -> None:
    link = made(client)
    yookassa.pays(yookassa.payment_of(link["id"])["id"])
    if expired:
        expire(shop, link)
    change(shop, link, next_check_at=now())
    eventually(client, link, "paid")
    assert credited(client) == [450.5]


def test_a_payment_that_stays_open_is_asked_about_less_and_less_and_a_day_long(
    client: Account, shop: RunningServer, yookassa: StandIn
) -> None:
    link = made(client)
    tried = ((0, timedelta(), 60), (3, timedelta(), 480), (30, timedelta(), 3600), (31, timedelta(hours=25), None))
    for checks, age, wait_s in tried:
        change(shop, link, checks=checks, expires_at=now() - age, next_check_at=now())
        deadline = time.monotonic() + 120
        # The next question is noted before this one is asked, and taken back by an answer to the last one.
        while (found := asked_about(client, shop, link)) != (checks + 1, wait_s):
            assert time.monotonic() < deadline, (checks, found)
            time.sleep(0.02)


def asked_about(client: Account, shop: RunningServer, link: dict[str, Any]) -> tuple[int, int | None]:
    """How often, and in how many seconds again."""
    with shop.database.read() as connection:
        row = payments.get(client.tenant_id, connection, link["id"])
    assert row is not None
    return row.checks, row.next_check_at and round((row.next_check_at - row.updated_at).total_seconds())


def return_url(yookassa: StandIn, link: dict[str, Any]) -> str:
    return str(yookassa.payment_of(link["id"])["confirmation"]["return_url"])


@pytest.mark.proves(
    "payments.create.redirect-url", "payments.create.fail-redirect-url", "payments.redirects.stored-only"
)
@pytest.mark.parametrize(
    ("paid", "leads_to"), [(True, "https://shop.example/thanks"), (False, "http://shop.example/sorry")]
)
def test_who_comes_back_from_the_provider_is_led_where_the_client_wants(
    client: Account, yookassa: StandIn, paid: bool, leads_to: str
) -> None:
    addresses = {"redirect_url": "https://shop.example/thanks", "fail_redirect_url": "http://shop.example/sorry"}
    link = made(client, **addresses)
    payment_id = yookassa.payment_of(link["id"])["id"]
    if paid:
        yookassa.pays(payment_id)
    else:
        yookassa.cancels(payment_id, "insufficient_funds")
    answer = httpx2.get(return_url(yookassa, link) + "?redirect_url=https://evil.example")
    assert (answer.status_code, answer.headers["location"]) == (303, leads_to)
    assert credited(client) == ([450.5] if paid else [])


def test_who_comes_back_too_early_waits_and_may_go_on_paying(client: Account, yookassa: StandIn) -> None:
    link = made(client, redirect_url="https://shop.example/thanks")
    url = return_url(yookassa, link)
    page = httpx2.get(url)
    assert page.status_code == 200
    assert "Ждём подтверждения" in page.text
    assert link["payment_url"] in page.text
    assert page.headers["refresh"] == f"4; url={url}?tries=1"
    assert "refresh" not in httpx2.get(url + "?tries=30").headers
    assert httpx2.get(url + "?tries=" + "9" * 5000).status_code == 200
    yookassa.breaks("500")
    assert httpx2.get(url).status_code == 200


def test_who_reloads_the_page_makes_us_ask_the_provider_so_often_and_no_more(
    client: Account, yookassa: StandIn
) -> None:
    link = made(client)
    asked = len(yookassa.asked)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: httpx2.get(return_url(yookassa, link), timeout=30), range(60)))
    assert {answer.status_code for answer in answers} == {200}
    payment_id = yookassa.payment_of(link["id"])["id"]
    assert len([path for _, path in yookassa.asked[asked:] if path.endswith(payment_id)]) <= 40


def test_a_payment_is_found_by_its_link_where_we_never_saw_its_id(
    client: Account, shop: RunningServer, yookassa: StandIn
) -> None:
    link = made(client)
    change(shop, link, provider_payment_id=None, payment_url=None, next_check_at=None)
    payment = yookassa.pays(yookassa.payment_of(link["id"])["id"])
    assert yookassa.notify(shop.url, payment).json() == {"known": True}
    assert (read(client, link)["status"], credited(client)) == ("paid", [450.5])


def test_a_retry_after_kill_9_makes_no_second_payment(tmp_path: Path) -> None:
    with serve_yookassa() as stand_in:
        server = RunningServer(tmp_path, sweep_s="0.2", **stand_in.settings)
        try:
            server.start()
            client = server.new_client("client", balance_rub="0")
            headers = {"Idempotency-Key": "the same"}
            stand_in.breaks("hang")
            with ThreadPoolExecutor(1) as pool:
                lost = pool.submit(_post_to_a_server_that_dies, client, headers)
                deadline = time.monotonic() + 120
                while not stand_in.payments:
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
                server.kill()
                assert lost.result() is None
            stand_in.released.set()
            with server.database.write() as connection:  # what half a minute of waiting does
                connection.execute(idempotency_keys.update().values(locked_until=now() - timedelta(seconds=1)))
            server.start()
            again = client.post(LINKS, json={"amount_rub": 450.5}, headers=headers)
            assert again.status_code == 200, again.text
            (payment,) = stand_in.payments.values()
            assert again.json()["payment_url"] == payment["confirmation"]["confirmation_url"]
            stand_in.notify(server.url, stand_in.pays(payment["id"]))
            assert credited(client) == [450.5]
        finally:
            server.close()


def _post_to_a_server_that_dies(client: Account, headers: dict[str, str]) -> httpx2.Response | None:
    try:
        return client.post(LINKS, json={"amount_rub": 450.5}, headers=headers)
    except httpx2.HTTPError:
        return None
