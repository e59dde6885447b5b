"""kill -9 of one of several processes of an installation, on PostgreSQL, a bucket and an index that they share: of the
one that answers while it takes things in, and of the one that works, at each stage of a call, of a document, of a
recording among documents and of an analysis."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from itertools import pairwise

import pytest

from ingest.documents.document_job import recording_workflow_id
from tests.ingest.test_analyses import MARKS, answer, assert_done_once, told
from tests.soak.conftest import SMALL, Size, chosen
from tests.support.analyses import STAGES, send
from tests.support.audio import call_clip
from tests.support.calls import Calls, wait_until
from tests.support.calls import receiver as receiver
from tests.support.cluster import Cluster
from tests.support.cluster import cluster as cluster
from tests.support.document_state import DocumentJobs
from tests.support.documents import STEPS as DOCUMENT_STEPS
from tests.support.documents import Documents
from tests.support.job_steps import JobSteps, executor_of, jobs_of
from tests.support.receiver import Receiver
from tests.support.scripted_model import API_KEY, MODEL, serve_scripted_model
from tests.support.server import RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.models, pytest.mark.postgresql]

TAKES = "speech,documents,errands"
ACCEPTING_S = 0.15
"""About how long it takes to accept a call or a document, with what comes before it."""
HEARD_S = 8.0
"""About how long it takes to hear a recording among documents."""


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


class Workers:
    """Two of a cluster that take the same work, each killed and started again."""

    def __init__(self, cluster: Cluster, **settings: str) -> None:
        self._workers = {name: cluster.start("worker", executor_id=name, **settings) for name in ("one", "other")}

    def kill(self, name: str | None, chance: random.Random, is_in_work: Callable[[], bool] = lambda: True) -> bool:
        """Whoever is at it, or anybody; the other takes it over. Whether it was in work."""
        worker = self._workers[name or chance.choice(list(self._workers))]
        worker.kill()
        is_hit = name is not None and is_in_work()
        worker.start()
        return is_hit


def test_what_a_worker_was_at_when_it_was_killed_is_done_once(
    cluster: Cluster, receiver: Receiver, size: Size, chance: random.Random, say: Callable[[str], None]
) -> None:
    api = cluster.start("api")
    workers = Workers(cluster, worker_takes=TAKES)
    calls = Calls(api, receiver, workers=cluster.processes)
    documents = Documents(api.new_client("reader"))
    hits: Counter[str] = Counter()

    with closing(JobSteps(api)) as steps, closing(DocumentJobs(api)) as jobs:

        def is_on(task_id: str) -> bool:
            return steps.at(task_id) is not None

        undisturbed = calls.start()
        calls.account.finished_task(undisturbed)
        wait_until(lambda: steps.statuses(undisturbed) == {"SUCCESS"})
        aimed = chosen(steps.stages(undisturbed), size, chance)
        for stage in aimed:
            task_id = calls.start()
            if steps.wait_for(task_id, stage):
                time.sleep(chance.uniform(0, stage.took_s))
            hits["calls"] += workers.kill(steps.executor(task_id), chance, partial(is_on, task_id))
        for number in chosen([*range(len(DOCUMENT_STEPS))], size, chance):
            document_id = documents.add()
            jobs.wait_for_steps(document_id, 1, number)
            hits["documents"] += workers.kill(jobs.executor(document_id, 1), chance, lambda: bool(jobs.open_runs()))
        say(f"{len(aimed)} kills of workers at calls; kills that came while it was in work: {dict(hits)}")
        assert size is SMALL or hits["calls"] >= len(aimed) / 3
        calls.assert_each_was_done_once(steps)
    documents.assert_each_is_there_once()


def test_a_recording_among_documents_whose_worker_is_killed_is_heard_and_found_once(
    cluster: Cluster, size: Size, chance: random.Random, say: Callable[[str], None]
) -> None:
    api = cluster.start("api")
    workers = Workers(cluster, worker_takes=TAKES)
    account = api.new_client("keeper", features=["kb"])
    account.add_money("10000")
    space_id = account.new_space()
    ids, hits = [], 0
    with jobs_of(api) as client:

        def is_heard() -> bool:
            return bool(client.list_workflows(workflow_ids=[job_id], status="PENDING", load_input=False))

        for number in range(size.kills):
            # Of another length each, since the same bytes are the same document.
            answer = account.upload_document(space_id, call_clip("01", 0, 20 + number), f"{number}.wav")
            ids.append(answer.json()["id"])
            job_id = recording_workflow_id(ids[-1], 1)
            wait_until(lambda job_id=job_id: executor_of(client, job_id) is not None)
            time.sleep(HEARD_S * chance.random())
            hits += workers.kill(executor_of(client, job_id), chance, is_heard)
        say(f"{hits} of {size.kills} kills came while a recording was heard")
        for document_id in ids:
            record = account.finished_document(document_id)
            assert record["status"] == "success", record
            assert record["chunk_count"] > 0
        assert Counter(debit["source_ref"] for debit in account.debits()) == Counter(ids)


def test_an_analysis_whose_worker_is_killed_at_each_stage_is_done_once(
    cluster: Cluster, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    with serve_scripted_model() as model, ExitStack() as opened:
        asks = {"llm_model": MODEL, "llm_api_base": f"{model.base_url}/v1", "llm_api_key": API_KEY}
        api = cluster.start("api", **asks)
        workers = Workers(cluster, worker_takes="analysis,errands", **asks)
        client = opened.enter_context(jobs_of(api))
        account = api.new_client("killed")

        def hang(stage: str) -> None:
            """From now on, what is asked of the model for that stage gets no answer."""
            model.forget()
            model.answers(answer, hang=lambda request: MARKS[stage] in request["messages"][0]["content"])

        def hangs(stage: str) -> bool:
            return any(MARKS[stage] in str(each["messages"][0]) for each in model.requests)

        stages = [stage for stage in STAGES for _ in range(size.kills)]
        hang(stages[0])
        communication_id = send(account, webhook_url=receiver.url("/analysed"))
        for stage, following in pairwise([*stages, ""]):
            wait_until(lambda stage=stage: hangs(stage))
            (job,) = client.list_workflows(name="analyse_communication", status="PENDING", load_input=False)
            if following:
                hang(following)
            else:
                model.forget()
                model.answers(answer)
            workers.kill(job.executor_id, chance)
        assert_done_once(account, communication_id, told(receiver, "/analysed"))
