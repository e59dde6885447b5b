"""Analyses live through crashes and changes: done once, paid for once, told of once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest import analyses as orders
from store import analyses, communications, speakers
from store.analysis import stage_statuses
from store.communications import ContentItem
from store.database import now
from store.speakers import Attending
from tests.support.analyses import GOOD, STAGES, analysed, read, send, statuses
from tests.support.job_steps import jobs_of
from tests.support.metrics import samples
from tests.support.receiver import Receiver, receiving
from tests.support.scripted_model import API_KEY, MODEL, ScriptedModel, serve_scripted_model
from tests.support.server import Account, RunningServer

SUCCESS = dict.fromkeys(STAGES, "success")
REPORT = "Отчёт."
MARKS = {"summary": '"commitments"', "qc": '"criteria"', "memory": '"facts"'}
"""What the model is asked for in each stage has this in it."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedModel]:
    with serve_scripted_model() as found:
        yield found


@pytest.fixture
def model(provider: ScriptedModel) -> ScriptedModel:
    """With nothing left of earlier tests."""
    provider.forget()
    provider.released.clear()
    return provider


@pytest.fixture(scope="module")
def server(provider: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of these tests, whose analysis asks the scripted model."""
    running = RunningServer(
        tmp_path_factory.mktemp("analyses"),
        llm_model=MODEL,
        llm_api_base=f"{provider.base_url}/v1",
        llm_api_key=API_KEY,
        allowed_networks="127.0.0.0/8",
        analysis_retry_schedule="0.1,0.1",
        analysis_outage_schedule="0.1,0.2,0.3",
        sweep_s="0.5",
    )
    try:
        yield running.start()
    finally:
        running.close()


def answer(request: dict[str, Any]) -> str:
    """Nothing of its own but a summary and the report, so that the rules decide."""
    system = request["messages"][0]["content"]
    if '"commitments"' in system:
        found = {"summary": "Нет интернета.", "category": "support", "category_quote": "не работает интернет"}
        return json.dumps({**found, "items": [], "commitments": []}, ensure_ascii=False)
    if '"criteria"' in system:
        return '{"criteria": []}'
    return '{"facts": []}' if '"facts"' in system else REPORT


def wait_until(holds: Callable[[], bool], wait_s: float = 120) -> None:
    deadline = time.monotonic() + wait_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)


def assert_done_once(account: Account, communication_id: str, told: list[dict[str, Any]]) -> None:
    details = analysed(account, communication_id)
    assert statuses(details) == SUCCESS
    (debit,) = [item for item in account.debits() if item["source_ref"] == communication_id]
    assert [(line["product"], line["quantity"]) for line in debit["lines"]] == [(stage, 1) for stage in STAGES]
    mine = [each["event"] for each in told if each["communication_id"] == communication_id]
    assert sorted(mine) == sorted(f"{stage}.completed" for stage in STAGES)


def told(receiver: Receiver, path: str) -> list[dict[str, Any]]:
    """What came of each event, once one of each stage came. Who sends may be killed before it has noted that it did,
    and sends again then, under the same id."""

    def came() -> dict[str, dict[str, Any]]:
        return {each.id: each.json for each in receiver.at(path)}

    wait_until(lambda: len(came()) >= len(STAGES))
    return list(came().values())


@pytest.mark.soak
def test_an_analysis_that_was_killed_in_the_middle_is_done_once(
    server: RunningServer, model: ScriptedModel, receiver: Receiver
) -> None:
    """In its last stage: all that the others did is there. tests/soak kills in each."""
    assert_done_once_after_kills(server, model, receiver, "memory")


def assert_done_once_after_kills(server: RunningServer, model: ScriptedModel, receiver: Receiver, *stages: str) -> None:
    account = server.new_client("killed")
    path = "/killed"
    communication_id = ""
    for stage in stages:
        # The stage hangs at the model, and the server is killed there.
        mark = MARKS[stage]
        model.forget()
        model.answers(answer, hang=lambda request, mark=mark: mark in request["messages"][0]["content"])
        if communication_id:
            server.start()
        else:
            communication_id = send(account, webhook_url=receiver.url(path))
        wait_until(lambda mark=mark: any(mark in str(each["messages"][0]) for each in model.requests))
        server.kill()
    model.forget()
    model.answers(answer)
    server.start()
    wait_until(lambda: statuses(read(account, communication_id)) == SUCCESS, 120)
    assert_done_once(account, communication_id, told(receiver, path))


def test_an_order_that_was_never_started_is_found_by_the_sweeper(server: RunningServer, model: ScriptedModel) -> None:
    model.answers(answer)
    account = server.new_client("never started")
    with server.database.write() as connection:
        row = communications.create(
            account.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="t"
        )
        person = speakers.upsert(account.tenant_id, connection, external_id="cl-1", name="Иван Рогов")
        speakers.attach(account.tenant_id, connection, row.id, [Attending(person.id, "client", "SPEAKER_00")])
        items = [ContentItem("audio_utterance", text, label) for label, text in GOOD]
        communications.replace_content(account.tenant_id, connection, row.id, items)
        assert orders.order(account.tenant_id, connection, server.settings, row.id) is not None
    assert statuses(analysed(account, row.id)) == SUCCESS


def ended(server: RunningServer) -> dict[str, float]:
    """Stages of analysis by how they ended."""
    mine = [each for each in samples(server, "parley_work_ended_total") if each.labels["kind"] == "analysis"]
    return {each.labels["outcome"]: each.value for each in mine}


def test_stages_that_are_skipped_are_not_counted_among_those_that_failed(
    server: RunningServer, model: ScriptedModel
) -> None:
    model.answers(answer)
    account = server.new_client("too little")
    before = ended(server)
    found = analysed(account, send(account, (("SPEAKER_00", "Алло, кто?"),)))
    assert statuses(found) == dict.fromkeys(STAGES, "skipped")
    assert ended(server) == before | {"skipped": before.get("skipped", 0) + len(STAGES)}


def test_what_an_analysis_asks_of_a_provider_is_counted(server: RunningServer, model: ScriptedModel) -> None:
    def counted() -> dict[str, float]:
        labels = {"model": MODEL, "purpose": "analysis"}
        mine = [each for each in samples(server, "parley_model_tokens_total") if labels.items() <= each.labels.items()]
        return {each.labels["kind"]: each.value for each in mine}

    before = counted()
    model.answers(answer)
    account = server.new_client("counted")
    assert statuses(analysed(account, send(account))) == SUCCESS
    asked = len(model.requests)
    assert asked >= len(STAGES)
    taken = {kind: value - before.get(kind, 0) for kind, value in counted().items()}
    assert taken == {"prompt": 100 * asked, "completion": 10 * asked}


@pytest.mark.parametrize("status", [429, 503])
def test_a_provider_that_is_away_for_longer_than_the_first_tries_loses_no_analysis(
    server: RunningServer, model: ScriptedModel, status: int
) -> None:
    account = server.new_client(f"away {status}")
    for _ in range(5):  # 2 pauses of the first schedule, 3 of the second; each try asks once
        model.fails(status, retry_after="600")
    model.answers(answer)
    assert statuses(analysed(account, send(account))) == SUCCESS
    assert model.left == 0


def test_a_provider_that_refuses_is_not_asked_for_a_day(server: RunningServer, model: ScriptedModel) -> None:
    account = server.new_client("refused")
    for _ in range(3):
        model.fails(401)
    model.answers(answer)
    found = statuses(analysed(account, send(account)))
    assert (found["summary"], found["qc"]) == ("error", "success")


def test_an_analysis_ordered_anew_while_the_first_runs_ends_once_and_leaves_nothing_held(
    server: RunningServer, model: ScriptedModel
) -> None:
    account = server.new_client("ordered anew")
    model.answers(lambda _: "", hang=True)
    communication_id = send(account)
    wait_until(lambda: bool(model.requests))
    with server.database.write() as connection:
        communications.lock(account.tenant_id, connection, communication_id)
        second = orders.order(account.tenant_id, connection, server.settings, communication_id)
        assert second is not None
    model.forget()
    model.answers(answer)
    model.released.set()  # the first answer ends, and what it was for is gone
    details = analysed(account, communication_id, wait_s=120)
    assert statuses(details) == SUCCESS
    with server.database.read() as connection:
        found = analyses.get_of(account.tenant_id, connection, communication_id)
        assert found is not None
        assert (found.id, found.status) == (second.id, "done")
        assert stage_statuses(account.tenant_id, connection, communication_id) == SUCCESS
    assert len([item for item in account.debits() if item["source_ref"] == communication_id]) == 1


def test_with_a_conversation_go_the_records_of_all_runs_of_its_analysis(
    server: RunningServer, model: ScriptedModel
) -> None:
    account = server.new_client("deleting")
    for _ in range(5):  # more often than one run asks
        model.fails(503)
    model.answers(answer)
    gone = send(account)
    assert statuses(analysed(account, gone)) == SUCCESS
    kept = send(account)
    assert statuses(analysed(account, kept)) == SUCCESS
    ids = {}
    with server.database.read() as connection:
        for communication_id in (gone, kept):
            found = analyses.get_of(account.tenant_id, connection, communication_id)
            assert found is not None
            ids[communication_id] = found.id

    def runs(communication_id: str) -> int:
        prefix = f"analysis-{ids[communication_id]}-"
        with jobs_of(server) as client:
            return len(client.list_workflows(workflow_id_prefix=prefix, load_input=False, load_output=False))

    assert (runs(gone) > 1, runs(kept)) == (True, 1)
    assert account.request("DELETE", f"/public/v1/communications/{gone}").status_code == 204
    assert (runs(gone), runs(kept)) == (0, 1)


@pytest.mark.soak
@pytest.mark.models
def test_a_meeting_of_four_hours_is_analysed_by_a_child_of_bounded_memory(tmp_path: Path) -> None:
    """The child's whole address space is bounded, libraries and model included."""
    running = RunningServer(tmp_path / "data", child_memory_bytes=str(1024**3), sweep_s="0.5")
    account = running.new_client("client")
    running.start()
    try:
        said = (
            "Давайте обсудим отчёт за квартал, цифры пока предварительные.",
            "По второму пункту замечаний нет, идём дальше.",
        )
        turns = tuple((f"SPEAKER_0{number % 4}", f"{said[number % 2]} Пункт {number}.") for number in range(5_000))
        promise = ("SPEAKER_01", "Пришлю всем протокол завтра до обеда.")
        staff = [
            {"name": name, "role": "employee", "label": f"SPEAKER_0{number}"} for number, name in enumerate("АБВГ")
        ]
        communication_id = send(account, (*turns, promise), speakers=staff)
        details = analysed(account, communication_id, wait_s=300)
        assert statuses(details) == SUCCESS
        deadlines = {item["meta"]["deadline"] for item in details["summary_items"] if item["item_type"] == "commitment"}
        assert "2026-03-11" in deadlines
        assert len(details["summary_text"]) < 4_000
    finally:
        running.close()
