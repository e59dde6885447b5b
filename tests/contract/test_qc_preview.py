"""Scenarios tried on a conversation before they are saved: judged, and neither stored nor charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from store import analysis
from store.ids import new_id
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Talk, add_talk

PATH = "/public/v1/qc/scenarios/preview"
SAID = [
    ("SPEAKER_00", "Добрый день, компания «Ромашка», меня зовут Борис, чем могу помочь?"),
    ("SPEAKER_01", "Здравствуйте, у меня сломалась кофемашина, она протекает со вчерашнего дня."),
    ("SPEAKER_00", "Анна, я понимаю. Мастер приедет завтра до обеда. Спасибо за звонок, всего доброго!"),
]


def add(account: Account) -> Talk:
    return add_talk(account, people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA}, turns=SAID, score_pct=50.0)


def preview(account: Account, communication_id: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    answer = account.post(PATH, json={"communication_id": communication_id, "items": items})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_conversation_is_judged_by_what_is_given_and_nothing_is_kept(account: Account) -> None:
    talk = add(account)
    criteria = [{"code": "farewell", "name": "Прощается"}, {"code": "greeting"}, {"code": "thanks", "enabled": False}]
    before, debits = account.balance(), account.debits()
    scenarios = account.get("/public/v1/qc/scenarios").json()
    found = preview(account, talk.id, [{"code": "base_etiquette", "name": "Свой", "criteria": criteria}])
    assert (found["scenario_code"], found["scenario_name"], found["score_pct"]) == ("base_etiquette", "Свой", 100.0)
    assert [(each["code"], each["name"], each["value"]) for each in found["criteria"]] == [
        ("farewell", "Прощается", True), ("greeting", "Приветствие", True),
    ]  # fmt: skip
    greeting = found["criteria"][1]
    assert greeting["idx"] == 0
    assert greeting["evidence"] in SAID[0][1]
    assert (found["saved_scenario_code"], found["saved_score_pct"]) == ("base_etiquette", 50.0)
    assert (account.balance(), account.debits()) == (before, debits)
    assert account.get("/public/v1/qc/scenarios").json() == scenarios
    with account.server.database.read() as connection:
        assert analysis.stage_statuses(account.tenant_id, connection, talk.id)["qc"] == "success"
    assert account.get("/public/v1/communications", params={"id": talk.id}).json()["qc_evaluation"]["score_pct"] == 50.0


def test_where_no_scenario_is_on_nothing_is_judged(account: Account) -> None:
    talk = add(account)
    found = preview(account, talk.id, [{"code": "base_etiquette", "enabled": False}])
    assert (found["scenario_code"], found["score_pct"], found["criteria"]) == (None, None, [])


def test_what_cannot_be_saved_cannot_be_tried(account: Account) -> None:
    talk = add(account)
    answer = account.post(PATH, json={"communication_id": talk.id, "items": [{"code": "own"}]})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "items.0.code")
    answer = account.post(PATH, json={"communication_id": "x", "items": []})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "communication_id")
    short = add_talk(account, people={"SPEAKER_00": BORIS}, turns=[("SPEAKER_00", "Да.")])
    answer = account.post(PATH, json={"communication_id": short.id, "items": []})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "too_little_said")


@pytest.mark.parametrize("named", ["theirs", "nobody's"])
def test_another_accounts_conversation_is_none(
    account: Account, new_account: Callable[..., Account], named: str
) -> None:
    communication_id = add(account).id if named == "theirs" else new_id()
    answer = new_account().post(PATH, json={"communication_id": communication_id, "items": []})
    assert answer.status_code == 404, answer.text
