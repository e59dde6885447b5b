"""Logs: structlog for our own lines and for those of libraries, as JSON or for a terminal."""

from __future__ import annotations

import logging
import sys
import threading
import time
from functools import partial
from typing import Any, TextIO

import structlog

from store import traces
from store.settings import Settings

QUIETER = {
    "uvicorn": logging.WARNING,
    "dbos": logging.ERROR,
    "alembic": logging.WARNING,
    "httpx": logging.WARNING,
    "LiteLLM": logging.WARNING,
    "mcp": logging.WARNING,
}
GATHER_S = 0.05


def configure_logging(settings: Settings) -> None:
    """Sends every line of this process to stderr in one form."""
    as_json = settings.log_format == "json" or (settings.log_format == "" and not sys.stderr.isatty())
    level = getattr(logging, settings.log_level.upper())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *([traces.trace_of] if traces.are_on() else []),
    ]
    # Without the values of variables, which structlog shows where rich is installed: they may be what somebody said.
    readable = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer: Any = structlog.processors.JSONRenderer() if as_json else readable
    handler = GatheringHandler(sys.stderr)
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info if as_json else _keep, renderer],
        # Past `logging`, which is for the lines of libraries: its record of a line costs as much as all else of it.
        logger_factory=partial(_Lines, handler),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.processors.format_exc_info],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name, quieter in QUIETER.items():
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = True
        logger.setLevel(max(level, quieter))


class GatheringHandler(logging.StreamHandler[TextIO]):
    """Writes a warning and what is worse at once, other lines together, at most GATHER_S late.

    Each write lets go of the interpreter, and a busy server's event loop then waits until its threads give it back: a
    write a request cost a tenth of what a read costs (`python -m bench.reads`).
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        self._waiting = threading.Event()
        self._writer: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        # A line that cannot be formatted is told of as logging does it, and never reaches the one who logged it.
        except Exception:
            self.handleError(record)
        else:
            self.take(line, at_once=record.levelno >= logging.WARNING)

    def take(self, line: str, *, at_once: bool) -> None:
        self._lines.append(line + self.terminator)
        if at_once:
            self.flush()
        elif not self._waiting.is_set():
            self._waiting.set()
            if self._writer is None:
                self._writer = threading.Thread(target=self._write, name="log writer", daemon=True)
                self._writer.start()

    def flush(self) -> None:
        with self.lock or threading.RLock():
            lines, self._lines = self._lines, []
            try:
                self.stream.write("".join(lines))
                self.stream.flush()
            except (OSError, ValueError):
                pass  # nobody reads it any more

    def _write(self) -> None:
        while True:
            self._waiting.wait()
            time.sleep(GATHER_S)
            self._waiting.clear()
            self.flush()


class _Lines:
    """Where structlog sends a line of a module of ours, as it is to be written."""

    def __init__(self, handler: GatheringHandler, name: str = "") -> None:
        self._handler = handler
        self.name = name

    def info(self, line: str) -> None:
        self._handler.take(line, at_once=False)

    def warning(self, line: str) -> None:
        self._handler.take(line, at_once=True)

    debug = info
    error = critical = warning


def _keep(_logger: Any, _method: str, event: Any) -> Any:
    return event
