"""The outermost layer: request ids, one log line and metrics a request, errors that nobody foresaw, and the refusal of
more requests than the server takes at once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import structlog
from prometheus_client import Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import error_response
from api.limits import limit_headers
from store import traces
from store.errors import InternalError, Unavailable
from store.ids import new_id

log = structlog.get_logger("api.requests")

PLAUSIBLE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})

REQUESTS = Counter("parley_http_requests_total", "Answered requests.", ["method", "route", "status"])
SECONDS = Histogram(
    "parley_http_request_seconds",
    "Time from a request's arrival to the beginning of its answer: the rest of a download is its reader's.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)


def request_id_of(scope: Mapping[str, Any]) -> str:
    """The caller's own id where it is a plausible one, else a new one."""
    for name, value in scope.get("headers", ()):
        if name == b"x-request-id":
            sent: str = value.decode("latin-1")
            return sent if PLAUSIBLE_REQUEST_ID.fullmatch(sent) else new_id()
    return new_id()


class RequestLog:
    """Pure ASGI middleware: gives each request its id and accounts for its answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = request_id_of(scope)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        status = 0
        answered_s: float | None = None
        began = time.perf_counter()

        async def send_with_id(message: Message) -> None:
            nonlocal status, answered_s
            if message["type"] == "http.response.start":
                status, answered_s = message["status"], time.perf_counter() - began
                headers = message.setdefault("headers", [])
                headers.append((b"x-request-id", request_id.encode()))
                if (window := state.get("rate_window")) is not None:
                    headers.extend(limit_headers(window))
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id), _traced(scope) as span:
            try:
                await self.app(scope, receive, send_with_id)
            except asyncio.CancelledError:
                # The server stops, and waits for this request no longer.
                if status != 0:
                    raise
                stopping = Unavailable("The server is stopping.", retry_after_s=5)
                await error_response(stopping, scope["path"])(scope, receive, send_with_id)
            # The last line of defence: whatever was not foreseen is logged here and answered without details.
            except Exception:
                # By the route: some paths are secrets.
                log.exception("request failed", method=scope["method"], route=_route(scope))
                if status == 0:
                    await error_response(InternalError("unforeseen"), scope["path"])(scope, receive, send_with_id)
            finally:
                whole_s = time.perf_counter() - began
                self._account(scope, status, whole_s if answered_s is None else answered_s, whole_s)
                if span is not None:
                    _tell(span, scope, status)

    def _account(self, scope: Scope, status: int, answered_s: float, whole_s: float) -> None:
        route = _route(scope)
        method = scope["method"] if scope.get("route") else "unmatched"
        REQUESTS.labels(method, route, str(status)).inc()
        SECONDS.labels(method, route).observe(answered_s)
        if scope["path"] not in QUIET_PATHS:
            log.info("request", method=scope["method"], route=route, status=status, ms=round(whole_s * 1000, 1))


def _route(scope: Scope) -> str:
    """The pattern of the path, which holds nothing of the caller's."""
    return getattr(scope.get("route"), "path", "unmatched")


def _traced(scope: Scope) -> AbstractContextManager[traces.Span | None]:
    """The request's span, part of the caller's trace where its headers name one. What an operator asks has none."""
    if not traces.are_on() or scope["path"] in QUIET_PATHS:
        return nullcontext()
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    known = scope["method"] in _METHODS
    attributes = {"http.request.method": scope["method"] if known else "_OTHER"}
    return traces.span(scope["method"] if known else "HTTP", traces.SERVER, attributes, headers=headers)


def _tell(span: traces.Span, scope: Scope, status: int) -> None:
    """By the route and not the path, which may name somebody."""
    route = getattr(scope.get("route"), "path", None)
    if route is not None:
        span.update_name(f"{scope['method']} {route}")
        span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        traces.fail(span, str(status))


class Places:
    """Pure ASGI middleware: answers 503 while `places` requests are in work.

    A request takes no place while its handler waits for the rest of its body: so slow uploads keep nobody out, and
    connections are bounded elsewhere. Operators' own questions are always answered.
    """

    def __init__(self, app: ASGIApp, places: int) -> None:
        self.app = app
        self._free = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in QUIET_PATHS:
            await self.app(scope, receive, send)
            return
        if self._free < 1:
            refusal = Unavailable("Too many requests are in work.", retry_after_s=2)
            await error_response(refusal, scope["path"])(scope, receive, send)
            return
        body_comes = _has_body(scope)
        held = 0

        def hold(places: int) -> None:
            nonlocal held
            self._free += held - places
            held = places

        async def receive_without_place() -> Message:
            nonlocal body_comes
            if not body_comes:
                return await receive()
            hold(0)
            try:
                message = await receive()
            finally:
                hold(1)
            if not message.get("more_body", False):
                body_comes = False
            return message

        async def send_with_place(message: Message) -> None:
            nonlocal body_comes
            body_comes = False  # who asks from here on only wants to know whether the client is still there
            hold(1)
            await send(message)

        hold(1)
        try:
            if body_comes:
                await self.app(scope, receive_without_place, send_with_place)
            else:
                await self.app(scope, receive, send)
        finally:
            hold(0)


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )
