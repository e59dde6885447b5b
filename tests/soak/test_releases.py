"""Two neighbouring releases, whose calls have other steps: jobs that one began and the other ends, one after the other
and side by side."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.soak.conftest import Size
from tests.support.calls import Calls
from tests.support.calls import receiver as receiver
from tests.support.cluster import Cluster
from tests.support.cluster import cluster as cluster
from tests.support.job_steps import JobSteps
from tests.support.receiver import Receiver
from tests.support.releases import release_before
from tests.support.server import RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.models]

TAKES = "speech,errands"


@pytest.mark.parametrize("upgrade", [True, False], ids=["upgrade", "back"])
def test_calls_in_flight_across_a_change_of_release_end_well(
    upgrade: bool, receiver: Receiver, size: Size, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not upgrade:
        request.getfixturevalue("at_full_size")
    before = release_before(tmp_path)
    server = RunningServer(
        tmp_path / "data",
        code=before if upgrade else None,
        allowed_networks="127.0.0.0/8",
        sweep_s="1",
        call_places="4",
        call_places_per_client="4",
    )
    calls = Calls(server.start(), receiver)
    try:
        with closing(JobSteps(server)) as steps:
            for _ in range(size.in_flight):
                calls.start()
            calls.wait_until_begun(steps, 2)
            server.kill()
            server.code = None if upgrade else before
            server.start()
            calls.assert_each_was_done_once(steps)
        assert "jobs of another release begin again" in server.log()
    finally:
        server.close()


@pytest.mark.usefixtures("at_full_size")
@pytest.mark.postgresql
def test_releases_side_by_side_take_over_each_other_s_calls(
    cluster: Cluster, receiver: Receiver, size: Size, tmp_path: Path
) -> None:
    before = release_before(tmp_path)
    api = cluster.start("api")
    old = cluster.start("worker", code=before, worker_takes=TAKES)
    new = cluster.start("worker", worker_takes=TAKES)
    calls = Calls(api, receiver, workers=cluster.processes)
    with closing(JobSteps(api)) as steps:
        for worker in (old, new):
            for _ in range(max(2, size.in_flight // 4)):
                calls.start()
            calls.wait_until_begun(steps, 2)
            worker.kill()
            calls.assert_each_was_done_once(steps)
            worker.start()
