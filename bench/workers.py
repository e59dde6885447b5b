"""How many more calls several workers do than one: `python -m bench.workers [CALLS]`.

Each worker has one core of its own; whoever answers has all others, where there are any, and the database, the object
store and the index go where they like. One worker is measured on each of the cores that two have, and two are compared
with the mean: cores of one machine may differ. Calls are demo calls, a minute of each, recognised by Whisper base.
"""

from __future__ import annotations

import logging
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.bounds import said
from tests.support import postgresql
from tests.support.audio import call_clip
from tests.support.cluster import Cluster, running_cluster_of_processes
from tests.support.server import Account

CALLS = 24
CLIP_S = 60
WORKERS = (1, 2, 4)
LEAST_OF_TWO = 1.7


def main() -> int:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    if postgresql.programs() is None:
        print("skipped: PostgreSQL is not installed (scripts/install-system-packages)")
        return 0
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    cores = sorted(os.sched_getaffinity(0))
    print(f"{calls} calls of {CLIP_S} s, {len(cores)} cores")
    print(f"{'workers':>8}{'calls/hour':>12}{'times one':>11}{'times faster than spoken':>26}")
    per_hour: dict[int, float] = {}
    with postgresql.running_cluster() as databases, tempfile.TemporaryDirectory() as folder:

        def measured(workers: int, first: int = 0) -> float:
            url = postgresql.new_database(databases)
            with running_cluster_of_processes(Path(folder) / f"{workers}-{first}", url) as cluster:
                return measure(cluster, workers, calls, cores[first:] + cores[:first])

        for workers in WORKERS:
            if workers == 1:
                alone = [measured(1, first) for first in range(min(2, len(cores)))]
                print(f"{'':>8}{' and '.join(f'{each:.0f}' for each in alone)} by one, core by core")
                per_hour[1] = statistics.mean(alone)
            else:
                per_hour[workers] = measured(workers)
            spoken = per_hour[workers] * CLIP_S / 3600
            print(f"{workers:>8}{per_hour[workers]:>12.0f}{per_hour[workers] / per_hour[1]:>11.2f}{spoken:>26.1f}")
    holds = [per_hour[2] >= LEAST_OF_TWO * per_hour[1], per_hour[4] >= per_hour[2]]
    for holding, bound in zip(holds, (f"two do at least {LEAST_OF_TWO} times one", "four do no fewer"), strict=True):
        said(bound, holding)
    return 0 if all(holds) else 1


def measure(cluster: Cluster, workers: int, calls: int, cores: list[int]) -> float:
    """Calls an hour. Each worker has one of the first cores."""
    others = cores[max(WORKERS) :]
    api = cluster.start("api", cores=others or None)
    for number in range(workers):
        cluster.start("worker", cores=[cores[number % len(cores)]], worker_takes="speech,errands", job_poll_s="0.2")
    account = api.new_client("bench")
    clips = [call_clip(f"0{number}", 0, CLIP_S) for number in (1, 2, 3)]
    done(account, [upload(account, clips[0]) for _ in range(2 * workers)])  # every child has its model then
    began = time.perf_counter()
    done(account, [upload(account, clips[number % len(clips)]) for number in range(calls)])
    return calls / (time.perf_counter() - began) * 3600


def upload(account: Account, clip: bytes) -> str:
    answer = account.upload_audio(clip)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["task_id"])


def done(account: Account, tasks: list[str]) -> None:
    for task in tasks:
        record = account.finished_task(task)
        assert record["transcription_status"] == "success", record


if __name__ == "__main__":
    sys.exit(main())
