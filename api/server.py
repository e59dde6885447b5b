"""Runs the server: uvicorn over the app, with graceful shutdown."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import uvicorn

from api.app import create_app
from api.logging import configure_logging
from rag.index import IndexLocked
from store import migrate
from store.database import Database
from store.settings import Settings

log = structlog.get_logger(__name__)


class _Server(uvicorn.Server):
    """uvicorn's server, but a signal that it was stopped by is not raised again afterwards: stopping is no failure."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run_server(settings: Settings) -> int:
    """Serves until it is asked to stop; the exit status."""
    configure_logging(settings)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    database = Database(settings)
    current = migrate.is_current(database)
    database.close()
    if not current:
        sys.stderr.write("parley: the database is not up to date: run `parley migrate`\n")
        return 1
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="httptools",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies) or None,
        timeout_graceful_shutdown=max(1, int(settings.shutdown_grace_s)),
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = _Server(config)
    try:
        server.run()
    except IndexLocked as error:
        sys.stderr.write(f"parley: {error}\n")
        return 1
    return 0 if server.started else 1
