"""The job runtime over real processes: the same job twice, kill -9, restart, takeover by another worker."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from store import heartbeats
from store.database import Database
from store.migrate import migrate
from store.settings import Settings

WAIT_S = 120.0

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a worker process; all of them end with the test."""
    database = Database(Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'main.sqlite3'}"))
    migrate(database)
    database.close()
    running: list[subprocess.Popen[bytes]] = []

    def run(name: str, *command: str) -> subprocess.Popen[bytes]:
        arguments = [sys.executable, "-m", "tests.support.job_worker", str(tmp_path), name, *command]
        running.append(subprocess.Popen(arguments, cwd=Path(__file__).parents[2], stdin=subprocess.DEVNULL))
        return running[-1]

    yield run
    for process in running:
        process.kill()
        process.wait()


def lines(folder: Path) -> list[str]:
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


def wait_for(folder: Path, line: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while line not in lines(folder):
        assert time.monotonic() < deadline, f"no {line!r} in {lines(folder)}"
        time.sleep(0.02)


def wait_until_forgotten(folder: Path, worker: subprocess.Popen[bytes]) -> None:
    """Somebody took over what it left."""
    database = Database(Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'main.sqlite3'}"))
    query = sa.select(heartbeats.workers.c.executor_id).where(heartbeats.workers.c.process_id == worker.pid)
    deadline = time.monotonic() + WAIT_S
    while True:
        with database.read() as connection:
            if connection.execute(query).first() is None:
                break
        assert time.monotonic() < deadline
        time.sleep(0.02)
    database.close()


def test_a_job_started_twice_under_one_id_runs_once(start: Start, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    start("one", "enqueue", "job-1")
    wait_for(tmp_path, "second job-1 by one")
    wait_for(tmp_path, "ready by one")
    assert lines(tmp_path).count("first job-1 by one") == 1
    assert lines(tmp_path).count("second job-1 by one") == 1


def test_a_killed_worker_goes_on_after_its_restart_without_repeating_finished_steps(
    start: Start, tmp_path: Path
) -> None:
    worker = start("one", "enqueue", "job-1")
    wait_for(tmp_path, "second begins job-1 by one")
    worker.kill()
    worker.wait()
    (tmp_path / "go").touch()
    start("one", "work")
    wait_for(tmp_path, "second job-1 by one")
    assert lines(tmp_path).count("first job-1 by one") == 1


def test_another_worker_takes_over_the_jobs_of_one_that_fell_silent(start: Start, tmp_path: Path) -> None:
    worker = start("one", "enqueue", "job-1")
    wait_for(tmp_path, "second begins job-1 by one")
    start("two", "work")
    wait_for(tmp_path, "ready by two")
    worker.kill()
    worker.wait()
    (tmp_path / "go").touch()
    wait_for(tmp_path, "second job-1 by two")
    assert sum(line.startswith("first job-1") for line in lines(tmp_path)) == 1


def test_another_worker_takes_over_the_jobs_of_one_that_is_not_known_any_more(start: Start, tmp_path: Path) -> None:
    """It was taken for dead, came back, and died before it could say that it lives."""
    worker = start("one", "enqueue", "job-1")
    wait_for(tmp_path, "second begins job-1 by one")
    worker.kill()
    worker.wait()
    database = Database(Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'main.sqlite3'}"))
    with database.write() as connection:
        assert connection.execute(sa.delete(heartbeats.workers)).rowcount == 1
    database.close()
    (tmp_path / "go").touch()
    start("two", "work")
    wait_for(tmp_path, "second job-1 by two")
    assert sum(line.startswith("first job-1") for line in lines(tmp_path)) == 1


def test_a_job_of_a_queue_that_its_taker_does_not_know_waits_for_one_that_does(start: Start, tmp_path: Path) -> None:
    worker = start("new", "enqueue-newer", "job-1")
    wait_for(tmp_path, "second begins job-1 by new")
    start("old", "work")
    wait_for(tmp_path, "ready by old")
    worker.kill()
    worker.wait()
    wait_until_forgotten(tmp_path, worker)
    (tmp_path / "go").touch()
    start("newer", "newer")
    wait_for(tmp_path, "second job-1 by newer")
    assert sum(line.startswith("first job-1") for line in lines(tmp_path)) == 1


def test_a_job_whose_claim_got_no_answer_is_done_and_one_that_takes_long_is_begun_once(
    start: Start, tmp_path: Path
) -> None:
    start("one", "lose", "job-1")
    wait_for(tmp_path, "lost a claim by one")
    wait_for(tmp_path, "second begins job-1 by one")
    time.sleep(3)  # longer than a claim may be without its job
    (tmp_path / "go").touch()
    wait_for(tmp_path, "second job-1 by one")
    assert lines(tmp_path).count("first job-1 by one") == 1
    assert lines(tmp_path).count("second begins job-1 by one") == 1


def test_a_step_whose_result_the_disk_has_no_room_for_waits_for_it(start: Start, tmp_path: Path) -> None:
    start("one", "full", "job-1")
    wait_for(tmp_path, "outgrows job-1 by one")
    wait_for(tmp_path, "is told that there is no room by one")  # who accepts work waits for none
    time.sleep(2)  # its error would need less room, and be written at once
    (tmp_path / "go").touch()
    wait_for(tmp_path, "100000 recorded of job-1 by one")
    assert lines(tmp_path).count("outgrows job-1 by one") == 1


def test_one_of_several_keeps_house_for_all_and_another_goes_on_when_it_is_killed(start: Start, tmp_path: Path) -> None:
    first = start("one", "house")
    wait_for(tmp_path, "keeps house by one")
    start("two", "house")
    wait_for(tmp_path, "ready by two")
    time.sleep(3.0)
    assert "keeps house by two" not in lines(tmp_path)
    first.kill()
    wait_for(tmp_path, "keeps house by two")


def test_one_whose_sweeps_fail_leaves_the_house_to_another(start: Start, tmp_path: Path) -> None:
    start("one", "bad-house")
    wait_for(tmp_path, "keeps house by one")
    start("two", "house")
    wait_for(tmp_path, "keeps house by two")


def test_who_comes_late_to_a_take_over_takes_nothing_from_those_who_live(start: Start, tmp_path: Path) -> None:
    start("one", "enqueue", "job-1")
    wait_for(tmp_path, "second begins job-1 by one")
    start("two", "late")
    wait_for(tmp_path, "came late by two")
    time.sleep(1)  # what was put back into its queue would be begun within a fifth of that
    (tmp_path / "go").touch()
    wait_for(tmp_path, "second job-1 by one")
    assert sum(line.startswith("second begins") for line in lines(tmp_path)) == 1


def test_one_sweep_forgets_more_than_one_batch_of_ended_jobs(start: Start, tmp_path: Path) -> None:
    start("one", "forget")
    wait_for(tmp_path, "ready by one")
    assert lines(tmp_path)[0] == "left 0 by one"


def test_jobs_are_forgotten_by_their_ids_and_an_account_s_whatever_comes_and_goes(start: Start, tmp_path: Path) -> None:
    start("one", "forget-some")
    wait_for(tmp_path, "ready by one")
    assert lines(tmp_path) == [
        "for nothing 0 statements by one",
        "by ids 0 read by one",
        "forgot 23 by one",
        "left 0 by one",
        "ready by one",
    ]


def test_a_worker_asks_for_all_its_queues_at_once_and_still_sees_what_others_put_in(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "go").touch()
    start("idle", "idle")
    wait_for(tmp_path, "ready by idle")
    (statements,) = [int(line.split()[1]) for line in lines(tmp_path) if line.startswith("statements")]
    assert 0 < statements < 50, "ten queues, each looked into five times"
    start("other", "accept", "job-1")
    wait_for(tmp_path, "second job-1 by idle")
