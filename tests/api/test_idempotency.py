"""The Idempotency-Key: one effect and one answer, however often and from however many sides a request is repeated."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from store.database import now
from store.idempotency import idempotency_keys
from store.kb_spaces import spaces
from tests.support.postgresql import new_database
from tests.support.server import Account, RunningServer

SPACES = "/public/v1/kb/spaces"
RACERS = 64


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on either database."""
    values: dict[str, str] = {"sweep_s": "0.5", "chat_requests_per_minute": "100000"}
    if request.param == "postgresql":
        values["database_url"] = new_database(request.getfixturevalue("postgresql_cluster"))
    running = RunningServer(tmp_path_factory.mktemp(f"idempotency-{request.param}"), **values)
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def client(house: RunningServer) -> Account:
    return house.new_client(f"client {time.monotonic_ns()}")


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def create(account: Account, key: str, name: str = "A") -> httpx2.Response:
    return account.post(SPACES, json={"name": name}, headers=keyed(key))


def space_count(account: Account) -> int:
    return int(account.get(SPACES).json()["pagination"]["total"])


def rows_of(account: Account) -> list[Any]:
    with account.server.database.read() as connection:
        query = sa.select(idempotency_keys).where(idempotency_keys.c.owner_id == account.tenant_id)
        return list(connection.execute(query))


def test_a_repetition_gets_the_first_answer_and_does_nothing(client: Account) -> None:
    first, again = create(client, "k"), create(client, "k")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert space_count(client) == 1
    assert create(client, "another").json()["id"] != first.json()["id"]


def test_the_same_body_in_other_words_is_the_same_request(client: Account) -> None:
    first = client.post(SPACES, content=b'{"name":"A","description":"B"}', headers=keyed("k"))
    again = client.post(SPACES, content=b'{ "description": "B", "name": "\\u0041" }', headers=keyed("k"))
    assert first.json() == again.json()
    assert "Idempotency-Replayed" in again.headers


