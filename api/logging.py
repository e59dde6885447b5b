"""Logs: structlog for our own lines and for those of libraries, as JSON or for a terminal."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from store.settings import Settings

QUIETER = {
    "uvicorn": logging.WARNING,
    "dbos": logging.ERROR,
    "alembic": logging.WARNING,
    "httpx": logging.WARNING,
    "LiteLLM": logging.WARNING,
    "mcp": logging.WARNING,
}


def configure_logging(settings: Settings) -> None:
    """Sends every line of this process to stderr in one form."""
    as_json = settings.log_format == "json" or (settings.log_format == "" and not sys.stderr.isatty())
    level = getattr(logging, settings.log_level.upper())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.format_exc_info if as_json else _keep,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    handler = logging.StreamHandler(sys.stderr)
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


def _keep(_logger: Any, _method: str, event: Any) -> Any:
    return event
