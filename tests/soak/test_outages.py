"""What the stores and the machine itself do at times: they are away, full, or tell another time. Whoever asks meanwhile
is answered, what was accepted is done afterwards, once, and nobody has to help."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2
import pytest

from tests.ingest.test_analyses import answer
from tests.soak.conftest import Size
from tests.support import postgresql
from tests.support.all_work import ASKED_OF, TAKES_ALL, AllWork, running_belt
from tests.support.analyses import analysed, assert_analysed_once, read, send, statuses
from tests.support.audio import call_clip
from tests.support.calls import receiver as receiver
from tests.support.calls import wait_until
from tests.support.clock import WallClock, clock_of_all
from tests.support.cluster import RULES, Cluster
from tests.support.cluster import cluster as cluster
from tests.support.job_steps import JobSteps, Stage
from tests.support.receiver import Receiver
from tests.support.rtsp import RtspServer
from tests.support.scripted_model import API_KEY, MODEL, serve_scripted_model
from tests.support.server import Account, RunningServer, free_port

pytestmark = [pytest.mark.soak, pytest.mark.models]

DISK_MB = 1_400  # a call is begun where a gigabyte stays free
HOUR_S = 3600
SIGNED_S = 540
"""So wrong a clock may be where S3 is to take what is signed by it."""
LONG = 400  # sections
ANALYSES = 5
QUESTION = {"text": "Where may visitors park?"}
PARCEL_S = 10.0
"""So long each is before a camera while the store of its pictures is away."""
BEFORE_S = 10.0
"""So long goes work of every kind on before something happens."""
PACE = {"call_every_s": 20.0, "analysis_every_s": 5.0}
OF_ONE = {"allowed_networks": "127.0.0.0/8", "camera_networks": "127.0.0.0/8", "sweep_s": "1", **ASKED_OF}
"""Settings of a server that does everything."""
LONGEST_PAUSE_S = 420.0
"""Between two tries of an analysis in the first minutes, and what it takes then."""

Text = Callable[[str], bytes]


def rules(name: str) -> bytes:
    """Of another text each, since the same bytes are the same document."""
    return RULES + f"\nOf these rules, {name} is the latest.\n".encode()


def long_rules(name: str) -> bytes:
    """That take some seconds."""
    return rules(name) + b"".join(
        f"## Car park {number}\n\n{'Cars that are left here overnight are towed away. ' * 30}\n\n".encode()
        for number in range(LONG)
    )


def start_document(account: Account, space_id: str, name: str = "parking.md", *, text: Text = rules) -> str:
    """The id of a document that is not done yet."""
    answer = account.upload_document(space_id, text(name), name)
    assert answer.status_code == 202, answer.text
    assert answer.json()["status"] == "pending", "it is a new one"
    return str(answer.json()["id"])


def is_in_work(account: Account, document_id: str) -> bool:
    return account.get(f"/public/v1/kb/documents/{document_id}").json()["status"] in ("pending", "processing")


def is_found(account: Account) -> bool:
    answer = account.call_tool("search_documents", query="where do visitors park their cars")
    return "behind the bakery" in answer["result"]["content"][0]["text"]


def assert_says_to_come_again(answer: httpx2.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["error"]["type"] == "unavailable_error"


@pytest.fixture
def belt(tmp_path: Path) -> Iterator[RtspServer]:
    with running_belt(tmp_path) as running:
        yield running


@pytest.fixture
def of_cluster(cluster: Cluster, receiver: Receiver, belt: RtspServer, chance: random.Random) -> AllWork:
    """Of one that answers and one that works."""
    api = cluster.start("api", **ASKED_OF)
    cluster.start("worker", worker_takes=TAKES_ALL)
    return AllWork(api, receiver, belt, chance, workers=cluster.processes, **PACE)


@pytest.mark.postgresql
@pytest.mark.usefixtures("at_full_size")
def test_a_bucket_that_is_away(cluster: Cluster, of_cluster: AllWork, size: Size, say: Callable[[str], None]) -> None:
    account = of_cluster.api.new_client("reader")
    space = account.new_space()
    document = account.add_document(space, rules("before.md"), "before.md")
    with of_cluster.running():
        time.sleep(BEFORE_S)
        cluster.bucket.stop()
        gone_at = time.monotonic()
        of_cluster.calls.start(diarize=False)  # a link is only noted down
        assert_says_to_come_again(account.upload_document(space, rules("meanwhile.md"), "meanwhile.md"))
        assert account.get("/public/v1/balance").status_code == 200
        assert account.get(f"/public/v1/kb/documents/{document['id']}").status_code == 200
        assert is_found(account)
        while time.monotonic() + PARCEL_S < gone_at + size.away_s:
            time.sleep(PARCEL_S)
            of_cluster.parcels.show_next()  # nobody else does: none of them is found before its picture is stored
        time.sleep(max(0.0, gone_at + size.away_s - time.monotonic()))
        cluster.bucket.start()
        again = start_document(account, space, "meanwhile.md")
    assert account.finished_document(again)["status"] == "success"
    say(str(of_cluster))
    of_cluster.assert_each_was_done_once()


@pytest.mark.postgresql
@pytest.mark.usefixtures("at_full_size")
def test_an_index_that_is_away(cluster: Cluster, of_cluster: AllWork, size: Size, say: Callable[[str], None]) -> None:
    if not cluster.qdrant.is_ours:
        pytest.skip("a Qdrant that is not ours is not stopped")
    account = of_cluster.api.new_client("reader")
    space = account.new_space()
    with of_cluster.running():
        time.sleep(BEFORE_S)
        cluster.qdrant.stop()
        document = start_document(account, space)
        answer = account.call_tool("search_documents", query="where do visitors park their cars")
        assert "error" in answer or answer["result"]["isError"], answer
        assert account.get("/public/v1/balance").status_code == 200
        time.sleep(size.away_s)
        assert is_in_work(account, document)
        cluster.qdrant.start()
    assert account.finished_document(document)["status"] == "success"
    wait_until(lambda: is_found(account))
    say(str(of_cluster))
    of_cluster.assert_each_was_done_once()


@pytest.mark.usefixtures("at_full_size")
def test_a_model_provider_that_is_away(tmp_path: Path, size: Size) -> None:
    """Nothing listens where it was; analyses wait as they do by default."""
    port = free_port()
    running = RunningServer(
        tmp_path / "data", llm_model=MODEL, llm_api_base=f"http://127.0.0.1:{port}/v1", llm_api_key=API_KEY
    )
    try:
        account = running.start().new_client("analysed")
        reader = running.new_client("reader")
        asking = f"/public/v1/chats/{reader.chat_id}/messages"
        sent = [send(account) for _ in range(ANALYSES)]
        gone_at = time.monotonic()
        assert reader.post(asking, json=QUESTION).status_code in (502, 503)
        assert account.get("/public/v1/balance").status_code == 200
        time.sleep(max(0.0, gone_at + size.away_s - time.monotonic()))
        assert {status for each in sent for status in statuses(read(account, each)).values()} <= {
            "pending",
            "processing",
        }
        with serve_scripted_model(port) as model:
            model.answers(answer)
            assert reader.post(asking, json=QUESTION).status_code == 200
            for communication_id in sent:
                analysed(account, communication_id, wait_s=LONGEST_PAUSE_S)
        assert_analysed_once(account, sent)
        assert len(reader.debits()) == 1, "an answer that did not come costs nothing"
    finally:
        running.close()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "parley-test", str(folder)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("no disk of its own can be mounted here (that needs root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_up(folder: Path) -> Path:
    """The file that takes all that is left."""
    path = folder / "what-fills-it"
    with path.open("wb", buffering=0) as file:
        for piece in (1 << 20, 1 << 12):
            with suppress(OSError):
                while True:
                    file.write(bytes(piece))
    return path


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as mounted:
        yield mounted


@pytest.fixture
def of_small_disk(
    disk: Path, receiver: Receiver, belt: RtspServer, chance: random.Random, say: Callable[[str], None]
) -> Iterator[AllWork]:
    """Of a server that does everything, on that disk; in the end each was done once, and the server stops as asked."""
    running = RunningServer(disk / "data", webhook_retry_schedule=",".join(["1"] * 60), **OF_ONE)
    try:
        work = AllWork(running.start(), receiver, belt, chance, **PACE)
        yield work
        say(str(work))
        work.assert_each_was_done_once()
        assert running.stop() == 0
    finally:
        running.close()


@pytest.mark.usefixtures("at_full_size")
def test_a_disk_that_is_full(disk: Path, of_small_disk: AllWork, size: Size) -> None:
    running = of_small_disk.api
    account = running.new_client("reader")
    space = account.new_space()
    account.add_document(space, rules("before.md"), "before.md")
    with closing(JobSteps(running)) as steps, of_small_disk.running():
        time.sleep(BEFORE_S)
        task_id = of_small_disk.calls.start(diarize=False)
        assert steps.wait_for(task_id, Stage(1, "recognise_part", 0.0))
        in_work = start_document(account, space, "in-work.md", text=long_rules)
        filling = fill_up(disk)
        assert is_in_work(account, in_work), "it was done before the disk was full"
        assert steps.at(task_id) is not None, "so was the call"
        assert_says_to_come_again(account.upload_document(space, RULES * 20_000, "meanwhile.md"))
        assert_says_to_come_again(account.upload_audio(call_clip("01", 0, 60)))
        # A read that writes nothing is answered; what an agent calls is written down, so it is not.
        assert account.get("/public/v1/balance").status_code == 200
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert_says_to_come_again(account.post("/mcp", json=listing))
        time.sleep(size.away_s)
        filling.unlink()
        assert account.finished_document(in_work)["status"] == "success"
        again = start_document(account, space, "meanwhile.md")
        assert account.finished_document(again)["status"] == "success"


@pytest.mark.usefixtures("at_full_size")
def test_a_disk_that_is_full_again_and_again(
    disk: Path, of_small_disk: AllWork, size: Size, chance: random.Random
) -> None:
    """In the middle of whatever is written then: the server lives, and so does all that was accepted."""
    process = of_small_disk.api.process
    assert process is not None
    with of_small_disk.running():
        for _ in range(size.kills):
            time.sleep(chance.uniform(2, 6))
            filling = fill_up(disk)
            time.sleep(chance.uniform(0.5, 3))
            filling.unlink()
            assert process.poll() is None, "the server ended"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def of_one_clock(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[RunningServer, WallClock]]:
    """All of a machine: Parley, and PostgreSQL where that is its database. And the machine's clock."""
    with ExitStack() as stack:
        clock = stack.enter_context(clock_of_all())
        settings = {"webhook_retry_schedule": "1,1,1,1,1", **OF_ONE}
        if request.param == "postgresql":
            server = stack.enter_context(postgresql.running_postgresql(environment=clock.environment))
            settings["database_url"] = postgresql.new_database(server.url)
        running = RunningServer(tmp_path / "data", **settings)
        stack.callback(running.close)
        running.environment |= clock.environment
        yield running, clock