def test_another_body_or_operation_under_a_used_key_is_refused(client: Account) -> None:
    space_id = create(client, "k").json()["id"]
    other_space = create(client, "l").json()["id"]
    for answer in (
        create(client, "k", name="B"),
        client.post(f"{SPACES}/{space_id}/documents", json={"title": "A", "text": "B"}, headers=keyed("k")),
    ):
        assert answer.status_code == 422
        error = answer.json()["error"]
        assert (error["code"], error["param"]) == ("idempotency_key_reused", "Idempotency-Key")
        assert error["type"] == "invalid_request_error"
    document = {"title": "A", "text": "B"}
    assert client.post(f"{SPACES}/{space_id}/documents", json=document, headers=keyed("m")).status_code == 202
    # The same operation and body on another thing.
    answer = client.post(f"{SPACES}/{other_space}/documents", json=document, headers=keyed("m"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert space_count(client) == 2


def test_a_key_is_its_tenants_own(house: RunningServer, client: Account) -> None:
    other = house.new_client(f"other {time.monotonic_ns()}")
    assert create(client, "k").json()["id"] != create(other, "k").json()["id"]


@pytest.mark.parametrize("key", ["", "a" * 256, "naïve", "tab\tbed"])
def test_a_key_that_is_none_is_400_and_nothing_is_done(client: Account, key: str) -> None:
    answer = client.post(SPACES, json={"name": "A"}, headers={"Idempotency-Key": key.encode("latin-1")})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == "Idempotency-Key"
    assert space_count(client) == 0


@pytest.mark.parametrize("key", ["a", "!", "a" * 255, "two words", '"quoted"'])
def test_any_1_to_255_printable_characters_are_a_key(client: Account, key: str) -> None:
    assert create(client, key).status_code == create(client, key).status_code == 201
    assert space_count(client) == 1


def test_a_refused_request_leaves_its_key_free(client: Account) -> None:
    assert client.post(SPACES, json={"name": ""}, headers=keyed("k")).status_code == 400
    missing = f"{SPACES}/01890000-0000-7000-8000-000000000000/documents"
    assert client.post(missing, json={"title": "A", "text": "B"}, headers=keyed("l")).status_code == 404
    refused = httpx2.post(client.server.url + SPACES, json={"name": "A"}, headers=keyed("k"))
    assert refused.status_code == 401
    assert rows_of(client) == []
    assert create(client, "k").status_code == 201
    assert create(client, "l").status_code == 201


def test_an_upload_is_known_by_its_bytes_and_fields(client: Account) -> None:
    path = f"{SPACES}/{client.new_space()}/documents"

    def upload(content: bytes, title: str) -> httpx2.Response:
        return client.post(path, files={"file": ("a.txt", content)}, data={"title": title}, headers=keyed("k"))

    first, again = upload(b"One sentence.", "A"), upload(b"One sentence.", "A")
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    for answer in (upload(b"Another sentence.", "A"), upload(b"One sentence.", "B")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert client.get(path).json()["pagination"]["total"] == 1
    assert_blobs_are_of_documents(client)


def assert_blobs_are_of_documents(account: Account) -> None:
    folder = account.server.data_dir / "blobs" / account.tenant_id / "documents"
    kept = [path.name for path in folder.rglob("*") if path.is_file()]
    assert len(kept) == 1, kept


def test_a_chats_answer_is_given_again_whole_or_streamed(client: Account) -> None:
    path = f"/public/v1/chats/{client.chat_id}/messages"
    question = {"text": "When does the warehouse open?"}
    first = client.post(path, json=question, headers=keyed("whole"))
    again = client.post(path, json=question, headers=keyed("whole"))
    assert first.status_code == 200, first.text
    assert first.json() == again.json()
    stream = {**keyed("streamed"), "Accept": "text/event-stream"}
    first, again = client.post(path, json=question, headers=stream), client.post(path, json=question, headers=stream)
    assert "event: done" in first.text
    assert first.content == again.content
    assert again.headers["Content-Type"].startswith("text/event-stream")
    assert again.headers["Idempotency-Replayed"] == "true"


def test_64_racers_have_one_effect_and_one_answer(client: Account) -> None:
    start = threading.Barrier(RACERS)

    def race(_: int) -> tuple[int, str]:
        with httpx2.Client(base_url=client.server.url, timeout=60) as http:
            start.wait(timeout=60)
            deadline = time.monotonic() + 60
            while True:
                headers = {**client.headers, **keyed("raced")}
                answer = http.post(SPACES, json={"name": "Raced"}, headers=headers)
                if answer.status_code != 409 or time.monotonic() > deadline:
                    return answer.status_code, answer.text
                assert answer.json()["error"]["code"] == "idempotency_in_progress"
                assert int(answer.headers["Retry-After"]) >= 1

    with ThreadPoolExecutor(RACERS) as pool:
        answers = Counter(pool.map(race, range(RACERS)))
    assert len(answers) == 1, answers
    assert next(iter(answers))[0] == 201
    assert space_count(client) == 1


def test_64_racers_with_different_bodies_have_one_effect(client: Account) -> None:
    def race(number: int) -> int:
        return create(client, "raced", name=f"Space {number % 2}").status_code

    with ThreadPoolExecutor(RACERS) as pool:
        statuses = Counter(pool.map(race, range(RACERS)))
    assert set(statuses) <= {201, 409, 422}
    assert statuses[201] >= 1
    assert space_count(client) == 1


def test_while_the_first_is_in_work_a_repetition_is_409_and_a_dead_one_is_taken_over(client: Account) -> None:
    assert create(client, "k").status_code == 201
    with client.server.database.write() as connection:
        connection.execute(sa.delete(spaces).where(spaces.c.tenant_id == client.tenant_id))
        unfinished = {"status": None, "answer": None, "locked_until": now() + timedelta(seconds=60)}
        mine = idempotency_keys.c.owner_id == client.tenant_id
        connection.execute(sa.update(idempotency_keys).where(mine).values(**unfinished))
    refused = create(client, "k")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "idempotency_in_progress")
    assert refused.json()["error"]["type"] == "invalid_request_error"
    assert int(refused.headers["Retry-After"]) >= 1
    assert space_count(client) == 0
    with client.server.database.write() as connection:  # as a kill leaves it, a lease later
        connection.execute(sa.update(idempotency_keys).where(mine).values(locked_until=now()))
    assert create(client, "k").status_code == 201
    assert space_count(client) == 1


def test_an_answer_is_kept_for_the_set_time_and_then_swept_away(client: Account) -> None:
    first = create(client, "k")
    old = now() - timedelta(hours=25)
    with client.server.database.write() as connection:
        connection.execute(
            sa.update(idempotency_keys).where(idempotency_keys.c.owner_id == client.tenant_id).values(created_at=old)
        )
    assert create(client, "k").json()["id"] != first.json()["id"], "the key was free again"
    with client.server.database.write() as connection:
        connection.execute(
            sa.update(idempotency_keys).where(idempotency_keys.c.owner_id == client.tenant_id).values(created_at=old)
        )
    deadline = time.monotonic() + 120
    while rows_of(client):
        assert time.monotonic() < deadline, "the sweep did not come"
        time.sleep(0.05)


def test_a_new_key_is_shown_again_and_lies_nowhere_in_clear(client: Account) -> None:
    first = client.post("/public/v1/keys", json={"name": "A"}, headers=keyed("order-4711"))
    again = client.post("/public/v1/keys", json={"name": "A"}, headers=keyed("order-4711"))
    assert first.status_code == 201, first.text
    secret = first.json()["api_key"]
    assert secret.startswith("sk_live_")
    assert again.json() == first.json()
    (row,) = rows_of(client)
    assert secret.encode() not in row.answer
    assert "order-4711" not in row.key_hash
    assert secret not in client.server.log()
    if client.server.database.is_sqlite:
        files = client.server.files("parley.sqlite3*").values()
        assert files
        assert not any(secret.encode() in held for held in files)


def test_a_kill_at_any_moment_leaves_one_effect_a_key(house: RunningServer) -> None:
    """Clients that are cut off repeat their requests; what the kill left claimed is free when its lease is over."""
    account = house.new_client(f"killed {time.monotonic_ns()}")
    cut_off = threading.Event()
    answered: dict[str, str] = {}
    sent: list[str] = []

    def work(worker: int) -> None:
        while not cut_off.is_set():
            key = f"{worker} {len(sent)}"
            sent.append(key)
            try:
                answered[key] = create(account, key).json()["id"]
            except httpx2.HTTPError:
                return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    while len(answered) < 20:
        assert any(thread.is_alive() for thread in threads)
        time.sleep(0.01)
    house.kill()
    cut_off.set()
    for thread in threads:
        thread.join(timeout=60)
    house.start()
    deadline = time.monotonic() + 60
    for key in sent:
        while (answer := create(account, key)).status_code == 409:
            assert time.monotonic() < deadline, "the lease does not end"
            time.sleep(0.2)
        assert answer.json()["id"] == answered.get(key, answer.json()["id"])
    assert space_count(account) == len(sent)
