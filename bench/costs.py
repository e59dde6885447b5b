"""What a unit of each work costs, by processor time, requests and bytes: `python -m bench.costs [--quick]`.

An API process, a worker and a PostgreSQL, each measured by the processor time of its whole process tree, less what it
takes when nobody asks; nothing waits for anything, so machines under load need as much and no less. The index and the
object store are stand-ins of the tests, of which the requests are counted alone: see `bench.index_scale`.
`bench.scale` reckons with these figures.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from bench.mcp_data import Company, fill
from bench.scale import CALL_MINUTE, IDLE
from ingest.vision.recorder import Found, Recorder, Sums
from ingest.vision.scenarios.findings import Finding
from store.blobs import Blobs
from store.camera_traffic import HEAT_COLUMNS, HEAT_ROWS
from store.database import Database, now
from store.statistics import Statistics
from tests.contract import material
from tests.support import postgresql
from tests.support.analyses import analysed, read, send, statuses
from tests.support.audio import call_clip
from tests.support.camera_workers import held_stream
from tests.support.cluster import Cluster, running_cluster_of_processes
from tests.support.events import emit, ended
from tests.support.receiver import receiving
from tests.support.server import Account, RunningServer

TICKS = os.sysconf("SC_CLK_TCK")
IDLE_S = 30.0
COMMUNICATIONS = 20_000
CLIP_S = 60
PARTS = ("api", "worker", "database")
STORES = ("transactions", "of the bucket", "of the index")
TOLD_AFTER_S = 11.0
"""By then a session of PostgreSQL that rests has told of all its transactions."""
PAGES = 12
WATCHER = "bench.costs"


@dataclass(frozen=True)
class Cost:
    """Processor milliseconds of one unit, by part, and what it asks of the stores."""

    unit: str
    count: int
    ms: dict[str, float]
    requests: dict[str, float]


def tree_seconds(process_id: int) -> float:
    """Processor seconds of a process and of all its children, those that have ended included."""
    seconds = 0.0
    # A process may end while it is looked at; its parent has its time then.
    with suppress(OSError):
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
        seconds = sum(map(int, fields[11:15])) / TICKS
        for path in Path(f"/proc/{process_id}/task").glob("*/children"):
            seconds += sum(tree_seconds(int(child)) for child in path.read_text().split())
    return seconds


class BucketRequests(logging.Handler):
    """Counts what the bucket's server logs, a line for each request, and keeps it from the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        logging.getLogger("werkzeug").handlers = [self]

    def emit(self, record: logging.LogRecord) -> None:
        self.count += " HTTP/1." in record.getMessage()


class Meter:
    """Takes the time and the requests of a piece of work from what the parts have used."""

    def __init__(self, processes: dict[str, int], asked: Callable[[], tuple[int, int, int]]) -> None:
        """`asked`: how many requests came to each of STORES so far."""
        self._processes, self._asked = processes, asked
        self.costs: list[Cost] = []
        self.idle = dict.fromkeys((*PARTS, *STORES), 0.0)

    def rest(self) -> None:
        """What the parts take of a second when nobody asks."""
        used = self._used(lambda: time.sleep(IDLE_S))
        self.idle = {name: value / seconds for name, (value, seconds) in used.items()}

    def measure(self, unit: str, count: int, work: Callable[[], object]) -> None:
        beyond = {name: value - self.idle[name] * seconds for name, (value, seconds) in self._used(work).items()}
        used = {name: max(0.0, value) / count for name, value in beyond.items()}
        ms = {part: used[part] * 1000 for part in PARTS}
        cost = Cost(unit, count, ms, {store: used[store] for store in STORES})
        self.costs.append(cost)
        shown = "".join(f"{ms[part]:>11.2f}" for part in PARTS) + "".join(f"{used[store]:>15.2f}" for store in STORES)
        print(f"{unit:<44}{count:>7}{shown}", flush=True)

    def repeat(self, unit: str, count: int, work: Callable[[], object]) -> None:
        def again() -> None:
            for _ in range(count):
                answer = work()
                assert getattr(answer, "status_code", 200) == 200, answer

        self.measure(unit, count, again)

    def _used(self, work: Callable[[], object]) -> dict[str, tuple[float, float]]:
        """Processor seconds of each part, requests to each store, and in how many seconds they were counted."""
        time.sleep(TOLD_AFTER_S)
        asked, asked_s = self._asked(), time.monotonic()
        before, began_s = self._now(), time.monotonic()
        work()
        after, took_s = self._now(), time.monotonic() - began_s
        time.sleep(TOLD_AFTER_S)
        used = {part: (after[part] - before[part], took_s) for part in PARTS}
        asked_now, counted_s = self._asked(), time.monotonic() - asked_s
        return used | {store: (now - was, counted_s) for store, was, now in zip(STORES, asked, asked_now, strict=True)}

    def _now(self) -> dict[str, float]:
        return {part: tree_seconds(process_id) for part, process_id in self._processes.items()}


def main() -> int:
    if postgresql.programs() is None:
        print("skipped: PostgreSQL is not installed (scripts/install-system-packages)")
        return 0
    share = 0.1 if "--quick" in sys.argv else 1.0
    with (
        postgresql.running_postgresql() as server,
        tempfile.TemporaryDirectory() as folder,
        running_cluster_of_processes(Path(folder), postgresql.new_database(server.url)) as cluster,
    ):
        meter = measured(cluster, server.process_id, share)
    idle = {part: meter.idle[part] * 1000 for part in PARTS}
    idle["database"] /= 2  # two processes look for work
    print(json.dumps({IDLE: idle} | {cost.unit: cost.ms for cost in meter.costs}))
    return 0


def measured(cluster: Cluster, database_id: int, share: float) -> Meter:
    # A cluster of the tests sweeps and looks for jobs more often.
    api = cluster.start(
        "api", mcp_requests_per_minute="1000000", chat_requests_per_minute="1000000", sweep_s="10", job_poll_s="0.2"
    )
    worker = cluster.start("worker", worker_takes="speech,documents,analysis,errands", sweep_s="10", job_poll_s="0.2")
    assert api.process is not None
    assert worker.process is not None
    account = api.new_client("costs", features=["kb", "chat"], balance_rub="1000000")
    sizes(api.database, account)
    to_bucket = BucketRequests()

    def asked() -> tuple[int, int, int]:
        return transactions(api.database), to_bucket.count, cluster.qdrant.answered

    meter = Meter({"api": api.process.pid, "worker": worker.process.pid, "database": database_id}, asked)
    named = "".join(f"{part:>11}" for part in PARTS) + "".join(f"{store:>15}" for store in STORES)
    print(f"{'processor milliseconds, and requests, of':<44}{'units':>7}{named}")
    meter.rest()
    idle = "".join(f"{meter.idle[part] * 1000:>11.2f}" for part in PARTS)
    print(f"{IDLE:<44}{'':>7}{idle}" + "".join(f"{meter.idle[store]:>15.2f}" for store in STORES))
    reads(meter, account, share)
    knowledge(meter, account, share)
    speech(meter, account, share)
    analysis(meter, api, share)
    webhooks(meter, account, share)
    cameras(meter, api, share)
    for name, process in (("api", api), ("worker", worker)):
        print(f"{name}: {resident_mb(process):.0f} MB resident, children included")
    return meter


def sizes(database: Database, account: Account) -> None:
    """Bytes of a communication that is analysed, three turns each, indexes included."""
    before = database_bytes(database)
    fill(database, account.tenant_id, Company(communications=COMMUNICATIONS))
    Statistics(database).sweep()
    print(f"a communication in the database: {(database_bytes(database) - before) / COMMUNICATIONS:.0f} bytes")


def database_bytes(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(sa.text("SELECT pg_database_size(current_database())")).scalar_one())


def transactions(database: Database) -> int:
    """That PostgreSQL has ended so far, but for those of the last seconds (TOLD_AFTER_S)."""
    counted = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
    with database.read() as connection:
        return int(connection.execute(sa.text(counted)).scalar_one())


def reads(meter: Meter, account: Account, share: float) -> None:
    paths = {
        "a page of the list (25 communications)": "/public/v1/communications/search?limit=25",
        "the balance": "/public/v1/balance",
    }
    for unit, path in paths.items():
        meter.repeat(unit, round(500 * share), partial(account.get, path))
    agents = {"search_communications": {"limit": 10}, "get_period_metrics": {}}
    for name, arguments in agents.items():
        meter.repeat(f"agent: {name}", round(200 * share), partial(account.call_tool, name, **arguments))