@pytest.mark.usefixtures("at_full_size")
def test_a_clock_that_is_set(
    of_one_clock: tuple[RunningServer, WallClock],
    receiver: Receiver,
    belt: RtspServer,
    chance: random.Random,
    say: Callable[[str], None],
) -> None:
    running, clock = of_one_clock
    work = AllWork(running.start(), receiver, belt, chance, may_expire=True, **PACE)
    account = running.new_client("reader")
    space = account.new_space()
    with closing(JobSteps(running)) as steps, work.running():
        for moved_s in (HOUR_S, -HOUR_S):
            time.sleep(BEFORE_S)
            task_id = work.calls.start(diarize=False)
            assert steps.wait_for(task_id, Stage(1, "recognise_part", 0.0))
            document = start_document(account, space, f"before {moved_s}.md", text=long_rules)
            clock.set(moved_s)
            assert is_in_work(account, document), "it was done before the clock was set"
            assert steps.at(task_id) is not None, "so was the call"
            wait_until(lambda moved_s=moved_s: abs(server_time(running) - time.time() - moved_s) < 60)  # type: ignore[misc]
            assert account.finished_document(document)["status"] == "success"
            later = start_document(account, space, f"after {moved_s}.md")
            assert account.finished_document(later)["status"] == "success"
            work.calls.account.finished_task(work.calls.start(diarize=False))
            assert is_found(account)
            work.parcels.wait_for_more()
    say(str(work))
    work.assert_each_was_done_once()
    assert running.stop() == 0


