"""kill -9 of one of several processes of an installation, on PostgreSQL, a bucket and an index that they share: of the
one that answers while it takes things in, and of the one that works, at each stage of a call and of a document."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.contract.mcp import found_by
from tests.contract.test_knowledge import SPACES
from tests.soak.conftest import Size, chosen
from tests.support.calls import Calls, wait_until
from tests.support.calls import receiver as receiver
from tests.support.cluster import Cluster
from tests.support.cluster import cluster as cluster
from tests.support.document_state import DocumentJobs
from tests.support.job_steps import JobSteps
from tests.support.receiver import Receiver
from tests.support.server import Account, RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.models, pytest.mark.postgresql]

TAKES = "speech,documents,errands"
ACCEPTING_S = 0.15
"""About how long it takes to accept a call or a document, with what comes before it."""
DOCUMENT_STEPS = ("fetch_document", "parse_document", "index_chunks", "finish_document")


class Documents:
    """Texts of one account, each with a word of its own in it, and whether each is there once."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._space_id = account.new_space()
        self.words: dict[str, str] = {}

    def add(self) -> str:
        """The id of a document, sent again under its key until it is accepted."""
        word = f"галчонок{len(self.words)}галчонок"
        text = "\n\n".join([*(f"# Полка {number}\n\n{'Коробки с кофе. ' * 20}" for number in range(20)), f"# {word}"])
        body = {"title": f"Text {len(self.words)}", "text": f"{text}\n\nПароль от сейфа: {word}."}
        answer = self._account.post_at_last(f"{SPACES}/{self._space_id}/documents", json=body)
        assert answer.status_code == 202, answer.text
        document_id = str(answer.json()["id"])
        self.words[document_id] = word
        return document_id

    def assert_each_is_there_once(self) -> None:
        for document_id, word in self.words.items():
            record = self._account.finished_document(document_id)
            assert record["status"] == "success", record
            items = found_by(self._account, "search_documents", query=f"пароль от сейфа {word}", limit=10)["items"]
            assert [item["document_id"] for item in items if f": {word}" in item["snippet"]] == [document_id]
        listed = self._account.get(f"{SPACES}/{self._space_id}/documents", params={"limit": 100}).json()
        assert sorted(item["id"] for item in listed["items"]) == sorted(self.words)


def while_killed(api: RunningServer, chance: random.Random, *acts: Callable[[], object]) -> None:
    """Does all of it at once, and the process that answers is killed meanwhile."""
    with ThreadPoolExecutor(len(acts)) as threads:
        begun = [threads.submit(act) for act in acts]
        time.sleep(chance.uniform(0, ACCEPTING_S))
        api.kill()
        api.start()
        for each in begun:
            each.result()


def test_what_is_accepted_is_done_once_however_often_who_accepts_it_is_killed(
    cluster: Cluster, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    api = cluster.start("api")
    cluster.start("worker", worker_takes=TAKES)
    calls = Calls(api, receiver, workers=cluster.processes)
    documents = Documents(api.new_client("reader"))
    with closing(JobSteps(api)) as steps:
        for _ in range(size.kills):
            while_killed(api, chance, calls.start_at_last, documents.add)
        calls.assert_each_was_done_once(steps)
    documents.assert_each_is_there_once()


def test_what_a_worker_was_at_when_it_was_killed_is_done_once(
    cluster: Cluster, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    api = cluster.start("api")
    workers = {name: cluster.start("worker", worker_takes=TAKES, executor_id=name) for name in ("one", "other")}
    calls = Calls(api, receiver, workers=cluster.processes)
    documents = Documents(api.new_client("reader"))

    def kill(name: str | None) -> None:
        """Whoever is at it; the other takes it over."""
        worker = workers[name or chance.choice(list(workers))]
        worker.kill()
        worker.start()

    with closing(JobSteps(api)) as steps, closing(DocumentJobs(api)) as jobs:
        undisturbed = calls.start()
        calls.account.finished_task(undisturbed)
        wait_until(lambda: steps.statuses(undisturbed) == {"SUCCESS"})
        for stage in chosen(steps.stages(undisturbed), size, chance):
            task_id = calls.start()
            if steps.wait_for(task_id, stage):
                time.sleep(chance.uniform(0, stage.took_s))
            kill(steps.executor(task_id))
        for number in chosen([*range(len(DOCUMENT_STEPS))], size, chance):
            document_id = documents.add()
            jobs.wait_for_steps(document_id, 1, number)
            kill(jobs.executor(document_id, 1))
        calls.assert_each_was_done_once(steps)
    documents.assert_each_is_there_once()
