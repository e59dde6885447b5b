"""Promises: lists by their deadline, marks of those that were kept, and what becomes of marks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from store import analysis
from store.database import now
from store.ids import new_id
from tests.contract.described import get_described
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Someone, Talk, add_talk, promise

PATH = "/public/v1/commitments"
PEOPLE = {"SPEAKER_00": BORIS, "SPEAKER_01": ANNA}


def today(account: Account) -> date:
    return now().astimezone(ZoneInfo(account.made.tenant.time_zone)).date()


def add_promises(account: Account) -> Talk:
    day = today(account)
    return add_talk(
        account,
        people=PEOPLE,
        turns=[("SPEAKER_00", "I will send the invoice."), ("SPEAKER_01", "I will pay it on Friday.")],
        promises=[
            promise("Send the invoice", "SPEAKER_00", due=day - timedelta(days=3), quote="I will send the invoice"),
            promise("Call back", "SPEAKER_00", due=day),
            promise("Bring a spare machine", "SPEAKER_00", due=day + timedelta(days=6)),
            promise("Renew the contract", "SPEAKER_00", due=day + timedelta(days=7)),
            promise("Think about it", None),
            promise("Pay the invoice", "SPEAKER_01", due=day - timedelta(days=1), quote="I will pay it", idx=1),
        ],
    )


def listed(account: Account, **query: Any) -> dict[str, Any]:
    return get_described(account, PATH, **query)


def contents(account: Account, **query: Any) -> list[str]:
    return [item["content"] for item in listed(account, **query)["items"]]


def asked(account: Account, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = account.post(f"/public/v1/tools/{tool}", json=arguments)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def mark(account: Account, commitment_id: str, *, done: bool) -> dict[str, Any]:
    answer = account.request("PATCH", f"{PATH}/{commitment_id}", json={"done": done})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_promises_are_listed_by_their_day(account: Account) -> None:
    add_promises(account)
    assert contents(account, state="overdue") == ["Pay the invoice", "Send the invoice"], "the latest first"
    assert contents(account, state="today") == ["Call back"]
    assert contents(account, state="week") == ["Call back", "Bring a spare machine"]
    assert contents(account, state="later") == ["Renew the contract"]
    assert contents(account, state="no_date") == ["Think about it"]
    assert contents(account)[-1] == "Think about it", "what has no day comes last"
    found = listed(account, state="done")
    assert found["items"] == []
    assert found["counts"] == {
        "overdue": 2,
        "today": 1,
        "week": 2,
        "later": 1,
        "no_date": 1,
        "open": 6,
        "done": 0,
        "all": 6,
    }
    assert found["today"] == today(account).isoformat()


def test_a_promise_leads_to_the_words_it_was_made_with(account: Account) -> None:
    talk = add_promises(account)
    item = listed(account, state="overdue", query="pay")["items"][0]
    assert (item["quote"], item["idx"], item["communication"]["id"]) == ("I will pay it", 1, talk.id)
    assert item["made_by"]["name"] == ANNA.name
    assert (item["side"], item["is_overdue"]) == ("theirs", True)
    assert [person["name"] for person in item["people"]] == [BORIS.name, ANNA.name]


def test_lists_are_narrowed_by_side_person_and_words(account: Account) -> None:
    talk = add_promises(account)
    add_talk(
        account,
        people={"SPEAKER_00": Someone("Vera Other", "cl-vera")},
        turns=[("SPEAKER_00", "Ёлку привезём.")],
        promises=[promise("Привезём ЁЛКУ завтра", "SPEAKER_00")],
    )
    assert contents(account, side="theirs", state="overdue") == ["Pay the invoice"]
    assert contents(account, side="ours", state="overdue") == ["Send the invoice"]
    assert contents(account, side="ours", state="no_date") == ["Think about it"], "whose voice is unknown is ours"
    assert contents(account, maker_id=talk.people["SPEAKER_01"]) == ["Pay the invoice"]
    assert len(contents(account, speaker_id=talk.people["SPEAKER_01"])) == 6, "made by them and made to them"
    assert contents(account, query="елку") == ["Привезём ЁЛКУ завтра"]
    assert contents(account, query="invoice send") == ["Send the invoice"]
    assert contents(account, query="100%") == []
    page = listed(account, limit=2, offset=1)
    assert page["pagination"] == {"limit": 2, "offset": 1, "count": 2, "total": 7}


def test_promises_of_a_period_are_those_of_its_conversations_kept_or_not(account: Account) -> None:
    zone = ZoneInfo(account.made.tenant.time_zone)
    for day, hour in ((3, 23), (4, 0), (5, 23), (6, 0)):
        add_talk(
            account,
            people=PEOPLE,
            turns=[("SPEAKER_00", "I will send it.")],
            promises=[promise(f"Send {day}/{hour}", "SPEAKER_00", due=date(2026, 5, day))],
            at=datetime(2026, 3, day, hour, 30, tzinfo=zone),
        )
    period = {"from": "2026-03-04", "to": "2026-03-05"}
    found = listed(account, state="all", **period)
    assert [item["content"] for item in found["items"]] == ["Send 5/23", "Send 4/0"]
    mark(account, found["items"][0]["id"], done=True)
    found = listed(account, state="all", **period)
    assert [item["content"] for item in found["items"]] == ["Send 5/23", "Send 4/0"], "kept ones are of all"
    assert (found["counts"]["open"], found["counts"]["done"], found["counts"]["all"]) == (1, 1, 2)
    assert found["pagination"]["total"] == 2
    metrics = asked(account, "get_period_metrics", **period)
    assert metrics["total"]["commitments"] == 2, "the figure that the list is behind"


def test_a_mark_keeps_who_and_when_and_can_be_taken_back(account: Account) -> None:
    talk = add_promises(account)
    first = mark(account, talk.promises[0], done=True)
    assert first["done_at"] is not None
    assert first["done_by"].startswith("key sk_live_")
    assert first["is_overdue"] is False
    assert mark(account, talk.promises[0], done=True) == first, "a second mark changes nothing"
    found = listed(account, state="done")
    assert [item["id"] for item in found["items"]] == [talk.promises[0]]
    assert (found["counts"]["overdue"], found["counts"]["done"], found["counts"]["open"]) == (1, 1, 5)
    again = mark(account, talk.promises[0], done=False)
    assert (again["done_at"], again["done_by"], again["is_overdue"]) == (None, None, True)
    entries = account.get("/public/v1/audit", params={"limit": 100}).json()["items"]
    done = [entry["action"] for entry in entries if entry["subject"] == talk.promises[0]]
    assert done == ["commitment.undone", "commitment.done"]


def test_agents_are_told_of_marks_and_not_that_a_kept_promise_is_overdue(account: Account) -> None:
    talk = add_promises(account)
    mark(account, talk.promises[0], done=True)
    overdue = asked(account, "search_commitments", overdue=True, order="due")
    assert [item["content"] for item in overdue["items"]] == ["Pay the invoice"]
    items = asked(account, "search_commitments", query="send invoice")["items"]
    sent = next(item for item in items if item["id"] == talk.promises[0])
    assert (sent["overdue"], sent["done_at"] is not None) == (False, True)
    ranked = asked(account, "rank_people", by="overdue_promises")["items"]
    boris = next(item for item in ranked if item["name"] == BORIS.name)
    assert (boris["promises"], boris["overdue_promises"], boris["open_promises"]) == (4, 0, 3)


def test_a_mark_survives_an_analysis_that_finds_the_promise_again(account: Account) -> None:
    talk = add_promises(account)
    for place in (0, 1, 3):
        mark(account, talk.promises[place], done=True)
    before = {item["content"]: item["done_at"] for item in listed(account, state="done")["items"]}
    boris = talk.people["SPEAKER_00"]
    found_again = [
        promise("An invoice will be sent", None, quote="I will send the invoice"),  # told otherwise, of the same words
        promise("call back!", None),
        promise("Write a letter", None),
    ]
    with account.server.database.write() as connection:
        analysis.put_summary(account.tenant_id, connection, talk.id, text="Again", items=found_again)
    found = listed(account, state="done")["items"]
    assert {item["content"]: item["done_at"] for item in found} == {
        "An invoice will be sent": before["Send the invoice"],
        "call back!": before["Call back"],
    }
    assert contents(account, maker_id=boris) == []
    assert contents(account, state="no_date") == ["Write a letter"]


def test_of_two_promises_of_the_same_words_one_mark_is_of_one(account: Account) -> None:
    twice = [promise("Call back", None), promise("Call back", None)]
    talk = add_talk(account, people=PEOPLE, turns=[("SPEAKER_00", "Yes.")], promises=twice)
    mark(account, talk.promises[0], done=True)
    with account.server.database.write() as connection:
        analysis.put_summary(account.tenant_id, connection, talk.id, text="Again", items=twice)
    assert len(contents(account, state="done")) == 1
    assert len(contents(account, state="open")) == 1


@pytest.mark.parametrize(
    ("query", "param"),
    [({"state": "soon"}, "state"), ({"side": "whose"}, "side"), ({"speaker_id": "x"}, "speaker_id"),
     ({"limit": 101}, "limit"), ({"query": "x" * 201}, "query")],
)  # fmt: skip
def test_a_filter_that_is_none_is_refused_by_its_name(account: Account, query: dict[str, Any], param: str) -> None:
    answer = account.get(PATH, params=query)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_another_accounts_promises_are_out_of_reach(account: Account, new_account: Callable[..., Account]) -> None:
    talk, other = add_promises(account), new_account()
    assert listed(other)["items"] == []
    for commitment_id in (talk.promises[0], new_id(), "none"):
        answer = other.request("PATCH", f"{PATH}/{commitment_id}", json={"done": True})
        assert answer.status_code == 404, answer.text
    assert listed(account, state="done")["items"] == []
    answer = account.request("PATCH", f"{PATH}/{talk.promises[0]}", json={})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "done")