@pytest.mark.postgresql
@pytest.mark.usefixtures("at_full_size")
def test_a_clock_of_one_of_several_machines_that_is_set(
    tmp_path: Path,
    cluster: Cluster,
    receiver: Receiver,
    belt: RtspServer,
    chance: random.Random,
    say: Callable[[str], None],
) -> None:
    """The others' clocks go right. Set so little that a bucket takes what it signs, it works on, and each of the two
    that work is killed while they differ; set by more, the other does its work until it is right again."""
    clock = WallClock(tmp_path)
    api = cluster.start("api", **ASKED_OF)
    moved = cluster.start("worker", clock=clock, worker_takes=TAKES_ALL)
    right = cluster.start("worker", worker_takes=TAKES_ALL)
    work = AllWork(api, receiver, belt, chance, workers=cluster.processes, **PACE)
    with work.running():
        for moved_s in (SIGNED_S, -SIGNED_S):
            time.sleep(BEFORE_S)
            clock.set(moved_s)
            for killed in (moved, right):
                time.sleep(BEFORE_S)
                killed.kill()
                work.parcels.wait_for_more()
                killed.start()
            assert abs(server_time(moved) - time.time() - moved_s) < 60
        for moved_s in (HOUR_S, -HOUR_S):
            clock.set(0)
            wait_until(moved.is_ready)
            time.sleep(BEFORE_S)
            clock.set(moved_s)
            wait_until(lambda: not moved.is_ready())
            time.sleep(BEFORE_S)
            right.kill()
            right.start()
            work.parcels.wait_for_more()
        clock.set(0)
        wait_until(moved.is_ready)
    say(str(work))
    work.assert_each_was_done_once()
    assert [moved.stop(), right.stop()] == [0, 0]


def server_time(server: RunningServer) -> float:
    """As the server tells it in its answers."""
    return parsedate_to_datetime(httpx2.get(f"{server.url}/healthz").headers["date"]).timestamp()
