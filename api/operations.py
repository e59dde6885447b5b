"""What whoever runs the server asks it: is it alive, is it ready, what does it measure."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api.services import Services
from ingest.index_state import read_progress
from store import camera_streams, transcriptions

log = structlog.get_logger(__name__)

_FILLED = "Documents, communications and people with memory that an index is filled with"


async def healthz(_request: Request) -> Response:
    """The process lives and its event loop turns."""
    return JSONResponse({"status": "ok"})


def readyz(request: Request) -> Response:
    """Database, index and workers answer; 503 names those that do not."""
    services: Services = request.app.state.services
    checks: dict[str, Callable[[], object]] = {
        "database": services.database.ping,
        "index": lambda: _must(services.workshop.indexes.ready()),
        "workers": lambda: _must(services.workshop.jobs.ready()),
    }
    results: dict[str, str] = {}
    for name, check in checks.items():
        try:
            check()
            results[name] = "ok"
        # Any failure of a part means that it is not ready; the log says why.
        except Exception:
            log.exception("not ready", part=name)
            results[name] = "failed"
    ready = all(result == "ok" for result in results.values())
    body: dict[str, object] = {"status": "ready" if ready else "not ready", "checks": results}
    if services.workshop.indexes.trouble:
        body["notes"] = [services.workshop.indexes.trouble]
    return JSONResponse(body, status_code=200 if ready else 503, headers={} if ready else {"Retry-After": "5"})


def _must(true: bool) -> None:
    if not true:
        raise RuntimeError("answered no")


def metrics(_request: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


class StateCollector(Collector):
    """Gauges that are read when they are asked for: queue lengths and the size of the index."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> list[GaugeMetricFamily]:
        with self._services.database.read() as connection:
            waiting = transcriptions.count_unfinished(connection)
            cameras = camera_streams.count_by_status(connection)
        gauges = [GaugeMetricFamily("parley_calls_unfinished", "Calls accepted and not finished.", value=waiting)]
        watched = GaugeMetricFamily("parley_camera_streams", "Camera streams by their status.", labels=["status"])
        for status, count in cameras.items():
            watched.add_metric([status], count)
        gauges.append(watched)
        counts = self._services.workshop.indexes.counts()
        for name, value in (("tenants", counts.tenants), ("points", counts.points)):
            if value is not None:
                gauges.append(GaugeMetricFamily(f"parley_index_{name}", f"{name.title()} in the index.", value=value))
        filled = {name: read_progress(self._services.settings, name) for name in self._services.workshop.indexes.names}
        for what in ("done", "total", "failed"):
            gauge = GaugeMetricFamily(f"parley_index_fill_{what}", f"{_FILLED}: {what}.", labels=["index"])
            for name, progress in filled.items():
                if progress is not None:
                    gauge.add_metric([name], getattr(progress, what))
            gauges.append(gauge)
        return gauges


ROUTES = (
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
    Route("/metrics", metrics, methods=["GET"]),
)
