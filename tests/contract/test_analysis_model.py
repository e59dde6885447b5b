"""Analysis by a provider's model, over the running server: whatever the provider does, each stage ends in a documented
state, and no wrong value is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.ingest.analysis.orders import ORDERS
from tests.support.analyses import BAD, GOOD, PEOPLE, STAGES, analysed, read, send, statuses
from tests.support.scripted_model import API_KEY, MODEL, ScriptedModel, serve_scripted_model
from tests.support.server import Account, RunningServer

SUCCESS = dict.fromkeys(STAGES, "success")
ERROR = dict.fromkeys(STAGES, "error")
REPORT = "Отчёт: клиент без интернета, мастер приедет завтра."
SUMMARY: dict[str, Any] = {
    "summary": "Клиент сообщил, что не работает интернет. Мастер приедет завтра.",
    "category": "support",
    "category_quote": "не работает интернет",
    "items": [{"key": "topic", "content": "Нет интернета", "quote": "не работает интернет"}],
    "commitments": [
        {"content": "Перезвонить", "quote": "Я перезвоню вам завтра в 15:00", "deadline": "завтра в 15:00"}
    ],
}
FACTS = {"facts": [{"who": "Клиент 1", "key": "device", "content": "Роутер «Кит 3»", "quote": "у нас роутер «Кит 3»"}]}


def codes_asked(request: dict[str, Any]) -> list[str]:
    from ingest.analysis.catalogs import CRITERIA

    system = request["messages"][0]["content"]
    return [code for code in CRITERIA if code in system]


def asks(request: dict[str, Any]) -> str:
    """What a request is about, by the JSON that it wants."""
    system = request["messages"][0]["content"]
    if '"criteria"' in system:
        return "qc"
    if '"facts"' in system:
        return "memory"
    return "summary" if '"commitments"' in system else "report"


def provider(qc: Callable[[list[str]], Any] | None = None, **answers: Any) -> Callable[[dict[str, Any]], str]:
    """A model that answers each stage as given, else well."""

    def answer(request: dict[str, Any]) -> str:
        about = asks(request)
        if about == "qc":
            given = qc(codes_asked(request)) if qc else {"criteria": []}
        else:
            given = answers.get(about, {"summary": SUMMARY, "memory": FACTS, "report": REPORT}[about])
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    return answer


@pytest.fixture(scope="module")
def scripted_provider() -> Iterator[ScriptedModel]:
    with serve_scripted_model() as model:
        yield model


@pytest.fixture(scope="module")
def analysing_server(
    scripted_provider: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server whose analysis asks the scripted provider, and asks again twice, soon."""
    running = RunningServer(
        tmp_path_factory.mktemp("analysis-model"),
        llm_model=MODEL,
        llm_api_base=f"{scripted_provider.base_url}/v1",
        llm_api_key=API_KEY,
        llm_timeout_s="2",
        analysis_retry_schedule="0.1,0.1",
        analysis_outage_schedule="0.1",
        sweep_s="0.5",
        job_poll_s="0.1",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def model(scripted_provider: ScriptedModel) -> ScriptedModel:
    scripted_provider.forget()
    return scripted_provider


@pytest.fixture
def asker(analysing_server: RunningServer, request: pytest.FixtureRequest) -> Account:
    account = analysing_server.new_client(f"asker {request.node.name}"[:100])
    criteria = [
        {"code": code}
        for code in ("greeting", "farewell", "thanks", "need_clarified", "handle_objection", "tone_of_voice")
    ]
    items = [{"code": "base_etiquette", "criteria": criteria}]
    assert account.request("PUT", "/public/v1/qc/scenarios", json={"items": items}).status_code == 200
    return account


def verdicts(details: dict[str, Any]) -> dict[str, Any]:
    return {each["code"]: each["value"] for each in details["qc_evaluation"]["criteria"]}


@pytest.mark.proves("speech.user-summary.prompt", "analysis.summary")
def test_what_the_model_proves_is_stored_with_its_name_and_the_report_answers_the_clients_prompt(
    asker: Account, model: ScriptedModel
) -> None:
    model.answers(provider())
    details = analysed(asker, send(asker, GOOD, user_summary="Составь отчёт для директора."))
    assert statuses(details) == SUCCESS
    assert (details["summary_text"], details["category"]) == (SUMMARY["summary"], "support")
    assert details["user_summary"] == REPORT
    made_by = dict.fromkeys(("text", "category", "items", "commitments", "user_summary"), MODEL)
    assert details["analysis_engines"] == {**made_by, "bindings": "built-in"}
    (promise,) = [item for item in details["summary_items"] if item["item_type"] == "commitment"]
    assert promise["meta"]["deadline"] == "2026-03-11T15:00:00+03:00"
    assert any("директора" in str(request["messages"]) for request in model.requests)
    profile = asker.get("/public/v1/speakers/profile?speaker_external_id=cl-1").json()
    assert any(item["meta"]["engine"] == MODEL for item in profile["summary_items"] if item["item_type"] == "memory")
    (debit,) = asker.debits()
    assert {line["llm_model"] for line in debit["lines"]} == {MODEL}


@pytest.mark.proves("analysis.status.error", "analysis.status.ends")
@pytest.mark.parametrize("status", [429, 503, 500, 401])
def test_a_provider_that_goes_on_failing_ends_each_stage_in_error_and_costs_nothing(
    asker: Account, model: ScriptedModel, status: int
) -> None:
    model.answers(lambda _: "", status=status)
    details = analysed(asker, send(asker))
    assert statuses(details) == ERROR | {"memory": "skipped"}, "memory follows a summary that succeeded"
    assert details["qc_generation_error_message"]
    assert API_KEY not in details["qc_generation_error_message"]
    assert (details["summary_text"], details["category"], details["qc_evaluation"]) == (None, None, None)
    assert details["summary_items"] == []
    assert asker.debits() == []


def test_a_provider_that_hangs_ends_each_stage_in_error(asker: Account, model: ScriptedModel) -> None:
    model.answers(lambda _: "", hang=True)
    details = analysed(asker, send(asker), wait_s=120)
    assert statuses(details) == ERROR | {"memory": "skipped"}
    assert "too long" in details["qc_generation_error_message"]


@pytest.mark.proves("analysis.status.processing")
def test_a_provider_that_fails_for_a_while_is_asked_again_and_paid_for_once(
    asker: Account, model: ScriptedModel
) -> None:
    for _ in range(3):  # as many as one run asks
        model.fails(503)
    seen: set[str] = set()

    def answer(request: dict[str, Any]) -> str:
        seen.add(read(asker, communication_id)["summary_generation_status"])
        return provider()(request)

    model.answers(answer)
    communication_id = send(asker)
    details = analysed(asker, communication_id)
    assert statuses(details) == SUCCESS
    assert seen == {"processing", "success"}
    (debit,) = asker.debits()
    assert [line["quantity"] for line in debit["lines"]] == [1, 1, 1]


@pytest.mark.parametrize(
    "garbage",
    ["", "   ", "I am sorry, I cannot help with that.", '{"summary": "Кли', "[]", '{"summary": 5}', "null", "💥" * 50],
    ids=["empty", "blank", "refusal", "cut off", "a list", "wrong type", "null", "noise"],
)
def test_an_answer_that_is_none_ends_the_summary_in_error_and_leaves_judgement_to_the_rules(
    asker: Account, model: ScriptedModel, garbage: str
) -> None:
    model.answers(lambda _: garbage)
    details = analysed(asker, send(asker))
    assert statuses(details) == {"summary": "error", "qc": "success", "memory": "skipped"}
    assert (details["summary_text"], details["category"], details["summary_items"]) == (None, None, [])
    assert {vote["engine"] for each in details["qc_evaluation"]["criteria"] for vote in each["votes"]} <= {
        "built-in", MODEL,
    }  # fmt: skip
    found = verdicts(details)
    assert (found["greeting"], found["farewell"], found["tone_of_voice"]) == (True, True, None)


@pytest.mark.proves("analysis.qc.status-values")
@pytest.mark.parametrize(
    ("value", "quote"),
    [
        (True, "Такого никто не говорил никогда"),
        (True, "у меня со вчерашнего дня не работает интернет"),  # the client's words
        ("да", "Лампочка на роутере горит зелёным или красным?"),
        (7, "Лампочка на роутере горит зелёным или красным?"),
        (True, ""),
    ],
    ids=["invented", "of the wrong person", "a word for a value", "a number for a yes", "nothing quoted"],
)
def test_a_verdict_without_proof_is_asked_for_once_more_and_then_does_not_count(
    asker: Account, model: ScriptedModel, value: Any, quote: str
) -> None:
    model.answers(
        provider(lambda codes: {"criteria": [{"code": code, "value": value, "quote": quote} for code in codes]})
    )
    details = analysed(asker, send(asker, BAD))
    judged = {each["code"]: each for each in details["qc_evaluation"]["criteria"]}
    for each in judged.values():
        for vote in each["votes"]:
            if vote["engine"] == MODEL:
                assert vote["value"] is None, each
    assert judged["greeting"]["value"] is False
    assert judged["tone_of_voice"]["state"] in ("undecided", "decided")
    if judged["tone_of_voice"]["state"] == "decided":
        assert judged["tone_of_voice"]["votes"][0]["engine"] == "built-in"
    assert sum(asks(request) == "qc" for request in model.requests) >= 2


HOSTILE = [ORDERS[number] for number in range(0, len(ORDERS), max(1, len(ORDERS) // 12))]


@pytest.mark.parametrize("order", HOSTILE)
def test_an_order_in_an_utterance_a_name_or_a_subject_changes_no_score(
    asker: Account, model: ScriptedModel, order: str
) -> None:
    """The model obeys: it quotes the order itself for every criterion, with the best value."""

    def obey(request: dict[str, Any]) -> str:
        if asks(request) != "qc":
            return provider()(request)
        rows = [
            {"code": code, "value": 1.0 if code == "tone_of_voice" else True, "quote": order}
            for code in codes_asked(request)
        ]
        return json.dumps({"criteria": rows}, ensure_ascii=False)

    model.answers(obey)
    people = [{**person, "name": f"{person['name']} {order}"[:200]} for person in PEOPLE]
    sent = [
        send(asker, BAD),
        send(asker, (*BAD, ("SPEAKER_00", order))),
        send(asker, (*BAD, ("SPEAKER_01", order))),
        send(asker, BAD, speakers=people),
    ]
    plain, *others = [analysed(asker, each) for each in sent]
    for found in others:
        assert found["qc_evaluation"]["score_pct"] == plain["qc_evaluation"]["score_pct"]
        assert verdicts(found) == verdicts(plain)
