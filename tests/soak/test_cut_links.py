"""Several hosts, over links that are cut, slow and healed: the work of who is cut off is done by others, once, and each
that was cut off goes on by itself. And a PostgreSQL that is killed again and again."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import psycopg
import pytest

from tests.soak.conftest import Size
from tests.support import postgresql
from tests.support.all_work import ASKED_OF, TAKES_ALL, AllWork, running_belt
from tests.support.calls import Calls, receiving_calls, wait_until
from tests.support.camera_workers import owners
from tests.support.cluster import Cluster, running_cluster_of_processes
from tests.support.documents import Documents
from tests.support.job_steps import JobSteps, Stage
from tests.support.network import Network, running_network
from tests.support.postgresql import PostgreSql
from tests.support.receiver import Receiver
from tests.support.server import RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.models, pytest.mark.postgresql]

ASK = """
import sys, concurrent.futures, httpx2
url, key, times, most_s = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
def ask(_):
    answer = httpx2.get(url + "/public/v1/balance", headers={"Authorization": key}, timeout=most_s)
    return answer.status_code if answer.status_code == 200 or answer.headers.get("retry-after") else -1
assert httpx2.get(url + "/healthz", timeout=5).status_code == 200
with concurrent.futures.ThreadPoolExecutor(times) as threads:
    print(*threads.map(ask, range(times)))
"""
SCRAPE = """
import sys, httpx2
page = httpx2.get(sys.argv[1] + "/metrics", timeout=float(sys.argv[2])).text
print(*sorted(line for line in page.splitlines() if line.startswith("parley_ready")), sep="; ")
"""
HOLD = """
import sys
import sqlalchemy as sa
from store.engines import make_engine
with make_engine(sys.argv[1], synchronous="NORMAL").connect() as connection:
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(1)"))
    print("held", flush=True)
    connection.execute(sa.text("SELECT pg_sleep(2), repeat('x', 100000)"))
