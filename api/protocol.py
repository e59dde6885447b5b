"""uvicorn's HTTP protocol with bounds on what a connection may take: memory for a head, time for a head, a body and an
answer. And on connections at once. uvicorn by itself has no such bound.

Connections have no timers of their own: `sweep` looks at all of them twice a second, and a good request pays nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, ClassVar

import structlog
from prometheus_client import Counter
from starlette.responses import Response
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from api.errors import error_response
from api.middleware import request_id_of
from store.errors import HeadTooLarge, InvalidRequest, ParleyError, TooSlow, Unavailable

MAX_HEAD_BYTES = 64 * 1024
MAX_UNREAD_BYTES = 1024 * 1024  # of a body that comes after its answer, or while an earlier request is in work
MAX_PIPELINED = 8
BODY_WINDOW_S = 10.0
UNTAKEN_ANSWER_S = 60.0
LINGER_S = 2.0
MOST_LINGERING = 512
SWEEP_S = 0.5

CLOSED = Counter("parley_http_connections_closed_total", "Connections that the server ended.", ["reason"])


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one connection may take, and how many there may be."""

    head_timeout_s: float
    body_min_bytes_per_s: float
    max_connections: int


class _Phase(Enum):
    IDLE = auto()  # between two requests
    HEAD = auto()
    BODY = auto()
    ANSWER = auto()  # nothing more is expected of the client
    LINGER = auto()  # answered and half closed: what still comes is thrown away, so that the answer is not lost


class _Transport:
    """A transport that is closed by lingering where the client is still sending: closed at once, it would answer with a
    reset, at which many clients throw the answer away unread."""

    __slots__ = ("_inner", "_protocol", "_written_bytes")

    def __init__(self, inner: asyncio.Transport, protocol: BoundedProtocol) -> None:
        self._inner = inner
        self._protocol = protocol
        self._written_bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, data: bytes) -> None:
        self._written_bytes += len(data)
        self._inner.write(data)

    def taken_bytes(self) -> int:
        """How much of what was written the client's side has taken."""
        return self._written_bytes - self._inner.get_write_buffer_size()

    def has_untaken(self) -> bool:
        return self._inner.get_write_buffer_size() > 0

    def is_closing(self) -> bool:
        return self._protocol.phase is _Phase.LINGER or self._inner.is_closing()

    def close(self) -> None:
        if self._protocol.phase in (_Phase.HEAD, _Phase.BODY) and self._protocol.may_linger():
            self._protocol.linger()
        else:
            self._inner.close()

    def close_now(self) -> None:
        self._inner.close()


