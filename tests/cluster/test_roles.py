"""One installation of several processes: some answer, others work, each takes what it is for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from api.operations import notes_on
from ingest.gpu import has_gpu
from ingest.roles import work_of
from store.database import now
from store.errors import InvalidRequest
from store.heartbeats import Worker
from store.settings import WORK, load_settings
from tests.support import postgresql
from tests.support.audio import call_clip
from tests.support.calls import HOOK, RECORDING
from tests.support.calls import receiver as receiver
from tests.support.cluster import RULES, Cluster, running_cluster_of_processes
from tests.support.forks import run_parley
from tests.support.job_steps import JobSteps, Stage
from tests.support.receiver import Receiver
from tests.support.server import Account, RunningServer

StartWorker = Callable[[str], RunningServer]


@pytest.fixture(scope="module")
def cluster(postgresql_cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    url = postgresql.new_database(postgresql_cluster)
    with running_cluster_of_processes(tmp_path_factory.mktemp("cluster"), url) as made:
        yield made


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> RunningServer:
    return cluster.start("api")


@pytest.fixture
def start(cluster: Cluster) -> Iterator[StartWorker]:
    """Starts workers that end with the test."""
    started: list[RunningServer] = []

    def start(takes: str) -> RunningServer:
        started.append(cluster.start("worker", worker_takes=takes))
        return started[-1]

    yield start
    for worker in started:
        worker.stop()


def start_call(account: Account, receiver: Receiver) -> str:
    body = {"fileUrl": receiver.url(RECORDING), "language": "ru", "webhook_url": receiver.url(HOOK)}
    answer = account.post("/v1/audio/transcriptions", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["task_id"])


def notes_of(server: RunningServer) -> str:
    answer = httpx2.get(server.url + "/readyz")
    assert answer.status_code == 200, answer.text
    return " ".join(answer.json().get("notes", []))


def wait_for_note(server: RunningServer, words: str) -> None:
    deadline = time.monotonic() + 60
    while words not in notes_of(server):
        assert time.monotonic() < deadline, notes_of(server)
        time.sleep(0.2)


def test_who_has_another_secret_key_is_let_in_nowhere(cluster: Cluster, api: RunningServer) -> None:
    """It would look for an index of another name, and no webhook of its own would be signed."""
    account = api.new_client("secret")
    with pytest.raises(AssertionError, match="made under another secret key"):
        cluster.start("worker", secret_key="another")
    lost = cluster.prepare("api", secret_key="another")
    for command in (["key", "create", account.tenant_id], ["backup", str(lost.data_dir / "b.tar")], ["doctor"]):
        refused = run_parley(command, lost.environment)
        assert refused.returncode == 1
        assert "made under another secret key" in " ".join((refused.stdout + refused.stderr).split()), command
    assert run_parley(["key", "list", account.tenant_id], api.environment).returncode == 0


@pytest.mark.models
def test_what_one_process_accepts_another_does(api: RunningServer, start: StartWorker, receiver: Receiver) -> None:
    assert "speech, documents, analysis, vision, errands" in notes_of(api)
    account = api.new_client("several", features=["qc", "memory", "kb"])
    # Nobody works yet: what is accepted waits.
    task = start_call(account, receiver)
    space = account.new_space()
    document = account.upload_document(space, RULES, "parking.md").json()["id"]
    worker = start("speech,documents,analysis,errands")
    wait_for_note(api, "No worker takes vision")
    assert account.finished_document(document)["status"] == "success"
    record = account.finished_task(task)
    assert (record["transcription_status"], len(account.debits())) == ("success", 1), record
    # Its recording lies in the bucket, and its passages in the shared index.
    sound = account.get(f"/public/v1/media/{record['communication_id']}")
    assert (sound.status_code, sound.content) == (200, call_clip("01", 0, 20))
    found = account.call_tool("search_documents", query="where do visitors park their cars")
    assert "behind the bakery" in found["result"]["content"][0]["text"], found
    # Whoever waits for the answer to a call gets it, though it is recognised elsewhere.
    answer = account.upload_audio(call_clip("01", 0, 8), language="ru", mode="sync")
    assert answer.status_code == 200, answer.text
    assert answer.json()["text"]
    # A worker answers whoever asks how it is, and nobody else.
    assert httpx2.get(worker.url + "/healthz").status_code == 200
    assert worker.is_ready()
    taken = httpx2.get(worker.url + "/metrics").text
    assert 'parley_workers{work="speech"} 1.0' in taken
    assert 'parley_workers{work="vision"} 0.0' in taken
    assert f'parley_workers{{work="gpu"}} {float(has_gpu())}' in taken
    for path in ("/", "/cabinet", "/mcp", "/public/v1/balance", "/openapi/public.json"):
        assert httpx2.get(worker.url + path, headers=account.headers).status_code == 404, path


@pytest.mark.soak
@pytest.mark.models
def test_each_worker_takes_its_kind_alone_and_one_that_goes_leaves_its_call_to_another(
    api: RunningServer, start: StartWorker, receiver: Receiver
) -> None:
    account = api.new_client("kinds", features=["kb"])
    start("documents")
    task = start_call(account, receiver)
    document = account.add_document(account.new_space(), RULES, "parking.md")
    assert document["status"] == "success"
    record = account.get(f"/v1/audio/transcriptions/tasks/{task}").json()
    assert record["transcription_status"] not in ("success", "error")
    assert "speech" in notes_of(api)
    worker = start("speech,errands")
    with closing(JobSteps(api)) as steps:
        for calls, is_killed in ((1, True), (2, False)):
            assert steps.wait_for(task, Stage(3, "recognise_part", 0.0))
            other = start("speech,errands")
            if is_killed:
                worker.kill()
            else:
                assert worker.stop() == 0
            worker = other
            record = account.finished_task(task)
            assert (record["transcription_status"], len(account.debits())) == ("success", calls), record
            if is_killed:
                task = start_call(account, receiver)
    # At least once each, and every time under the same id.
    receiver.wait(HOOK, 2)
    told = [(hook.json["task_id"], hook.id) for hook in receiver.at(HOOK)]
    assert len({task_id for task_id, _ in told}) == len(set(told)) == 2, told


def test_what_a_process_takes(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path, cache_dir=tmp_path / "cache", models_dir=None)
    assert work_of("api", settings) == ()
    assert work_of("all", settings) == WORK
    # Without a model for calls or for cameras those are left to others.
    assert work_of("worker", settings) == ("documents", "analysis", "errands")
    chosen = settings.model_copy(update={"worker_takes": ("vision", "errands")})
    assert work_of("worker", chosen) == ("vision", "errands")
    with pytest.raises(InvalidRequest, match="PARLEY_WORKER_TAKES"):
        work_of("worker", settings.model_copy(update={"worker_takes": ("speech",)}))


@pytest.mark.models
def test_a_worker_without_the_gpu_that_calls_are_to_be_heard_on_leaves_them_to_others(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path)
    assert "speech" in work_of("worker", settings)
    if not has_gpu():
        assert "speech" not in work_of("worker", settings.model_copy(update={"asr_device": "cuda"}))


def test_processes_that_search_different_indexes_are_told_of() -> None:
    def worker(name: str, index: str | None) -> Worker:
        return Worker(name, 1, now(), WORK, index)

    alike = [worker("one", "words"), worker("two", "words"), worker("of the release before", None)]
    assert notes_on(alike) == []
    (note,) = notes_on([*alike, worker("three", "meaning")])
    assert "meaning: three; words: one, two" in note


def test_a_kind_of_work_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="worker_takes"):
        load_settings(data_dir=tmp_path, worker_takes="speech,cooking")


def test_a_process_that_could_not_work_with_the_others_says_so(tmp_path: Path) -> None:
    alone = RunningServer(tmp_path / "alone", role="api")
    with pytest.raises(AssertionError, match="PARLEY_QDRANT_URL and PARLEY_BLOB_URL"):
        alone.start()
    alone.close()
    places = {"qdrant_url": "http://127.0.0.1:9", "blob_url": "s3://nowhere/at-all"}
    empty = str(tmp_path / "no-models")
    without = RunningServer(tmp_path / "without", role="worker", cache_dir=empty, models_dir=empty, **places)
    with pytest.raises(AssertionError, match="embedding model is missing"):
        without.start()
    without.close()
