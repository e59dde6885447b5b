"""An index or a bucket that takes requests and answers none: it keeps a few threads of a server, and others answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx2
import pytest

from tests.support.bucket import Bucket, running_bucket
from tests.support.qdrant import Qdrant, running_qdrant
from tests.support.server import RunningServer

CALLS = 60
"""More than a server has threads."""
HANGS_S = 4.0
"""Longer than a search is in time."""
SCRAPED_S = 15.0
"""So long Prometheus waits."""
WAIT_S = 120.0
TEXT = b"Visitors may leave their cars behind the bakery."
SEARCH = "/public/v1/search"


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with running_bucket() as running:
        yield running


@pytest.fixture(scope="module")
def qdrant() -> Iterator[Qdrant]:
    with running_qdrant() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, bucket: Bucket, qdrant: Qdrant) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("hanging"), blob_url=bucket.url, qdrant_url=qdrant.url)
    try:
        yield running.start()
    finally:
        running.close()


def scraped(server: RunningServer) -> list[str]:
    answer = httpx2.get(f"{server.url}/metrics", timeout=SCRAPED_S)
    assert answer.status_code == 200
    return answer.text.splitlines()


@contextmanager
def asked_by_many(store: Bucket | Qdrant, ask: Callable[[int], httpx2.Response]) -> Iterator[list[httpx2.Response]]:
    """While the store hangs, and more ask for it than there are threads. Their answers, once it went on."""
    answers: list[httpx2.Response] = []
    with ThreadPoolExecutor(CALLS) as threads:
        store.hang()
        try:
            asked = [threads.submit(ask, number) for number in range(CALLS)]
            time.sleep(HANGS_S)
            yield answers
        finally:
            store.go_on()
        answers += [each.result(WAIT_S) for each in asked]


def test_an_index_that_hangs(server: RunningServer, qdrant: Qdrant) -> None:
    if not qdrant.is_ours:
        pytest.skip("a Qdrant that is not ours is not held up")
    account = server.new_client("searches")
    account.add_document(account.new_space(), TEXT, "parking.txt")

    def search(_number: int = 0) -> httpx2.Response:
        return account.post(SEARCH, json={"query": "cars"}, timeout=WAIT_S)

    assert search().status_code == 200
    with asked_by_many(qdrant, search) as answers:
        assert account.get("/public/v1/balance", timeout=SCRAPED_S).status_code == 200
        told = scraped(server)
    assert 'parley_ready{part="index"} 0.0' in told
    assert 'parley_ready{part="database"} 1.0' in told
    refused = [answer for answer in answers if answer.status_code != 200]
    assert {answer.status_code for answer in refused} == {503}
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    assert search().status_code == 200


def test_a_bucket_that_hangs(server: RunningServer, bucket: Bucket) -> None:
    account = server.new_client("uploads")
    space_id = account.new_space()

    def upload(number: int) -> httpx2.Response:
        return account.upload_document(space_id, TEXT + bytes(str(number), "ascii"), f"{number}.txt")

    with asked_by_many(bucket, upload) as answers:
        assert account.get("/public/v1/balance", timeout=SCRAPED_S).status_code == 200
        assert scraped(server)
    assert {answer.status_code for answer in answers} == {202}, "none of them is lost"
