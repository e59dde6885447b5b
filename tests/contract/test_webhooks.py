"""Webhooks over real HTTP: what is sent for each event, to which address, and signed by which key."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from accounts.clients import add_key
from accounts.keys import Keyring
from store import accounts
from store.ids import new_id
from tests.contract.recordings import RATE, wav
from tests.support.receiver import Received, Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

RETRIES = (0.2, 0.2, 0.2)


@pytest.fixture(scope="module")
def hooks_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that may call loopback, with quick retries and no speech model."""
    running = RunningServer(
        tmp_path_factory.mktemp("hooks-server"),
        cache_dir=str(tmp_path_factory.mktemp("no-models")),
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule=",".join(map(str, RETRIES)),
        webhook_timeout_s="10",
        sweep_s="0.5",
        job_poll_s="0.1",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def hooked(hooks_server: RunningServer) -> Account:
    return hooks_server.new_client(f"hooked {new_id()}")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


def set_url(account: Account, url: str | None) -> Any:
    return account.request("PATCH", "/public/v1/settings", json={"webhook_url": url})


def add_document(account: Account, **fields: Any) -> dict[str, Any]:
    space = account.new_space()
    return account.add_document(space, b"The owl costs ninety roubles.", "owl.txt", **fields)


def events(received: list[Received]) -> list[Received]:
    return [each for each in received if each.json["event"] != "webhook.test"]


def wait_for_event(receiver: Receiver, path: str = "/hook") -> Received:
    """The first request to a path that is no test."""
    deadline = time.monotonic() + 60
    while not (found := events(receiver.at(path))):
        assert time.monotonic() < deadline, f"no event came to {path}"
        time.sleep(0.02)
    return found[0]


def deliveries(account: Account, **query: Any) -> list[dict[str, Any]]:
    answer = account.get("/public/v1/webhook-deliveries", params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


@pytest.mark.proves(
    "webhooks.post-json",
    "webhooks.account-url",
    "webhooks.event.kb-completed",
    "webhooks.headers.content-type",
    "webhooks.headers.signature-alg",
    "webhooks.headers.signature",
    "webhooks.secret",
    "webhooks.delivery.2xx",
)
def test_a_document_that_is_ready_is_told_to_the_account_s_address(hooked: Account, receiver: Receiver) -> None:
    assert set_url(hooked, receiver.url()).status_code == 200
    document = add_document(hooked)
    told = wait_for_event(receiver)
    assert told.method == "POST"
    assert told.json == {
        "event": "kb.completed",
        "document_id": document["id"],
        "space_id": document["space_id"],
    }
    assert told.headers["content-type"] == "application/json"
    assert told.headers["x-webhook-signature-alg"] == "hmac-sha256"
    secret = hashlib.sha256(hooked.made.api_key.encode()).hexdigest()
    signature = hmac.new(secret.encode(), told.body, hashlib.sha256).hexdigest()
    assert told.headers["x-webhook-signature"] == f"sha256={signature}"
    (delivery,) = wait_until(lambda: deliveries(hooked, status="delivered"))  # written once it was answered
    assert (delivery["id"], delivery["attempts"]) == (told.id, 1)


@pytest.mark.proves("webhooks.standard-headers")
def test_the_headers_of_standard_webhooks_hold_too(hooked: Account, receiver: Receiver) -> None:
    set_url(hooked, receiver.url())
    add_document(hooked)
    told = wait_for_event(receiver)
    library_secret = (
        "whsec_" + base64.b64encode(hashlib.sha256(hooked.made.api_key.encode()).hexdigest().encode()).decode()
    )
    key = base64.b64decode(library_secret.removeprefix("whsec_"))
    content = f"{told.headers['webhook-id']}.{told.headers['webhook-timestamp']}.".encode() + told.body
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    assert told.headers["webhook-signature"] == f"v1,{expected}"
    assert abs(int(told.headers["webhook-timestamp"]) - told.at) < 60


@pytest.mark.proves("webhooks.event.kb-failed")
def test_a_document_that_cannot_be_read_is_told_with_its_error_code(hooked: Account, receiver: Receiver) -> None:
    set_url(hooked, receiver.url())
    document = hooked.add_document(hooked.new_space(), b"%PDF-1.7 no more", "broken.pdf")
    assert document["status"] == "error"
    assert wait_for_event(receiver).json == {
        "event": "kb.failed",
        "document_id": document["id"],
        "space_id": document["space_id"],
        "error_code": document["error_code"],
    }


def hum() -> bytes:
    """A second of a tone."""
    return wav((np.sin(np.arange(RATE) / 10) * 9000).astype(np.int16)[:, None])


@pytest.mark.proves(
    "speech.webhook-url.receives-events",
    "webhooks.event.transcription-completed",
    "webhooks.event.read-after",
    "communications.get.after-event",
    "webhooks.request-url-wins",
)
def test_a_call_s_end_is_told_to_the_request_s_own_address_and_can_be_read_at_once(
    hooked: Account, receiver: Receiver
) -> None:
    set_url(hooked, receiver.url("/account"))
    seen: list[dict[str, Any]] = []

    def read(received: Received) -> Reply:
        task = f"/v1/audio/transcriptions/tasks/{received.json['task_id']}"
        communication = f"/public/v1/communications?id={received.json['communication_id']}"
        seen.append(hooked.get(task).json())
        seen.append(hooked.get(communication).json())
        return Reply()

    url = receiver.answer_by("/own", read)
    accepted = hooked.upload_audio(hum(), webhook_url=url).json()
    told = wait_for_event(receiver, "/own")
    assert told.json == {
        "event": "transcription.completed",
        "task_id": accepted["task_id"],
        "communication_id": accepted["communication_id"],
    }
    hooked.finished_task(accepted["task_id"])
    task, communication = wait_until(lambda: seen[1:] and seen)
    assert task["transcription_status"] == communication["transcription_status"] in ("success", "error")
    assert communication["communication_status"] == "closed" or task["transcription_status"] == "error"
    assert events(receiver.at("/account")) == []


@pytest.mark.proves("webhooks.no-url-nothing-sent")
def test_with_neither_address_no_delivery_is_made(hooked: Account, receiver: Receiver) -> None:
    add_document(hooked)
    assert deliveries(hooked) == []
    set_url(hooked, receiver.url())
    document = add_document(hooked)
    assert wait_for_event(receiver).json["document_id"] == document["id"]
    assert len(deliveries(hooked)) == 1


@pytest.mark.proves("webhooks.account-url.tested")
def test_an_address_is_kept_only_when_its_receiver_answers_a_signed_test(hooked: Account, receiver: Receiver) -> None:
    assert set_url(hooked, receiver.url()).json()["webhook_url"] == receiver.url()
    (test,) = receiver.at("/hook")
    assert test.json == {"event": "webhook.test"}
    assert test.is_signed_by(hooked.made.api_key)
    for bad in (
        receiver.answer("/broken", Reply(status=500)),
        receiver.answer("/moved", Reply(status=302, headers={"Location": receiver.url()})),
        "http://127.0.0.1:1/",
        "http://10.0.0.1/",
        "ftp://example.com/",
    ):
        refused = set_url(hooked, bad)
        assert refused.status_code == 400, bad
        assert refused.json()["error"]["param"] == "webhook_url"
    assert hooked.get("/public/v1/settings").json()["webhook_url"] == receiver.url()


@pytest.mark.proves("webhooks.account-url.empty-disables")
@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_address_ends_notifications_those_that_wait_too(
    hooked: Account, receiver: Receiver, empty: str | None
) -> None:
    set_url(hooked, receiver.url())
    receiver.answer("/hook", Reply(status=503))
    add_document(hooked)
    wait_for_event(receiver)
    assert set_url(hooked, empty).json()["webhook_url"] is None
    (ended,) = wait_until(lambda: deliveries(hooked, status="failed"))
    assert "turned off" in ended["attempt_log"][-1]["error"]
    sent = len(receiver.at("/hook"))
    add_document(hooked)
    assert len(deliveries(hooked)) == 1
    assert len(receiver.at("/hook")) == sent
    resent = hooked.post(f"/public/v1/webhook-deliveries/{ended['id']}/resend")
    assert (resent.status_code, resent.json()["error"]["code"]) == (409, "webhook_disabled")


def wait_until(ask: Callable[[], Any]) -> Any:
    """What `ask` says once it is true."""
    deadline = time.monotonic() + 60
    while not (said := ask()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return said


def new_key(account: Account, name: str) -> tuple[str, str]:
    """(id, text) of another key of the account."""
    with account.server.database.write() as connection:
        record, text = add_key(account.tenant_id, connection, Keyring.of(account.server.settings), name=name)
    return record.id, text


@pytest.mark.proves("webhooks.secret.request-key", "webhooks.secret.newest-key")
def test_the_request_s_key_signs_and_after_its_end_the_newest_active_one(hooked: Account, receiver: Receiver) -> None:
    set_url(hooked, receiver.url())
    newest_id, newest = new_key(hooked, "newest")
    revoked_id, _ = new_key(hooked, "revoked")
    document = add_document(hooked)
    told = wait_for_event(receiver)
    assert told.is_signed_by(hooked.made.api_key), "the key of the request, though there are newer ones"
    with hooked.server.database.write() as connection:
        (first, *_) = accounts.list_keys(hooked.tenant_id, connection)
        for key_id in (first.id, revoked_id):
            accounts.revoke_key(hooked.tenant_id, connection, key_id)
    again = {"Authorization": f"Bearer {newest}"}
    assert hooked.post(f"/public/v1/webhook-deliveries/{told.id}/resend", headers=again).status_code == 202
    second = wait_until(lambda: [each for each in events(receiver.at("/hook")) if each is not told])[0]
    assert second.json["document_id"] == document["id"]
    assert second.is_signed_by(newest)
    with hooked.server.database.write() as connection:
        accounts.revoke_key(hooked.tenant_id, connection, newest_id)


def test_without_any_active_key_a_delivery_waits_for_one_and_says_so(hooked: Account, receiver: Receiver) -> None:
    set_url(hooked, receiver.url())
    receiver.answer("/hook", Reply(status=503))
    add_document(hooked)
    wait_for_event(receiver)
    with hooked.server.database.write() as connection:
        for key in accounts.list_keys(hooked.tenant_id, connection):
            accounts.revoke_key(hooked.tenant_id, connection, key.id)
    time_left = len(RETRIES) + 1

    def last_error() -> str | None:
        from store import deliveries as rows

        with hooked.server.database.read() as connection:
            found, _ = rows.list_page(hooked.tenant_id, connection, limit=1, offset=0)
            log = rows.attempts_of(hooked.tenant_id, connection, [found[0].id], newest=time_left)
        errors = [attempt.error for attempt in log[found[0].id]]
        return errors[-1] if found[0].status == "failed" else None

    assert wait_until(last_error) == "There is no active API key to sign with."


@pytest.mark.proves("webhooks.guard.public-only")
def test_without_the_setting_nothing_inside_is_called(account: Account, receiver: Receiver) -> None:
    refused = set_url(account, receiver.url())
    assert refused.status_code == 400
    assert "public address" in refused.json()["error"]["message"]
    accepted = account.upload_audio(hum(), webhook_url=receiver.url())
    assert accepted.status_code == 202, accepted.text
    found = wait_until(lambda: [each for each in deliveries(account) if each["attempts"]])
    assert found[0]["status"] == "pending"
    assert "public address" in found[0]["attempt_log"][0]["error"]
    assert receiver.requests == []