class BoundedProtocol(HttpToolsProtocol):
    """One connection. Made for a server by `bounded_protocol`."""

    bounds: ClassVar[Bounds]
    _lingering: ClassVar[int] = 0

    phase = _Phase.HEAD
    _spent_s = 0.0  # in this phase, as far as the client is to blame
    _head_bytes = 0
    _parsed_bytes = 0
    _window_bytes = 0  # of a body, since the last look at its pace
    _unread_bytes = 0  # of a body, while nobody reads it
    _is_deaf = False  # what was taken is answered, and nothing further is read
    _running: RequestResponseCycle | None = None  # the newest that was begun; in `pipeline` are those after it
    _untaken_s = 0.0
    _taken_bytes = 0
    _error: ParleyError | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._bounded = _Transport(transport, self)
        self.transport = self._bounded  # type: ignore[assignment]
        if len(self.connections) > self.bounds.max_connections:
            self._refuse(Unavailable("Too many connections.", retry_after_s=5), "too_many_connections")

    def connection_lost(self, exc: Exception | None) -> None:
        if self.phase is _Phase.LINGER:
            BoundedProtocol._lingering -= 1
        self.phase = _Phase.ANSWER  # uvicorn closes the transport once more: nothing is left to linger for
        self._give_up_answers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.phase is _Phase.LINGER or self._is_deaf:
            return
        if self.phase is _Phase.IDLE:
            self._enter(_Phase.HEAD)
        in_head = self.phase is _Phase.HEAD
        if in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if in_head and self.phase is _Phase.HEAD and self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(HeadTooLarge("The head of the request is too large."), "malformed")

    def send_400_response(self, msg: str) -> None:
        if not self._is_deaf:
            self._refuse(self._error or InvalidRequest("This is no valid HTTP request."), "malformed")

    def on_message_begin(self) -> None:
        self._enter(_Phase.HEAD)
        self._parsed_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        # uvicorn stops reading at the first one that waits, but a single chunk may hold thousands.
        if len(self.pipeline) >= MAX_PIPELINED:
            CLOSED.labels("too_many_pipelined").inc()
            self.cycle.keep_alive = False
            self._is_deaf = True
            raise Unavailable("Too many requests on one connection.")  # ends the parsing
        super().on_headers_complete()
        self._head_bytes = 0
        self._window_bytes = 0
        self._unread_bytes = 0
        self._enter(_Phase.BODY)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        self._window_bytes += len(body)
        if self.cycle.response_complete or self.pipeline:
            self._unread_bytes += len(body)
            if self._unread_bytes > MAX_UNREAD_BYTES:
                CLOSED.labels("unread_body").inc()
                self._bounded.close_now()
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._enter(_Phase.IDLE if self.cycle.response_complete else _Phase.ANSWER)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.phase is _Phase.ANSWER and self.cycle.response_complete:
            self._enter(_Phase.IDLE)

    def shutdown(self) -> None:
        if self._open_cycle() is None:
            self._bounded.close_now()
        else:
            super().shutdown()

    def sweep(self, seconds: float) -> None:
        """Ends the connection where its client took too long; `seconds` went by since the last look."""
        if self._leaves_answer(seconds):
            self._end("answer_not_read")
        elif self.phase is _Phase.LINGER:
            self._spent_s += seconds
            if self._spent_s > LINGER_S:
                self._end("")
        elif not self.transport.is_closing():
            self._sweep_request(seconds)

    def _sweep_request(self, seconds: float) -> None:
        """Time counts only while the server was ready to read."""
        open_cycle = self._open_cycle()
        if self.flow.read_paused or (open_cycle is not None and open_cycle.waiting_for_100_continue):
            return
        self._spent_s += seconds
        if self.phase is _Phase.HEAD and self._spent_s > self.bounds.head_timeout_s + SWEEP_S and open_cycle is None:
            self._refuse(TooSlow("The head of the request came too slowly."), "slow_head")
        elif self.phase is _Phase.BODY and self._spent_s > BODY_WINDOW_S:
            if self._window_bytes < self.bounds.body_min_bytes_per_s * self._spent_s:
                self._refuse(TooSlow("The body of the request came too slowly."), "slow_body")
            self._window_bytes = 0
            self._spent_s = 0.0
        elif self.phase is _Phase.IDLE and self._spent_s > self.timeout_keep_alive + SWEEP_S:
            # uvicorn's own timer is lost where the rest of a body came after the answer.
            self.transport.close()

    def _leaves_answer(self, seconds: float) -> bool:
        """Whether the client has taken nothing of what waits for it for too long."""
        taken_bytes = self._bounded.taken_bytes()
        stands_still = self._bounded.has_untaken() and taken_bytes == self._taken_bytes
        self._untaken_s = self._untaken_s + seconds if stands_still else 0.0
        self._taken_bytes = taken_bytes
        return self._untaken_s > UNTAKEN_ANSWER_S

    def _end(self, reason: str) -> None:
        if reason:
            CLOSED.labels(reason).inc()
        self.transport.abort()

    def _enter(self, phase: _Phase) -> None:
        self.phase = phase
        self._spent_s = 0.0

    def _count(self, size: int) -> None:
        self._parsed_bytes += size
        if self._parsed_bytes > MAX_HEAD_BYTES:
            self._error = HeadTooLarge("The head of the request is too large.")
            raise self._error

    def _refuse(self, error: ParleyError, reason: str) -> None:
        """Answers where no other answer has begun, and closes."""
        if self.transport.is_closing():
            return
        CLOSED.labels(reason).inc()
        open_cycle = self._open_cycle()
        # While an earlier request is in work, an answer to this one would be taken for that one's; and a request that
        # was answered before its body came gets no second answer.
        if self.phase is _Phase.BODY:
            in_turn = open_cycle is not None and not open_cycle.response_started
        else:
            in_turn = open_cycle is None
        if in_turn and not self.pipeline:
            self.transport.write(_answer(error, self._scope()))
        self._give_up_answers()
        if self.phase is _Phase.IDLE:
            self._enter(_Phase.HEAD)
        self.transport.close()

    def _give_up_answers(self) -> None:
        """Tells the request in work that its client is gone, and begins none of those behind it. uvicorn itself tells
        the newest alone."""
        self.pipeline.clear()
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()

    def _open_cycle(self) -> RequestResponseCycle | None:
        """The newest request, as long as it is not answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle if cycle is not None and not cycle.response_complete else None

    def _scope(self) -> dict[str, Any]:
        """What is known of the request that is being received."""
        scope = dict(self.__dict__.get("scope") or {})
        scope.setdefault("path", self.__dict__.get("url", b"").decode("latin-1"))
        return scope

    def may_linger(self) -> bool:
        return BoundedProtocol._lingering < MOST_LINGERING

    def linger(self) -> None:
        """Half closes, and waits a moment for the client to close."""
        if self._bounded.is_closing():
            return
        BoundedProtocol._lingering += 1
        self._enter(_Phase.LINGER)
        self._unset_keepalive_if_required()
        self.transport.write_eof()
        self.flow.resume_reading()


def bounded_protocol(bounds: Bounds) -> type[BoundedProtocol]:
    """The protocol of a server with these bounds."""
    return type("BoundedProtocol", (BoundedProtocol,), {"bounds": bounds})


def sweep(connections: Iterable[Any], seconds: float) -> None:
    """Ends the connections whose clients took too long. A server that was busy itself blames nobody for it."""
    for connection in list(connections):
        if isinstance(connection, BoundedProtocol):
            connection.sweep(min(seconds, 2 * SWEEP_S))


def _answer(error: ParleyError, scope: dict[str, Any]) -> bytes:
    """A whole answer with the documented body."""
    request_id = scope.get("state", {}).get("request_id") or request_id_of(scope)
    with structlog.contextvars.bound_contextvars(request_id=request_id):
        response: Response = error_response(error, scope["path"])
    response.headers["X-Request-Id"] = request_id
    response.headers["Connection"] = "close"
    head = b"".join(b"%b: %b\r\n" % header for header in response.raw_headers)
    return STATUS_LINE[response.status_code] + head + b"\r\n" + bytes(response.body)