def knowledge(meter: Meter, account: Account, share: float) -> None:
    space = account.new_space()
    account.add_document(space, material.RETURNS.encode(), "first.html")  # the model is loaded then
    documents = round(40 * share)

    def add() -> None:
        made = [account.upload_document(space, rules(number).encode(), f"{number}.md") for number in range(documents)]
        chunks.extend(account.finished_document(each.json()["id"])["chunk_count"] for each in made)

    chunks: list[int] = []
    meter.measure("a document of some pages", documents, add)
    print(f"  {sum(chunks) / documents:.1f} passages each")
    question = {"query": "where may visitors park"}
    meter.repeat(
        "agent: search_documents", round(100 * share), partial(account.call_tool, "search_documents", **question)
    )
    path = f"/public/v1/chats/{account.chat_id}/messages"
    asked = {"text": "Where may visitors park?"}
    meter.repeat("an answer of a chat, by quotation", round(50 * share), partial(account.post, path, json=asked))


def rules(number: int) -> str:
    """A document of its own, about twelve pages of it, in which each car park is another one: a search drops what says
    the same as another passage, and would look for more."""
    sections = (
        f"## Rule {number}.{page}\n\n"
        + "".join(f"{material.PARKING} Of car park {number}{page:02}{row}.\n\n" for row in range(8))
        for page in range(PAGES)
    )
    return f"# Rules, part {number}\n\n" + "\n\n".join(sections)


def speech(meter: Meter, account: Account, share: float) -> None:
    clip = call_clip("01", 0, CLIP_S)
    account.finished_task(account.upload_audio(clip, language="ru").json()["task_id"])
    count = max(2, round(12 * share))

    def recognise() -> None:
        tasks = [account.upload_audio(clip, language="ru").json()["task_id"] for _ in range(count)]
        for task in tasks:
            assert account.finished_task(task)["transcription_status"] == "success"

    meter.measure(CALL_MINUTE, count, recognise)


def analysis(meter: Meter, api: RunningServer, share: float) -> None:
    account = api.new_client("analysed", features=["qc", "memory"], balance_rub="1000000")
    analysed(account, send(account))  # what is loaded once is loaded then
    count = max(5, round(60 * share))

    def analyse() -> None:
        sent = [send(account) for _ in range(count)]
        # Seldom enough to cost little beside.
        while account.balance()["held_rub"] != "0.00":
            time.sleep(2)
        for communication_id in sent:
            assert set(statuses(read(account, communication_id)).values()) <= {"success", "skipped"}

    meter.measure("a conversation of ten turns analysed by rules", count, analyse)


def webhooks(meter: Meter, account: Account, share: float) -> None:
    count = round(200 * share)
    with receiving() as receiver:
        meter.measure("a webhook", count, lambda: ended(account, emit(account, receiver.url("/hook"), count)))


def cameras(meter: Meter, api: RunningServer, share: float) -> None:
    """What a stream asks of the stores, beside how it goes; this process watches it, and is not measured."""
    recorder = Recorder(api.database, Blobs(api.settings), WATCHER, on_delivery=lambda _: None)
    stream = held_stream(api.database, api.new_client("watched", features=["vision"]).tenant_id, WATCHER)
    count, picture, names = round(500 * share), np.zeros((720, 1280, 3), np.uint8), itertools.count()
    meter.repeat("a camera's newest picture", count, partial(recorder.keep_newest, stream, picture))
    sums = Sums(heat=np.ones((HEAT_ROWS, HEAT_COLUMNS), np.float32))
    meter.repeat("a camera's figures of ten seconds", count, partial(recorder.add_sums, stream, now(), sums))

    def see() -> None:
        name = str(next(names))
        recorder.record(stream, [Found(Finding("fire", name, 0.9), name, picture, now(), 1280, 720)])

    meter.repeat("an event of a camera", count, see)


def resident_mb(server: RunningServer) -> float:
    assert server.process is not None
    kilobytes = 0
    for process_id in (server.process.pid, *server.child_ids()):
        with suppress(OSError):
            rollup = Path(f"/proc/{process_id}/smaps_rollup").read_text()
            kilobytes += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return kilobytes / 1024


if __name__ == "__main__":
    sys.exit(main())
