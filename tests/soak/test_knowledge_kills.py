"""kill -9 while documents are indexed, indexed anew and deleted: none is lost, nothing is left over or there twice."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from tests.contract.mcp import found_by
from tests.contract.test_knowledge import DOCUMENTS, SPACES
from tests.soak.conftest import Size, chosen
from tests.support.document_state import DocumentJobs, document_jobs, kept
from tests.support.documents import STEPS
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.soak

SETTLE_S = 120.0
IN_CHILDREN = ("parse_document", "index_chunks")
TRIES = 12
"""Of a kill in one step, until it comes while a document is in work."""
A_STEP_S = 0.4
"""About how long one that has a child takes."""
Moment = Callable[[DocumentJobs, str, int], None]


@dataclass
class Planted:
    """What was accepted: documents with the word that each holds, and which were deleted."""

    words: dict[str, str] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    spaces: list[str] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path / "data", allowed_networks="127.0.0.0/8", sweep_s="0.5", mcp_requests_per_minute="1000000"
    )
    try:
        yield running.start()
    finally:
        running.close()


def text_with(word: str, sections: int) -> str:
    """The word is in it once; a chunk a section, about."""
    parts = [f"# Раздел {number}\n\n{'На складе лежат коробки с кофе. ' * 12}" for number in range(sections)]
    return "\n\n".join([*parts, f"# Слово\n\nПароль от сейфа: {word}."])


def at_any_time(chance: random.Random) -> Moment:
    after_s = chance.uniform(0.0, 2.5)
    return lambda _jobs, _document_id, _run: time.sleep(after_s)


def when_done(count: int) -> Moment:
    """As soon as so many steps of the run are done."""
    return lambda jobs, document_id, run: jobs.wait_for_steps(document_id, run, count)


def moments(size: Size, chance: random.Random) -> list[Moment]:
    """Each step in turn, and as many moments by chance."""
    named = [when_done(number) for number in range(len(STEPS) + 1)]
    return [named[number // 2 % len(named)] if number % 2 else at_any_time(chance) for number in range(size.kills)]


def test_documents_are_whole_however_often_the_server_is_killed(
    server: RunningServer, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    def kill() -> None:
        server.kill()
        server.start()

    assert_whole_after(kill, server, receiver, moments(size, chance), chance)


def test_documents_are_whole_however_often_the_children_that_read_and_embed_them_are_killed(
    server: RunningServer, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    hits = 0

    def in_step(number: int) -> Moment:
        after_s = chance.uniform(0, A_STEP_S)

        def moment(jobs: DocumentJobs, document_id: str, run: int) -> None:
            jobs.wait_for_steps(document_id, run, number)
            time.sleep(after_s)

        return moment

    def in_each_step() -> Iterator[Moment]:
        for number, step in enumerate(chosen(IN_CHILDREN, size, chance)):
            for _ in range(TRIES):
                yield in_step(STEPS.index(step))
                if hits > number:
                    break
            assert hits > number, f"no kill came while {step} was in work"

    def kill() -> None:
        """What was in work then has ended before the next kill: a document whose children die again and again
        is unreadable."""
        nonlocal hits
        with document_jobs(server) as jobs:
            in_work = jobs.open_runs()
            hits += bool(server.kill_children() and in_work)
            jobs.wait()

    assert_whole_after(kill, server, receiver, in_each_step(), chance)


def assert_whole_after(
    kill: Callable[[], object],
    server: RunningServer,
    receiver: Receiver,
    when: Iterable[Moment],
    chance: random.Random,
) -> None:
    account = server.new_client("client")
    planted = Planted(spaces=[account.new_space()])
    with document_jobs(server) as jobs:
        for number, moment in enumerate(when):
            disturbed = begin(account, receiver, planted, number, chance)
            moment(jobs, disturbed, planted.runs[disturbed])
            kill()
        for document_id in planted.words.keys() - planted.deleted:
            record = account.finished_document(document_id)
            assert record["status"] == "success", record
        for document_id in planted.deleted:
            assert account.get(f"{DOCUMENTS}/{document_id}").status_code == 404
        jobs.wait()
    look_for_words(account, planted)
    deadline = time.monotonic() + SETTLE_S
    while True:  # what a kill left to the sweeper may take it a moment
        time.sleep(1.0)
        server.stop()
        state = kept(account)
        if not state.open_work or time.monotonic() > deadline:
            break
        server.start()
    assert state.statuses == dict.fromkeys(planted.words.keys() - planted.deleted, "success")
    state.assert_whole()


def begin(account: Account, receiver: Receiver, planted: Planted, number: int, chance: random.Random) -> str:
    """Starts some of everything; the document whose run is to be disturbed."""
    space_id = planted.spaces[-1]
    there = sorted(planted.words.keys() - planted.deleted)

    def accepted(answer: httpx2.Response, word: str) -> str:
        assert answer.status_code == 202, answer.text
        document_id = str(answer.json()["id"])
        planted.words[document_id], planted.runs[document_id] = word, 1
        return document_id

    def upload() -> str:
        word = f"совушка{number}совушка"
        raw = text_with(word, chance.choice((3, 40, 300))).encode()
        return accepted(account.upload_document(space_id, raw, f"{number}.md"), word)

    def text() -> str:
        word = f"галчонок{number}галчонок"
        body = {"title": f"Текст {number}", "text": text_with(word, 30)}
        return accepted(account.post(f"{SPACES}/{space_id}/documents", json=body), word)

    def link() -> str:
        word = f"чижик{number}чижик"
        reply = Reply(body=text_with(word, 30).encode(), headers={"Content-Type": "text/markdown"})
        url = receiver.answer(f"/{number}.md", reply)
        return accepted(account.post(f"{SPACES}/{space_id}/documents", json={"url": url}), word)

    def reindex() -> str:
        document_id = chance.choice(there)
        assert account.post(f"{DOCUMENTS}/{document_id}/reindex").status_code == 202
        planted.runs[document_id] += 1
        return document_id

    first = [upload, link, text, *([reindex] * 3 if there else [])][number % (6 if there else 3)]
    disturbed = first()
    if number % 3 == 2:
        upload()
    if len(there) > 2 and number % 2:
        doomed = chance.choice([id_ for id_ in there if id_ != disturbed])
        assert account.request("DELETE", f"{DOCUMENTS}/{doomed}").status_code == 204
        planted.deleted.add(doomed)
    if number % 7 == 6:
        delete_a_space(account, planted)
    return disturbed


def delete_a_space(account: Account, planted: Planted) -> None:
    """One that has just got documents; the kill comes when their runs are in work."""
    space_id = account.new_space()
    ids = [
        account.upload_document(space_id, text_with(f"дятел{number}дятел", 60).encode(), f"{number}.md").json()["id"]
        for number in range(2)
    ]
    assert account.request("DELETE", f"{SPACES}/{space_id}").status_code == 204
    planted.words |= dict.fromkeys(ids, "дятел")
    planted.deleted |= set(ids)


def look_for_words(account: Account, planted: Planted) -> None:
    for document_id, word in planted.words.items():
        items = found_by(account, "search_documents", query=f"пароль от сейфа {word}", limit=10)["items"]
        saying = [item["document_id"] for item in items if word in item["snippet"]]
        assert saying == ([] if document_id in planted.deleted else [document_id]), word
