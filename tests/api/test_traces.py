"""OpenTelemetry traces over OTLP: one trace from a request through its job, its children and models to its webhook."""

from __future__ import annotations

import gzip
import json
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.contract.recordings import tone, wav
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.scripted_model import API_KEY, MODEL, ScriptedModel, serve_scripted_model
from tests.support.server import Account, RunningServer

WAIT_S = 120.0
STOPS_WITHIN_S = 30.0
"""Or whoever stops it kills it (`compose.yaml`)."""
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET_WORD = "gravelmoth"
ERROR = 2


@dataclass(frozen=True)
class SeenSpan:
    name: str
    id: str
    parent: str
    trace: str
    status: int
    attributes: dict[str, Any]


class Collector:
    """What was exported to a receiver, as a collector would take it."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def spans(self) -> list[SeenSpan]:
        return [
            SeenSpan(
                name=span.name,
                id=span.span_id.hex(),
                parent=span.parent_span_id.hex(),
                trace=span.trace_id.hex(),
                status=span.status.code,
                attributes={each.key: _value(each.value) for each in span.attributes},
            )
            for request in self.requests()
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def requests(self) -> list[Any]:
        return [ExportTraceServiceRequest.FromString(_plain(each)) for each in self._receiver.at("/v1/traces")]

    def wait_for(self, name: str, trace: str | None = None) -> SeenSpan:
        deadline = time.monotonic() + WAIT_S
        while True:
            spans = self.spans()
            if found := [each for each in spans if each.name == name and trace in (None, each.trace)]:
                return found[0]
            assert time.monotonic() < deadline, sorted({each.name for each in spans})
            time.sleep(0.2)

    def wait_for_whole(self, trace: str, caller: str) -> list[SeenSpan]:
        """A trace's spans, once none lacks its parent: parents end, and are exported, after their children."""
        deadline = time.monotonic() + WAIT_S
        while True:
            spans = [each for each in self.spans() if each.trace == trace]
            if {each.parent for each in spans} <= {each.id for each in spans} | {caller}:
                return spans
            assert time.monotonic() < deadline, sorted({each.name for each in spans})
            time.sleep(0.2)


def _plain(received: Any) -> bytes:
    body: bytes = received.body
    return gzip.decompress(body) if received.headers.get("content-encoding") == "gzip" else body


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with serve_scripted_model() as found:
        yield found


@pytest.fixture(scope="module")
def server(
    receiver: Receiver, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path_factory.mktemp("traced"),
        llm_model=MODEL,
        llm_api_base=f"{model.base_url}/v1",
        llm_api_key=API_KEY,
        analysis_retry_schedule="0.1",
        allowed_networks="127.0.0.0/8",
        sweep_s="0.5",
    )
    running.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.url("")
    running.environment["OTEL_EXPORTER_OTLP_COMPRESSION"] = "gzip"
    running.environment["OTEL_BSP_SCHEDULE_DELAY"] = "200"
    try:
        yield running.start()
    finally:
        running.close()


def ways(spans: list[SeenSpan], of: SeenSpan) -> list[str]:
    """The names from a span up to where the server's part of its trace begins."""
    by_id = {each.id: each for each in spans}
    names = [of.name]
    while (above := by_id.get(of.parent)) is not None:
        names.append(above.name)
        of = above
    return names


def test_one_trace_leads_from_an_upload_to_its_webhook(server: RunningServer, receiver: Receiver) -> None:
    account = server.new_client("traced", features=[])
    answer = account.post(
        "/v1/audio/transcriptions",
        files={"file": ("call.wav", wav(tone(1)))},
        data={"webhook_url": receiver.url("/hook")},
        headers={"traceparent": CALLER},
    )
    assert answer.status_code == 202, answer.text
    account.finished_task(answer.json()["task_id"])
    collector = Collector(receiver)
    _, trace, caller, _ = CALLER.split("-")
    sent = collector.wait_for("POST webhook", trace)
    spans = collector.wait_for_whole(trace, caller)
    (accepted,) = [each for each in spans if each.name == "POST /v1/audio/transcriptions"]
    assert accepted.parent == caller
    assert accepted.attributes["http.response.status_code"] == 202
    way = ways(spans, sent)
    assert way[0] == "POST webhook"
    assert way[-1] == accepted.name
    assert {"send_webhook", "transcribe_call"} <= set(way)
    assert any(ways(spans, each)[-1] == accepted.name for each in spans if each.name.startswith("child "))

    def logged() -> set[str]:
        lines = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
        return {line["event"] for line in lines if line.get("trace_id") == trace}

    deadline = time.monotonic() + WAIT_S
    while not logged() >= {"request", "sent a webhook"}:
        assert time.monotonic() < deadline, logged()
        time.sleep(0.1)


def test_tools_and_models_are_parts_of_a_chats_trace(
    server: RunningServer, receiver: Receiver, model: ScriptedModel
) -> None:
    account = server.new_client("chats", features=["kb", "chat"])
    space = account.new_space()
    account.add_document(space, f"The {SECRET_WORD} costs 12 roubles.".encode(), "prices.md")
    model.forget()
    model.calls_tools(("search_documents", {"query": SECRET_WORD}))
    model.says(f"The {SECRET_WORD} costs 12 roubles [1].")
    path = f"/public/v1/chats/{account.chat_id}/messages"
    assert account.post(path, json={"text": f"What does a {SECRET_WORD} cost?"}).status_code == 200
    collector = Collector(receiver)
    asked = collector.wait_for("POST /public/v1/chats/{chat_id}/messages")
    collector.wait_for("execute_tool search_documents", asked.trace)
    spans = [each for each in collector.spans() if each.trace == asked.trace]
    answers = [each for each in spans if each.name == f"chat {MODEL}"]
    assert len(answers) == 2
    assert all(ways(spans, each)[-1] == asked.name for each in answers)
    assert all(each.attributes["gen_ai.usage.output_tokens"] > 0 for each in answers)


def test_a_models_failure_marks_its_span_and_no_span_tells_what_was_said(
    server: RunningServer, receiver: Receiver, model: ScriptedModel
) -> None:
    account = server.new_client("fails", features=["kb", "chat"])
    model.forget()
    model.fails(400, error=f"refused because of {SECRET_WORD}")
    path = f"/public/v1/chats/{account.chat_id}/messages"
    assert account.post(path, json={"text": f"Is {SECRET_WORD} here?"}).status_code == 502
    collector = Collector(receiver)
    deadline = time.monotonic() + WAIT_S
    while not (failed := [each for each in collector.spans() if each.status == ERROR]):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert {"RequestRefused", "UpstreamFailed", "502"} & {each.attributes.get("error.type") for each in failed}
    exported = b"".join(request.SerializeToString() for request in collector.requests())
    assert b"execute_tool" in exported, "nothing was looked at"
    for hidden in (SECRET_WORD, account.made.api_key, API_KEY, "traced", "call.wav"):
        assert hidden.encode() not in exported, hidden


def test_a_collector_that_hangs_stops_neither_requests_nor_the_servers_end(tmp_path: Path) -> None:
    with receiving() as receiver:
        receiver.answer("/v1/traces", Reply(hangs=True))
        running = RunningServer(tmp_path / "data", sweep_s="0.5")
        running.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.url("")
        try:
            account: Account = running.start().new_client("alone")
            for _ in range(50):
                assert account.get("/public/v1/balance").status_code == 200
            running.process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + STOPS_WITHIN_S
            while running.process.poll() is None:
                assert time.monotonic() < deadline, "the collector keeps it"
                time.sleep(0.1)
            assert running.process.returncode == 0
        finally:
            running.close()
