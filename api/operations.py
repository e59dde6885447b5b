"""What whoever runs the server asks it: is it alive, is it ready, what does it measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from shutil import disk_usage

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api.services import Services
from ingest.index_state import read_progress
from rag.index import IndexTooOld
from store import backup_outcomes, camera_streams, index_work, transcriptions
from store.heartbeats import GPU, Worker
from store.settings import WORK

log = structlog.get_logger(__name__)

_FILLED = "Documents, communications and people with memory that an index is filled with"


async def healthz(_request: Request) -> Response:
    """The process lives and its event loop turns."""
    return JSONResponse({"status": "ok"})


def _readiness(services: Services) -> tuple[dict[str, bool], list[str]]:
    """Whether database, index and workers answer, and what can be said of one that does not. Of workers the database
    tells: where it is away, nobody waits for it a second time."""
    checks: dict[str, Callable[[], object]] = {
        "database": services.database.ping,
        "index": lambda: _must(services.workshop.indexes.ready()),
        "workers": lambda: _must(services.workshop.jobs.ready()),
    }
    results: dict[str, bool] = {}
    notes: list[str] = []
    for name, check in checks.items():
        if name == "workers" and not results["database"]:
            results[name] = False
            continue
        try:
            check()
            results[name] = True
        # Any failure of a part means that it is not ready; the log says why.
        except Exception as error:
            log.exception("not ready", part=name)
            results[name] = False
            if isinstance(error, IndexTooOld):
                notes.append(error.message)
    return results, notes


def readyz(request: Request) -> Response:
    """Database, index and workers answer; 503 names those that do not."""
    services: Services = request.app.state.services
    results, notes = _readiness(services)
    ready = all(results.values())
    told = {name: "ok" if answers else "failed" for name, answers in results.items()}
    body: dict[str, object] = {"status": "ready" if ready else "not ready", "checks": told}
    notes += [services.workshop.indexes.trouble] if services.workshop.indexes.trouble else []
    notes += notes_on(services.workshop.jobs.live()) if results["workers"] else []
    if notes:
        body["notes"] = notes
    return JSONResponse(body, status_code=200 if ready else 503, headers={} if ready else {"Retry-After": "5"})


def notes_on(workers: Sequence[Worker]) -> list[str]:
    """What the processes cannot do between them."""
    taken = {work for worker in workers for work in worker.takes}
    undone = [work for work in WORK if work not in taken]
    notes = [f"No worker takes {', '.join(undone)}: what is accepted waits."] if undone else []
    indexes = defaultdict(list)
    for worker in workers:
        if worker.index_name is not None:
            indexes[worker.index_name].append(worker.executor_id)
    if len(indexes) > 1:
        shown = "; ".join(f"{name}: {', '.join(ids)}" for name, ids in sorted(indexes.items()))
        notes.append(f"Processes have different embedding models, and none finds what the others index ({shown}).")
    return notes


def _must(true: bool) -> None:
    if not true:
        raise RuntimeError("answered no")


def metrics(_request: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


class StateCollector(Collector):
    """Gauges that are read when they are asked for: queue lengths and the size of the index."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: else all is read when this is registered, before there is anything to read."""
        return []

    def collect(self) -> list[GaugeMetricFamily]:
        """What one part does not tell, since it is away, keeps nobody from reading the rest. A database or an index
        that does not answer is waited for once, so that whoever scrapes is still there to read that."""
        ready, _ = _readiness(self._services)
        gauges = self._ready(ready)
        of_the_database = (self._store, self._workers, self._queues) if ready["database"] else ()
        of_the_index = (self._index,) if ready["index"] else ()
        for part in (*of_the_database, self._disk, *of_the_index, self._filling):
            try:
                gauges += part()
            # A part may be away in any way; the log says which.
            except Exception:
                log.exception("a part of the metrics could not be read", part=part.__name__.strip("_"))
        return gauges

    def _ready(self, ready: Mapping[str, bool]) -> list[GaugeMetricFamily]:
        gauge = GaugeMetricFamily("parley_ready", "Whether a part answers this process, by part.", labels=["part"])
        for part, answers in ready.items():
            gauge.add_metric([part], answers)
        return [gauge]

    def _store(self) -> list[GaugeMetricFamily]:
        with self._services.database.read() as connection:
            waiting = transcriptions.count_unfinished(connection)
            cameras = camera_streams.count_by_status(connection)
            following = index_work.list_waiting(connection)
            backups = backup_outcomes.last(connection)
        watched = GaugeMetricFamily("parley_camera_streams", "Camera streams by their status.", labels=["status"])
        for status, count in cameras.items():
            watched.add_metric([status], count)
        behind = GaugeMetricFamily(
            "parley_index_work", "Changes that index or files have yet to follow.", labels=["action"]
        )
        oldest = GaugeMetricFamily(
            "parley_index_work_oldest_seconds",
            "How long the oldest of them has waited, since its last try where it failed.",
            labels=["action"],
        )
        for each in following:
            behind.add_metric([each.action], each.count)
            oldest.add_metric([each.action], each.oldest_s)
        made = GaugeMetricFamily(
            "parley_backup_timestamp_seconds",
            "When `parley backup` last ended, by how it did, in seconds since 1970.",
            labels=["outcome"],
        )
        for outcome, at in backups.items():
            made.add_metric([outcome], at.timestamp())
        return [
            GaugeMetricFamily("parley_calls_unfinished", "Calls accepted and not finished.", value=waiting),
            watched,
            behind,
            oldest,
            made,
        ]

    def _disk(self) -> list[GaugeMetricFamily]:
        data_dir = self._services.settings.data_dir
        folders = [folder for folder in (data_dir, data_dir / "blobs") if folder.exists()]  # which may be two disks
        free = min(disk_usage(folder).free for folder in folders)
        text = "What is free of the disk that has this process's data folder; of its blobs' where that has less."
        return [GaugeMetricFamily("parley_disk_free_bytes", text, value=free)]

    def _workers(self) -> list[GaugeMetricFamily]:
        workers = self._services.workshop.jobs.live()
        taking = GaugeMetricFamily("parley_workers", "Live processes by the work that they take.", labels=["work"])
        for work in (*WORK, GPU):
            taking.add_metric([work], sum(work in worker.takes for worker in workers))
        return [taking]

    def _index(self) -> list[GaugeMetricFamily]:
        counts = self._services.workshop.indexes.counts()
        return [
            GaugeMetricFamily(f"parley_index_{name}", f"{name.title()} in the index.", value=value)
            for name, value in (("tenants", counts.tenants), ("points", counts.points))
            if value is not None
        ]

    def _filling(self) -> list[GaugeMetricFamily]:
        filled = {name: read_progress(self._services.settings, name) for name in self._services.workshop.indexes.names}
        gauges = []
        for what, name in (("total", "expected"), ("done", "done"), ("failed", "failed")):
            gauge = GaugeMetricFamily(f"parley_index_fill_{name}", f"{_FILLED}: {name}.", labels=["index"])
            for index, progress in filled.items():
                if progress is not None:
                    gauge.add_metric([index], getattr(progress, what))
            gauges.append(gauge)
        return gauges

    def _queues(self) -> list[GaugeMetricFamily]:
        counts = GaugeMetricFamily("parley_jobs", "Jobs that have not ended.", labels=["queue", "state"])
        oldest = GaugeMetricFamily(
            "parley_jobs_oldest_seconds", "How long ago the oldest of them was accepted.", labels=["queue", "state"]
        )
        for each in self._services.workshop.jobs.unfinished():
            counts.add_metric([each.queue, each.state], each.count)
            oldest.add_metric([each.queue, each.state], each.oldest_s)
        return [counts, oldest]


ROUTES = (
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
    Route("/metrics", metrics, methods=["GET"]),
)
