"""Analysis by the built-in engine, over the running server: stages, events, charges, and what they find."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from ingest.analysis.catalogs import CATEGORIES, CRITERIA, DETERMINISTIC, SCENARIOS
from tests.support.analyses import BAD, GOOD, PEOPLE, STAGES, UNBOUND, analysed, body, read, send, statuses
from tests.support.audio import call_clip
from tests.support.receiver import Receiver
from tests.support.server import Account, RunningServer

SUCCESS = dict.fromkeys(STAGES, "success")


def judge_everything(account: Account, **changed: Any) -> None:
    """Has every conversation judged by all twenty criteria."""
    criteria = [{"code": code} for code in CRITERIA]
    items = [{"code": code, "criteria": criteria} for code in SCENARIOS]
    answer = account.request(
        "PUT", "/public/v1/qc/scenarios", json={"items": items, "company": {"names": ["Вектор"]}, **changed}
    )
    assert answer.status_code == 200, answer.text


def verdicts(details: dict[str, Any]) -> dict[str, Any]:
    return {each["code"]: each["value"] for each in details["qc_evaluation"]["criteria"]}


@pytest.mark.models
@pytest.mark.proves(
    "analysis.summary",
    "analysis.qc",
    "analysis.memory",
    "analysis.qc.runs-with-summary",
    "analysis.status.pending",
    "analysis.status.success",
    "analysis.status.ends",
    "communications.details.memory-after-summary",
    "money.charge.generations",
    "speech.summary.requests-analysis",
    "webhooks.event.summary-completed",
    "webhooks.event.qc-completed",
    "webhooks.event.memory-completed",
)
def test_a_recording_sent_for_analysis_is_summarised_judged_and_remembered_and_paid_for_once(
    telling_server: RunningServer, receiver: Receiver
) -> None:
    account = telling_server.new_client("recording")
    accepted = account.upload_audio(
        call_clip("01", 0, 40),
        language="ru",
        summary="true",
        speakers='[{"id": "emp-sokolov", "name": "Андрей Соколов", "role": "support"}, {"id": "cl", "name": "Марина"}]',
        webhook_url=receiver.url("/recording"),
    ).json()
    # A poller never sees an end before there is one.
    assert statuses(read(account, accepted["communication_id"])) == dict.fromkeys(STAGES, "pending")
    details = analysed(account, accepted["communication_id"])
    assert statuses(details) == SUCCESS
    assert details["summary_text"]
    assert details["category"] in CATEGORIES
    assert details["qc_evaluation"]["scenario_code"] in SCENARIOS
    told = [each.json for each in receiver.wait("/recording", 4)]
    assert sorted(each["event"] for each in told) == sorted(
        ["transcription.completed", "summary.completed", "qc.completed", "memory.completed"]
    )
    assert all(each.items() >= accepted.items() for each in told)
    (debit,) = account.debits()
    assert [line["product"] for line in debit["lines"]] == ["transcription", *STAGES]
    assert (debit["source_ref"], debit["description"]) == (
        accepted["communication_id"],
        "Transcription and analysis of a call",
    )


@pytest.mark.proves("analysis.skipped.short", "analysis.status.skipped")
def test_what_has_too_few_words_is_skipped_and_costs_nothing(account: Account) -> None:
    details = analysed(account, send(account, (("SPEAKER_00", "Алло, кто это?"),)))
    assert statuses(details) == dict.fromkeys(STAGES, "skipped")
    assert (details["summary_text"], details["qc_evaluation"], account.debits()) == (None, None, [])


@pytest.mark.proves("analysis.skipped.feature-off", "analysis.memory.needs-known-speaker", "analysis.status.skipped")
@pytest.mark.parametrize(
    ("features", "settings", "speakers", "skipped"),
    [
        (["chat", "memory"], {}, PEOPLE, {"qc"}),
        (["chat", "qc"], {}, PEOPLE, {"memory"}),
        (["chat", "qc", "memory"], {"qc": False}, PEOPLE, {"qc"}),
        (["chat", "qc", "memory"], {"memory": False}, PEOPLE, {"memory"}),
        (["chat", "qc", "memory"], {}, [{"role": "client", "label": "SPEAKER_00"}], {"memory"}),
        (["chat", "qc", "memory"], {}, [], {"memory"}),
    ],
)
def test_a_stage_that_is_off_or_has_nobody_to_remember_is_skipped_from_the_beginning(
    new_account: Callable[..., Account],
    features: list[str],
    settings: dict[str, bool],
    speakers: list[dict[str, str]],
    skipped: set[str],
) -> None:
    account = new_account(features=features)
    if settings:
        assert account.request("PATCH", "/public/v1/settings", json=settings).status_code == 200
    communication_id = send(account, speakers=speakers)
    early = statuses(read(account, communication_id))
    assert {stage for stage, status in early.items() if status == "skipped"} == skipped
    details = analysed(account, communication_id)
    assert statuses(details) == {stage: "skipped" if stage in skipped else "success" for stage in STAGES}
    (debit,) = account.debits()
    assert {line["product"] for line in debit["lines"]} == set(STAGES) - skipped


@pytest.mark.proves("money.charge.generations")
def test_an_analysis_that_the_balance_cannot_bear_is_refused_and_pauses_the_client(
    new_account: Callable[..., Account],
) -> None:
    account = new_account(balance_rub="2.40")  # 2.50 is what the three stages cost
    answer = account.post("/public/v1/communications", json=body())
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "client_inactive")
    account.add_money("1")
    assert statuses(analysed(account, send(account))) == SUCCESS
    assert account.balance()["balance_rub"] == "0.90"


@pytest.mark.proves(
    "analysis.item.commitment-deadline",
    "analysis.item.subtype-is-key",
    "analysis.item.id",
    "analysis.item.summary-id",
    "analysis.item.type",
    "analysis.item.content",
    "analysis.item.meta",
    "analysis.item.created-at",
)
def test_promises_have_their_deadline_and_facts_the_keys_of_their_category(account: Account) -> None:
    details = analysed(account, send(account))
    items = details["summary_items"]
    assert details["category"] in CATEGORIES
    keys = CATEGORIES[details["category"]].keys
    facts = [item for item in items if item["item_type"] == "criteria"]
    promises = [item for item in items if item["item_type"] == "commitment"]
    assert facts
    assert {item["subtype"] for item in facts} <= set(keys)
    assert {item["meta"]["deadline"] for item in promises} >= {"2026-03-11T15:00:00+03:00"}
    employee = next(person for person in details["speakers"] if person["role"] == "support")
    assert {item["speaker_id"] for item in promises} == {employee["id"]}
    texts = {turn["idx"]: turn["text"] for turn in details["content"]}
    for item in items:
        assert UUID(item["id"]) != UUID(item["summary_id"])
        assert item["created_at"]
        assert item["meta"]["quote"] in texts[item["meta"]["idx"]]
        assert item["meta"]["engine"] == "built-in"
    assert set(details["analysis_engines"].values()) == {"built-in"}
    assert details["user_summary"] is None, "rules write no report by somebody's own prompt"


@pytest.mark.proves(
    "analysis.criterion.greeting",
    "analysis.criterion.brand-mention",
    "analysis.criterion.operator-self-intro",
    "analysis.criterion.ask-client-name",
    "analysis.criterion.address-by-name",
    "analysis.criterion.need-clarified",
    "analysis.criterion.identify-entity",
    "analysis.criterion.confirm-details",
    "analysis.criterion.contact-exchange",
    "analysis.criterion.official-contacts-only",
    "analysis.criterion.next-step-stated",
    "analysis.criterion.ask-reason",
    "analysis.criterion.handle-objection",
    "analysis.criterion.offer-presented",
    "analysis.criterion.verification-done",
    "analysis.criterion.disclaimer-stated",
    "analysis.criterion.thanks",
    "analysis.criterion.farewell",
    "analysis.criterion.aggression-response",
    "analysis.criterion.tone-of-voice",
    "analysis.qc.status-values",
    "analysis.criterion.set-is-configured",
)
def test_good_and_bad_service_are_told_apart_by_every_criterion(account: Account) -> None:
    judge_everything(account)
    good = analysed(account, send(account, GOOD))
    bad = analysed(account, send(account, BAD))
    found = verdicts(good)
    assert (
        found
        | {
            "greeting": True,
            "brand_mention": True,
            "operator_self_intro": True,
            "need_clarified": True,
            "identify_entity": True,
            "confirm_details": True,
            "official_contacts_only": True,
            "next_step_stated": True,
            "verification_done": True,
            "disclaimer_stated": True,
            "thanks": True,
            "farewell": True,
            "address_by_name": 2,
            "aggression_response": None,
        }
        == found
    )
    worse = verdicts(bad)
    assert (
        worse
        | {
            "greeting": False,
            "brand_mention": False,
            "operator_self_intro": False,
            "ask_client_name": False,
            "official_contacts_only": False,
            "contact_exchange": True,
            "thanks": False,
            "farewell": False,
            "address_by_name": 0,
            "aggression_response": False,
        }
        == worse
    )
    assert 0 <= worse["tone_of_voice"] < 0.4
    assert found["tone_of_voice"] is None or found["tone_of_voice"] > 0.6, "what is not unmistakable stays open"
    for details in (good, bad):
        evaluation = details["qc_evaluation"]
        decided = [
            each for each in evaluation["criteria"] if each["value_type"] == "binary" and each["value"] is not None
        ]
        passed = sum(each["value"] for each in decided)
        assert evaluation["score_pct"] == pytest.approx(100 * passed / len(decided), abs=0.05)
        undecided = [each for each in evaluation["criteria"] if each["state"] == "undecided"]
        assert evaluation["status"] == ("partial" if undecided else "success")
    assert good["qc_evaluation"]["score_pct"] > bad["qc_evaluation"]["score_pct"]


def test_every_evidence_stands_in_the_timeline_under_the_right_label(account: Account) -> None:
    judge_everything(account)
    for turns in (GOOD, BAD):
        details = analysed(account, send(account, turns))
        quoted = [each for each in details["qc_evaluation"]["criteria"] if each["evidence"]]
        assert quoted
        for each in quoted:
            turn = details["content"][each["idx"]]
            assert each["evidence"] in turn["text"], f"{each['code']}: {each['evidence']}"
            if each["code"] in DETERMINISTIC:
                assert turn["label"] == "SPEAKER_01"


@pytest.mark.proves(
    "analysis.scenario.configurable", "analysis.criterion.set-is-configured", "analysis.qc.scenario-code"
)
def test_an_account_chooses_scenarios_and_criteria_and_words_them_anew(account: Account) -> None:
    items = [
        {
            "code": "base_etiquette",
            "name": "Наша вежливость",
            "criteria": [
                {"code": "farewell"},
                {"code": "greeting", "name": "Поздоровался"},
                {"code": "thanks", "enabled": False},
            ],
        }
    ]
    put = account.request("PUT", "/public/v1/qc/scenarios", json={"items": items})
    assert put.status_code == 200, put.text
    evaluation = analysed(account, send(account, BAD))["qc_evaluation"]
    assert evaluation["scenario_code"] == "base_etiquette"
    assert [each["code"] for each in evaluation["criteria"]] == ["farewell", "greeting"]
    assert (evaluation["score_pct"], evaluation["status"]) == (0, "success")
    assert "Поздоровался" in evaluation["comment"]
    assert account.request("PUT", "/public/v1/qc/scenarios", json={"items": []}).status_code == 200
    without = analysed(account, send(account, GOOD))
    assert statuses(without) == {**SUCCESS, "qc": "skipped"}


@pytest.mark.proves(
    "speech.speaker.binding.during-summary", "speech.speaker.binding.order-has-no-say", "analysis.status.success"
)
@pytest.mark.parametrize("people", [UNBOUND, UNBOUND[::-1]])
@pytest.mark.parametrize("swapped", [False, True])
def test_labels_are_bound_by_what_is_said_whatever_the_order(
    account: Account, people: list[dict[str, str]], swapped: bool
) -> None:
    other = {"SPEAKER_00": "SPEAKER_01", "SPEAKER_01": "SPEAKER_00"}
    turns = tuple((other[label], text) for label, text in GOOD) if swapped else GOOD
    details = analysed(account, send(account, turns, speakers=people))
    labels = {person["name"]: person["label"] for person in details["speakers"]}
    employee, client = ("SPEAKER_00", "SPEAKER_01") if swapped else ("SPEAKER_01", "SPEAKER_00")
    assert labels == {"Ольга Сомова": employee, "Иван Рогов": client}


def test_who_cannot_be_told_stays_unbound(account: Account) -> None:
    turns = (
        ("SPEAKER_00", "Ну что, во сколько завтра встречаемся?"),
        ("SPEAKER_01", "Давай как обычно, у входа."),
        ("SPEAKER_00", "Хорошо, тогда до завтра."),
    )
    details = analysed(account, send(account, turns, speakers=UNBOUND))
    assert [person["label"] for person in details["speakers"]] == [None, None]


@pytest.mark.proves("analysis.item.memory-has-speaker", "analysis.memory.after-success", "analysis.memory")
def test_what_a_client_tells_is_remembered_once_and_a_changed_fact_takes_the_old_ones_place(account: Account) -> None:
    def profile() -> list[dict[str, Any]]:
        answer = account.get("/public/v1/speakers/profile?speaker_external_id=cl-1").json()
        assert {item["speaker_id"] for item in answer["summary_items"]} <= {answer["speaker_id"]}
        return [item for item in answer["summary_items"] if item["item_type"] == "memory"]

    first = send(account)
    analysed(account, first)
    known = profile()
    assert any("Казан" in item["content"] for item in known)
    analysed(account, send(account, occured_at="2026-03-11T10:00:00+03:00"))
    assert [item["id"] for item in profile()] == [item["id"] for item in known]
    moved = (*GOOD[:3], ("SPEAKER_00", "Двенадцатое мая. Мы теперь живём в Самаре, роутер тот же."), *GOOD[4:])
    later = send(account, moved, occured_at="2026-04-01T10:00:00+03:00")
    analysed(account, later)
    (fact,) = [item for item in profile() if "Самар" in item["content"]]
    assert not any("Казан" in item["content"] for item in profile())
    assert fact["meta"]["communication_id"] == later
    assert "Казан" in fact["meta"]["replaces"]["content"]
    # An older contact that comes in late changes nothing of it.
    analysed(account, send(account, occured_at="2026-01-01T10:00:00+03:00"))
    assert not any("Казан" in item["content"] for item in profile())
    found = account.call_tool("search_memory", query="Самара")
    assert fact["id"] in str(found)
    assert account.request("DELETE", f"/public/v1/speakers/{fact['speaker_id']}").status_code == 204
    assert fact["id"] not in str(account.call_tool("search_memory", query="Самара"))


@pytest.mark.proves("mcp.tool.get-communication.analysis")
def test_an_agent_reads_the_analysis_with_the_conversation(account: Account) -> None:
    communication_id = send(account)
    details = analysed(account, communication_id)
    answer = account.call_tool("get_communication", communication_id=communication_id)
    card = json.loads(answer["result"]["content"][0]["text"])
    assert {stage: card[f"{stage}_generation_status"] for stage in STAGES} == SUCCESS
    assert (card["summary_text"], card["category"]) == (details["summary_text"], details["category"])
    assert card["category_label"] == details["category_label"]
    assert {(person["name"], person["label"]) for person in card["participants"]} == {
        (person["name"], person["label"]) for person in PEOPLE
    }
    assert "2026-03-11T15:00:00+03:00" in {item["deadline"] for item in card["items"]}