"""
"""Has a lock, and asks for what comes when nobody is there to take it."""
LET_GO_S = 60
CALLS_IN_WORK = 4
BY_LINE_S = 20.0
ANSWER_S = 40.0
BETWEEN_KILLS_S = 10.0
TAKES = "speech,errands"
SHIPPED = {"heartbeat_s": "5", "takeover_after_s": "15", "camera_lease_s": "15"}
"""What `Cluster` shortens, as it is by default."""
DOCUMENTS_IN_WORK = 6
ON_ITS_WAY_S = 0.5
"""By then, what a worker sent before its link was cut has come."""
BETWEEN_CALLS_S, BETWEEN_ANALYSES_S = 5.0, 10.0
SLOW = ((0.02, 0.0), (0.1, 0.01), (0.0, 0.05), (0.3, 0.0), (0.0, 0.0))
"""Seconds one way, and the share of frames that are lost: another region, a bad line, a very bad one, the other side of
the world by satellite; and healed."""


@pytest.fixture
def network() -> Iterator[Network]:
    with running_network() as made:
        yield made


@pytest.fixture
def network_of_cameras() -> Iterator[Network]:
    """Another one."""
    with running_network() as made:
        yield made


@pytest.fixture
def stores(network: Network) -> Iterator[PostgreSql]:
    if postgresql.programs() is None:
        pytest.skip("PostgreSQL is not installed (scripts/install-system-packages)")
    with postgresql.running_postgresql(network.address) as running:
        yield running


@pytest.fixture
def cluster(network: Network, stores: PostgreSql, tmp_path: Path) -> Iterator[Cluster]:
    url = postgresql.new_database(stores.url)
    with running_cluster_of_processes(tmp_path, url, address=network.address) as made:
        yield made


@pytest.fixture
def receiver(network: Network) -> Iterator[Receiver]:
    with receiving_calls(network.address) as running:
        yield running


@pytest.mark.usefixtures("at_full_size")
def test_the_work_of_a_worker_that_is_cut_off_is_done_by_another(
    network: Network,
    network_of_cameras: Network,
    cluster: Cluster,
    receiver: Receiver,
    size: Size,
    chance: random.Random,
    say: Callable[[str], None],
    tmp_path: Path,
) -> None:
    api = cluster.start("api", host=network.host(), **ASKED_OF, **SHIPPED)
    hosts = [network.host(), network.host()]
    for host in hosts:
        network_of_cameras.join(host)
    takes = {"worker_takes": TAKES_ALL, "call_places": "2", **SHIPPED}
    first = cluster.start("worker", host=hosts[0], **takes)
    documents = Documents(api.new_client("reader"))
    with running_belt(tmp_path, network_of_cameras.address) as belt, closing(JobSteps(api)) as steps:
        work = AllWork(
            api, receiver, belt, chance, workers=cluster.processes, call_every_s=BY_LINE_S, analysis_every_s=BY_LINE_S
        )
        calls = work.calls
        in_work = [calls.start() for _ in range(CALLS_IN_WORK)]
        assert steps.wait_for(in_work[0], Stage(3, "recognise_part", 0.0))
        of_first = steps.executor(in_work[0])
        work.parcels.wait_until_online()
        watching = set(owners(api))
        second = cluster.start("worker", host=hosts[1], **takes)
        with work.running():
            in_work += [calls.start() for _ in range(CALLS_IN_WORK // 2)]
            for _ in range(DOCUMENTS_IN_WORK):
                documents.add()
            for _ in range(DOCUMENTS_IN_WORK):
                work.analyse()
            wait_until(lambda: any(is_at(steps, task_id, of_first) for task_id in in_work))
            hosts[0].cut()
            cut_at = time.monotonic()
            time.sleep(ON_ITS_WAY_S)
            held = [task_id for task_id in in_work if is_at(steps, task_id, of_first)]
            assert held, "it was at something when it was cut off"
            assert set(owners(api)) == watching, "it watched what the other can watch too"
            taken_s = [
                waited_s(cut_at, lambda: not any(is_at(steps, task_id, of_first) for task_id in held)),
                waited_s(cut_at, lambda: not watching & set(owners(api))),
            ]
            say(f"calls were taken over after {taken_s[0]:.1f} s, the camera after {taken_s[1]:.1f} s")
            assert max(taken_s) < size.taken_over_s
            for task_id in in_work:
                assert calls.account.finished_task(task_id)["transcription_status"] == "success"
            assert calls.account.finished_task(calls.start())["transcription_status"] == "success"
            documents.assert_each_is_there_once()
            work.parcels.wait_for_more()
            time.sleep(max(0.0, cut_at + size.cut_s - time.monotonic()))
            hosts[0].heal()
            # It is there again by itself, and works.
            wait_until(lambda: speech_workers(api) == 2)
        work.assert_each_was_done_once()
        second.stop()
        last = calls.start()
        calls.account.finished_task(last)
        assert steps.executor(last) == of_first
        work.parcels.show_next()
        documents.assert_each_is_there_once()
        work.assert_each_was_done_once()
        assert first.stop() == 0


def waited_s(since_s: float, holds: Callable[[], bool]) -> float:
    """Waits until it holds; how long that was since."""
    wait_until(holds)
    return time.monotonic() - since_s


def test_the_locks_of_who_is_cut_off_are_let_go_with_an_answer_on_its_way(network: Network, stores: PostgreSql) -> None:
    host, url = network.host(), postgresql.new_database(stores.url)
    command = [*host.prefix, sys.executable, "-c", HOLD, url]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        host.cut()
        with closing(psycopg.connect(url.replace("+psycopg", ""))) as connection:
            connection.execute(f"SET lock_timeout = '{LET_GO_S}s'")
            connection.execute("SELECT pg_advisory_lock(1)")
        holder.kill()


def is_at(steps: JobSteps, task_id: str, worker: str | None) -> bool:
    """Whether the call is in work, and the worker's: one that waits is nobody's."""
    is_waiting = "ENQUEUED" in steps.statuses(task_id)
    return steps.at(task_id) is not None and not is_waiting and steps.executor(task_id) == worker


def test_who_answers_and_is_cut_off_says_so_and_goes_on(network: Network, cluster: Cluster, size: Size) -> None:
    host = network.host()
    api = cluster.start("api", host=host)
    account = api.new_client("client")
    # The link between the two stores and the process alone: whoever asks is beside it.
    asker = [*host.prefix, sys.executable, "-c", ASK, f"http://127.0.0.1:{api.port}", account.headers["Authorization"]]
    assert asked(asker, 4) == {200}
    host.cut()
    try:
        time.sleep(1.0)
        assert asked(asker, 8) == {503}, "each answer comes, and says to come again"
        scraper = [*host.prefix, sys.executable, "-c", SCRAPE, f"http://127.0.0.1:{api.port}", str(size.scraped_s)]
        assert 'parley_ready{part="database"} 0.0' in output_of(scraper)
    finally:
        time.sleep(size.cut_s / 4)
        host.heal()
    wait_until(lambda: account.get("/public/v1/balance").status_code == 200)
    assert httpx2.get(f"{api.url}/readyz").status_code in (200, 503)
    wait_until(api.is_ready)


def test_over_links_that_are_slow_and_lose_frames_everything_is_done_once(
    network: Network, cluster: Cluster, receiver: Receiver, size: Size
) -> None:
    try:
        hosts = [network.host(may_be_slow=True) for _ in range(3)]
    except OSError as error:
        pytest.skip(f"no slow link can be made here: {error}")
    api = cluster.start("api", host=hosts[0])
    for host in hosts[1:]:
        cluster.start("worker", host=host, worker_takes=TAKES, call_places="2")
    calls = Calls(api, receiver, workers=cluster.processes)
    with closing(JobSteps(api)) as steps:
        for delay_s, lost in SLOW:
            for host in hosts:
                assert host.line is not None
                host.line.delay_s, host.line.lost = delay_s, lost
            asked_at = time.monotonic()
            assert calls.account.get("/public/v1/balance").status_code == 200
            assert time.monotonic() - asked_at > 4 * delay_s, "asked over the link, by who asks over it"
            for _ in range(max(1, size.in_flight // 10)):
                calls.start_at_last()
            for task_id in calls.started:
                assert calls.account.finished_task(task_id)["transcription_status"] == "success"
        calls.assert_each_was_done_once(steps)


@pytest.mark.usefixtures("at_full_size")
def test_a_database_that_is_killed_every_ten_seconds_costs_nothing(
    stores: PostgreSql,
    cluster: Cluster,
    receiver: Receiver,
    size: Size,
    chance: random.Random,
    say: Callable[[str], None],
    tmp_path: Path,
) -> None:
    api = cluster.start("api", **ASKED_OF)
    for _ in range(2):
        cluster.start("worker", worker_takes=TAKES_ALL)
    answers: Counter[int] = Counter()
    with running_belt(tmp_path) as belt:
        work = AllWork(
            api,
            receiver,
            belt,
            chance,
            workers=cluster.processes,
            call_every_s=BETWEEN_CALLS_S,
            analysis_every_s=BETWEEN_ANALYSES_S,
        )
        with work.running():
            for _ in range(max(2, round(size.restarts_s / BETWEEN_KILLS_S))):
                next_at = time.monotonic() + BETWEEN_KILLS_S
                while time.monotonic() < next_at:
                    answers[work.calls.account.get("/public/v1/balance").status_code] += 1
                    time.sleep(0.2)
                stores.stop()
                stores.start()
        wait_until(api.is_ready)
        say(f"{work}; {dict(answers)}")
        work.assert_each_was_done_once()
    assert set(answers) <= {200, 503}, answers
    assert answers[200] > answers[503]


def speech_workers(server: RunningServer) -> int:
    found = re.search(r'parley_workers{work="speech"} (\d+)', httpx2.get(f"{server.url}/metrics", timeout=60).text)
    return int(found[1]) if found else 0


def output_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def asked(command: list[str], times: int) -> set[int]:
    """The statuses of answers that came in time; -1 for one without Retry-After that asks to come again."""
    done = subprocess.run([*command, str(times), str(ANSWER_S)], check=True, capture_output=True, text=True)
    return {int(word) for word in done.stdout.split()}
