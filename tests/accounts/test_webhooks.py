"""Deliveries in the store, on both databases: made once, planned by run, sent again, swept and purged."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace

import pytest

from accounts import webhooks
from accounts.keys import Keyring
from accounts.webhook_signature import signed_headers
from store import accounts, deliveries
from store.database import Database, now
from store.deliveries import Attempt, Delivery, Plan
from store.ids import new_id

GOOD = Attempt(at=now(), latency_ms=5, status_code=200, answer_head="ok")
BAD = Attempt(at=now(), latency_ms=5, error="no", status_code=500)
KEYRING = Keyring(b"k" * 32)


@dataclass(frozen=True)
class Client:
    database: Database
    tenant_id: str

    def emit(self, subject: str = "one", *, url: str | None = "http://example.com/") -> Delivery | None:
        with self.database.write() as connection:
            return webhooks.emit(
                self.tenant_id, connection, event="kb.completed", subject=subject, fields={"document_id": "d"}, url=url
            )

    def made(self, subject: str = "one") -> Delivery:
        delivery = self.emit(subject)
        assert delivery is not None
        return delivery

    def get(self, delivery: Delivery) -> Delivery:
        with self.database.read() as connection:
            found = deliveries.get(self.tenant_id, connection, delivery.id)
        assert found is not None
        return found

    def record(self, delivery: Delivery, attempt: Attempt, plan: Plan, *, was_sent: bool = True) -> Delivery | None:
        with self.database.write() as connection:
            return deliveries.record_attempt(self.tenant_id, connection, delivery, attempt, plan, was_sent=was_sent)

    def log(self, delivery: Delivery, newest: int = 100) -> list[Attempt]:
        with self.database.read() as connection:
            return deliveries.attempts_of(self.tenant_id, connection, [delivery.id], newest=newest)[delivery.id]

    def send_again(self, delivery: Delivery) -> Delivery | None:
        with self.database.write() as connection:
            return deliveries.send_again(self.tenant_id, connection, delivery.id)


@pytest.fixture
def client(database: Database) -> Client:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="client", external_id=new_id())
        assert tenant is not None
    return Client(database, tenant.id)


def test_an_event_that_is_emitted_again_is_one_delivery(client: Client) -> None:
    first = client.made()
    assert client.made() == first
    assert client.made("two").id != first.id
    assert first.body == '{"event":"kb.completed","document_id":"d"}'


def test_racers_with_one_event_make_one_delivery(client: Client) -> None:
    made: list[Delivery] = []
    threads = [threading.Thread(target=lambda: made.append(client.made())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len({delivery.id for delivery in made}) == 1


def test_an_event_that_is_rolled_back_leaves_no_delivery(client: Client) -> None:
    def emit_and_fail() -> None:
        with client.database.write() as connection:
            webhooks.emit(client.tenant_id, connection, event="a", subject="one", fields={}, url="http://example.com/")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        emit_and_fail()
    with client.database.read() as connection:
        assert deliveries.list_page(client.tenant_id, connection, limit=10, offset=0) == ([], 0)


def test_the_request_s_address_wins_over_the_account_s(client: Client) -> None:
    assert client.emit(url=None) is None
    with client.database.write() as connection:
        accounts.update_tenant(client.tenant_id, connection, webhook_url="http://account.example/")
    to_account = client.emit("two", url=None)
    to_request = client.emit("three", url="http://request.example/")
    assert to_account is not None
    assert to_request is not None
    assert (to_account.url, to_account.is_account_url) == ("http://account.example/", True)
    assert (to_request.url, to_request.is_account_url) == ("http://request.example/", False)


def test_attempts_are_logged_and_the_plan_is_followed(client: Client) -> None:
    delivery = client.made()
    later = now() + timedelta(seconds=60)
    second = client.record(delivery, BAD, Plan("pending", later))
    assert second is not None
    assert (second.attempts, second.tries, second.status, second.next_attempt_at) == (1, 1, "pending", later)
    third = client.record(second, GOOD, Plan("delivered"))
    assert third is not None
    assert (third.attempts, third.status, third.next_attempt_at) == (2, "delivered", None)
    assert third.delivered_at == GOOD.at
    assert [attempt.error for attempt in client.log(delivery)] == ["no", None]


def test_an_attempt_of_a_run_that_is_over_is_logged_and_changes_nothing_else(client: Client) -> None:
    delivery = client.made()
    again = client.send_again(delivery)
    assert again is not None
    assert client.record(delivery, GOOD, Plan("delivered")) is None
    found = client.get(delivery)
    assert (found.status, found.run, found.attempts, found.tries) == ("pending", again.run, 1, 0)
    assert client.record(delivery, BAD, Plan("failed"), was_sent=False) is None
    assert len(client.log(delivery)) == 1


def test_of_racers_in_one_run_one_plan_is_followed_and_each_attempt_logged(client: Client) -> None:
    delivery = client.made()
    planned: list[Delivery | None] = []

    def record() -> None:
        planned.append(client.record(delivery, BAD, Plan("pending", now())))

    threads = [threading.Thread(target=record) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([each for each in planned if each is not None]) == 1
    assert len(client.log(delivery)) == 8
    assert (client.get(delivery).attempts, client.get(delivery).run) == (8, 1)


def test_sending_again_begins_the_schedule_anew_and_keeps_the_log(client: Client) -> None:
    delivery = client.made()
    ended = client.record(delivery, BAD, Plan("failed"))
    assert ended is not None
    again = client.send_again(ended)
    assert again is not None
    assert (again.status, again.tries, again.attempts, again.id) == ("pending", 0, 1, delivery.id)
    assert again.next_attempt_at is not None
    assert again.run > ended.run


def test_only_the_last_attempts_are_listed_oldest_first(client: Client) -> None:
    delivery = client.made()
    for number in range(5):
        client.record(delivery, Attempt(at=now(), latency_ms=number), Plan("pending", now()))
    assert [attempt.latency_ms for attempt in client.log(delivery, newest=2)] == [3, 4]


def test_another_tenant_finds_and_changes_nothing(client: Client) -> None:
    delivery = client.made()
    with client.database.write() as connection:
        stranger = accounts.create_tenant(connection, name="stranger", external_id=new_id())
        assert stranger is not None
        assert deliveries.get(stranger.id, connection, delivery.id) is None
        assert deliveries.send_again(stranger.id, connection, delivery.id) is None
        assert deliveries.record_attempt(stranger.id, connection, delivery, GOOD, Plan("delivered")) is None
        assert deliveries.attempts_of(stranger.id, connection, [delivery.id], newest=9) == {delivery.id: []}
    assert client.get(delivery) == delivery


def test_what_is_due_is_found_page_by_page(client: Client) -> None:
    made = [client.made(str(number)) for number in range(5)]
    client.record(made[0], GOOD, Plan("delivered"))
    client.record(made[1], BAD, Plan("pending", now() + timedelta(hours=1)))
    found: list[str] = []
    after = None
    with client.database.read() as connection:
        while len(found) < 10 and (
            page := deliveries.list_due(connection, before=now() + timedelta(seconds=1), after=after, limit=2)
        ):
            assert page[-1].next_attempt_at is not None
            after = (page[-1].next_attempt_at, page[-1].id)
            found += [delivery.id for delivery in page]
    assert sorted(found) == sorted(delivery.id for delivery in made[2:])


def test_old_deliveries_that_ended_are_purged_with_their_attempts(client: Client) -> None:
    ended, waiting = client.made("ended"), client.made("waiting")
    client.record(ended, GOOD, Plan("delivered"))
    client.record(waiting, BAD, Plan("pending", now()))
    with client.database.write() as connection:
        assert deliveries.purge(connection, before=now() - timedelta(days=30)) == 0
        assert deliveries.purge(connection, before=now() + timedelta(seconds=1)) == 1
        assert deliveries.get(client.tenant_id, connection, ended.id) is None
        assert deliveries.get(client.tenant_id, connection, waiting.id) is not None
        assert deliveries.attempts_of(client.tenant_id, connection, [ended.id], newest=9)[ended.id] == []


def test_one_sweep_purges_more_than_one_batch_up_to_a_bound(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        client.record(client.made(str(number)), GOOD, Plan("delivered"))
    monkeypatch.setattr(webhooks, "_opened", SimpleNamespace(database=client.database))
    monkeypatch.setattr(webhooks, "KEEP_DAYS", -1)
    monkeypatch.setattr(webhooks, "_PURGED_AT_ONCE", 2)
    monkeypatch.setattr(webhooks, "_PURGED_A_SWEEP", 6)
    left = []
    for _ in range(2):
        webhooks.purge()
        with client.database.read() as connection:
            left.append(deliveries.list_page(client.tenant_id, connection, limit=10, offset=0)[1])
    assert left == [2, 0]


def test_the_secret_is_of_the_preferred_key_while_it_is_active_else_of_the_newest(client: Client) -> None:
    ids, texts = [], []
    with client.database.write() as connection:
        for number in range(3):
            new = KEYRING.make_key()
            record = accounts.add_key(
                client.tenant_id,
                connection,
                name=str(number),
                prefix=new.prefix,
                key_hash=new.key_hash,
                signing_secret=new.signing_secret,
                issuer="account",
            )
            ids.append(record.id)
            texts.append(new.signing_secret)

        def secret(key_id: str | None) -> bytes | None:
            return accounts.signing_secret(client.tenant_id, connection, preferred_key_id=key_id)

        assert secret(ids[0]) == texts[0]
        assert secret(None) == secret(new_id()) == texts[2]
        accounts.revoke_key(client.tenant_id, connection, ids[0])
        assert secret(ids[0]) == texts[2]
        accounts.revoke_key(client.tenant_id, connection, ids[2])
        assert secret(ids[0]) == texts[1]
        accounts.revoke_key(client.tenant_id, connection, ids[1])
        assert secret(ids[0]) is None


def test_signatures_are_those_of_a_fixed_example() -> None:
    """Computed by `openssl dgst -sha256 -hmac` from the same secret and body."""
    headers = dict(signed_headers("ab" * 32, "0199a000-0000-7000-8000-000000000001", 1_700_000_000, b'{"event":"x"}'))
    assert headers["X-Webhook-Signature"] == "sha256=236043a232694ea8f85441f9e7a0ce1cb170abba3ce4f243dec3d5d4d66e325d"
    assert headers["webhook-signature"] == "v1,VQyO5Ce9m7NQnOU611SBlhODFkgySpbfTcE1OQxqbkA="
