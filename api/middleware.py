"""The outermost layer: request ids, one log line and metrics a request, and errors that nobody foresaw."""

from __future__ import annotations

import re
import time

import structlog
from prometheus_client import Counter, Histogram
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http import error_response
from store.errors import InternalError
from store.ids import new_id

log = structlog.get_logger("api.requests")

PLAUSIBLE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})

REQUESTS = Counter("parley_http_requests_total", "Answered requests.", ["method", "route", "status"])
SECONDS = Histogram(
    "parley_http_request_seconds",
    "Time from a request's arrival to the end of its answer.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)


class RequestLog:
    """Pure ASGI middleware: gives each request its id and accounts for its answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent_id = Request(scope).headers.get("x-request-id", "")
        request_id = sent_id if PLAUSIBLE_REQUEST_ID.fullmatch(sent_id) else new_id()
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message.setdefault("headers", []).append((b"x-request-id", request_id.encode()))
            await send(message)

        began = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, send_with_id)
            # The last line of defence: whatever was not foreseen is logged here and answered without details.
            except Exception:
                log.exception("request failed", method=scope["method"], path=scope["path"])
                if status == 0:
                    await error_response(InternalError("unforeseen"))(scope, receive, send_with_id)
            finally:
                self._account(scope, status, time.perf_counter() - began)

    def _account(self, scope: Scope, status: int, seconds: float) -> None:
        matched = scope.get("route")
        path = getattr(matched, "path", "unmatched")
        method = scope["method"] if matched else "unmatched"
        REQUESTS.labels(method, path, str(status)).inc()
        SECONDS.labels(method, path).observe(seconds)
        if scope["path"] not in QUIET_PATHS:
            log.info("request", method=scope["method"], route=path, status=status, ms=round(seconds * 1000, 1))
