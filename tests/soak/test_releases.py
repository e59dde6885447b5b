"""Neighbouring releases, whose jobs have other steps and whose databases have other columns: work that one began and
the other ends, one after the other and side by side."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.migrate import WORKS_FROM, newest_revision
from tests.soak.conftest import Size
from tests.support.all_work import ASKED_OF, TAKES_ALL, AllWork, running_belt
from tests.support.analyses import assert_analysed_once, send
from tests.support.calls import Calls, receiving_calls
from tests.support.calls import receiver as receiver
from tests.support.camera_workers import wait_until_looked_at_again
from tests.support.cluster import Cluster
from tests.support.cluster import cluster as cluster
from tests.support.documents import Documents
from tests.support.job_steps import JobSteps
from tests.support.receiver import Receiver
from tests.support.releases import earlier_release, migrate_by, next_release
from tests.support.server import RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.models]

PACE = {"call_every_s": 10.0, "analysis_every_s": 4.0}
EARLIER = [f"{number:04}" for number in range(int(WORKS_FROM), int(newest_revision()))]
"""The newest migration of each earlier release that is said to work with this one's schema."""
MISSES_WHAT_IS_NEW_AT_FIRST = "0024"
"""A worker of that release takes a code in its first picture for the one that was told of before, whatever it says."""


@pytest.mark.parametrize("upgrade", [True, False], ids=["upgrade", "back"])
def test_work_in_flight_across_a_change_of_release_ends_well(
    upgrade: bool, receiver: Receiver, size: Size, tmp_path: Path
) -> None:
    """The next one's schema is there before it is, and stays when it goes."""
    following = next_release(tmp_path)
    server = RunningServer(
        tmp_path / "data",
        allowed_networks="127.0.0.0/8",
        sweep_s="1",
        call_places="4",
        call_places_per_client="4",
    )
    try:
        if not upgrade:
            migrate_by(following, server)
            server.code = following
        calls = Calls(server.start(), receiver)
        documents, analyst = Documents(server.new_client("reader")), server.new_client("analysed")
        with closing(JobSteps(server)) as steps:
            for _ in range(size.in_flight):
                calls.start()
            calls.wait_until_begun(steps, 2)
            if upgrade:
                migrate_by(following, server)
            sent = []
            for _ in range(size.in_flight):
                documents.add()
                sent.append(send(analyst))
            server.kill()
            server.code = following if upgrade else None
            server.start()
            calls.assert_each_was_done_once(steps)
        documents.assert_each_is_there_once()
        assert_analysed_once(analyst, sent)
        assert "jobs of another release begin again" in server.log()
    finally:
        server.close()


@pytest.mark.parametrize("other", ["next", *EARLIER])
@pytest.mark.usefixtures("at_full_size")
@pytest.mark.postgresql
def test_releases_side_by_side_take_over_each_other_s_work(
    other: str,
    cluster: Cluster,
    size: Size,
    chance: random.Random,
    say: Callable[[str], None],
    tmp_path: Path,
) -> None:
    """On the newer one's schema."""
    code = next_release(tmp_path) if other == "next" else earlier_release(tmp_path, other)
    apis = [cluster.start("api", **ASKED_OF)]
    if other == "next":
        migrate_by(code, apis[0])
    apis.append(cluster.start("api", code=code, **ASKED_OF))
    workers = [cluster.start("worker", code=each, worker_takes=TAKES_ALL) for each in (None, code)]
    with running_belt(tmp_path) as belt:
        for number, api in enumerate(apis):
            with receiving_calls() as receiver:
                work = AllWork(api, receiver, belt, chance, workers=cluster.processes, **PACE)
                with closing(JobSteps(api)) as steps, work.running():
                    for worker in workers:
                        for _ in range(max(2, size.in_flight // 10)):
                            work.calls.start()
                        work.calls.wait_until_begun(steps, 2)
                        if other == MISSES_WHAT_IS_NEW_AT_FIRST:
                            with work.parcels.resting():
                                worker.kill()
                                wait_until_looked_at_again(api)
                        else:
                            worker.kill()
                        work.parcels.wait_for_more()
                        worker.start()
                say(f"accepted by {('this release', 'the other')[number]}: {work}")
                work.assert_each_was_done_once()
        assert all(each.is_ready() for each in (*apis, *workers))
