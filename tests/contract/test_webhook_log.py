"""The log of deliveries, sending again, and the test of an address, over the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from api.deliveries import RESENDS_PER_MINUTE, TESTS_PER_MINUTE
from store import limits
from store.ids import new_id
from tests.support.events import emit, ended
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

PATH = "/public/v1/webhook-deliveries"
TEST = "/public/v1/settings/webhook-test"


@pytest.fixture(scope="module")
def log_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path_factory.mktemp("log-server"),
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule="0.1",
        webhook_timeout_s="5",
        sweep_s="0.3",
        job_poll_s="0.1",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def new_logged(log_server: RunningServer) -> Callable[[], Account]:
    return lambda: log_server.new_client(f"logged {new_id()}")


@pytest.fixture
def logged(new_logged: Callable[[], Account]) -> Account:
    return new_logged()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@pytest.mark.proves("account.deliveries.list")
def test_a_delivery_is_listed_with_all_its_fields(logged: Account, receiver: Receiver) -> None:
    url = receiver.answer("/hook", Reply(status=500, body=b"a" * 600), Reply(body=b"ok"))
    (delivery_id,) = emit(logged, url)
    (delivery,) = ended(logged, [delivery_id])
    log = delivery.pop("attempt_log")
    subject = delivery["body"]["document_id"]
    assert delivery == {
        "id": delivery_id,
        "event": "kb.completed",
        "url": url,
        "status": "delivered",
        "attempts": 2,
        "next_attempt_at": None,
        "delivered_at": log[1]["at"],
        "created_at": delivery["created_at"],
        "body": {"event": "kb.completed", "document_id": subject, "space_id": subject},
    }
    assert [{**each, "at": "", "latency_ms": 0} for each in log] == [
        {
            "at": "",
            "latency_ms": 0,
            "status_code": 500,
            "error": "The receiver answered 500.",
            "answer_head": "a" * 500,
        },
        {"at": "", "latency_ms": 0, "status_code": 200, "error": None, "answer_head": "ok"},
    ]
    assert delivery["created_at"] <= log[0]["at"] <= log[1]["at"]
    assert all(each["latency_ms"] >= 0 for each in log)


@pytest.mark.proves("account.deliveries.list")
def test_the_list_is_newest_first_and_can_be_filtered_and_paged(logged: Account, receiver: Receiver) -> None:
    bad = receiver.answer("/bad", Reply(status=500))
    failed = emit(logged, bad, 2, event="kb.failed")
    delivered = emit(logged, receiver.url("/good"), 3)
    ended(logged, failed + delivered)

    def ids(**query: object) -> list[str]:
        return [each["id"] for each in logged.get(PATH, params=query).json()["items"]]

    assert ids() == [*reversed(delivered), *reversed(failed)]
    assert ids(status="failed") == ids(event="kb.failed") == [*reversed(failed)]
    assert ids(status="delivered", event="kb.failed") == []
    page = logged.get(PATH, params={"limit": 2, "offset": 4}).json()
    assert [each["id"] for each in page["items"]] == [failed[0]]
    assert page["pagination"] == {"limit": 2, "offset": 4, "count": 1, "total": 5}
    assert logged.get(PATH).json()["pagination"] == {"limit": 20, "offset": 0, "count": 5, "total": 5}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "many"),
        ("offset", "-1"),
        ("offset", str(2**31)),
        ("status", "sent"),
        ("event", ""),
        ("event", "e" * 65),
        ("event", "a\x00b"),
    ],
)
def test_a_query_beyond_its_bounds_is_refused_by_name(logged: Account, name: str, value: str) -> None:
    refused = logged.get(PATH, params={name: value})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, name)


@pytest.mark.proves("account.deliveries.resend")
@pytest.mark.parametrize("first", [200, 500], ids=["delivered", "failed"])
def test_a_delivery_can_be_sent_again_under_its_id_with_its_body(
    logged: Account, receiver: Receiver, first: int
) -> None:
    url = receiver.answer("/hook", Reply(status=first))
    (delivery_id,) = emit(logged, url)
    ended(logged, [delivery_id])
    sent = len(receiver.at("/hook"))
    receiver.answer("/hook", Reply(status=500), Reply())
    again = logged.post(f"{PATH}/{delivery_id}/resend")
    assert again.status_code == 202, again.text
    assert (again.json()["id"], again.json()["status"], again.json()["attempts"]) == (delivery_id, "pending", sent)
    receiver.wait("/hook", sent + 2)
    (delivery,) = ended(logged, [delivery_id])
    assert (delivery["status"], delivery["attempts"]) == ("delivered", sent + 2)
    assert {(each.id, each.body) for each in receiver.at("/hook")} == {(delivery_id, receiver.at("/hook")[0].body)}


@pytest.mark.proves("account.deliveries.resend")
def test_nobody_else_s_delivery_is_seen_or_sent_again(new_logged: Callable[[], Account], receiver: Receiver) -> None:
    owner, other = new_logged(), new_logged()
    (delivery_id,) = emit(owner, receiver.url())
    ended(owner, [delivery_id])
    assert other.get(PATH).json()["items"] == []
    for unknown in (delivery_id, new_id(), "not-an-id", "%00"):
        assert other.post(f"{PATH}/{unknown}/resend").status_code == 404
    assert len(receiver.at("/hook")) == 1


def until_refused(ask: Callable[[], int], limit: int) -> list[int]:
    """The statuses of requests until the first 429. A minute may end in between, and the count begins anew."""
    statuses = [ask()]
    while statuses[-1] != 429:
        assert len(statuses) <= 2 * limit, statuses
        statuses.append(ask())
    return statuses


def test_sending_again_is_limited(logged: Account) -> None:
    with logged.server.database.count() as connection:
        for _ in range(RESENDS_PER_MINUTE - 5):
            limits.hit(connection, f"webhook_resend:{logged.tenant_id}", limit=RESENDS_PER_MINUTE)
    statuses = until_refused(lambda: logged.post(f"{PATH}/{new_id()}/resend").status_code, RESENDS_PER_MINUTE)
    assert set(statuses[:-1]) == {404}
    assert len(statuses) >= 6


@pytest.mark.proves("account.settings.webhook-test")
def test_an_address_is_tested_by_a_signed_event_at_once(logged: Account, receiver: Receiver) -> None:
    good = logged.post(TEST, json={"webhook_url": receiver.url()})
    assert good.status_code == 200, good.text
    assert {**good.json(), "latency_ms": 0} == {
        "ok": True,
        "status_code": 200,
        "latency_ms": 0,
        "error": None,
        "answer_head": "thank you",
    }
    (received,) = receiver.at("/hook")
    assert received.json == {"event": "webhook.test"}
    assert received.is_signed_by(logged.made.api_key)
    assert logged.get(PATH).json()["items"] == [], "a test is no delivery"
    bad = logged.post(TEST, json={"webhook_url": receiver.answer("/bad", Reply(status=404, body=b"no such hook"))})
    assert (bad.status_code, bad.json()["ok"], bad.json()["status_code"]) == (200, False, 404)
    assert bad.json()["answer_head"] == "no such hook"
    dead = logged.post(TEST, json={"webhook_url": receiver.answer("/dead", Reply(hangs=True))}).json()
    assert (dead["ok"], dead["status_code"], dead["answer_head"]) == (False, None, None)
    assert dead["error"] == "No answer within 5 s."


@pytest.mark.proves("account.settings.webhook-test")
def test_without_an_address_the_account_s_is_tested(logged: Account, receiver: Receiver) -> None:
    refused = logged.post(TEST, json={})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "webhook_url")
    logged.request("PATCH", "/public/v1/settings", json={"webhook_url": receiver.url()})
    assert logged.post(TEST, json={}).json()["ok"] is True
    assert len(receiver.at("/hook")) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"webhook_url": "ftp://example.com/"},
        {"webhook_url": "http://" + "a" * 4096},
        {"webhook_url": 7},
        {"webhook_url": ["http://example.com/"]},
        [],
        "x",
    ],
)
def test_a_test_of_what_is_no_address_is_refused(logged: Account, body: object) -> None:
    assert logged.post(TEST, json=body).status_code == 400


def test_tests_are_limited(logged: Account) -> None:
    body = {"webhook_url": "http://10.0.0.1/"}
    statuses = until_refused(lambda: logged.post(TEST, json=body).status_code, TESTS_PER_MINUTE)
    assert set(statuses[:-1]) == {200}
    assert len(statuses) > TESTS_PER_MINUTE
