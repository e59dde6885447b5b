"""OpenTelemetry traces: one request's way through the server, its jobs, its models' answers and its webhooks.

On where OTEL_EXPORTER_OTLP_ENDPOINT, or its sibling for traces, names a collector; all else that OpenTelemetry's own
variables say holds too (service name, headers, sampling). Spans tell names and counts of ours and ids, never what
somebody said, an address or a secret: so of an error they tell its kind and not its text.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from opentelemetry import context, trace
from opentelemetry.trace import Span as Span
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_ITS_ATTRIBUTES = ("dbos.operation.workflow_id", "dbos.operation.type", "dbos.queue.name", "dbos.executor.id")
_LATEST_END_S = 3.0
_W3C = TraceContextTextMapPropagator()
_OURS = "parley"
_tracer = trace.get_tracer(_OURS, version("parley"))
_started = False

SERVER, CLIENT, INTERNAL = SpanKind.SERVER, SpanKind.CLIENT, SpanKind.INTERNAL


def are_on() -> bool:
    """Whether this process sends its traces to somebody."""
    return _started


def start(role: str) -> Callable[[], None]:
    """Begins to send this process's traces, where the environment asks for it; what it returns sends the last of them.

    To be called once, before the jobs begin.
    """
    global _started
    asked_off = (os.environ.get("OTEL_SDK_DISABLED", "").lower(), os.environ.get("OTEL_TRACES_EXPORTER", ""))
    if not any(os.environ.get(name) for name in _ENDPOINTS) or asked_off[0] == "true" or asked_off[1] == "none":
        return lambda: None
    # A tenth of a second and some megabytes, for those who want traces.
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create(
        {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "parley", "service.version": version("parley")}
    ).merge(Resource({"parley.role": role}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_exporter()))
    trace.set_tracer_provider(provider)
    _started = True

    def send_the_last() -> None:
        provider.force_flush()
        provider.shutdown()

    def close() -> None:
        # The SDK bounds neither of the two: a collector that hangs would keep a process for most of a minute.
        sending = threading.Thread(target=send_the_last, name="last traces", daemon=True)
        sending.start()
        sending.join(_LATEST_END_S)

    return close


@contextmanager
def span(
    name: str,
    kind: SpanKind = INTERNAL,
    attributes: Mapping[str, Any] | None = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """A span of what happens inside, part of the one around it; of the caller's, where a request's `headers` tell one.

    Names and attributes are those of OpenTelemetry's conventions where they have any.
    """
    parent = None if headers is None else _W3C.extract(headers, context=context.Context())
    with _tracer.start_as_current_span(
        name, parent, kind, attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        # One that is stopped, or whose reader has gone, has not failed.
        except Exception as error:
            fail(current, type(error).__name__)
            raise


def begin(name: str, kind: SpanKind, attributes: Mapping[str, Any]) -> Span:
    """A span that its caller ends, part of the one around it and around nothing itself: for what is read in pieces."""
    return _tracer.start_span(name, None, kind, attributes)


def current() -> context.Context:
    """Where this thread is in a trace, for `Jobs.enqueue`."""
    return context.get_current()


def fail(current: Span, kind: str) -> None:
    """Says of a span that what it tells of went wrong; `kind` is of a few known ones."""
    current.set_status(Status(StatusCode.ERROR))
    current.set_attribute("error.type", kind)


def trace_of(_logger: Any, _method: str, event: Any) -> Any:
    """For structlog: a line's trace, by which a collector's traces are found from the log."""
    found = trace.get_current_span().get_span_context()
    if found.is_valid:
        event["trace_id"] = trace.format_trace_id(found.trace_id)
    return event


def _exporter() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Discreet(SpanExporter):
        """Leaves out what libraries tell of errors and users: their texts may hold anything."""

        def __init__(self) -> None:
            self._exporter = OTLPSpanExporter()

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            return self._exporter.export([self._discreet(each) for each in spans])

        def shutdown(self) -> None:
            self._exporter.shutdown()  # type: ignore[no-untyped-call]

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return self._exporter.force_flush(timeout_millis)

        @staticmethod
        def _discreet(each: ReadableSpan) -> ReadableSpan:
            scope, told = each.instrumentation_scope, each.attributes or {}
            is_ours = scope is not None and scope.name == _OURS
            kept = {name: value for name, value in told.items() if is_ours or name in _ITS_ATTRIBUTES}
            return ReadableSpan(
                name=each.name,
                context=each.context,
                parent=each.parent,
                resource=each.resource,
                attributes=kept,
                links=each.links,
                kind=each.kind,
                instrumentation_scope=scope,
                status=Status(each.status.status_code),
                start_time=each.start_time,
                end_time=each.end_time,
            )

    return Discreet()
