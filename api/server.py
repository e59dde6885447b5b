"""Runs the server: uvicorn over the app, with graceful shutdown."""

from __future__ import annotations

import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool

from api.app import create_app
from api.protocol import SWEEP_S, Bounds, bounded_protocol, sweep
from api.proxies import trusted_proxies
from api.services import Services
from api.welcome import make_demo_link, say_welcome, say_working
from ingest import freed_memory
from ingest.roles import Role, check_role, work_of
from ingest.workshop import open_workshop
from rag.index import IndexLocked, IndexMismatch
from store import traces
from store.errors import ParleyError
from store.logging import configure_logging
from store.settings import Settings
from store.weights import ModelMissing

_FILES_BESIDE_CONNECTIONS = 512
_KEEP_ALIVE_S = 15
"""Longer than usual clients keep a connection for their next request (5 s): else one of them meets its end now and
then, and cannot tell whether the request was done."""

log = structlog.get_logger(__name__)


class _Server(uvicorn.Server):
    """uvicorn's server, but a signal that it was stopped by is not raised again afterwards: stopping is no failure."""

    def __init__(self, config: uvicorn.Config, settings: Settings, app: Starlette, role: Role) -> None:
        super().__init__(config)
        self._role = role
        self._settings = settings
        self._app = app
        self._swept_at = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._role == "worker":
            say_working(self._app.state.services)
        elif self.started:
            link = await run_in_threadpool(make_demo_link, self._app.state.services)
            say_welcome(self._settings, link)

    async def on_tick(self, counter: int) -> bool:
        """uvicorn calls it ten times a second."""
        at = time.monotonic()
        if at - self._swept_at >= SWEEP_S:
            sweep(self.server_state.connections, at - self._swept_at)
            self._swept_at = at
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends answers in work first, while those who follow them can still be told."""
        services: Services | None = getattr(self._app.state, "services", None)
        if services is not None:
            await services.answers.aclose()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _raise_file_limit(wanted: int) -> int:
    """Lets the process open as many files as it may; how many of `wanted` connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):  # some systems say "unlimited" and take no such number
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    fitting = wanted if soft == resource.RLIM_INFINITY else min(wanted, max(16, soft - _FILES_BESIDE_CONNECTIONS))
    if fitting < wanted:
        log.warning("fewer connections than PARLEY_MAX_CONNECTIONS: the limit of open files", connections=fitting)
    return fitting


def run_server(settings: Settings, role: Role = "all") -> int:
    """Serves until it is asked to stop, then ends the process; returns an exit status only where it could not begin.

    A worker answers only whoever asks how it is: /healthz, /readyz and /metrics.
    """
    end_traces = traces.start(role)
    configure_logging(settings)
    freed_memory.bound_arenas()
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        proxies = trusted_proxies(settings.trusted_proxies)
        # Before the server begins, so that what is in the way is said in one line and not as a failed start-up.
        check_role(role, settings)
        house = open_workshop(settings, takes=work_of(role, settings))
    except (ParleyError, IndexLocked, IndexMismatch, ModelMissing) as error:
        sys.stderr.write(f"parley: {error}\n")
        return 1
    bounds = Bounds(
        head_timeout_s=settings.head_timeout_s,
        body_min_bytes_per_s=settings.body_min_bytes_per_s,
        max_connections=_raise_file_limit(settings.max_connections),
    )
    app = create_app(settings, house, answers=role != "worker")
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=bounded_protocol(bounds),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or None,
        timeout_graceful_shutdown=max(1, int(settings.shutdown_grace_s)),
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
    server = _Server(config, settings, app, role)
    server.run()
    status = 0 if server.started else 1
    end_traces()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    # All is closed. A job that sleeps between two tries would hold the process for as long as it sleeps; it goes on
    # at the next start like any other.
    os._exit(status)
